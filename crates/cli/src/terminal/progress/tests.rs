use super::*;
use mpps_method::{Counts, CpuBusy, Direction, FrameSpec, Offer, Rate, Trial};

/// A tenth of a million frames, 1.2 % of them lost.
fn line_of(phase: Phase, colour: bool) -> String {
    let counts = Counts {
        intended: 100_000,
        sent: 100_000,
        received: 98_800,
        lost: 1_200,
        ..Counts::default()
    };
    let trial = Trial {
        offered: Rate::from_fps(1_500_000.0),
        duration: Span::from_millis(1000),
        directions: vec![Direction {
            counts,
            ..Direction::default()
        }],
        busy: vec![CpuBusy {
            cpu: 1,
            run_ns: 770_000_000,
            ..CpuBusy::default()
        }],
        ..Trial::default()
    };
    let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
    let offer = Offer {
        rate: trial.offered,
        duration: trial.duration,
    };
    let verdict = Verdict::Lossy { lost: 1_200 };
    let report = Report {
        number: 7,
        frames: &frames,
        phase,
        offer,
        trial: &trial,
        verdict: &verdict,
    };
    trial_line(7, &report, colour)
}

#[test]
fn a_trial_is_one_line() {
    assert_eq!(
        line_of(Phase::Search, false),
        "   7  64       search   1.500 Mfps    1 s  lossy        DUT  77 % busy  1 200 lost (1.200 %)"
    );
}

#[test]
fn a_burst_has_a_length_and_no_share_of_time() {
    assert_eq!(
        line_of(Phase::Burst, false),
        "   7  64       burst       100 000 frames  lossy        1 200 lost (1.200 %)"
    );
}

#[test]
fn loss_is_red_where_there_is_colour() {
    let line = line_of(Phase::Search, true);
    assert!(line.starts_with("\x1b[31m   7  64"), "{line:?}");
    assert!(line.ends_with("\x1b[0m"), "{line:?}");
}

/// A size after these trials of the search: load and verdict.
fn size_of(trials: &[(f64, Verdict)]) -> Size {
    let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
    let mut size = Size::begin(Some(Duration::from_secs(30)));
    size.phase = PhaseSeen {
        frames: frames.to_string(),
        name: Phase::Search.name(),
        ..PhaseSeen::default()
    };
    for (fps, verdict) in trials {
        let mut trial = Trial {
            offered: Rate::from_fps(*fps),
            duration: Span::from_millis(100),
            ..Trial::default()
        };
        if matches!(verdict, Verdict::Void(_)) {
            trial.disturbed.time = trial.duration;
        }
        let offer = Offer {
            rate: trial.offered,
            duration: trial.duration,
        };
        size.add(&Report {
            number: 7,
            frames: &frames,
            phase: Phase::Search,
            offer,
            trial: &trial,
            verdict,
        });
    }
    size
}

#[test]
fn the_live_line_has_bounds_and_time_left() {
    let void = Verdict::Void(mpps_method::Void::Steal {
        cpu: 0,
        share: 0.05,
        bound: 0.01,
    });
    let size = size_of(&[
        (1e6, Verdict::Lossless),
        (1.5e6, Verdict::Lossy { lost: 3 }),
        (1.2e6, Verdict::Lossless),
        (1.3e6, void),
    ]);
    let live = size.live(Rate::from_fps(1.3e6));
    let (before, left) = live.rsplit_once("  ").expect("columns");
    assert_eq!(
        before,
        "64  search  1.300 Mfps  lossless to 1.200 Mfps, lossy from 1.500 Mfps  25 % disturbed, 1 void"
    );
    assert!(left.ends_with(" s left"), "{live}");
    assert_eq!(
        size.ended(),
        "64: search: 4 trials, 1 void; lossless to 1.200 Mfps, lossy from 1.500 Mfps"
    );
}

#[test]
fn a_wire_beside_a_fixed_load_is_no_overload() {
    assert_eq!(phase(Phase::Fixed, ""), "fixed");
    assert_eq!(phase(Phase::Wire, "fixed"), "fixed");
    assert_eq!(phase(Phase::Wire, "latency"), "latency");
    assert_eq!(phase(Phase::Wire, ""), "overload");
    assert_eq!(phase(Phase::Wire, "overload"), "overload");
}
