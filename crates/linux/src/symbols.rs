//! Names of the kernel's functions by address: the kernel itself, its modules and its eBPF programs
//! (`/proc/kallsyms`).

use crate::error::{Error, Result};
use std::fmt::Write as _;

const PATH: &str = "/proc/kallsyms";
/// The file does not say where the last function of a module or an eBPF program ends. It has at most so many octets.
const LAST_OCTETS_MAX: u64 = 16 << 10;
/// Where the kernel's code ends.
const ENDS: [&str; 2] = ["_etext", "_einittext"];

/// All functions at the time of reading: those of programs that are loaded later are missing.
#[derive(Debug)]
pub struct Symbols {
    text: String,
    /// By rising address, each address once.
    entries: Vec<Entry>,
}

/// An address, and where its line begins in the text.
#[derive(Debug)]
struct Entry {
    address: u64,
    line: u32,
}

fn hidden() -> Error {
    Error::from_text("read names of functions", PATH, "the kernel hides the addresses").with_remedy(
        "run as root (CAP_SYSLOG) with kernel.kptr_restrict at 0 or 1; without names no time can be split, but mpps throughput tells rate and cost",
    )
}

/// One function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name as the kernel has it, with what the compiler added (`.isra.0`, `.cold`).
    pub name: &'a str,
    /// The module it belongs to; `bpf` for eBPF programs.
    pub module: Option<&'a str>,
}

impl Symbols {
    /// Reads them. The file leaves eBPF programs out where `net.core.bpf_jit_kallsyms` is 0 or `bpf_jit_harden` is not,
    /// so they may come beside it: addresses and names.
    ///
    /// # Errors
    /// There is no such file (CONFIG_KALLSYMS), or the kernel hides the addresses.
    pub fn read(programs: &[(u64, String)]) -> Result<Self> {
        Self::read_file(PATH, programs)
    }

    fn read_file(path: &str, programs: &[(u64, String)]) -> Result<Self> {
        let fail = |e| {
            Error::from_io("read names of functions", path, &e)
                .with_remedy("needs a kernel with CONFIG_KALLSYMS, and /proc")
        };
        Self::with_programs(std::fs::read_to_string(path).map_err(fail)?, programs)
    }

    fn with_programs(mut text: String, programs: &[(u64, String)]) -> Result<Self> {
        // Programs alone are no names of the kernel's.
        let is_hidden = |line: &str| {
            line.split(' ')
                .next()
                .is_none_or(|at| at.trim_matches('0').is_empty())
        };
        if text.lines().all(is_hidden) {
            return Err(hidden());
        }
        for (address, name) in programs {
            // Writing to a string cannot fail.
            let _written = writeln!(text, "{address:016x} t {name}\t[bpf]");
        }
        Self::parse(text)
    }

    fn parse(text: String) -> Result<Self> {
        let refuse = |cause: &str| Error::from_text("read names of functions", PATH, cause);
        let mut entries = Vec::with_capacity(text.len() / 40);
        let mut begin = 0;
        for line in text.split_inclusive('\n') {
            let read = Line::read(line).ok_or_else(|| {
                refuse(&format!(
                    "`{}` is not an address, a kind and a name",
                    line.trim_end()
                ))
            })?;
            if read.is_code() {
                entries.push((read.address, read.rank(), begin));
            }
            // It fits: the file has some 10 million octets.
            begin += line.len() as u32;
        }
        if entries.iter().all(|&(address, ..)| address == 0) {
            return Err(hidden());
        }
        entries.sort_unstable();
        entries.dedup_by_key(|&mut (address, ..)| address);
        let entries = entries.into_iter();
        let entries = entries.map(|(address, _, line)| Entry { address, line });
        Ok(Self {
            entries: entries.collect(),
            text,
        })
    }

    /// The function that this address lies in. `None`: no function of the kernel, or none that was there at the time of
    /// reading.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<Symbol<'_>> {
        let after = self
            .entries
            .partition_point(|entry| entry.address <= address);
        let line = self.line(after.checked_sub(1)?)?;
        let next = self.line(after);
        let is_last = next.is_none_or(|next| next.module != line.module);
        if line.is_end() || (is_last && address - line.address >= LAST_OCTETS_MAX) {
            return None;
        }
        Some(Symbol {
            name: line.name,
            module: line.module,
        })
    }

    fn line(&self, entry: usize) -> Option<Line<'_>> {
        let begin = self.entries.get(entry)?.line as usize;
        Line::read(self.text.get(begin..)?.lines().next()?)
    }
}

