//! Records of `mpps explain` as pictures, as folded text, and compared: none of it needs rights or a bed.

use crate::program::{Ended, Scratch, mpps, run};
use mpps_record::{
    Body, CostModel, Doubt, FoldedStack, FunctionCost, Interval, LimitedBy, Pairs, PartChange,
    PartCost, ProfileChange, ProfileLine, ProfiledAgainst, ProfiledLoad, RunLine, SweepLine,
    SweepPoint, Watched, read_file, to_line,
};
use mpps_report::published::SCENARIOS;
use serde_json::{Value, json};
use std::path::Path;

/// Stages and causes of a frame's time, ns, each with a function; the bed's stages are the first and the last.
const STAGES: [(&str, &str, f64); 4] = [
    ("virtual NIC", "cpu_map_kthread_run", 150.0),
    ("prerouting", "ip_rcv_core", 200.0),
    ("routing", "fib_table_lookup", 120.0),
    ("exit", "bpf_prog_1_leave", 30.0),
];
const CAUSES: [(&str, &str, f64); 2] = [
    ("connection tracking", "nf_conntrack_in", 100.0),
    ("NAT", "nf_nat_inet_fn", 60.0),
];

fn interval(median: f64) -> Interval<f64> {
    Interval {
        low: median - 2.0,
        median,
        high: median + 2.0,
    }
}

/// A profile whose prerouting and connection tracking take so much more.
fn profile(more: f64) -> ProfileLine {
    let part = |(part, function, ns): &(&str, &str, f64)| {
        let grows = matches!(*part, "prerouting" | "connection tracking");
        let ns = ns + if grows { more } else { 0.0 };
        PartCost {
            part: (*part).to_owned(),
            ns: interval(ns),
            samples: 9_000,
            top: vec![FunctionCost {
                function: (*function).to_owned(),
                ns,
            }],
        }
    };
    let stages: Vec<PartCost> = STAGES.iter().map(part).collect();
    let stack = |(at, part): (usize, &PartCost)| FoldedStack {
        frames: format!("kthread;{}", part.top[0].function),
        stages: vec![0, at as u8],
        ns: part.ns.median,
    };
    ProfileLine {
        frame: "64".to_owned(),
        clock: Some("cpu-clock".to_owned()),
        limited_by: Some(LimitedBy::Dut),
        stacks: stages.iter().enumerate().map(stack).collect(),
        loads: vec![ProfiledLoad {
            forwarding_fps: interval(1e6),
            trials: vec![1, 2, 3, 4],
            frame_ns: interval(500.0 + more),
            router_ns: 320.0 + more,
            causes: CAUSES.iter().map(part).collect(),
            stages,
            ..ProfiledLoad::default()
        }],
        ..ProfileLine::default()
    }
}

/// A record of this line. Its first line is the golden run's.
fn record(scratch: &Scratch, name: &str, line: &impl Body, change: fn(&mut RunLine)) -> String {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/golden/run.jsonl");
    let known = read_file(&golden).expect("the golden run").runs.remove(0);
    let mut begin = known.begin.expect("a first line");
    begin.job = "explain".to_owned();
    change(&mut begin);
    let mut end = known.end.expect("a last line");
    end.trials = 0;
    let path = scratch.path(name);
    let text = [
        to_line(name, &begin),
        to_line(name, line),
        to_line(name, &end),
    ];
    let text = text.map(|line| line.expect("a line")).concat();
    std::fs::write(&path, text).expect("a record");
    path.display().to_string()
}

fn report(words: &[&str]) -> Ended {
    run(&mut mpps(&[&["report"], words].concat()))
}

fn same(_: &mut RunLine) {}

