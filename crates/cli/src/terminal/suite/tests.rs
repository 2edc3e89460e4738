use super::*;
use crate::terminal::fixture;
use crate::terminal::fixture::run as begun;
use mpps_record::{
    BurstLine, BurstSum, CurveLine, CurvePoint, Histogram, LatencyLine, LatencyLoad, LatencyTimes,
    LimitedBy, Measured, Other, Part, PathLatency, RateIs, Recovered, RecoveryLine, RecoveryTrial,
    ResultLine, SeriesEnd, Verdict,
};

fn latency(why: Option<&str>) -> LatencyLine {
    let times = LatencyTimes::from(Histogram(vec![(21_999, 980), (40_959, 20)]));
    LatencyLine {
        frame: "64".to_owned(),
        receiver: None,
        throughput_fps: Some(1_380_000),
        throughput_given: false,
        cpus_awake: true,
        loads: vec![LatencyLoad {
            load_share: Some(1.0),
            load_fps: 1_380_000,
            instead_of_fps: None,
            batch_frames: None,
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
    ];
    let mut run = Run::new("run");
    run.add(begin);
    run.add(fixture::line());
    run.add(latency(Some("interrupted")));
    run.add(curve());
    run.add(bursts());
    run
}

#[test]
fn a_partial_run_is_said_to_be_partial() {
    let run = run();
    let text = suite(&run, false);
    let machine = machine_line(run.begin.as_ref().expect("begun"));
    let wanted = "RFC 2544 section 26: 3 of 8 parts measured as planned\n\
        PARTIAL: the run ended before 4 of 8 parts had a result\n\
        \n@MACHINE\n\
        \nframe  without loss      p50      p99    loss at max  max burst\n\
        64            1.38M  22.0 µs  41.0 µs  31 % of 2.03M      8 200\n\
        1518              -        -        -              -          -\n\
        frames/s; p50, p99: one-way latency at that rate, unless noted below (*: at a lower rate; ?: too few frames took longer); loss at the highest load\n\
        \nShortened, so these are estimates\n\
        - throughput (26): as it is done; RFC 2544 asks for trials of 60 s\n\
        \nNot as planned\n\
        - 64 B latency: interrupted\n";
    assert_eq!(text, wanted.replace("@MACHINE", &machine));
}

#[test]
fn a_latency_at_another_rate_says_so() {
    let mut run = run();
    run.results = vec![ResultLine {
        frame: "64".to_owned(),
        why: Some("too disturbed".to_owned()),
        ..ResultLine::default()
    }];
    let text = suite(&run, false);
    for wanted in [
        "- 64 B throughput: too disturbed\n",
        "- 64 B latency: at 1.38M frames/s, as a search of its own found it\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn a_load_that_cannot_be_offered_is_named() {
    let mut run = run();
    let line = &mut run.latencies[0];
    line.why = None;
    let mut instead = line.loads[0].clone();
    (instead.load_share, instead.load_fps) = (None, 1_200_000);
    instead.instead_of_fps = Some(line.loads[0].load_fps);
    line.loads[0].router = PathLatency {
        left_out_verdict: Some(Verdict::NotOffered),
        ..PathLatency::default()
    };
    line.loads.push(instead);
    let text = suite(&run, false);
    let wanted = "- 64 B latency: 100 %: the tester could not offer this load, \
                  1.38M frames/s; 1.20M was offered instead\n";
    assert!(text.contains(wanted), "{text}");
    // The time is that at the lower load.
    assert!(text.contains("1.38M  22.0 µs*  41.0 µs*"), "{text}");
}

#[test]
fn what_may_be_misread_is_explained() {
    let mut run = run();
    run.bursts[0].own_ring_frames = Some(4_096);
    let plan = &mut run.begin.as_mut().expect("begun").plan;
    plan.parts.push(Part {
        verb: "recovery".to_owned(),
        ..Part::default()
    });
    let trial = |recovered, why: &str| RecoveryTrial {
        trial: 1,
        void_trials: 0,
        verdict: Verdict::Lossless,
        verdict_text: why.to_owned(),
        recovered,
        recovery_ns: None,
        lost_frames: 0,
    };
    run.recoveries = vec![RecoveryLine {
        frame: "64".to_owned(),
        receiver: None,
        throughput_fps: None,
        overload_fps: None,
        overload_ns: 0,
        after_ns: 0,
        trials: vec![
            trial(Recovered::NotOverloaded, ""),
            trial(Recovered::NotMeasured, "void: disturbed"),
        ],
        average_ns: None,
        why: None,
        doubts: Vec::new(),
        other: Other::new(),
    }];
    let text = suite(&run, false);
    for wanted in [
        "max burst     recovery\n",
        "    8 200  no overload\n",
        "max burst: the bed's own ring of 4 096 frames took it, not the router's\n",
        "no overload: at 110 % of that rate no frame was lost",
        "- 64 B recovery: trial 1: void: disturbed\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn a_rate_is_a_throughput_if_all_are() {
    let mut run = run();
    run.results[0].claim = Some(mpps_record::Claim::Throughput);
    let text = suite(&run, false);
    assert!(text.contains("\nframe  throughput      p50"), "{text}");
    run.results.push(fixture::line());
    assert_without(&run);
    run.results.clear();
    assert_without(&run);
}

fn assert_without(run: &Run) {
    let text = suite(run, false);
    assert!(text.contains("\nframe  without loss  "), "{text}");
}

#[test]
fn verbose_shows_each_parts_own_table() {
    let text = suite(&run(), true);
    for wanted in [
        "Throughput (RFC 2544 section 26.1)\n",
        "Latency, one-way, every frame timed (RFC 2544 section 26.2",
        "Frame loss rate (RFC 2544 section 26.3)",
        "Back-to-back frames (RFC 2544 section 26.4",
    ] {
        assert_eq!(text.matches(wanted).count(), 1, "{wanted}: {text}");
    }
    assert!(!text.contains("26.5"), "{text}");
}

#[test]
fn a_rate_is_rounded_as_throughputs_own_table_does() {
    for (rate_is, cell) in [
        (RateIs::Equal, " 1.60M "),
        (RateIs::AtLeast, " >= 1.60M "),
        (RateIs::Below, " < 1.61M "),
    ] {
        let mut run = run();
        run.results = vec![ResultLine {
            rate_is: Some(rate_is),
            rate_fps: Some(1_606_000),
            lossy_fps: Some(1_640_000),
            ..fixture::line()
        }];
        let text = suite(&run, false);
        assert!(text.contains(cell), "{cell}: {text}");
    }
}

#[test]
fn a_search_that_ended_early_is_not_measured_in_full() {
    let mut run = run();
    run.results[0].limited_by = Some(LimitedBy::Trials);
    let text = suite(&run, false);
    assert!(
        text.contains(": 2 of 8 parts measured as planned\n"),
        "{text}"
    );
    assert!(
        text.contains("- 64 B throughput: the search ended early"),
        "{text}"
    );
}
