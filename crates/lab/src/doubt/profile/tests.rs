use super::*;
use mpps_method::CpuBusy;

#[test]
fn trials_at_another_distance_are_told() {
    let mut load = ProfiledLoad {
        trials: vec![3, 5, 9],
        ..ProfiledLoad::default()
    };
    load.frame_ns.median = 850.0;
    assert_eq!(elsewhere(&load, &[]), None);
    let seen = elsewhere(&load, &[610.0, 620.0]).expect("a doubt").seen;
    assert!(
        seen.starts_with("2 of 5 ") && seen.ends_with("615 ns in place of 850 ns"),
        "{seen}"
    );
}

#[test]
fn a_slow_state_of_the_machine_is_told() {
    let window = |work_ns| mpps_method::saturation::Window {
        work_ns,
        ..Default::default()
    };
    let trial = |work_ns: &[Option<u64>]| {
        let windows = work_ns.iter().copied().map(window).collect();
        let trial = Trial {
            windows,
            ..Trial::default()
        };
        (trial, Verdict::Lossless)
    };
    let trials = [trial(&[Some(205); 9]), trial(&[Some(260); 9])];
    let load = |work_ns| ProfiledLoad {
        work_ns,
        ..ProfiledLoad::default()
    };
    let seen = slowed(&load(Some(260.0)), &trials).expect("a doubt").seen;
    assert!(seen.contains("took 260 ns"), "{seen}");
    assert!(seen.contains("205 ns at its fastest"), "{seen}");
    assert_eq!(slowed(&load(Some(215.0)), &trials), None);
    assert_eq!(slowed(&load(None), &trials), None);
    let untimed = [trial(&[None; 9])];
    assert_eq!(slowed(&load(Some(260.0)), &untimed), None);
}

#[test]
fn parts_that_do_not_meet_are_doubted() {
    let span = |low, median, high| mpps_record::Interval { low, median, high };
    let mut wire = ProfiledWire {
        router_ns: span(200.0, 207.0, 215.0),
        ..ProfiledWire::default()
    };
    assert_eq!(parts_apart(&wire), None);
    wire.unsampled_router_ns = Some(span(172.0, 203.0, 212.0));
    assert_eq!(parts_apart(&wire), None);
    for apart in [span(150.0, 170.0, 199.0), span(216.0, 220.0, 230.0)] {
        wire.unsampled_router_ns = Some(apart);
        let seen = parts_apart(&wire).expect("a doubt").seen;
        assert!(seen.contains("207 ns (200 to 215)"), "{seen}");
    }
}

#[test]
fn looking_that_costs_much_is_doubted_with_5_pairs() {
    let line = |pairs, high| ProfileLine {
        looking: Some(mpps_record::Looking {
            ratio: mpps_record::Interval {
                low: 0.94,
                median: 0.95,
                high,
            },
            pairs,
        }),
        ..ProfileLine::default()
    };
    let seen = looking(&line(5, 0.97)).expect("a doubt").seen;
    assert!(seen.contains("5.0 % less"), "{seen}");
    assert_eq!(looking(&line(4, 0.97)), None);
    assert_eq!(looking(&line(5, 0.985)), None);
}

#[test]
fn an_idle_cpu_without_samples_is_told() {
    let seen = |expected, got| crate::profile::Seen { expected, got };
    let tested = |idle| {
        [Completeness {
            cpu: 1,
            busy: seen(300.0, 300),
            idle,
            interrupted: 0.0,
        }]
    };
    let line = |loads| ProfileLine {
        clock: Some("cpu-clock".to_owned()),
        loads: vec![ProfiledLoad::default(); loads],
        ..ProfileLine::default()
    };
    let lost = tested(seen(300.0, 186));
    let told = idle(&lost, &line(6)).expect("a doubt").seen;
    assert!(told.contains("62.0 % of the samples expected"), "{told}");
    assert_eq!(idle(&lost, &line(1)), None);
    assert_eq!(idle(&tested(seen(300.0, 299)), &line(6)), None);
    // By cycles an idle CPU has none to expect.
    assert_eq!(idle(&tested(seen(0.0, 0)), &line(6)), None);
}

#[test]
fn samples_have_to_cover_99_percent() {
    let load = |share| ProfiledLoad {
        seen_share: Some(share),
        ..ProfiledLoad::default()
    };
    let seen = missing(&load(0.985), None, &[]).expect("a doubt").seen;
    assert!(
        seen.starts_with("samples cover 98.5 % of the time"),
        "{seen}"
    );
    let seen = missing(&load(0.985), Some("cycles"), &[])
        .expect("a doubt")
        .seen;
    assert!(seen.starts_with("98.5 % of the samples due"), "{seen}");
    assert_eq!(missing(&load(0.991), None, &[]), None);
}

#[test]
fn cycles_where_interrupts_are_enabled_are_doubted() {
    let stacks = |ns| {
        [
            ("f;handle_softirqs", ns),
            ("f;_raw_spin_unlock_irq;g", 100.0 - ns),
        ]
        .map(|(frames, ns)| FoldedStack {
            frames: frames.to_owned(),
            stages: vec![0; frames.split(';').count()],
            ns,
        })
    };
    let seen = late_cycles(&stacks(4.0)).expect("a doubt").seen;
    assert!(seen.starts_with("4.0 % of the cycles"), "{seen}");
    assert_eq!(late_cycles(&stacks(2.5)), None);
    assert_eq!(late_cycles(&[]), None);
}

#[test]
fn only_steal_blames_a_hypervisor() {
    let load = ProfiledLoad {
        seen_share: Some(0.9),
        ..ProfiledLoad::default()
    };
    let why = |stolen_from, steal_ns| {
        let trial = Trial {
            busy: vec![CpuBusy {
                cpu: 1,
                ..CpuBusy::default()
            }],
            steal: vec![CpuSteal {
                cpu: stolen_from,
                steal_ns,
            }],
            ..Trial::default()
        };
        let trials = [(trial, Verdict::Lossless)];
        missing(&load, None, &trials).expect("a doubt").why
    };
    assert!(why(1, 10_000_000).contains("hypervisor"));
    // Nothing was stolen, or from the tester.
    for why in [why(1, 0), why(0, 10_000_000)] {
        assert!(!why.contains("hypervisor"), "{why}");
    }
}

#[test]
fn an_error_of_the_pmu_is_told() {
    let seen = by_timer(Some(NO_PMU)).seen;
    assert!(seen.ends_with("this machine has no PMU"), "{seen}");
    let error = by_timer(Some("sample CPU 1: EBUSY"));
    assert!(
        error
            .seen
            .ends_with("cycles could not be sampled: sample CPU 1: EBUSY")
    );
    assert!(!error.weight.footnote().expect("one").contains("no PMU"));
}

#[test]
fn a_throttled_sampling_is_doubted() {
    assert_eq!(throttled(0), None);
    let doubt = throttled(7).expect("a doubt");
    assert!(doubt.seen.contains("7 times"), "{}", doubt.seen);
}
