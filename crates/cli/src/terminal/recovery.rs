//! What `mpps recover` did.

use mpps_lab::recover::Recovery;
use mpps_lab::{fib, tune};
use std::fmt::Write;

/// A line for each bed found.
pub fn recovery(recovery: &Recovery) -> String {
    let mut text = String::new();
    for (bed, reverted) in &recovery.reverted {
        if fib::is_journal(bed) {
            let routes = super::grouped(reverted.routes);
            let _ = writeln!(text, "{bed}: restored ({routes} routes cleared)");
            continue;
        }
        if tune::is_journal(bed) {
            let _ = write!(text, "{bed}: {}", super::settings_reverted(reverted));
            continue;
        }
        let (netns, processes) = (reverted.netns.len(), reverted.processes);
        let ports = match &reverted.ports[..] {
            [] => String::new(),
            ports => format!(", given back: {}", ports.join(", ")),
        };
        let settings = match reverted.settings {
            0 => String::new(),
            settings => format!(", settings restored: {settings}"),
        };
        let _ = writeln!(
            text,
            "{bed}: restored ({netns} namespaces removed, {processes} processes ended{ports}{settings})"
        );
    }
    for bed in &recovery.in_use {
        let _ = writeln!(text, "{bed}: skipped, because it is in use");
    }
    for bed in &recovery.kept {
        let remedy = if fib::is_journal(bed) {
            "mpps table clear --allow-system-changes".to_owned()
        } else if tune::is_journal(bed) {
            "mpps tune revert; --netns NAME names a namespace".to_owned()
        } else {
            format!("mpps bed down {bed}")
        };
        let _ = writeln!(
            text,
            "{bed}: skipped, because it was kept on purpose ({remedy})"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_lab::journal::Reverted;

    #[test]
    fn every_bed_found_is_told() {
        let found = Recovery {
            in_use: vec!["a".to_owned()],
            kept: ["b", "routes_7", "tune_7"].map(str::to_owned).to_vec(),
            reverted: vec![(
                "routes_8".to_owned(),
                Reverted {
                    routes: 1_042_325,
                    ..Reverted::default()
                },
            )],
            ..Recovery::default()
        };
        let mut found = found;
        let settings = Reverted {
            settings: 2,
            foreign: vec!["tcp_sack stays 0".to_owned()],
            ..Reverted::default()
        };
        found.reverted.push(("tune_8".to_owned(), settings));
        let text = recovery(&found);
        assert!(
            text.contains("a: skipped") && text.contains("mpps bed down b"),
            "{text}"
        );
        assert!(
            text.contains("routes_8: restored (1 042 325 routes cleared)\n")
                && text.contains("(mpps table clear --allow-system-changes)"),
            "{text}"
        );
        assert!(
            text.contains("(mpps tune revert; ")
                && text.contains("tune_8: 2 settings put back\ntcp_sack stays 0\n"),
            "{text}"
        );
        assert_eq!(recovery(&Recovery::default()), "");
    }
}
