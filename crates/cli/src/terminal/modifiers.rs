//! How to measure the cost of a run's modifiers (RFC 2544 sections 11 and 12).

use mpps_record::RunLine;

/// The `mpps compare` command that measures the cost of a run's modifiers. `None`: no modifier, or a comparison, whose
/// variants have their own.
pub fn compare_command(run: &RunLine) -> Option<String> {
    let modifiers = run.modifiers();
    if modifiers.is_empty() || run.job == "compare" {
        return None;
    }
    let flags: Vec<&str> = modifiers.iter().map(|one| one.flag.as_str()).collect();
    let (flags, of_all) = (flags.join(" "), of_all(run));
    Some(format!(
        "what this costs a frame: mpps compare --a none --b '{flags}'{of_all}\n"
    ))
}

/// The flags of the run's traffic that `mpps compare` takes for all its variants. It measures one frame size.
fn of_all(run: &RunLine) -> String {
    let traffic = &run.plan.traffic;
    let frame = match &run.plan.frames[..] {
        [frame] => Some(format!("--frame {frame}")),
        _ => None,
    };
    let length = traffic.flow_length_frames;
    let is_given = |given: bool, flag: String| given.then_some(flag);
    let flags = [
        is_given(traffic.family == "ipv6", "-6".to_owned()),
        frame,
        is_given(traffic.flows != 1, format!("--flows {}", traffic.flows)),
        length.map(|frames| format!("--flow-length {frames}")),
        is_given(traffic.l4 != "udp", format!("--l4 {}", traffic.l4)),
        is_given(traffic.bidirectional, "--bidirectional".to_owned()),
        is_given(traffic.dscp != 0, format!("--dscp {}", traffic.dscp)),
    ];
    let flags = flags.into_iter().flatten();
    flags.map(|flag| format!(" {flag}")).collect()
}

#[cfg(all(test, feature = "measure"))]
mod tests {
    use super::*;
    use crate::terminal::fixture::run;
    use mpps_record::{Destinations, NETWORKS};

    #[test]
    fn a_command_tells_the_cost_of_modifiers() {
        let mut run = run("");
        assert_eq!(compare_command(&run), None);
        run.plan.traffic.queries_per_s = Some(1);
        run.plan.traffic.destinations = Some(Destinations {
            from: format!("256 {NETWORKS}"),
            prefixes: 256,
            ..Destinations::default()
        });
        let told = compare_command(&run).expect("modifiers");
        let flags = "--b '--management-traffic 1 --networks 256'\n";
        assert!(told.ends_with(flags), "{told}");
        run.plan.frames = vec!["128".to_owned()];
        run.plan.traffic.flows = 64;
        run.plan.traffic.family = "ipv6".to_owned();
        run.plan.traffic.bidirectional = true;
        let told = compare_command(&run).expect("modifiers");
        let flags = "--networks 256' -6 --frame 128 --flows 64 --bidirectional\n";
        assert!(told.ends_with(flags), "{told}");
        run.job = "compare".to_owned();
        assert_eq!(compare_command(&run), None);
    }
}
