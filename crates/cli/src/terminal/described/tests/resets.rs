use super::Outcome;
use mpps_record::{Doubt, Other, Recovered, RecoveryTrial, ResetLine, ResetTrial, Verdict};
use mpps_report::sentence;

fn told(recovered: Recovered, frame_loss_ns: Option<u64>) -> String {
    vec![line(recovered, frame_loss_ns)].text(&super::Run::default(), false)
}

fn line(recovered: Recovered, frame_loss_ns: Option<u64>) -> ResetLine {
    let trial = ResetTrial {
        tried: RecoveryTrial {
            trial: 7,
            void_trials: 0,
            verdict: Verdict::Lossy,
            verdict_text: "lossy: 2 000 lost".to_owned(),
            recovered,
            recovery_ns: frame_loss_ns,
            lost_frames: 2_000,
        },
        time_stamp_ns: frame_loss_ns.map(|ns| ns + 100_000),
        disturbed_lost_frames: Some(0),
        unsent_frames: Some(0),
        resolution_ns: 20_000,
        took_ns: 1_500_000,
        rest_ns: 1_500_000_000,
        before_fps: frame_loss_ns.map(|_| 1_000_000),
        after_fps: frame_loss_ns.map(|_| 999_000),
    };
    ResetLine {
        frame: "64".to_owned(),
        receiver: None,
        reset: "link".to_owned(),
        hold_ns: 0,
        load_fps: Some(1_000_000),
        frame_loss_ns,
        time_stamp_ns: trial.time_stamp_ns,
        trials: vec![trial],
        why: None,
        doubts: Vec::new(),
        other: Other::new(),
    }
}

#[test]
fn both_methods_are_told() {
    let text = told(Recovered::Recovered, Some(2_000_000));
    for wanted in [
        "64 B, link: nothing was forwarded for 2.00 ms by frame loss, 2.10 ms by time stamps, \
         at 1.00M frames/s (medians of 1 trial). By frame loss it was 2.00 ms to 2.00 ms.\n",
        "    7  recovered  2.00 ms         2.10 ms     1.50 ms            1.00M   999k  2 000\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let unnoticed = told(Recovered::Recovered, Some(0));
    let wanted = "64 B, link: no frame was lost by the reset (1 trial), at 1.00M frames/s. By time stamps nothing arrived for 100 µs.";
    assert!(unnoticed.contains(wanted), "{unnoticed}");
}

#[test]
fn a_median_of_fewer_trials_says_so() {
    let mut line = line(Recovered::Recovered, Some(2_000_000));
    line.trials.push(line.trials[0].clone());
    line.trials[1].time_stamp_ns = None;
    let told = sentence::reset(&line);
    let wanted = "for 2.00 ms by frame loss, 2.10 ms (in 1 of 2 trials) by time stamps, at 1.00M frames/s (medians of 2 trials). ";
    assert!(told.contains(wanted), "{told}");
}

#[test]
fn a_part_held_away_and_a_median_of_nothing_are_told() {
    let mut line = line(Recovered::Recovered, Some(108_000_000));
    line.hold_ns = 100_000_000;
    let told = sentence::reset(&line);
    let wanted = ". By frame loss it was 108 ms to 108 ms. --hold took 100 ms of this time";
    assert!(told.contains(wanted), "{told}");
    line = self::line(Recovered::Recovered, Some(60_700_000));
    for _ in 0..2 {
        line.trials.push(line.trials[0].clone());
    }
    for trial in &mut line.trials[1..] {
        trial.tried.recovery_ns = Some(0);
    }
    (line.frame_loss_ns, line.time_stamp_ns) = (Some(0), None);
    assert_eq!(
        sentence::reset(&line),
        "64 B, link: no frame was lost in 2 of 3 trials, at 1.00M frames/s. In the others nothing was forwarded for up \
         to 60.7 ms by frame loss"
    );
}

#[test]
fn a_doubt_names_frame_and_reset() {
    let line = |reset: &str, seen: &str| ResetLine {
        frame: "78".to_owned(),
        receiver: None,
        reset: reset.to_owned(),
        hold_ns: 0,
        load_fps: None,
        trials: Vec::new(),
        frame_loss_ns: None,
        time_stamp_ns: None,
        why: None,
        doubts: vec![Doubt {
            name: "methods-disagree".to_owned(),
            seen: seen.to_owned(),
            ..Doubt::default()
        }],
        other: Other::new(),
    };
    let text =
        vec![line("link", "2 ms"), line("routes", "3 ms")].text(&super::Run::default(), false);
    let wanted = "- 2 ms (78, link; similar: 78, routes)\n";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn what_did_not_come_back_has_no_number() {
    let text = told(Recovered::NotRecovered, None);
    let wanted = "64 B, link: not recovered within 1.50 s after the reset, at 1.00M frames/s.\n";
    assert!(text.contains(wanted), "{text}");
    let text = told(Recovered::NotMeasured, None);
    assert!(
        text.contains("64 B, link: reset time not measured.\n"),
        "{text}"
    );
}
