//! Records of `mpps loss --overload`, `mpps latency`, `mpps back-to-back`, `mpps recovery`, `mpps reset` and `mpps compare`, each
//! with its first line and its last.

use super::{append, golden};
use mpps_record::*;

fn run_of(job: &str, add: impl Fn(&mut Vec<u8>)) -> String {
    let records = read(golden().as_bytes()).expect("from memory");
    let run = &records.runs[0];
    let mut begin = run.begin.clone().expect("a first line");
    begin.job = job.to_owned();
    if job == "explain" {
        begin.plan.fixed = Some(FixedLoads {
            loads: vec!["max".to_owned()],
            ..FixedLoads::default()
        });
    }
    begin.arguments = vec![job.to_owned()];
    let mut text = Vec::new();
    append(&mut text, job, &begin);
    add(&mut text);
    let mut end = run.end.clone().expect("a last line");
    end.trials = 0;
    append(&mut text, job, &end);
    String::from_utf8(text).expect("text")
}

fn planted() -> Vec<Doubt> {
    let doubt = serde_json::json!({
        "name": "planted-line", "seen": "seen in a line", "why": "Because", "next": "Run", "weight": 1
    });
    vec![serde_json::from_value(doubt).expect("a doubt")]
}

/// Frames that took about `ns`, a few of them much longer.
fn path(ns: f64, frames: f64) -> PathLatency {
    let mut all = Vec::new();
    for step in 0..120_u32 {
        let upper = (ns * 1.05_f64.powi(step as i32)) as u64;
        // The end of its bucket.
        let width = 1_u64 << (upper.ilog2() - 5);
        let share = 0.9_f64.powi(step as i32) * 0.1;
        let count = (frames * share) as u64;
        let upper = upper / width * width + width - 1;
        match all.last_mut() {
            Some((last, known)) if *last == upper => *known += count,
            _ if count > 0 => all.push((upper, count)),
            _ => {}
        }
    }
    PathLatency {
        trials: vec![1, 2],
        sent_frames: frames as u64,
        times: LatencyTimes::from(Histogram(all)),
        ..PathLatency::default()
    }
}

/// Three loads of two sizes; around the second nothing could replace the router.
pub fn latencies() -> String {
    run_of("latency", |text| {
        for (frame, bed) in [("64", true), ("1518", false)] {
            let load = |share: f64| LatencyLoad {
                load_share: Some(share),
                load_fps: (share * 1.2e6) as u64,
                instead_of_fps: None,
                batch_frames: None,
                router: path(9_000.0 * (1.0 + share * share * 3.0), 1e6 * share),
                bed: bed.then(|| path(4_000.0 * (1.0 + share), 1e6 * share)),
            };
            let line = LatencyLine {
                frame: frame.to_owned(),
                receiver: Some(ReceiverPlace::Port),
                throughput_fps: Some(1_200_000),
                throughput_given: false,
                cpus_awake: true,
                loads: [0.1, 0.5, 0.9].map(load).into(),
                why: None,
                doubts: planted(),
                other: Other::new(),
            };
            append(text, "latency", &line);
        }
    })
}

/// Five searches of one size; no burst of the other was too long.
pub fn bursts() -> String {
    run_of("back-to-back", |text| {
        let search = |number: u64| BurstSearch {
            longest_frames: 4_000 + number * 37 % 90,
            lossy_frames: 4_150 + number * 11,
            burst_fps: 5_100_000,
            buffer_frames: 3_100.0,
        };
        let mut line = BurstLine {
            frame: "64".to_owned(),
            receiver: Some(ReceiverPlace::Exit),
            max_forwarding_fps: Some(1_200_000),
            searches: (0..5).map(search).collect(),
            all: Some(BurstSum {
                average_frames: 4_041.2,
                least_frames: 4_000,
                most_frames: 4_074,
                deviation_frames: Some(30.0),
                burst_fps: 5_100_000,
                implied_buffer_ns: 792_000,
                corrected_buffer_ns: Some(605_000),
            }),
            all_passed_frames: None,
            own_ring_frames: Some(4_096),
            why: None,
            doubts: planted(),
            other: Other::new(),
        };
        append(text, "back-to-back", &line);
        line.frame = "1518".to_owned();
        (line.searches, line.all, line.all_passed_frames) = (Vec::new(), None, Some(100_000));
        append(text, "back-to-back", &line);
    })
}

