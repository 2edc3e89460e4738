use super::{Outcome, Run};
use crate::exit::Exit;
use mpps_record::{
    ComparisonLine, Difference, Doubt, Finding, Interval, Pairs, ReplayedFile, RouteChanges,
    ToldBy, Variant,
};
use mpps_report::if_slower;

fn comparison(line: &ComparisonLine, verbose: bool) -> String {
    vec![line.clone()].text(&Run::default(), verbose)
}

fn difference_exit(found: &Difference, allowed: Option<f64>) -> Exit {
    if_slower(found, allowed).into()
}

fn around<T: Copy>(low: T, median: T, high: T) -> Option<Interval<T>> {
    Some(Interval { low, median, high })
}

fn line() -> ComparisonLine {
    let slower = Difference {
        finding: Finding::Different,
        told_by: ToldBy::Rate,
        rate_change: around(-0.33, -0.31, -0.28),
        cost_ns: around(206.0, 231.0, 255.0),
        fixed_cost_ns: around(180.0, 190.4, 205.0),
        pairs: Some(Pairs {
            counted: 8,
            disturbed: 2,
            distance: 1,
            fixed: 6,
            ..Pairs::default()
        }),
        ..Difference::default()
    };
    let base = Variant {
        name: "none".to_owned(),
        forwarding_fps: around(801_000, 812_345, 822_000),
        ns_per_frame: around(1_210.0, 1_231.0, 1_249.0),
        overload_trials: vec![7, 10],
        ..Variant::default()
    };
    let conntrack = Variant {
        name: "conntrack".to_owned(),
        difference: Some(slower),
        ..base.clone()
    };
    ComparisonLine {
        frame: "64".to_owned(),
        fixed_fps: 421_000,
        variants: vec![base, conntrack],
        ..ComparisonLine::default()
    }
}

#[test]
fn a_comparison_is_a_sentence_then_a_table() {
    let text = comparison(&line(), false);
    assert_eq!(
        text,
        "Compared with none, in turns on one machine\n\n\
         64 B, conntrack against none: 231 ns more a frame for the router (206 to 255, 8 pairs): 31 % fewer frames/s.\n\n\
         variant    frames/s  ns a frame  turns\n\
         none           810k        1230      2\n\
         conntrack      810k        1230      2\n\
         ns a frame: CPU time at overload, and at the fixed load of 421k frames/s. The table has medians of all turns, \
         a sentence compares pairs of turns\n\
         conntrack: at the fixed load +190 ns a frame (+180 to +205, 6 pairs)\n\
         conntrack: 3 of 11 pairs left out: 2 because the machine disturbed them, 1 because the machine was not \
         in one state\n"
    );
    let verbose = comparison(&line(), true);
    assert!(verbose.contains("810k (800k to 820k)"), "{verbose}");
}

#[test]
fn a_cost_at_the_fixed_load_that_is_unknown_is_said() {
    let mut line = line();
    if let Some(difference) = line.variants[1].difference.as_mut() {
        difference.fixed_cost_ns = None;
    }
    let text = comparison(&line, false);
    let wanted =
        "conntrack: at the fixed load no cost is told: pairs that count there are too few (6)\n";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn a_run_that_was_cut_short_is_given_no_advice() {
    let advice = "run again when the machine is quieter";
    let mut line = line();
    line.variants[1].difference = Some(Difference::default());
    assert!(comparison(&line, false).contains(advice));
    line.why = Some("interrupted".to_owned());
    assert!(!comparison(&line, false).contains(advice));
}

#[test]
fn a_failure_and_its_doubts_are_said() {
    let doubt = Doubt {
        name: "host-changed".to_owned(),
        seen: "a setting changed".to_owned(),
        ..Doubt::default()
    };
    let failed = ComparisonLine {
        fail_if_slower_share: Some(0.03),
        doubts: vec![doubt],
        why: Some("interrupted".to_owned()),
        ..line()
    };
    let text = comparison(&failed, false);
    for wanted in [
        "conntrack: FAILED: 31 % fewer frames/s, more than the 3 % allowed\n",
        "cut short: interrupted\n",
        "a setting changed",
    ] {
        assert!(text.contains(wanted), "{text}");
    }
    let allowed = ComparisonLine {
        fail_if_slower_share: Some(0.4),
        ..line()
    };
    assert!(!comparison(&allowed, false).contains("FAILED"));
}

#[test]
fn route_changes_are_said_of_each_variant() {
    let made = |added| RouteChanges {
        added,
        due: 1_000,
        time_ns: 1_000_000_000,
        ..RouteChanges::default()
    };
    let mut line = line();
    assert!(!comparison(&line, false).contains("Routes changed"));
    line.variants[1].replayed = Some(ReplayedFile {
        from: "day.xz".to_owned(),
        speed: "1000/s".to_owned(),
        ..ReplayedFile::default()
    });
    line.variants[1].route_changes = Some(made(970));
    let text = comparison(&line, false);
    let wanted = "conntrack: Routes changed 970 times a second during each trial (asked 1000/s, 1\u{202f}000 due) by day.xz";
    assert!(text.contains(wanted), "{text}");
    assert!(!text.contains("none: Routes changed"), "{text}");
}

#[test]
fn only_a_slowdown_that_was_shown_fails() {
    let change = |finding: Finding, median: f64| Difference {
        finding,
        rate_change: Some(Interval {
            low: median - 0.02,
            median,
            high: median + 0.02,
        }),
        ..Difference::default()
    };
    let exit = |finding, median, allowed| difference_exit(&change(finding, median), allowed);
    assert_eq!(exit(Finding::Different, -0.05, Some(0.03)), Exit::NotMet);
    assert_eq!(exit(Finding::Different, -0.05, Some(0.06)), Exit::Measured);
    assert_eq!(exit(Finding::Different, -0.05, None), Exit::Measured);
    assert_eq!(exit(Finding::Different, 0.5, Some(0.03)), Exit::Measured);
    // It may be slower by 7 %, by 3 % at most, by nobody knows how much.
    let open = [(-0.05, Exit::Undecided), (-0.01, Exit::Measured)];
    for (median, wanted) in open {
        assert_eq!(exit(Finding::NotDecided, median, Some(0.03)), wanted);
        assert_eq!(exit(Finding::NotDecided, median, None), Exit::Measured);
    }
    // None as large as --within, which may be more than is allowed.
    let none = exit(Finding::NoDifference, -0.02, Some(0.03));
    assert_eq!(none, Exit::Undecided);
    let by_cost = |median: f64| Difference {
        told_by: ToldBy::Cost,
        cost_change: change(Finding::Different, median).rate_change,
        ..change(Finding::Different, 0.0)
    };
    assert_eq!(difference_exit(&by_cost(0.05), Some(0.03)), Exit::NotMet);
    assert_eq!(difference_exit(&by_cost(-0.05), Some(0.03)), Exit::Measured);
    let nothing = Difference::default();
    assert_eq!(difference_exit(&nothing, Some(0.03)), Exit::Undecided);
}