#[test]
fn a_flame_graph_is_one_svg() {
    let scratch = Scratch::new("profiles-flame");
    let before = record(&scratch, "before", &profile(0.0), same);
    let after = record(&scratch, "after", &profile(100.0), same);
    let one = report(&[&before, "--format", "flame"]);
    assert_eq!((one.code, one.stderr.as_str()), (Some(0), ""), "{one:?}");
    let holds = |svg: &str, wanted: &str| assert!(svg.contains(wanted), "{wanted}: {svg}");
    assert!(one.stdout.starts_with("<svg "));
    holds(&one.stdout, "64 B: where the time of a frame goes");
    holds(
        &one.stdout,
        "fib_table_lookup (routing): 120 000 ns of 1 000 frames, 24.00 %",
    );
    holds(
        &report(&[&before, &after, "--format", "flame"]).stdout,
        "a frame from before to after, by",
    );
    let output = scratch.path("both.svg").display().to_string();
    let both = report(&[&before, &after, "--format", "flame", "-o", &output]);
    assert_eq!(both.stdout, format!("The report is in {output}.\n"));
    let svg = std::fs::read_to_string(&output).expect("the picture");
    holds(
        &svg,
        "ip_rcv_core (prerouting): 200 000 before, 300 000 after, +100 000 ns of 1 000 frames",
    );
}

#[test]
fn folded_stacks_are_a_line_each() {
    let scratch = Scratch::new("profiles-folded");
    let before = record(&scratch, "before", &profile(0.0), same);
    let folded = report(&[&before, "--format", "folded"]);
    assert_eq!(
        folded.stdout,
        "kthread;bpf_prog_1_leave 30000\nkthread;cpu_map_kthread_run 150000\n\
         kthread;fib_table_lookup 120000\nkthread;ip_rcv_core 200000\n",
        "{folded:?}"
    );
}

#[test]
fn perf_script_has_a_sample_for_each_ns() {
    let scratch = Scratch::new("profiles-script");
    let before = record(&scratch, "before", &profile(0.0), same);
    let script = report(&[&before, "--format", "perf-script"]).stdout;
    let first = "router 1 [000] 0.001: 1 ns:\n\t               0 cpu_map_kthread_run ([kernel.kallsyms])\n\t               0 kthread ([kernel.kallsyms])\n\n";
    assert!(script.starts_with(first), "{script}");
    let samples = script.lines().filter(|line| line.ends_with("1 ns:"));
    assert_eq!(samples.count(), 500);
    assert_eq!(script.matches(" ip_rcv_core (").count(), 200);
}

#[test]
fn a_record_without_stacks_has_no_picture() {
    let scratch = Scratch::new("profiles-none");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/golden/run.jsonl");
    let golden = golden.display().to_string();
    let empty = ProfileLine {
        stacks: Vec::new(),
        ..profile(0.0)
    };
    let empty = record(&scratch, "empty", &empty, same);
    let [one, other] = ["one", "other"].map(|name| record(&scratch, name, &profile(0.0), same));
    let third = record(&scratch, "third", &profile(0.0), same);
    for (words, wanted) in [
        (&[&golden][..], "there is no profile"),
        (&[&empty], "no call stacks"),
        (&[&one, &other, &third], "3"),
    ] {
        for format in ["flame", "folded"] {
            let words: Vec<&str> = words.iter().map(|word| word.as_str()).collect();
            let ended = report(&[&words[..], &["--format", format]].concat());
            assert_eq!(
                (ended.code, ended.stdout.as_str()),
                (Some(2), ""),
                "{ended:?}"
            );
            let is_said = ended.error().contains(wanted) || words.len() == 3 && format == "folded";
            assert!(is_said, "{wanted}: {ended:?}");
        }
    }
}

