//! `--simulate`: the whole program, from words to exit code, without rights or a bed.

use crate::program::{Ended, Scratch, mpps, run};
use serde_json::Value;

/// The program on a simulated pair, with a record of its own.
fn simulated(scratch: &Scratch, words: &str) -> Ended {
    let record = scratch.path("record.jsonl");
    let mut command = mpps(&["throughput", "--record"]);
    command.arg(record).args(words.split_whitespace());
    run(&mut command)
}

fn json(scratch: &Scratch, words: &str) -> (Ended, Value) {
    let ended = simulated(scratch, &format!("--json {words}"));
    let document = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    (ended, document)
}

/// Golden: router, noise and goal; what is found (kfps, as passed and failed), the trials, seconds of trials.
const TABLE: [(&str, &str, &str); 9] = [
    (
        "capacity=777k,ring=0",
        "",
        "ndr 769.2..784.9 DUT, 12 trials, 8 s, exit 0",
    ),
    (
        "capacity=777k",
        "--preset csit",
        "ndr 780.9..784.8 DUT; pdr 0.5 % 784.8..788.8 DUT, 45 trials, 41 s, exit 0",
    ),
    (
        "capacity=777k,noise=5%",
        "",
        "ndr 758.9..774.4 DUT, 27 trials, 23 s, exit 0",
    ),
    (
        "capacity=777k,noise=5%",
        "--preset rfc2544",
        "ndr 740.4..746.4 DUT, 16 trials, 125 s, exit 0",
    ),
    (
        "capacity=777k,pauses=20ms@20%",
        "--goal ndr,pdr:0.5%",
        "ndr 769.2..784.9 DUT; pdr 0.5 % 784.9..800.9 DUT, 19 trials, 15 s, exit 0",
    ),
    (
        "capacity=777k,stalls=20ms@90%",
        "",
        "ndr 769.2..784.9 DUT, 12 trials, 8 s, exit 0",
    ),
    (
        "capacity=777k,stalls=600ms@50%",
        "",
        "ndr 753.8..none disturbed, 20 trials, 16 s, exit 0",
    ),
    (
        "capacity=2M,tester=1M",
        "--time 60",
        "ndr 1000.0..none tester, 8 trials, 70 s, exit 0",
    ),
    (
        "capacity=777k",
        "--resolution 50k",
        "bisection 750.0..800.0 DUT, 27 trials, 23 s, exit 0",
    ),
];

/// The recorded trials of the only run.
fn trials(scratch: &Scratch) -> Vec<Value> {
    let record = std::fs::read_to_string(scratch.path("record.jsonl")).expect("a record");
    let lines = record
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["kind"] == "trial").collect()
}

fn row(router: &str, words: &str) -> String {
    let scratch = Scratch::new("golden");
    let (ended, document) = json(&scratch, &format!("--frame 64 --simulate {router} {words}"));
    let trials = trials(&scratch);
    let time = trial_seconds(&trials);
    let kfps = |value: &Value| {
        value
            .as_f64()
            .map_or("none".to_owned(), |fps| format!("{:.1}", fps / 1e3))
    };
    let results = document["results"].as_array().expect("results").iter();
    let each: Vec<String> = results
        .map(|result| {
            let goal = result["goal"].as_str().unwrap_or("bisection");
            let limit = result["limited_by"].as_str().unwrap_or("nobody");
            let (passed, failed) = (kfps(&result["rate_fps"]), kfps(&result["lossy_fps"]));
            format!("{goal} {passed}..{failed} {limit}")
        })
        .collect();
    let exit = ended.code.expect("an exit code");
    format!(
        "{}, {} trials, {time:.0} s, exit {exit}",
        each.join("; "),
        trials.len()
    )
}

/// Seconds of all recorded trials.
fn trial_seconds(trials: &[Value]) -> f64 {
    let lengths = trials.iter().map(|trial| &trial["duration_ns"]);
    lengths
        .map(|ns| ns.as_f64().expect("a duration") / 1e9)
        .sum()
}

