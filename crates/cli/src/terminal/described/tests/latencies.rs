use super::Outcome;
use crate::exit::Exit;
use mpps_record::{
    Doubt, Histogram, LatencyLine, LatencyLoad, LatencyTimes, Other, PathLatency, Run, Verdict,
};

/// So many frames of each time, ns.
fn path(times: &[(u64, u64)], stall_ns: u64) -> PathLatency {
    PathLatency {
        trials: vec![1],
        longest_stall_ns: stall_ns,
        times: LatencyTimes::from(Histogram(times.to_vec())),
        ..PathLatency::default()
    }
}

fn load(share: Option<f64>, fps: u64) -> LatencyLoad {
    LatencyLoad {
        load_share: share,
        load_fps: fps,
        instead_of_fps: None,
        batch_frames: None,
        router: path(
            &[(7_935, 1_599_000), (40_959, 990), (1_212_415, 10)],
            1_200_000,
        ),
        bed: Some(path(&[(6_143, 1_598_000), (35_839, 2_000)], 900)),
    }
}

fn size(loads: Vec<LatencyLoad>) -> LatencyLine {
    LatencyLine {
        frame: "64".to_owned(),
        receiver: None,
        throughput_fps: Some(1_600_000),
        throughput_given: false,
        cpus_awake: true,
        loads,
        why: None,
        doubts: vec![Doubt {
            name: "x".to_owned(),
            seen: "something".to_owned(),
            ..Doubt::default()
        }],
        other: Other::new(),
    }
}

#[test]
fn a_bed_as_slow_as_the_router_is_told() {
    let mut slow = load(Some(0.5), 800_000);
    slow.bed = Some(slow.router.clone());
    let text = vec![size(vec![slow])].text(&super::Run::default(), false);
    let wanted = "The bed alone has 7.94 µs and 7.94 µs, so the router's part cannot be told.";
    assert!(text.replace("\n    ", " ").contains(wanted), "{text}");
}

#[test]
fn the_router_stands_beside_the_bed() {
    let loads = vec![load(Some(0.5), 800_000), load(Some(1.0), 1_600_000)];
    let text = vec![size(loads)].text(&super::Run::default(), false);
    let sentence = "64 B: typical 7.94 µs, worst case (99.9 %) 7.94 µs at 50 % of the rate without loss \
                    (800k frames/s), idle CPUs kept awake. The bed alone has 6.14 µs and 35.8 \
                    µs, so the router's part of the worst case cannot be told.\n";
    for wanted in [
        sentence,
        " load  frames/s  path     p50   p90   p99  p99.9  p99.99   max    PDV  samples\n",
        "100 %     1.60M  router  7.94  7.94  7.94   7.94    41.0  1210  0.127    1.60M\n",
        "                 bed     6.14  6.14  6.14   35.8    35.8  35.8   29.8    1.60M\n",
        "100 % is the rate without loss that a search found: 1.60M frames/s\n",
        "longest stall or slow time of a CPU: 1.20 ms (router, at 100 %), 900 ns (bed, at 100 %)\n",
        "\nDoubts\n- something\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let rows = text.lines().filter(|line| line.contains("  "));
    assert!(rows.clone().count() >= 5);
    assert!(rows.clone().all(|row| row.chars().count() <= 80), "{text}");
    assert!(!text.contains('?'), "{text}");
}

#[test]
fn stalls_of_the_machine_are_said_where_they_count() {
    let text = |stall_ns, disturbed_frames| {
        let mut load = load(Some(0.5), 800_000);
        load.router = path(&[(13_311, 99_000), (7_864_319, 1_000)], stall_ns);
        (load.router.sent_frames, load.router.disturbed_frames) = (100_000, disturbed_frames);
        vec![size(vec![load])].text(&super::Run::default(), false)
    };
    let worst = "worst case (99.9 %) 7.86 ms";
    let said =
        format!("{worst} with stalls or slow times of the machine itself (up to 8.10 ms) at 50 %");
    assert!(text(8_100_000, 1_100).contains(&said));
    // One that is short beside the worst case, and one that met fewer frames than it leaves out.
    for other in [text(3_900_000, 1_100), text(8_100_000, 100)] {
        assert!(other.contains(&format!("{worst} at 50 %")), "{other}");
    }
}

#[test]
fn what_stands_on_few_frames_is_marked() {
    let mut few = load(None, 900);
    few.router = path(&[(7_935, 9_000)], 0);
    few.bed = None;
    let mut size = size(vec![few]);
    size.cpus_awake = false;
    let text = vec![size].text(&super::Run::default(), false);
    assert!(text.contains("  7.94?   7.94?  "), "{text}");
    assert!(
        text.contains("?: fewer than 10 frames took longer\n"),
        "{text}"
    );
    assert!(
        text.contains("at 900 frames/s, idle CPUs could sleep."),
        "{text}"
    );
    assert!(
        !text.contains("The bed alone") && !text.contains("stall"),
        "{text}"
    );
}

#[test]
fn a_load_without_trials_says_why() {
    let mut none = load(Some(1.0), 1_600_000);
    none.router = PathLatency {
        left_out_trials: vec![1, 4, 5],
        left_out_verdict: Some(Verdict::NotOffered),
        left_out_text: Some("not offered: the tester was late".to_owned()),
        ..PathLatency::default()
    };
    let text = vec![size(vec![none.clone()])].text(&super::Run::default(), false);
    let wanted = "100 %, router: 3 trials, the last not offered: the tester was late\n";
    assert!(text.contains(wanted), "{text}");
    assert!(text.contains("64 B: latency not measured.\n"), "{text}");
    let exit = |loads| vec![size(loads)].exit(&Run::default());
    assert_eq!(exit(vec![none.clone()]), Exit::Undecided);

    // The last trial was void, but the highest load that the tester could offer was measured instead.
    none.router.left_out_verdict = Some(Verdict::Void);
    let mut instead = load(None, 1_500_000);
    instead.instead_of_fps = Some(none.load_fps);
    let both = vec![none, instead];
    assert_eq!(exit(both.clone()), Exit::Measured);
    let text = vec![size(both)].text(&super::Run::default(), false);
    for wanted in [
        " at 1.50M frames/s, idle CPUs kept awake. The tester could offer this load in place of 1.60M. The bed alone \
        has ",
        "100 %: the tester could not offer this load, 1.60M frames/s; 1.50M was offered instead\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}
