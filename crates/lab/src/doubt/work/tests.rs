use super::*;
use mpps_method::{CpuBusy, CpuSteal, Direction, TaskName};

fn named(text: &str) -> TaskName {
    let mut name = TaskName::default();
    for (place, octet) in name.0.iter_mut().zip(text.bytes()) {
        *place = octet;
    }
    name
}

#[test]
fn tasks_of_the_router_are_named_with_their_time() {
    let raised = |longest: u64, total: u64| {
        let tasks = CpuTasks {
            cpu: 1,
            longest: Span::from_millis(longest),
            total: Span::from_millis(total),
            culprit: named("bird"),
        };
        let trial = Trial {
            duration: Span::from_millis(1_000),
            dut_tasks: vec![CpuTasks::default(), tasks],
            ..Trial::default()
        };
        work_doubts(&[(trial, Verdict::Lossless)], false)
    };
    assert_eq!(raised(2, 20), [], "as little as another program may have");
    assert_eq!(
        raised(12, 40)[0].seen,
        "the router's own bird had CPU 1 for 12 ms without a break; 40 ms in all, in a trial of 1 s"
    );
    assert_eq!(raised(1, 40).len(), 1);
}

/// A trial of a second: the DUT's CPU 1 counted as half busy, CPU 0 the tester's, CPU 2 outside the bed.
fn trial(work: [(u64, u64, u64); 3]) -> [(Trial, Verdict); 1] {
    let of_cpu = |(cpu, (busy, softirq, packets)): (usize, (u64, u64, u64))| CpuWork {
        cpu,
        busy_ns: busy * 1_000_000,
        softirq_ns: softirq * 1_000_000,
        stack_packets: Some(packets),
    };
    let mut direction = Direction::default();
    direction.counts.received = 100_000;
    let trial = Trial {
        duration: Span::from_millis(1_000),
        directions: vec![direction],
        busy: vec![CpuBusy {
            cpu: 1,
            run_ns: 500_000_000,
            ..CpuBusy::default()
        }],
        work: (0..).zip(work).map(of_cpu).collect(),
        steal: [0, 1].map(|cpu| CpuSteal { cpu, steal_ns: 0 }).into(),
        ..Trial::default()
    };
    [(trial, Verdict::Lossless)]
}

#[test]
fn work_that_no_busy_time_counts_is_named() {
    let raised = |work, shared| {
        let doubts = work_doubts(&trial(work), shared);
        let words = doubts.into_iter().map(|doubt| (doubt.name, doubt.seen));
        words.collect::<Vec<_>>()
    };
    // The tester's CPU is as busy as it likes; a tenth more is within the count.
    let quiet = [(990, 900, 9_000), (600, 0, 100_000), (400, 100, 9_000)];
    assert_eq!(raised(quiet, false), []);
    let own = [(990, 900, 0), (700, 0, 100_000), (0, 0, 0)];
    let seen =
        "CPU 1 of the DUT was 70 % busy: the threads that forward 50 %, the router's own tasks 0 %";
    assert_eq!(raised(own, false), [("busy-uncounted", seen.to_owned())]);
    assert_eq!(raised(own, true), []);
    // In one trial of many the ticks found the CPU busy more often than it was.
    let mut many: Vec<_> = (0..9)
        .flat_map(|_| trial([(990, 900, 0), (510, 0, 100_000), (0, 0, 0)]))
        .collect();
    many.extend(trial(own));
    assert_eq!(work_doubts(&many, false), []);
    // Another program had that time.
    let mut foreign = trial(own);
    foreign[0].0.other_tasks = vec![CpuTasks {
        cpu: 1,
        total: Span::from_millis(180),
        ..CpuTasks::default()
    }];
    assert_eq!(work_doubts(&foreign, false), []);
    // Ticks may count more than the trial had.
    let mut whole = trial([(0, 0, 0), (1_090, 0, 100_000), (0, 0, 0)]);
    whole[0].0.busy[0].run_ns = 985_000_000;
    assert_eq!(work_doubts(&whole, false), []);
    let steered = [(990, 900, 100_000), (500, 0, 0), (0, 0, 0)];
    let seen =
        "CPU 0 is not a CPU of the DUT, and took 100000 packets while 100000 frames came back";
    assert_eq!(
        raised(steered, false),
        [("work-elsewhere", seen.to_owned())]
    );
    let outside = [(990, 900, 0), (500, 0, 0), (400, 300, 0)];
    let seen = "CPU 2, outside the bed, spent 30 % of a trial in soft interrupts";
    assert_eq!(
        raised(outside, false),
        [("softirq-elsewhere", seen.to_owned())]
    );
}
