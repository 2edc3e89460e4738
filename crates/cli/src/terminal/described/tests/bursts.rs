use super::Outcome;
use mpps_record::{BurstLine, BurstSearch, BurstSum, Doubt, Other};

fn size() -> BurstLine {
    let search = |longest_frames| BurstSearch {
        longest_frames,
        lossy_frames: longest_frames + 40,
        burst_fps: 2_003_000,
        buffer_frames: 2_040.4,
    };
    BurstLine {
        frame: "64".to_owned(),
        receiver: None,
        max_forwarding_fps: Some(1_523_000),
        searches: vec![search(8_100), search(8_300)],
        all: Some(BurstSum {
            average_frames: 8_200.0,
            least_frames: 8_100,
            most_frames: 8_300,
            deviation_frames: Some(141.4),
            burst_fps: 2_003_000,
            implied_buffer_ns: 4_093_859,
            corrected_buffer_ns: Some(981_054),
        }),
        all_passed_frames: None,
        own_ring_frames: Some(2_048),
        why: Some("interrupted".to_owned()),
        doubts: vec![Doubt {
            seen: "something".to_owned(),
            ..Doubt::default()
        }],
        other: Other::new(),
    }
}

#[test]
fn the_beds_own_ring_is_named() {
    let text = vec![size()].text(&super::Run::default(), false);
    for wanted in [
        "64 B: longest burst without loss 8 200 frames (8 100 to 8 300 in 2 searches). The buffer time is 4.09 \
         ms, corrected 981 µs. This is the bed's own ring of 2 048 frames, not the router's.\n",
        "search  longest  lossy from  frames/s  buffer\n",
        "     1    8 100       8 140     2.00M   2 040\n",
        "standard deviation of the longest burst: 141 frames\n",
        "meanwhile, 1.52M frames/s\n",
        "cut short: interrupted\n\nDoubts\n- something\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let mut device = size();
    device.own_ring_frames = None;
    let text = vec![device].text(&super::Run::default(), false);
    assert!(text.contains("corrected 981 µs.\n"), "{text}");
}

#[test]
fn no_longest_burst_is_said() {
    let none = BurstLine {
        searches: Vec::new(),
        all: None,
        ..size()
    };
    let text = vec![none.clone()].text(&super::Run::default(), false);
    assert!(
        text.contains("64 B: longest burst not measured.\n"),
        "{text}"
    );
    let passed = BurstLine {
        all_passed_frames: Some(4_000_000),
        ..none
    };
    let text = vec![passed].text(&super::Run::default(), false);
    let wanted =
        "64 B: no burst of up to 4 000 000 frames lost any, so the router forwards as fast";
    assert!(text.contains(wanted), "{text}");
}
