use super::*;
use crate::terminal::fixture;
use crate::terminal::report::tests::run as begun;
use mpps_record::{
    BurstSum, CurvePoint, Histogram, LatencyLoad, LatencyTimes, Measured, Other, Part, PathLatency,
    ResultLine, SeriesEnd, Verdict,
};

fn latency(why: Option<&str>) -> LatencyLine {
    let times = LatencyTimes::from(Histogram(vec![(21_999, 980), (40_959, 20)]));
    LatencyLine {
        frame: "64".to_owned(),
        receiver: None,
        throughput_fps: Some(1_380_000),
        throughput_given: false,
        loads: vec![LatencyLoad {
            load_share: Some(1.0),
            load_fps: 1_380_000,
            router: PathLatency {
                trials: vec![1],
                times,
                ..PathLatency::default()
            },
            bed: None,
        }],
        why: why.map(str::to_owned),
        doubts: Vec::new(),
        other: Other::new(),
    }
}

fn curve() -> CurveLine {
    CurveLine {
        frame: "64".to_owned(),
        simulated: false,
        receiver: None,
        highest_fps: Some(2_030_000),
        highest_limited_by: None,
        step_share: 0.1,
        trial_ns: 1_000_000_000,
        loads: vec![CurvePoint {
            load_share: 1.0,
            load_fps: 2_030_000,
            measured: Some(Measured {
                offered_fps: 2_030_000,
                forwarding_fps: 1_400_000,
                undisturbed_ns: 0,
                sent_frames: 2_030_000,
                lost_frames: 629_300,
                disturbed_lost_frames: 0,
                loss_ratio: 0.31,
                dut_busiest_cpu_share: None,
            }),
            verdict: Verdict::Lossy,
            verdict_text: String::new(),
            trial: 1,
            void_trials: 0,
        }],
        end: SeriesEnd::LowestLoad,
        why: None,
        overload_trials: Vec::new(),
        doubts: Vec::new(),
        other: Other::new(),
    }
}

fn bursts() -> BurstLine {
    BurstLine {
        frame: "64".to_owned(),
        receiver: None,
        max_forwarding_fps: None,
        searches: Vec::new(),
        all: Some(BurstSum {
            average_frames: 8_200.4,
            ..BurstSum::default()
        }),
        all_passed_frames: None,
        own_ring_frames: None,
        why: None,
        doubts: Vec::new(),
        other: Other::new(),
    }
}

fn reset(part: &str, frame_loss_ns: u64, why: Option<&str>) -> ResetLine {
    ResetLine {
        frame: "64".to_owned(),
        receiver: None,
        reset: part.to_owned(),
        hold_ns: 0,
        load_fps: None,
        trials: Vec::new(),
        frame_loss_ns: Some(frame_loss_ns),
        time_stamp_ns: None,
        why: why.map(str::to_owned),
        doubts: Vec::new(),
        other: Other::new(),
    }
}

/// One of all parts with two frame sizes, of which the second was not begun.
fn run() -> Run {
    let mut begin = begun("");
    begin.plan.frames = vec!["64".to_owned(), "1518".to_owned()];
    let part = |verb: &str, shortened: Option<&str>| Part {
        verb: verb.to_owned(),
        section: "26".to_owned(),
        rule: "as it is done".to_owned(),
        shortened_from: shortened.map(str::to_owned),
    };
    begin.plan.parts = vec![
        part("throughput", Some("trials of 60 s")),
        part("latency", None),
        part("loss", None),
        part("back-to-back", None),
        part("reset", None),
    ];
    let mut run = Run::new("run");
    run.add(begin);
    run.add(fixture::line());
    run.add(latency(Some("interrupted")));
    run.add(curve());
    run.add(bursts());
    run.add(reset("link", 1_500_000, None));
    run.add(reset("routes", 2_000_000, Some("too disturbed")));
    run
}

#[test]
fn a_partial_run_is_said_to_be_partial() {
    let text = suite(&run(), "a machine", false);
    let wanted = "RFC 2544 section 26: 3 of 10 parts measured in full\n\
        PARTIAL: the run ended before 5 of 10 parts had a result\n\
        \na machine\n\
        \nframe  without loss      p50      p99    loss at max  burst  recovery    reset\n\
        64            1.38M  22.0 µs  41.0 µs  31 % of 2.03M  8 200         -  2.00 ms\n\
        1518              -        -        -              -      -         -        -\n\
        frames/s; p50, p99: one-way latency at that rate; loss at the highest load; burst: the longest\n\
        without loss; reset: the longest time without forwarding, by frame loss\n\
        \nShortened, so these are estimates\n\
        - throughput (26): as it is done; RFC 2544 asks for trials of 60 s\n\
        \nNot as planned\n\
        - 64 B latency: interrupted\n\
        - 64 B reset, routes: too disturbed\n";
    assert_eq!(text, wanted);
}

#[test]
fn a_latency_at_another_rate_says_so() {
    let mut run = run();
    run.results = vec![ResultLine {
        frame: "64".to_owned(),
        why: Some("too disturbed".to_owned()),
        ..ResultLine::default()
    }];
    let text = suite(&run, "", false);
    for wanted in [
        "- 64 B throughput: too disturbed\n",
        "- 64 B latency: at 1.38M frames/s, as a search of its own found it\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn a_rate_is_a_throughput_if_all_are() {
    let mut run = run();
    run.results[0].claim = Some(Claim::Throughput);
    let text = suite(&run, "", false);
    assert!(text.contains("\nframe  throughput      p50"), "{text}");
    run.results.push(fixture::line());
    assert_without(&run);
    run.results.clear();
    assert_without(&run);
}

fn assert_without(run: &Run) {
    let text = suite(run, "", false);
    assert!(text.contains("\nframe  without loss  "), "{text}");
}

#[test]
fn verbose_shows_each_parts_own_table() {
    let text = suite(&run(), "a machine", true);
    for wanted in [
        "Throughput (RFC 2544 section 26.1)\n",
        "Latency, one-way, every frame timed (RFC 2544 section 26.2",
        "Frame loss rate (RFC 2544 section 26.3)",
        "Back-to-back frames (RFC 2544 section 26.4",
        "Reset time (RFC 2544 section 26.6, RFC 6201)",
    ] {
        assert_eq!(text.matches(wanted).count(), 1, "{wanted}: {text}");
    }
    assert!(!text.contains("26.5"), "{text}");
}