#[test]
fn two_profiles_are_compared_by_stage() {
    let scratch = Scratch::new("profiles-compare");
    let before = record(&scratch, "before", &profile(0.0), same);
    let again = record(&scratch, "again", &profile(1.0), same);
    let after = record(&scratch, "after", &profile(100.0), same);
    let compare = |words: &[&str]| run(&mut mpps(&[&["compare"], words].concat()));
    let slower = compare(&[&before, &after]);
    assert_eq!((slower.code, slower.stderr.as_str()), (Some(0), ""));
    let told = slower
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for wanted in [
        "64 B: +100 ns a frame for the router (96 to 104). By stage: prerouting +100 (",
        "), rest no difference seen (each within 4 ns). By cause: connection tracking +100 (",
        "Two runs at different times",
    ] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    let equal = compare(&[&before, &again]);
    let told = equal
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        told.contains("64 B: no difference seen for the router (within 5 ns a frame). By stage: no difference seen"),
        "{told}"
    );
    for (words, code) in [
        ([&before, &after], 1),
        ([&before, &again], 0),
        ([&after, &before], 0),
    ] {
        let ended = compare(&[words[0], words[1], "--fail-if-slower", "3%"]);
        assert_eq!(ended.code, Some(code), "{ended:?}");
    }
    let document = compare(&[&before, &after, "--json"]).stdout;
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let stage = &document["compared"][0]["difference"]["stages"][1];
    assert_eq!(
        (&stage["part"], &stage["seen"], &stage["ns"]["median"]),
        (&"prerouting".into(), &true.into(), &100.0.into())
    );
}

#[test]
fn profiles_that_are_not_alike_are_refused() {
    let scratch = Scratch::new("profiles-refused");
    let before = record(&scratch, "before", &profile(0.0), same);
    let other_kernel = record(&scratch, "kernel", &profile(0.0), |begin| {
        begin.comparability.kernel_release = "9.9".to_owned();
    });
    let cycles = ProfileLine {
        clock: Some("cycles".to_owned()),
        ..profile(0.0)
    };
    let cycles = record(&scratch, "cycles", &cycles, same);
    let burnt = ProfileLine {
        burnt_ns: Some(500),
        ..profile(0.0)
    };
    let burnt = record(&scratch, "burnt", &burnt, same);
    let nothing = ProfileLine {
        frame: "64".to_owned(),
        clock: Some("cpu-clock".to_owned()),
        limited_by: Some(LimitedBy::Dut),
        ..ProfileLine::default()
    };
    let nothing = record(&scratch, "nothing", &nothing, same);
    let [idle, idler] = ["idle", "idler"].map(|name| {
        let line = ProfileLine {
            limited_by: Some(LimitedBy::Tester),
            ..profile(0.0)
        };
        record(&scratch, name, &line, same)
    });
    for (one, other, wanted) in [
        (&before, &other_kernel, "they differ in kernel_release"),
        (&before, &cycles, "they differ in clock"),
        (&before, &burnt, "they differ in burnt_ns"),
        (&before, &nothing, "one of them has no cost by stage"),
        (&before, &idle, "they differ in limited_by"),
        (
            &idle,
            &idler,
            "one of them has no load that saturates the router",
        ),
    ] {
        let ended = run(&mut mpps(&["compare", one, other]));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(wanted), "{ended:?}");
    }
    for (other, name) in [(&other_kernel, "kernel_release"), (&burnt, "burnt_ns")] {
        let ended = run(&mut mpps(&[
            "compare",
            &before,
            other,
            "--may-differ",
            name,
        ]));
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
}

#[test]
fn a_change_of_unlike_profiles_is_not_drawn() {
    let scratch = Scratch::new("profiles-unlike");
    let before = record(&scratch, "before", &profile(0.0), same);
    let machine = record(&scratch, "machine", &profile(0.0), |begin| {
        begin.comparability.cpu_model = Some("another".to_owned());
    });
    let set_up = record(&scratch, "set-up", &profile(0.0), |begin| {
        begin.comparability.dut_setup = Some("rules".to_owned());
    });
    let longer = ProfileLine {
        frame: "1518".to_owned(),
        ..profile(0.0)
    };
    let longer = record(&scratch, "longer", &longer, same);
    let host = ProfileLine {
        watched: Some(Watched::default()),
        ..profile(0.0)
    };
    let host = record(&scratch, "host", &host, same);
    for (other, wanted) in [
        (
            &machine,
            "before and machine cannot be compared: they differ in cpu_model",
        ),
        (&longer, "they differ in frame"),
        (&host, "no load that saturates the router"),
    ] {
        let ended = report(&[&before, other, "--format", "flame"]);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{ended:?}"
        );
        assert!(ended.error().contains(wanted), "{ended:?}");
    }
    let drawn = report(&[&before, &set_up, "--format", "flame"]);
    assert_eq!(drawn.code, Some(0), "{drawn:?}");
}