/// Four trials, of which one did not recover.
pub fn recoveries() -> String {
    run_of("recovery", |text| {
        let trial = |number: u32| {
            let recovered = number != 3;
            RecoveryTrial {
                trial: number,
                void_trials: 0,
                verdict: Verdict::Lossy,
                verdict_text: "lossy: 9 000 frames lost".to_owned(),
                recovered: if recovered {
                    Recovered::Recovered
                } else {
                    Recovered::NotRecovered
                },
                recovery_ns: recovered.then_some(800_000 + u64::from(number) * 41_000),
                lost_frames: 9_000,
            }
        };
        let line = RecoveryLine {
            frame: "64".to_owned(),
            receiver: None,
            throughput_fps: Some(1_200_000),
            overload_fps: Some(1_320_000),
            overload_ns: 60_000_000_000,
            after_ns: 30_000_000_000,
            trials: (1..=4).map(trial).collect(),
            average_ns: None,
            why: None,
            doubts: planted(),
            other: Other::new(),
        };
        append(text, "recovery", &line);
    })
}

/// A reset of the link with a trial.
pub fn resets() -> String {
    run_of("reset", |text| {
        let trial = ResetTrial {
            tried: RecoveryTrial {
                trial: 7,
                void_trials: 0,
                verdict: Verdict::Lossy,
                verdict_text: "lossy: 2 000 frames lost".to_owned(),
                recovered: Recovered::Recovered,
                recovery_ns: Some(2_000_000),
                lost_frames: 2_000,
            },
            time_stamp_ns: Some(2_100_000),
            disturbed_lost_frames: Some(0),
            unsent_frames: Some(0),
            resolution_ns: 20_000,
            took_ns: 1_500_000,
            rest_ns: 1_500_000_000,
            before_fps: Some(1_000_000),
            after_fps: Some(999_000),
        };
        let line = ResetLine {
            frame: "64".to_owned(),
            receiver: None,
            reset: "link".to_owned(),
            hold_ns: 0,
            load_fps: Some(1_000_000),
            trials: vec![trial],
            frame_loss_ns: Some(2_000_000),
            time_stamp_ns: Some(2_100_000),
            why: None,
            doubts: planted(),
            other: Other::new(),
        };
        append(text, "reset", &line);
    })
}

/// Twenty seconds, of which one was disturbed and two had no answer.
pub fn overloads() -> String {
    run_of("loss", |text| {
        let second = |at: u64| OverloadSecond {
            length_ns: 1_000_000_000,
            offered_fps: 5_300_000,
            forwarding_fps: 1_400_000 + at * 1_000,
            disturbed_share: if at == 7 { 0.4 } else { 0.0 },
            asked: Some(10),
            answered: Some(if at / 2 == 5 { 0 } else { 10 }),
        };
        let line = OverloadLine {
            frame: "64".to_owned(),
            receiver: None,
            load: "5x".to_owned(),
            asked_ns: 20_000_000_000,
            after_ns: 20_000_000_000,
            max_forwarding_fps: Some(1_410_000),
            forwarding_at_most_fps: None,
            overload_fps: Some(5_300_000),
            after_fps: Some(705_000),
            seconds: (0..20).map(second).collect(),
            management: Some(ManagementPath {
                before_asked: 9,
                before_answered: 9,
                asked: 200,
                answered: 180,
                longest_silence_ns: 2_100_000_000,
                back_ns: Some(0),
                answering_ns: 9_000_000,
            }),
            trial: Some(17),
            verdict: Some(Verdict::Lossy),
            verdict_text: Some("lossy: 9 000 frames lost".to_owned()),
            recovered: Recovered::Recovered,
            recovery_ns: Some(12_000_000),
            max_forwarding_afterwards_fps: None,
            watching_ns: 9_000_000,
            why: None,
            doubts: planted(),
            other: Other::new(),
        };
        append(text, "loss", &line);
    })
}