/// Search and gate of the default job; overload is not simulated.
#[test]
fn a_quiet_router_takes_at_most_10_s_of_trials() {
    for noise in ["", ",noise=1%"] {
        for (capacity, seed) in [("300k", 1), ("777k", 2), ("1.2M", 3), ("1.6M", 4)] {
            let scratch = Scratch::new("seconds");
            let router = format!("capacity={capacity},seed={seed}{noise}");
            let (ended, _) = json(&scratch, &format!("--frame 64 --simulate {router}"));
            assert_eq!(ended.code, Some(0), "{ended:?}");
            let seconds = trial_seconds(&trials(&scratch));
            assert!(seconds > 1.0 && seconds <= 10.0, "{router}: {seconds} s");
        }
    }
}

/// A router that loses one frame in ten thousand at any load, and one that does not.
#[test]
fn an_unstable_router_is_said_first() {
    for (router, stability) in [
        ("capacity=800k,ring=4096,loss=0.0001", "unstable"),
        ("capacity=800k,ring=4096", "stable"),
        ("capacity=20k,ring=512", "overloaded"),
    ] {
        let scratch = Scratch::new("gate");
        let (_, document) = json(&scratch, &format!("--frame 64 --simulate {router}"));
        let result = &document["results"][0];
        assert_eq!(result["stability"], stability, "{result}");
        assert_eq!(result["gate_trials"], serde_json::json!([1, 2, 3, 4, 5]));
        let unstable = stability == "unstable";
        assert_eq!(
            result["doubts"][0]["name"] == "unstable",
            unstable,
            "{result}"
        );
        let words = [
            "throughput",
            "--quiet",
            "--frame",
            "64",
            "--simulate",
            router,
        ];
        let ended = run(mpps(&words).arg("--record").arg(scratch.path("text.jsonl")));
        let first = "64 B: UNSTABLE: at the low load of 600.0 kfps the DUT lost frames in 5 of 5";
        assert_eq!(ended.stdout.starts_with(first), unstable, "{ended:?}");
    }
}

#[test]
fn golden_table() {
    let found: Vec<String> = TABLE
        .iter()
        .map(|(router, words, _)| row(router, words))
        .collect();
    let golden: Vec<&str> = TABLE.iter().map(|(.., golden)| *golden).collect();
    assert_eq!(found, golden, "{found:#?}");
}

#[test]
fn everything_says_that_it_is_simulated() {
    let scratch = Scratch::new("label");
    let words = "--frame 64,1518 --simulate capacity=1.2M,ring=512,noise=2%";
    let ended = simulated(&scratch, words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .stdout
            .starts_with("SIMULATED, nothing was measured: capacity=1200000"),
        "{ended:?}"
    );
    assert!(
        ended.stderr.contains("\nsimulated: capacity=1200000"),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("\ncomparable with: "), "{ended:?}");
    let verbose = simulated(&scratch, &format!("-v {words}"));
    assert!(verbose.stdout.contains("as simulated"), "{verbose:?}");
    assert!(
        verbose.stderr.contains("\n   1  64       gate "),
        "{verbose:?}"
    );
    let (_, document) = json(&scratch, words);
    assert_eq!(document["simulated"], true);
    let record = std::fs::read_to_string(scratch.path("record.jsonl")).expect("a record");
    for line in record.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        match line["kind"].as_str().expect("a kind") {
            "run" => {
                assert_eq!(line["bed"]["kind"], "simulated");
                let pair = "capacity=1200000,ring=512,noise=2%,seed=1";
                assert_eq!(line["bed"]["pair"], pair);
                assert_eq!(line["comparability"]["simulated"], pair);
                assert_eq!(line["comparability"]["key"].as_str().map(str::len), Some(8));
                assert_eq!(line["plan"]["goals"][0]["code"], "1f5d0l50e");
            }
            "result" => assert_eq!(line["simulated"], true),
            _ => {}
        }
    }
}