#[test]
fn a_sweep_says_that_it_keeps_no_stacks() {
    let scratch = Scratch::new("profiles-sweep");
    let line = SweepLine {
        axis: "flows".to_owned(),
        ..SweepLine::default()
    };
    let sweep = record(&scratch, "sweep", &line, same);
    let ended = report(&[&sweep, "--format", "flame"]);
    assert!(
        ended.error().contains("a sweep keep no call stacks"),
        "{ended:?}"
    );
}

#[test]
fn a_report_shows_one_run_of_several() {
    let scratch = Scratch::new("profiles-run");
    let paths = ["one", "other"].map(|name| record(&scratch, name, &profile(0.0), same));
    let both = paths.map(|path| std::fs::read_to_string(path).expect("a record"));
    let path = scratch.path("both");
    std::fs::write(&path, both.concat()).expect("a record");
    let path = path.display().to_string();
    let folded = |words: &[&str]| report(&[&[&path, "--format", "folded"], words].concat());
    assert_eq!(folded(&[]).code, Some(2));
    let one = folded(&["--run", "other"]);
    assert_eq!((one.code, one.stderr.as_str()), (Some(0), ""), "{one:?}");
    let none = folded(&["--run", "third"]);
    assert!(
        none.error().contains("there is no run third in"),
        "{none:?}"
    );
    let results = report(&[&path, "--run", "one", "--format", "json"]).stdout;
    assert_eq!(results.matches("\"run\"").count(), 1, "{results}");
}

#[test]
fn doubts_of_both_profiles_are_told() {
    let scratch = Scratch::new("profiles-doubts");
    let doubted = ProfileLine {
        doubts: vec![Doubt {
            name: "samples-missing".to_owned(),
            seen: "samples cover 80 % of the time".to_owned(),
            ..Doubt::default()
        }],
        ..profile(0.0)
    };
    let [sure, unsure] = [("sure", &profile(0.0)), ("unsure", &doubted)]
        .map(|(name, line)| record(&scratch, name, line, same));
    let told = run(&mut mpps(&["compare", &sure, &unsure])).stdout;
    assert!(told.contains("- samples cover 80 % of the time"), "{told}");
    assert!(told.contains("unsure"), "{told}");
    let document = run(&mut mpps(&["compare", &sure, &unsure, "--json"])).stdout;
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let doubts = &document["compared"][0]["doubts"];
    assert_eq!(
        (&doubts[0], &doubts[1][0]["name"]),
        (&json!([]), &"samples-missing".into())
    );
}