/// Three variants of two sizes.
pub fn comparisons() -> String {
    run_of("compare", |text| {
        for (frame, cost) in [("64", 231.0), ("1518", 240.0)] {
            let around = |median: f64, half: f64| Interval {
                low: median - half,
                median,
                high: median + half,
            };
            let difference = |cost: f64, rate: f64, finding| Difference {
                finding,
                told_by: ToldBy::Rate,
                rate_change: Some(around(rate, 0.02)),
                cost_change: Some(around(-rate, 0.02)),
                cost_ns: Some(around(cost, 20.0)),
                fixed_cost_ns: None,
                pairs: Some(Pairs {
                    counted: 8,
                    ..Pairs::default()
                }),
            };
            let variant = |name: &str, fps: u64, ns: f64, difference| Variant {
                name: name.to_owned(),
                forwarding_fps: Some(Interval {
                    low: fps - 20_000,
                    median: fps,
                    high: fps + 20_000,
                }),
                ns_per_frame: Some(around(ns, 9.0)),
                difference,
                ..Variant::default()
            };
            let slower = difference(cost, -0.31, Finding::Different);
            let alike = difference(2.0, 0.004, Finding::NoDifference);
            let line = ComparisonLine {
                frame: frame.to_owned(),
                variants: vec![
                    variant("plain", 1_200_000, 520.0, None),
                    variant("100 rules", 830_000, 520.0 + cost, Some(slower)),
                    variant("other ring", 1_204_000, 522.0, Some(alike)),
                ],
                ..ComparisonLine::default()
            };
            append(text, "compare", &line);
        }
    })
}

/// All parts of `mpps rfc2544` but recovery, in one run.
pub fn suite() -> String {
    let golden = read(golden().as_bytes()).expect("from memory");
    let golden = &golden.runs[0];
    let mut begin = golden.begin.clone().expect("a first line");
    begin.job = "rfc2544".to_owned();
    let verbs = ["throughput", "latency", "loss", "back-to-back", "recovery"];
    let parts = (1..).zip(verbs).map(|(number, verb)| Part {
        verb: verb.to_owned(),
        section: format!("26.{number}"),
        rule: format!("the rule of {verb}"),
        shortened_from: (verb == "loss").then(|| "trials of 60 s".to_owned()),
    });
    begin.plan.parts = parts.collect();
    let mut text = Vec::new();
    append(&mut text, "suite", &begin);
    for trial in &golden.trials {
        append(&mut text, "suite", trial);
    }
    append(&mut text, "suite", &golden.results[0]);
    for part in [latencies(), super::curve(), bursts()] {
        let part = read(part.as_bytes()).expect("from memory").runs.remove(0);
        (part.latencies.iter()).for_each(|line| append(&mut text, "suite", line));
        (part.curves.iter()).for_each(|line| append(&mut text, "suite", line));
        (part.bursts.iter()).for_each(|line| append(&mut text, "suite", line));
    }
    let end = golden.end.clone().expect("a last line");
    append(&mut text, "suite", &end);
    String::from_utf8(text).expect("text")
}

/// A setting that was told apart, one that was not, and one that could not be measured.
pub fn effects() -> String {
    run_of("tune", |text| {
        let effect = |name: &str, cost: f64, not_measured: Option<&str>| SettingEffect {
            setting: name.to_owned(),
            name: name.to_owned(),
            from: "0".to_owned(),
            to: "1".to_owned(),
            with: Some("another".to_owned()),
            difference: not_measured.is_none().then(|| Difference {
                finding: Finding::Different,
                told_by: ToldBy::Rate,
                rate_change: Some(interval(-cost / 500.0)),
                cost_change: Some(interval(cost / 500.0)),
                cost_ns: Some(interval(cost)),
                fixed_cost_ns: None,
                pairs: None,
            }),
            not_measured: not_measured.map(str::to_owned),
            ..SettingEffect::default()
        };
        let line = EffectsLine {
            frame: "64".to_owned(),
            effects: vec![
                effect("rp_filter", 20.0, None),
                effect("early_demux", 2.0, None),
                effect("gro", 0.0, Some("the bed has no such port")),
            ],
            not_together: Some("one setting alone is better".to_owned()),
            why: Some("the budget was spent".to_owned()),
            doubts: planted(),
            ..EffectsLine::default()
        };
        append(text, "tune", &line);
    })
}

fn interval(median: f64) -> Interval<f64> {
    Interval {
        low: median * 0.95,
        median,
        high: median * 1.05,
    }
}

