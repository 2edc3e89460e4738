//! Names of the kernel's eBPF programs, asked of the programs themselves.

use super::Symbols;
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};

/// Names of all functions, those of eBPF programs included where the kernel's own list leaves them out.
///
/// # Errors
/// As [`Symbols::read`].
pub fn symbols() -> mpps_linux::Result<Symbols> {
    let asked = ProgInfoQueryOptions::default().include_jited_ksyms(true);
    let programs: Vec<_> = ProgInfoIter::with_query_opts(asked)
        .flat_map(|program| functions(&program))
        .collect();
    Symbols::read(&programs)
}

/// Where each function of a program begins, and the name of the program as the kernel's list has it. The address is 0
/// where the kernel hides it.
fn functions(program: &ProgramInfo) -> Vec<(u64, String)> {
    let tag = program.tag.0.map(|octet| format!("{octet:02x}")).concat();
    let name = format!("bpf_prog_{tag}_{}", program.name.to_string_lossy());
    let begins = program.jited_ksyms.iter().map(|at| at.addr() as u64);
    let shown = begins.filter(|&at| at != 0);
    shown.map(|at| (at, name.clone())).collect()
}
