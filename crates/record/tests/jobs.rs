//! Lines of latency, back-to-back, recovery and explain are read back as they were written.

use mpps_record::{
    Body, BurstLine, BurstSearch, BurstSum, CampaignLine, CellLine, Check, EffectsLine,
    FoldedStack, Histogram, Interval, LatencyLine, LatencyLoad, LatencyTimes, Looked,
    ManagementPath, MemoryLatency, Other, OverloadLine, OverloadSecond, PartCost, PathLatency,
    ProfileLine, ProfiledLoad, Recovered, RecoveryLine, RecoveryTrial, Run, SettingEffect,
    Statement, SweepLine, SweepPoint, Verdict, read, to_line,
};

fn read_back<T: Body>(line: &T) -> Run {
    let text = to_line("a-run", line).expect("a line");
    let mut records = read(&text[..]).expect("a reader");
    assert_eq!(records.runs.len(), 1, "{:?}", records.problems);
    records.runs.remove(0)
}

#[test]
fn a_latency_is_read_back() {
    let path = PathLatency {
        trials: vec![3, 5],
        times: LatencyTimes::from(Histogram(vec![(5, 9), (991, 1)])),
        ..PathLatency::default()
    };
    let line = LatencyLine {
        frame: "64".to_owned(),
        receiver: Some("exit".into()),
        throughput_fps: Some(1_200_000),
        throughput_given: false,
        cpus_awake: true,
        loads: vec![LatencyLoad {
            load_share: Some(0.9),
            load_fps: 1_080_000,
            instead_of_fps: None,
            batch_frames: None,
            router: path.clone(),
            bed: Some(path),
        }],
        why: None,
        doubts: Vec::new(),
        other: Other::new(),
    };
    assert_eq!(read_back(&line).latencies, [line]);
}

#[test]
fn a_burst_is_read_back() {
    let line = BurstLine {
        frame: "64".to_owned(),
        receiver: None,
        max_forwarding_fps: Some(1_000_000),
        searches: vec![BurstSearch {
            longest_frames: 8_000,
            ..BurstSearch::default()
        }],
        all: Some(BurstSum {
            average_frames: 8_000.0,
            ..BurstSum::default()
        }),
        all_passed_frames: None,
        own_ring_frames: Some(4_096),
        why: None,
        doubts: Vec::new(),
        other: Other::new(),
    };
    assert_eq!(read_back(&line).bursts, [line]);
}

#[test]
fn an_overload_is_read_back() {
    let second = |disturbed_share| OverloadSecond {
        length_ns: 1_000_000_000,
        forwarding_fps: 1_400_000,
        disturbed_share,
        ..OverloadSecond::default()
    };
    let line = OverloadLine {
        frame: "64".to_owned(),
        receiver: Some("exit".into()),
        load: "5x".to_owned(),
        asked_ns: 600_000_000_000,
        after_ns: 30_000_000_000,
        max_forwarding_fps: Some(1_410_000),
        forwarding_at_most_fps: None,
        overload_fps: Some(5_300_000),
        after_fps: Some(705_000),
        seconds: vec![second(0.0), second(0.02), second(0.03)],
        management: Some(ManagementPath::default()),
        trial: Some(7),
        verdict: Some(Verdict::Lossy),
        verdict_text: Some("lossy".to_owned()),
        recovered: Recovered::Recovered,
        recovery_ns: Some(0),
        max_forwarding_afterwards_fps: None,
        watching_ns: 40_000_000,
        why: None,
        doubts: Vec::new(),
        other: Other::new(),
    };
    assert_eq!(line.undisturbed().count(), 2, "what the machine took");
    assert_eq!(read_back(&line).overloads, [line]);
}

#[test]
fn a_recovery_is_read_back() {
    let line = RecoveryLine {
        frame: "64".to_owned(),
        receiver: None,
        throughput_fps: Some(1_000_000),
        overload_fps: Some(1_100_000),
        overload_ns: 60_000_000_000,
        after_ns: 10_000_000_000,
        trials: vec![RecoveryTrial {
            trial: 30,
            void_trials: 1,
            verdict: Verdict::Lossy,
            verdict_text: "lossy".to_owned(),
            recovered: Recovered::Recovered,
            recovery_ns: Some(1_500_000),
            lost_frames: 7,
        }],
        average_ns: Some(1_500_000),
        why: Some("interrupted".to_owned()),
        doubts: Vec::new(),
        other: Other::new(),
    };
    assert_eq!(read_back(&line).recoveries, [line]);
}

#[test]
fn a_sweep_is_read_back() {
    let line = SweepLine {
        axis: "routes".to_owned(),
        points: vec![SweepPoint {
            value: 1_000.0,
            frame: "64".to_owned(),
            held_out: true,
            error_ratio: Some(-0.25),
            ..SweepPoint::default()
        }],
        memory: vec![MemoryLatency {
            octets: 16_384,
            ns: 1.5,
        }],
        drift_ratio: Some(0.03),
        distrust: vec!["it drifted".to_owned()],
        ..SweepLine::default()
    };
    assert_eq!(read_back(&line).sweeps, [line]);
}

#[test]
fn effects_of_settings_are_read_back() {
    let line = EffectsLine {
        frame: "64".to_owned(),
        tests: 2,
        effects: vec![SettingEffect {
            setting: "rp_filter".to_owned(),
            inert: Some("no table".to_owned()),
            from_trials: vec![1, 4],
            ..SettingEffect::default()
        }],
        ..EffectsLine::default()
    };
    assert_eq!(read_back(&line).effects, [line]);
}

#[test]
fn a_profile_is_read_back() {
    let ns = Interval {
        low: 60.5,
        median: 64.0,
        high: 68.25,
    };
    let line = ProfileLine {
        frame: "64".to_owned(),
        clock: Some("cpu-clock".to_owned()),
        limited_by: Some("DUT".into()),
        loads: vec![ProfiledLoad {
            stages: vec![PartCost {
                part: "RX".to_owned(),
                ns,
                samples: 7,
                top: Vec::new(),
            }],
            ..ProfiledLoad::default()
        }],
        stacks: vec![FoldedStack {
            frames: "ip_rcv;ip_forward".to_owned(),
            stages: vec![0, 0],
            ns: 64.0,
        }],
        ..ProfileLine::default()
    };
    assert_eq!(read_back(&line).profiles, [line]);
}

/// It has no line of kind "run" of its own, and lacks nothing.
#[test]
fn a_campaign_is_read_back() {
    let line = CampaignLine {
        name: "thesis-2015".to_owned(),
        cells: 2,
        ..CampaignLine::default()
    };
    let claim = Statement {
        id: "routing-grows".to_owned(),
        check: Some(Check {
            of: Looked::StageGrowth("routing".to_owned()),
            least: Some(1.2),
            most: None,
            levels: None,
            bed_of: None,
        }),
        ..Statement::default()
    };
    let cell = CellLine {
        cell: "6.4".to_owned(),
        measured_run: Some("another-run".to_owned()),
        claim: Some(claim),
        ..CellLine::default()
    };
    let mut text = to_line("campaign-run", &line).expect("a line");
    text.extend(to_line("campaign-run", &cell).expect("a line"));
    let records = read(&text[..]).expect("from memory");
    assert_eq!(records.problems, []);
    assert_eq!(records.runs[0].campaign, Some(line));
    assert_eq!(records.runs[0].cells, [cell]);
}
