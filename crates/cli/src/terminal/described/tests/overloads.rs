use super::Outcome;
use mpps_record::{Other, OverloadLine, OverloadSecond, Recovered};

#[test]
fn many_seconds_share_a_row() {
    let second = |at: u64| OverloadSecond {
        length_ns: 1_000_000_000,
        offered_fps: 5_000_000,
        forwarding_fps: 1_400_000 + at * 20_000,
        asked: Some(10),
        answered: Some(10 - at % 2),
        ..OverloadSecond::default()
    };
    let mut size = OverloadLine {
        frame: "64".to_owned(),
        receiver: None,
        load: "5x".to_owned(),
        asked_ns: 24_000_000_000,
        after_ns: 24_000_000_000,
        max_forwarding_fps: Some(1_500_000),
        forwarding_at_most_fps: None,
        overload_fps: Some(5_000_000),
        after_fps: Some(750_000),
        seconds: (0..24).map(second).collect(),
        management: None,
        trial: Some(17),
        verdict: None,
        verdict_text: Some("lossy".to_owned()),
        recovered: Recovered::Recovered,
        recovery_ns: Some(0),
        max_forwarding_afterwards_fps: None,
        watching_ns: 24_000_000,
        why: None,
        doubts: Vec::new(),
        other: Other::new(),
    };
    let text = vec![size.clone()].text(&super::Run::default(), false);
    for wanted in [
        "Lasting overload: 24.0 s, 5 times the maximum forwarding rate asked for, then 24.0 s at",
        "23-24    5.00M      1.85M   1.84M    1.86M  19 of 20\n",
        "the tester can offer at most 5 000 000 frames/s\n",
        "took 0.1 % of the tester's CPU\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let each = vec![size.clone()].text(&super::Run::default(), true);
    assert!(each.lines().count() == text.lines().count() + 12, "{each}");
    size.load = "max".to_owned();
    let title = "Lasting overload: 24.0 s, all that the tester can offer, then";
    let text = vec![size].text(&super::Run::default(), false);
    assert!(
        text.starts_with(title) && !text.contains("at most"),
        "{text}"
    );
}
