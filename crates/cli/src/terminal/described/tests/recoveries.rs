use super::Outcome;
use mpps_record::{Other, Recovered, RecoveryLine, RecoveryTrial, Verdict};

fn trial(number: u32, recovered: Recovered, recovery_ns: Option<u64>) -> RecoveryTrial {
    RecoveryTrial {
        trial: number,
        void_trials: 2,
        verdict: Verdict::Lossy,
        verdict_text: "lossy: 1 234 lost".to_owned(),
        recovered,
        recovery_ns,
        lost_frames: 1_234,
    }
}

fn told(trials: Vec<RecoveryTrial>, average_ns: Option<u64>) -> String {
    let size = RecoveryLine {
        frame: "64".to_owned(),
        receiver: None,
        throughput_fps: Some(1_600_000),
        overload_fps: Some(1_760_000),
        overload_ns: 2_000_000_000,
        after_ns: 2_000_000_000,
        trials,
        average_ns,
        why: None,
        doubts: Vec::new(),
        other: Other::new(),
    };
    vec![size].text(&super::Run::default(), false)
}

#[test]
fn the_time_is_the_average_and_each() {
    let after = |number, ns| trial(number, Recovered::Recovered, Some(ns));
    let text = told(
        vec![after(7, 10_000_000), after(8, 14_000_000)],
        Some(12_000_000),
    );
    let at_once = told(vec![after(7, 0), after(8, 0)], Some(0));
    let wanted = "64 B: recovered at once: after the overload had ended no loss counts \
                  (2 of 2 trials). The overload was 1.76M frames/s (110 % of the throughput).\n";
    assert!(at_once.contains(wanted), "{at_once}");
    for wanted in [
        "26.5): 2.00 s of overload, then 2.00 s of half of it\n\n",
        "64 B: recovered 12.0 ms after the overload had ended (10.0 ms to 14.0 ms in 2 of 2 trials). \
         The overload was 1.76M frames/s (110 % of the throughput).\n",
        "trial  result     recovery   lost\n    7  recovered   10.0 ms  1 234\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn what_is_no_recovery_is_a_sentence_of_its_own() {
    for (recovered, wanted) in [
        (
            Recovered::NotRecovered,
            "64 B: not recovered: at half of the overload, frames were lost",
        ),
        (
            Recovered::NotOverloaded,
            "64 B: no frame was lost at the overload, so there",
        ),
        (Recovered::NotMeasured, "64 B: recovery not measured.\n"),
        (
            Recovered::NotMeasured,
            "trial 7: 3 trials, the last lossy: 1 234 lost\n",
        ),
    ] {
        let text = told(vec![trial(7, recovered, None)], None);
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let several = vec![trial(7, Recovered::NotMeasured, None); 3];
    let text = told(several, None);
    assert_eq!(text.matches("3 trials, the last").count(), 1, "{text}");
    let wanted = "2 more of 3 trials were not measured (-v: why)\n";
    assert!(text.contains(wanted), "{text}");
    assert!(told(Vec::new(), None).contains("64 B: recovery not measured.\n"));
}