/// A line `ffffffff81000000 T name`, behind it a tab and `[module]`.
struct Line<'a> {
    address: u64,
    kind: &'a str,
    name: &'a str,
    module: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (address, rest) = line.trim_end().split_once(' ')?;
        let (kind, rest) = rest.split_once(' ')?;
        let (name, module) = match rest.split_once('\t') {
            Some((name, module)) => (name, Some(module.trim_matches(['[', ']']))),
            None => (rest, None),
        };
        Some(Self {
            address: u64::from_str_radix(address, 16).ok()?,
            kind,
            name,
            module,
        })
    }

    fn is_code(&self) -> bool {
        matches!(self.kind, "t" | "T" | "w" | "W")
    }

    fn is_end(&self) -> bool {
        ENDS.contains(&self.name)
    }

    /// Among names of one address the lowest is taken. As perf chooses: an end, no weak name, a global one, fewer
    /// underscores.
    fn rank(&self) -> (bool, bool, bool, usize) {
        let underscores = self.name.bytes().take_while(|&octet| octet == b'_').count();
        let is_weak = self.kind.eq_ignore_ascii_case("w");
        (!self.is_end(), is_weak, self.kind != "T", underscores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "\
ffffffff81000000 T _stext
ffffffff81000000 T first
ffffffff81000000 w aaa_weak
ffffffff81000100 t second.isra.0
ffffffff81000180 d data
ffffffff81000200 T third
ffffffff81000300 T _etext
ffffffff82000000 R __start_rodata
ffffffffc0000000 t in_module\t[nf_conntrack]
ffffffffc0000080 t last_in_module\t[nf_conntrack]
ffffffffc0100000 t bpf_prog_aa981578612e3fbb_start\t[bpf]
";

    fn named(symbols: &Symbols, address: u64) -> Option<&str> {
        symbols.find(address).map(|symbol| symbol.name)
    }

    #[test]
    fn an_address_lies_in_the_function_before_it() {
        let symbols = Symbols::parse(LINES.to_owned()).unwrap();
        for (address, name) in [
            (0xffff_ffff_8100_0000, Some("first")),
            (0xffff_ffff_8100_00ff, Some("first")),
            (0xffff_ffff_8100_01a0, Some("second.isra.0")),
            (0xffff_ffff_8100_02ff, Some("third")),
            (0xffff_ffff_8100_0300, None),
            (0xffff_ffff_8200_0000, None),
            (0xffff_ffff_80ff_ffff, None),
            (0, None),
            (u64::MAX, None),
        ] {
            assert_eq!(named(&symbols, address), name, "{address:x}");
        }
    }

    #[test]
    fn modules_and_programs_end_somewhere() {
        let symbols = Symbols::parse(LINES.to_owned()).unwrap();
        let of_module = symbols.find(0xffff_ffff_c000_0010).unwrap();
        assert_eq!(of_module.module, Some("nf_conntrack"));
        let last = 0xffff_ffff_c000_0080;
        assert_eq!(named(&symbols, last + 8), Some("last_in_module"));
        assert_eq!(named(&symbols, last + LAST_OCTETS_MAX), None);
        let program = symbols.find(0xffff_ffff_c010_0000).unwrap();
        assert_eq!(program.name, "bpf_prog_aa981578612e3fbb_start");
        assert_eq!(program.module, Some("bpf"));
        assert_eq!(symbols.find(0xffff_ffff_8100_0000).unwrap().module, None);
    }

    #[test]
    fn programs_that_the_file_leaves_out_have_names() {
        let programs = [
            (0xffff_ffff_c010_0000, "bpf_prog_aa981578612e3fbb_other"),
            (0xffff_ffff_c010_0400, "bpf_prog_0123456789abcdef_leave"),
        ];
        let programs = programs.map(|(address, name)| (address, name.to_owned()));
        let symbols = Symbols::with_programs(LINES.to_owned(), &programs).unwrap();
        // What the file says goes first.
        for (address, name) in [
            (0xffff_ffff_c010_0010, "bpf_prog_aa981578612e3fbb_start"),
            (0xffff_ffff_c010_0410, "bpf_prog_0123456789abcdef_leave"),
        ] {
            let found = symbols.find(address).unwrap();
            assert_eq!((found.name, found.module), (name, Some("bpf")));
        }
        for hidden in ["0000000000000000 T first\n", ""] {
            let program = (0xffff_ffff_c010_0010, "bpf_prog_x".to_owned());
            assert!(Symbols::with_programs(hidden.to_owned(), &[program]).is_err());
        }
    }

    #[test]
    fn a_kernel_without_the_file_is_an_error() {
        let error = Symbols::read_file("/proc/self/kallsyms", &[]).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("CONFIG_KALLSYMS"), "{error}");
    }

    #[test]
    fn hidden_addresses_are_an_error_with_its_remedy() {
        let hidden = "0000000000000000 T first\n0000000000000000 T second\n";
        for text in [hidden, ""] {
            let error = Symbols::parse(text.to_owned()).unwrap_err().to_string();
            assert!(error.contains("kptr_restrict"), "{error}");
        }
    }

    #[test]
    fn a_line_that_is_none_is_an_error() {
        for line in ["nonsense", "xyz T first", "ffffffff81000000 T"] {
            assert!(Symbols::parse(line.to_owned()).is_err(), "{line}");
        }
    }
}
