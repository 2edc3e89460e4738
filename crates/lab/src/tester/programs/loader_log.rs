//! What libbpf and the kernel's verifier say of a program that they refuse: the error number alone helps nobody.

use libbpf_rs::PrintLevel;
use std::sync::{Mutex, PoisonError};

/// One load at a time, so that no reason is another load's.
static LOADING: Mutex<()> = Mutex::new(());
/// The last lines that were printed since the last load began.
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// A verifier's log may have a million lines; the reason is among the last.
const LINES: usize = 100;

/// Does the work, and gives the reason that the loader printed meanwhile, if it printed one. Nothing goes to stderr.
pub fn with_reason<T>(work: impl FnOnce() -> T) -> (T, Option<String>) {
    let _loading = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    let log = || LOG.lock().unwrap_or_else(PoisonError::into_inner);
    log().clear();
    let before = libbpf_rs::set_print(Some((PrintLevel::Warn, keep)));
    let done = work();
    libbpf_rs::set_print(before);
    let reason = reason(&log());
    (done, reason)
}

fn keep(_level: PrintLevel, text: String) {
    let mut said = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    said.extend(text.lines().map(|line| line.trim().to_owned()));
    let before = said.len().saturating_sub(LINES);
    said.drain(..before);
}

/// The verifier's last sentence; without a log of it, libbpf's last complaint that says more than that the load failed.
fn reason(said: &[String]) -> Option<String> {
    let is_sentence = |line: &&String| {
        let about_the_log = ["--", "processed ", "verification time", "stack depth", ";"];
        let is_instruction = || line.starts_with(|first: char| first.is_ascii_digit());
        !line.is_empty()
            && !about_the_log.iter().any(|start| line.starts_with(start))
            && !is_instruction()
    };
    if let Some(end) = said
        .iter()
        .position(|line| line.contains("END PROG LOAD LOG"))
    {
        return said.iter().take(end).rfind(is_sentence).cloned();
    }
    let mut complaints = said.iter().filter_map(|line| line.strip_prefix("libbpf: "));
    // What it says where it may load nothing at all is no more than the error number.
    let says_more =
        |line: &&str| !line.starts_with("failed to load") && !line.contains("RLIMIT_MEMLOCK");
    let found = complaints.rfind(says_more);
    found.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &str = "\
libbpf: prog 'send': BPF program load failed: Permission denied
libbpf: prog 'send': -- BEGIN PROG LOAD LOG --
0: R1=ctx() R10=fp0
; int first = *place; @ sender.bpf.c:120
12: (61) r2 = *(u32 *)(r1 +0)
R1 invalid mem access 'scalar'
verification time 512 usec
stack depth 0
processed 13 insns (limit 1000000) max_states_per_insn 0 total_states 1 peak_states 1 mark_read 1
-- END PROG LOAD LOG --
libbpf: prog 'send': failed to load: -EACCES
libbpf: failed to load object 'sender_bpf'
";

    fn reason_in(said: &str) -> Option<String> {
        let ((), reason) = with_reason(|| keep(PrintLevel::Warn, said.to_owned()));
        reason
    }

    #[test]
    fn the_verifiers_last_sentence_is_the_reason() {
        assert_eq!(
            reason_in(REFUSED).as_deref(),
            Some("R1 invalid mem access 'scalar'")
        );
        let map =
            "libbpf: map 'ring': failed to create: -EINVAL\nlibbpf: failed to load object 'x'\n";
        assert_eq!(
            reason_in(map).as_deref(),
            Some("map 'ring': failed to create: -EINVAL")
        );
        let no_right = "libbpf: Error in bpf_object__probe_loading(): -EPERM. Couldn't load trivial BPF program. Make sure that RLIMIT_MEMLOCK is set to big enough value.\n";
        assert_eq!(reason_in(no_right), None);
        assert_eq!(reason_in(""), None);
    }

    #[test]
    fn of_a_long_log_the_end_tells() {
        let log = "12: (b7) r0 = 0\n".repeat(10_000) + REFUSED;
        let mut kept = 0;
        let ((), told) = with_reason(|| {
            keep(PrintLevel::Warn, log);
            kept = LOG.lock().map_or(0, |said| said.len());
        });
        assert_eq!(told.as_deref(), Some("R1 invalid mem access 'scalar'"));
        assert_eq!(kept, LINES);
    }
}