#[test]
fn set_ups_in_turns_are_shown_part_by_part() {
    let scratch = Scratch::new("profiles-against");
    let mut line = profile(100.0);
    let base = profile(0.0);
    let change = |part: &str, more: f64| PartChange {
        part: part.to_owned(),
        ns: interval(more),
        seen: more > 0.0,
    };
    line.against = Some(Box::new(ProfiledAgainst {
        explained: "conntrack".to_owned(),
        name: "none".to_owned(),
        load: base.loads[0].clone(),
        stacks: base.stacks,
        pairs: Pairs {
            counted: 20,
            disturbed: 1,
            ..Pairs::default()
        },
        rate_change: Some(Interval {
            low: -0.18,
            median: -0.17,
            high: -0.16,
        }),
        change: Some(ProfileChange {
            router_before_ns: 320.0,
            router: change("router", 100.0),
            stages: ["virtual NIC", "prerouting", "routing", "exit"]
                .map(|name| change(name, if name == "prerouting" { 100.0 } else { 0.0 }))
                .to_vec(),
            causes: vec![change("connection tracking", 100.0), change("NAT", 0.0)],
        }),
        ..ProfiledAgainst::default()
    }));
    let path = record(&scratch, "against", &line, same);
    let shown = run(&mut mpps(&["show", &path])).stdout;
    let told = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "64 B: conntrack against none: +100 ns a frame for the router (98 to 102). By stage: prerouting +100 (98 to 102), rest no difference seen (each within 2 ns). By cause: connection tracking +100 (98 to 102),",
        "From 20 pairs; -17.0 % frames/s (-18.0 to -16.0).",
        "stage ns none more interval virtual NIC * 150 150 +0 -2 to 2 prerouting 300 200 +100 98 to 102 seen",
        "20 pairs of neighbouring trials count, 1 do not.",
    ] {
        assert!(told.contains(part), "{part}: {shown}");
    }
    let mut lines = shown
        .lines()
        .skip(3)
        .take_while(|line| !line.starts_with("record:"));
    assert!(lines.all(|line| line.chars().count() <= 80), "{shown}");
    let svg = report(&[&path, "--format", "flame"]).stdout;
    for part in [
        "what conntrack takes more than none, by function",
        "ip_rcv_core (prerouting): 200 000 before, 300 000 after, +100 000 ns of 1 000 frames",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    let page = report(&[&path, "-o", "/dev/stdout"]).stdout;
    assert!(
        page.contains("conntrack against none: +100 ns a frame"),
        "{page}"
    );
    assert!(
        page.contains("what conntrack takes more than none"),
        "{page}"
    );
}

/// What `mpps explain --paper-tables` measures, as its record is shown: figures of theirs are cycles at 3.3 GHz.
#[test]
fn published_tables_stand_beside_ours() {
    let scratch = Scratch::new("profiles-paper");
    let point = |&(octets, flows, ..): &(u32, u64, Option<f64>, Option<u32>)| SweepPoint {
        value: flows as f64,
        frame: octets.to_string(),
        cores: 1,
        load: profile(0.0).loads.remove(0),
        functions: vec![FunctionCost {
            function: "fib_table_lookup".to_owned(),
            ns: 120.0,
        }],
        model: Some(CostModel {
            predicted_fps: 2.1e6,
            measured_fps: 2e6,
            ..CostModel::default()
        }),
        overload_fps: Some(1.9e6),
        ..SweepPoint::default()
    };
    let line = SweepLine {
        axis: SweepLine::PAPER.to_owned(),
        points: SCENARIOS.iter().map(point).collect(),
        ..SweepLine::default()
    };
    let path = record(&scratch, "paper", &line, same);
    let shown = run(&mut mpps(&["show", &path]));
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    let told = shown.stdout.split_whitespace().collect::<Vec<_>>();
    let told = told.join(" ");
    for row in [
        "7 published scenarios",
        "64 B, 1 1.67 1.67 2.10 2.00 +5.0 % 2.00 1.90 +5.3 %",
        "64 B, 256 1.61 - 2.10 2.00",
        "stage 64 B here 512 B here 1024 B here 1500 B here",
        "routing 61 120 58 120 68 120 63 120",
        "virtual NIC ** - 150 - 150",
        "sum 600 500 597 500 623 500 668 500",
        "do_raw_spin_lock 59 -",
        "stage 1 here 256 here 16 384 here 1 048 576 here",
        "fib_table_lookup 35 120 72 120 128 120",
    ] {
        assert!(told.contains(row), "{row}: {}", shown.stdout);
    }
    let long = |line: &&str| line.chars().count() > 80;
    let tables = shown.stdout.lines().skip(3);
    assert_eq!(tables.filter(long).collect::<Vec<_>>(), Vec::<&str>::new());
    let page = report(&[&path, "-o", "/dev/stdout"]).stdout;
    for part in ["V: ns of a frame in functions", "1 048 576", "turns^"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
