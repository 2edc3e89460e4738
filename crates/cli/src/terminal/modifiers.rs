//! The modifiers that a run was measured with (RFC 2544 sections 11 and 12).

use mpps_record::{EndLine, Modifier, Queries, RunLine};

/// What a run was measured with, and below its results the answers to management queries
/// and the command that tells what modifiers cost. `None`: no modifier, or a comparison, whose
/// variants have modifiers of their own.
pub fn modified(run: &RunLine, end: Option<&EndLine>) -> Option<(String, String)> {
    let modifiers = run.modifiers();
    if modifiers.is_empty() || run.job == "compare" {
        return None;
    }
    let listed = |each: fn(&Modifier) -> &str, between: &str| {
        let words: Vec<&str> = modifiers.iter().map(each).collect();
        words.join(between)
    };
    let with = listed(|modifier| &modifier.words, ", ");
    let flags = listed(|modifier| &modifier.flag, " ");
    let answers = |Queries { asked, answered }| {
        format!(
            "management queries answered: {answered} of {asked}
"
        )
    };
    let queries = end.and_then(|end| end.queries);
    let below = queries.map_or(String::new(), answers)
        + &format!(
            "what this costs a frame: mpps compare --a none --b '{flags}'{}
",
            of_all(run)
        );
    Some((format!("Measured with {with}.\n"), below))
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
    use crate::terminal::report::tests::run;
    use mpps_record::{Destinations, NETWORKS, Other};

    #[test]
    fn a_run_says_its_modifiers_and_what_tells_their_cost() {
        let mut run = run("");
        assert_eq!(modified(&run, None), None);
        run.plan.traffic.queries_per_s = Some(1);
        run.plan.traffic.destinations = Some(Destinations {
            from: format!("256 {NETWORKS}"),
            prefixes: 256,
            ..Destinations::default()
        });
        let end = EndLine {
            route_changes: None,
            queries: Some(Queries {
                asked: 10,
                answered: 8,
            }),
            ended_utc: String::new(),
            exit_code: 0,
            error: None,
            trials: 2,
            other: Other::new(),
        };
        let (with, below) = modified(&run, Some(&end)).expect("modifiers");
        assert!(
            with.contains("256 networks (RFC 2544 section 12)"),
            "{with}"
        );
        assert!(
            below.starts_with("management queries answered: 8 of 10\n"),
            "{below}"
        );
        let flags = "--b '--management-traffic 1 --networks 256'\n";
        assert!(below.ends_with(flags), "{below}");
        run.plan.frames = vec!["128".to_owned()];
        run.plan.traffic.flows = 64;
        run.plan.traffic.family = "ipv6".to_owned();
        run.plan.traffic.bidirectional = true;
        let (_, below) = modified(&run, None).expect("modifiers");
        let flags = "--networks 256' -6 --frame 128 --flows 64 --bidirectional\n";
        assert!(below.ends_with(flags), "{below}");
        run.job = "compare".to_owned();
        assert_eq!(modified(&run, Some(&end)), None);
    }
}
