use super::*;

fn sample(time_ns: u64, weight: u64, task: i32, stack: &[u32]) -> Sample {
    Sample {
        time_ns,
        weight,
        lateness_ns: None,
        task,
        ip: 0,
        stack: stack.iter().map(|id| SymbolId(*id)).collect(),
    }
}

fn profile() -> Profile {
    let names = ["[unknown]", "[user]", "ip_forward", "ip_rcv"];
    let cpu = CpuProfile {
        cpu: 1,
        samples: vec![
            sample(1_300, 200, 7, &[2, 3]),
            sample(1_500, 300, 7, &[2, 3]),
            sample(1_700, 150, 8, &[1]),
        ],
        lost: 0,
        throttled: 0,
        segments: vec![Segment {
            asked_ns: 1_000,
            set_ns: 1_010,
            to_ns: 2_020,
            period: 200,
            counted: None,
        }],
    };
    Profile {
        clock: SamplingClock::Timer,
        from_ns: 1_010,
        to_ns: 2_020,
        cpus: vec![cpu],
        names: names.map(Into::into).to_vec(),
        tasks: BTreeMap::from([(7, "cpumap/1/map:3".to_owned())]),
    }
}

#[test]
fn stacks_fold_from_the_outermost_by_weight() {
    let profile = profile();
    let all = [
        ("[user]".to_owned(), 150),
        ("ip_rcv;ip_forward".to_owned(), 500),
    ];
    assert_eq!(profile.fold(profile.samples()), all);
}

#[test]
fn samples_of_the_routers_tasks_are_chosen() {
    let profile = profile();
    assert_eq!(
        profile.fold(profile.of_tasks(&[7, 9])),
        [("ip_rcv;ip_forward".to_owned(), 500)]
    );
    assert_eq!(profile.of_tasks(&[]).count(), 0);
}

#[test]
fn missing_samples_lower_the_share() {
    let cpu = &profile().cpus[0];
    let seen = cpu.seen(0, u64::MAX);
    assert_eq!((seen.expected, seen.got), (5.0, 3));
    assert_eq!(seen.share(), Some(0.6));
    assert_eq!(cpu.seen(0, 1_100).share(), None);
}
