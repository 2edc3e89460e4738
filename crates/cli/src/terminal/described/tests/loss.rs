use super::Outcome;
use mpps_record::{CurveLine, CurvePoint, Doubt, LimitedBy, Measured, SeriesEnd, Verdict};

fn point(percent: u64, lost: u64, verdict: Verdict) -> CurvePoint {
    let sent = percent * 10_000;
    let counts = matches!(verdict, Verdict::Lossless | Verdict::Lossy);
    CurvePoint {
        load_share: percent as f64 / 100.0,
        load_fps: sent,
        measured: counts.then(|| Measured {
            offered_fps: sent,
            forwarding_fps: sent - lost,
            undisturbed_ns: 1_000_000_000,
            disturbed_lost_frames: 0,
            sent_frames: sent,
            lost_frames: lost,
            loss_ratio: lost as f64 / sent as f64,
            dut_busiest_cpu_share: Some(0.5),
        }),
        verdict_text: verdict.to_string(),
        verdict,
        trial: 1,
        void_trials: 3,
    }
}

fn told(loads: Vec<CurvePoint>, end: SeriesEnd) -> String {
    let text = vec![curve(loads, end)].text(&super::Run::default(), false);
    assert_eq!(text.matches("- something").count(), 1, "{text}");
    text
}

fn curve(loads: Vec<CurvePoint>, end: SeriesEnd) -> CurveLine {
    let doubt = Doubt {
        name: "x".to_owned(),
        seen: "something".to_owned(),
        ..Doubt::default()
    };
    CurveLine {
        frame: "imix".to_owned(),
        simulated: false,
        receiver: None,
        highest_fps: Some(1_000_000),
        highest_limited_by: Some(LimitedBy::Tester),
        step_share: 0.1,
        trial_ns: 1_000_000_000,
        loads,
        end,
        why: Some("interrupted".to_owned()),
        overload_trials: Vec::new(),
        doubts: vec![doubt.clone(), doubt],
        other: serde_json::Map::new(),
    }
}

#[test]
fn doubts_of_many_frame_sizes_are_counted() {
    let lossless = || curve(vec![point(90, 0, Verdict::Lossless)], SeriesEnd::CutShort);
    let mut curves: Vec<CurveLine> = (0..7).map(|_| lossless()).collect();
    for (at, curve) in curves.iter_mut().enumerate() {
        curve.doubts.truncate(usize::from(at < 6));
    }
    let text = curves.text(&super::Run::default(), false);
    assert!(
        text.contains("- something (in 6 of 7 frame sizes)"),
        "{text}"
    );
}

#[test]
fn each_end_is_a_sentence() {
    let (lossy, lossless, void) = (Verdict::Lossy, Verdict::Lossless, Verdict::Void);
    let at = |percent, lost: u64| match lost {
        0 => point(percent, 0, lossless.clone()),
        lost => point(percent, lost, lossy.clone()),
    };
    for (loads, end, wanted) in [
        (
            vec![at(100, 0), at(90, 0)],
            SeriesEnd::TwoLossless,
            "imix: nothing lost up to 100 % (1.00M frames/s).\n",
        ),
        (
            vec![at(100, 10), at(90, 0), at(80, 2), at(70, 0)],
            SeriesEnd::CutShort,
            "imix: nothing lost up to 70 % (700k frames/s); at 80 % (800k frames/s) under 0.001 % lost, 800k forwarded; at 100 %",
        ),
        (
            vec![at(100, 10)],
            SeriesEnd::Budget,
            "the budget was spent: lower loads are not measured\n",
        ),
        (
            vec![point(100, 0, void), at(90, 900)],
            SeriesEnd::LowestLoad,
            "\n100 %: 4 trials, the last void\n",
        ),
        (Vec::new(), SeriesEnd::CutShort, "imix: not measured.\n"),
        (
            Vec::new(),
            SeriesEnd::CutShort,
            "\ncut short: interrupted\n",
        ),
    ] {
        let text = told(loads, end);
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn disturbances_and_unsent_loads_are_said() {
    let mut top = point(100, 0, Verdict::Lossless);
    let measured = top.measured.as_mut().expect("measured");
    (measured.offered_fps, measured.disturbed_lost_frames) = (970_000, 1_234);
    let text = told(
        vec![top, point(90, 0, Verdict::Lossless)],
        SeriesEnd::TwoLossless,
    );
    for wanted in [
        "nothing lost outside disturbances up to 100 % (970k frames/s).\n",
        "verdict    load  intended  offered  forwarded  lost  loss  left out  DUT busy  trial\n",
        "lossless  100 %     1.00M     970k      1.00M     0   0 %     1 234      50 %      1\n",
        "lossless   90 %         -     900k       900k     0   0 %         -      50 %      1\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn trials_that_were_cut_short_have_their_length() {
    let short = |percent, ms: u64| {
        let mut load = point(percent, 10, Verdict::Lossy);
        let measured = load.measured.as_mut().expect("measured");
        measured.undisturbed_ns = ms * 1_000_000;
        load
    };
    let whole = point(80, 0, Verdict::Lossless);
    let text = told(vec![short(100, 300), whole.clone()], SeriesEnd::TwoLossless);
    for wanted in ["  counted  ", "  300 ms  ", "        -      50 %"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let text = told(vec![short(100, 997), whole], SeriesEnd::TwoLossless);
    assert!(!text.contains("counted"), "{text}");
}

#[test]
fn loads_that_were_not_measured_are_counted() {
    let void = |percent| point(percent, 0, Verdict::Void);
    let loads = vec![
        void(100),
        void(90),
        void(80),
        point(70, 0, Verdict::Lossless),
    ];
    let text = told(loads, SeriesEnd::Budget);
    assert_eq!(text.matches("4 trials, the last void").count(), 1, "{text}");
    let wanted = "2 more of 4 loads were not measured (-v: why)\n";
    assert!(text.contains(wanted), "{text}");
}
