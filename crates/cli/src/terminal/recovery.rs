//! What `mpps recover` did.

use mpps_lab::recover::Recovery;
use std::fmt::Write;

/// A line for each bed found.
#[must_use]
pub fn recovery(recovery: &Recovery) -> String {
    let mut text = String::new();
    for (bed, reverted) in &recovery.reverted {
        let (netns, processes) = (reverted.netns.len(), reverted.processes);
        let _ = writeln!(
            text,
            "{bed}: put back ({netns} namespaces removed, {processes} processes ended)"
        );
    }
    for bed in &recovery.in_use {
        let _ = writeln!(text, "{bed}: left alone, it is in use");
    }
    for bed in &recovery.kept {
        let _ = writeln!(
            text,
            "{bed}: left alone, it was kept on purpose (mpps bed down {bed})"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bed_found_is_told() {
        let found = Recovery {
            in_use: vec!["a".to_owned()],
            kept: vec!["b".to_owned()],
            ..Recovery::default()
        };
        let text = recovery(&found);
        assert!(
            text.contains("a: left alone") && text.contains("mpps bed down b"),
            "{text}"
        );
        assert_eq!(recovery(&Recovery::default()), "");
    }
}