#[test]
fn an_unmet_expectation_is_a_line_and_exit_code_1() {
    let scratch = Scratch::new("expected");
    let router = "--frame 64 --quiet --simulate capacity=1M,ring=0";
    let met = simulated(&scratch, &format!("{router} --expect-min 950k"));
    assert_eq!((met.code, met.stderr.as_str()), (Some(0), ""));
    let unmet = simulated(&scratch, &format!("{router} --expect-min 1.1M"));
    assert_eq!(unmet.code, Some(1), "{unmet:?}");
    assert!(
        unmet
            .error()
            .contains("990 000 frames/s is less than the 1 100 000 frames/s expected"),
        "{unmet:?}"
    );
    // A tester that cannot offer it has not shown it either.
    let weak = simulated(&scratch, &format!("{router},tester=500k --expect-min 900k"));
    assert_eq!(weak.code, Some(1), "{weak:?}");
    assert!(weak.error().contains("could not be shown"), "{weak:?}");
    // Loss at every load is none either; an unmeasured one is graver.
    let none = simulated(
        &scratch,
        "--frame 64 --quiet --simulate capacity=5k --expect-min 20k",
    );
    assert_eq!(none.code, Some(1), "{none:?}");
    let disturbed = simulated(
        &scratch,
        &format!("{router},stalls=600ms@100% --expect-min 20k"),
    );
    assert_eq!(disturbed.code, Some(4), "{disturbed:?}");
    let (_, document) = json(&scratch, &format!("{router} --expect-min 1.1M"));
    assert_eq!(document["expected_min_fps"], 1_100_000);
    let result = &document["results"][0];
    assert!(
        result["rate_fps"].is_u64() && result["tester_ceiling_fps"].is_u64(),
        "{result}"
    );
    let rule = document["pass_rule"].as_str().expect("the rule in words");
    assert!(rule.contains("trials"), "{rule}");
    assert_eq!(
        document["expectation_unmet"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn only_a_lossless_trial_of_60_s_is_a_throughput() {
    let scratch = Scratch::new("claim");
    for (words, claim) in [
        ("", "Estimate"),
        ("--preset rfc2544", "Throughput"),
        ("--time 5m", "Throughput"),
        ("--preset rfc2544 --time 59", "Estimate"),
        ("--preset csit --time 60 --goal ndr", "Estimate"),
        ("--search bisection --time 60 --accept all", "Throughput"),
        ("--preset rfc2544 --goal pdr:1%", "LossRate"),
    ] {
        let (_, document) = json(
            &scratch,
            &format!("--frame 64 --simulate capacity=1M {words}"),
        );
        assert_eq!(
            document["results"][0]["claim"], claim,
            "{words}: {document}"
        );
    }
    // A bisection that takes any of three finds a load at which frames were lost: no throughput.
    let pauses =
        "--frame 64 --simulate capacity=1M,pauses=50ms@1%,seed=3 --search bisection --time 60";
    let (_, document) = json(&scratch, pauses);
    assert_eq!(document["results"][0]["claim"], "Estimate", "{document}");
}

/// Every size stands in the results, and in `expectation_unmet` when it does not show what was expected.
#[test]
fn sizes_not_measured_stand_in_the_json() {
    let scratch = Scratch::new("not-measured");
    let words = "--frame 64,imix --simulate capacity=1M,stalls=600ms@100% --quiet --expect-min 20k";
    let (ended, document) = json(&scratch, words);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert_eq!(document["exit_code"], 4);
    let results = document["results"].as_array().expect("results");
    for (result, frame) in results.iter().zip(["64", "imix"]) {
        assert_eq!(result["frame"], frame);
        assert_eq!(result["outcome"], "not-measured", "{result}");
        assert!(result["why"].is_string(), "{result}");
        assert_eq!(result["simulated"], true);
    }
    let unmet = document["expectation_unmet"].as_array().expect("lines");
    assert_eq!((results.len(), unmet.len()), (2, 2), "{document}");
    assert_eq!(ended.stderr.lines().count(), 2, "{ended:?}");
    let (ended, _) = json(&scratch, words.trim_end_matches(" --expect-min 20k"));
    let told = "mpps: not measured: 64, imix (run again when the machine is quieter)\n";
    assert_eq!(ended.stderr, told);
}

/// What is expected has to pass without loss: that as much is forwarded at overload is not enough.
#[test]
fn one_good_load_shows_an_expectation() {
    let scratch = Scratch::new("shown");
    let weak = "--frame 64 --quiet --simulate capacity=2M,ring=0,tester=1M";
    let (ended, document) = json(&scratch, &format!("{weak} --expect-min 900k"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(document["results"][0]["rate_is"], ">=");
    let (ended, document) = json(
        &scratch,
        "--frame 64 --quiet --simulate capacity=1M,ring=0,noise=20% --expect-min 990k",
    );
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let forwarded = &document["results"][0]["max_forwarding_fps"];
    assert_eq!(forwarded["high"], 1_000_000, "{document}");
}

/// The simulated tester offers 12 million frames/s.
#[test]
fn the_rate_at_the_highest_load_is_told() {
    let scratch = Scratch::new("highest");
    let router = "--frame 64 --simulate capacity=1M";
    let (_, document) = json(&scratch, router);
    let most = &document["results"][0]["at_most"];
    assert_eq!(most["offered_fps"]["median"], 12_000_000, "{document}");
    assert_eq!(most["forwarding_fps"]["median"], 1_000_000, "{document}");
    let told = simulated(&scratch, &format!("{router} -v")).stdout;
    let line = "64: at the highest load (12 000 000 frames/s) it forwards 1 000 000 frames/s";
    assert!(told.contains(line), "{told}");
}

#[test]
fn progress_in_a_file_is_a_line_a_phase() {
    let scratch = Scratch::new("progress");
    let router = "--frame 64 --simulate capacity=1M";
    let ended = simulated(&scratch, router);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 4, "{ended:?}");
    assert_eq!(lines[2], "64: gate: 5 trials");
    assert!(lines[3].starts_with("64: search: "), "{ended:?}");
    assert!(!ended.stderr.contains('\x1b') && !ended.stdout.contains('\x1b'));
    let quiet = simulated(&scratch, &format!("{router} --quiet"));
    assert_eq!(quiet.stderr, "");
}

/// Whatever the program writes, the reader reads without a problem: all goals, and sizes.
#[test]
fn the_record_reads_back() {
    let scratch = Scratch::new("read-back");
    for words in [
        "--frame 64,imix --preset csit",
        "--frame 64 --search bisection",
    ] {
        let ended = simulated(
            &scratch,
            &format!("{words} --simulate capacity=777k,noise=5%"),
        );
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    let records = mpps_record::read_file(&scratch.path("record.jsonl")).expect("a record");
    assert_eq!(records.problems, []);
    let results: Vec<usize> = records.runs.iter().map(|run| run.results.len()).collect();
    assert_eq!(results, [4, 1]);
    for run in &records.runs {
        assert!(run.begin.is_some());
        let trials = run.end.as_ref().map(|end| end.trials as usize);
        assert_eq!(trials, Some(run.trials.len()));
    }
}

/// Every write to `/dev/full` fails as on a full disk.
#[test]
fn a_full_disk_takes_no_result_from_the_terminal() {
    let mut command = mpps(&[
        "throughput",
        "--simulate",
        "capacity=1M",
        "--frame",
        "64,512",
    ]);
    let ended = run(command.args(["--record", "/dev/full"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    for size in ["64 B: not measured: write record", "512 B: not measured"] {
        assert!(ended.stdout.contains(size), "{ended:?}");
    }
    assert!(ended.error().contains("--record"), "{ended:?}");
}

/// A limit of the file's size stands for a full disk. A line that does not fit is taken back, and no line of the other run.
#[test]
fn a_full_record_keeps_the_lines_of_both_writers() {
    let scratch = Scratch::new("two-writers");
    std::fs::create_dir_all(scratch.path("")).expect("a folder");
    let record = scratch.path("record.jsonl");
    let writer = || {
        let mut command = std::process::Command::new("sh");
        // Blocks of 512 or 1024 octets: some trials fit.
        let limited = "trap '' XFSZ; ulimit -f 160; exec \"$0\" \"$@\"";
        command.args(["-c", limited, env!("CARGO_BIN_EXE_mpps")]);
        command.args([
            "throughput",
            "--quiet",
            "--frame",
            "64,512,1518",
            "--simulate",
        ]);
        command
            .args(["capacity=1M,noise=5%", "--record"])
            .arg(&record);
        command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        command.spawn().expect("sh")
    };
    let writers = [writer(), writer()];
    let codes = writers.map(|mut one| one.wait().expect("an end").code());
    assert_eq!(codes, [Some(2); 2], "the record was full");
    let text = std::fs::read_to_string(&record).expect("a record");
    let lines = text.lines().map(serde_json::from_str::<Value>);
    let lines: Vec<Value> = lines.collect::<Result<_, _>>().expect("whole lines");
    // The trials of each run are numbered without a gap.
    let mut runs: std::collections::BTreeMap<String, Vec<u64>> = Default::default();
    for line in lines.iter().filter(|line| line["kind"] == "trial") {
        let run = line["run"].as_str().expect("a run").to_owned();
        runs.entry(run)
            .or_default()
            .push(line["trial"].as_u64().expect("a number"));
    }
    assert!(!runs.is_empty(), "no trial fitted");
    for numbers in runs.values() {
        assert_eq!(*numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    }
}

/// A verb on a simulated pair of 1 Mfps behind a ring of 500 frames: its text, and its result in JSON.
fn of_verb(scratch: &Scratch, words: &str) -> (String, Value) {
    let pair = "--frame 64 --quiet --simulate capacity=1M,ring=500,tester=2M";
    let words: Vec<&str> = words.split_whitespace().chain(pair.split(' ')).collect();
    let record = scratch.path(words[0]);
    let ended = run(mpps(&words).arg("--record").arg(&record));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let label = "simulated: capacity=1000000,ring=500,tester=2000000,seed=1";
    assert!(ended.stdout.contains(label), "{ended:?}");
    let shown = run(mpps(&["show"]).arg(&record));
    assert_eq!((shown.code, &shown.stdout), (Some(0), &ended.stdout));
    let shown = run(mpps(&["show", "--json"]).arg(&record));
    let document: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    assert_eq!(document["simulated"], true);
    (ended.stdout, document)
}

/// What a load of a simulated router comes to is known beforehand, to the frame.
#[test]
fn given_loads_lose_what_the_router_cannot_take() {
    let scratch = Scratch::new("loads");
    let (text, document) = of_verb(&scratch, "trial --rate 800k,1.5M,max");
    let results = document["results"].as_array().expect("results");
    let lost = results
        .iter()
        .map(|load| load["trials"][0]["lost_nic_ring_frames"].as_u64());
    let lost: Vec<_> = lost.map(Option::unwrap_or_default).collect();
    assert_eq!(lost, [0, 499_500, 999_500], "{document}");
    assert!(
        results
            .iter()
            .all(|load| load["wire"].is_null() && load["receiver"].is_null())
    );
    assert!(
        text.contains("frames/s offered for 1.00 s: all forwarded"),
        "{text}"
    );
}

/// A burst at twice the router's rate fills its ring when it is twice as long as the ring.
#[test]
fn the_longest_burst_is_that_of_the_ring() {
    let scratch = Scratch::new("bursts");
    let (text, document) = of_verb(&scratch, "back-to-back --repeat 2");
    let size = &document["results"][0];
    assert!(size["own_ring_frames"].is_null(), "{size}");
    for search in size["searches"].as_array().expect("searches") {
        let [longest, lossy] = ["longest_frames", "lossy_frames"].map(|end| search[end].as_u64());
        assert!(longest <= Some(1_000) && lossy > Some(1_000), "{search}");
        let buffer = search["buffer_frames"].as_f64().expect("a buffer");
        assert!((490.0..=501.0).contains(&buffer), "{search}");
    }
    assert!(!text.contains("bed's own ring"), "{text}");
}

/// One line says why, and which verbs can be simulated.
#[test]
fn what_cannot_be_simulated_says_why() {
    for verb in [
        "latency",
        "recovery",
        "reset",
        "fib-scale",
        "compare",
        "explain",
        "rfc2544",
    ] {
        let ended = run(&mut mpps(&[verb, "--simulate", "capacity=1M"]));
        let wanted = "has no flag --simulate: a simulated pair only counts frames";
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(wanted), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
    for words in ["loss --overload 5x", "throughput --warm-up 1"] {
        let words: Vec<&str> = words.split(' ').collect();
        let ended = run(mpps(&words).args(["--simulate", "capacity=1M"]));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(
            ended.error().contains("with --simulate: a simulated pair"),
            "{ended:?}"
        );
    }
}