fn part((part, ns, function): &(&str, f64, &str)) -> PartCost {
    PartCost {
        part: (*part).to_owned(),
        ns: interval(*ns),
        samples: (*ns * 100.0) as u64,
        top: vec![FunctionCost {
            function: (*function).to_owned(),
            ns: ns * 0.5,
        }],
    }
}

/// Parts of a frame's time at saturation, each with a function.
const STAGES: [(&str, f64, &str); 10] = [
    ("virtual NIC", 150.0, "cpu_map_kthread_run"),
    ("RX", 90.0, "__netif_receive_skb_core"),
    ("allocation", 60.0, "__build_skb"),
    ("prerouting", 80.0, "ip_rcv_core"),
    ("routing", 120.0, "fib_table_lookup"),
    ("postrouting", 70.0, "ip_forward"),
    ("TX", 50.0, "__dev_queue_xmit"),
    ("free", 40.0, "kfree_skb_partial"),
    ("exit", 30.0, "bpf_prog_1_leave"),
    ("other", 10.0, "nobody_knows"),
];

/// A profile of two sizes; the second has no samples.
pub fn profiles() -> String {
    run_of("explain", |text| {
        let causes = [
            ("route look-up", 120.0, "fib_table_lookup"),
            ("locks", 30.0, "_raw_spin_lock"),
            ("none of these", 550.0, "ip_rcv_core"),
        ];
        let load = |share: f64| ProfiledLoad {
            offered_fps: share * 1.5e6,
            forwarding_fps: interval((share * 1.5e6).min(1.43e6)),
            trials: vec![1, 2, 3],
            busy_share: share,
            frame_ns: interval(700.0 + (1.0 - share) * 300.0),
            router_ns: 520.0,
            wake_ups_per_frame: Some((1.0 - share) * 0.1),
            polls_per_frame: Some(0.02 + (1.0 - share) * 0.1),
            cpu_distance_ns: Some(63.5),
            work_ns: Some(203.0),
            samples: 70_000,
            lost_samples: 3,
            seen_share: Some(0.998),
            unclassified_share: 0.004,
            shadow_share: 0.12,
            stages: STAGES.iter().map(part).collect(),
            causes: causes.iter().map(part).collect(),
            unplaced: vec![FunctionCost {
                function: "nobody_knows".to_owned(),
                ns: 2.5,
            }],
        };
        let stack = |(at, (_, ns, function)): (usize, &(&str, f64, &str))| FoldedStack {
            frames: format!("kthread;{function}"),
            stages: vec![9, at as u8],
            ns: *ns,
        };
        let mut line = ProfileLine {
            frame: "64".to_owned(),
            receiver: Some(ReceiverPlace::Exit),
            clock: Some("cpu-clock".to_owned()),
            cpus: vec![1],
            limited_by: Some("DUT".into()),
            limit_text: Some("The router's CPU limits".to_owned()),
            loads: [1.0, 0.8, 0.5, 0.2].map(load).into(),
            stacks: STAGES.iter().enumerate().map(stack).collect(),
            model: Some(CostModel {
                frame_ns: 690.0,
                wake_up_ns: 2_600.0,
                poll_ns: 300.0,
                term_ranges_ns: Some(vec![
                    [660.0, 690.0, 720.0].into(),
                    [2_300.0, 2_600.0, 2_900.0].into(),
                    [0.0, 300.0, 900.0].into(),
                ]),
                mixed: Vec::new(),
                off_ns: 4.0,
                loads: 3,
                windows: Some(40),
                trials_in_turns: Some(5),
                predicted_fps: 1.40e6,
                measured_fps: 1.43e6,
                error_ratio: -0.021,
                error_range: Some([-0.034, -0.021, 0.006].into()),
                is_unsure: false,
            }),
            looking: Some(Looking {
                ratio: interval(0.99),
                pairs: 8,
            }),
            doubts: planted(),
            ..ProfileLine::default()
        };
        append(text, "explain", &line);
        line = ProfileLine {
            frame: "1518".to_owned(),
            why: Some("no sample came".to_owned()),
            doubts: planted(),
            ..ProfileLine::default()
        };
        append(text, "explain", &line);
    })
}
