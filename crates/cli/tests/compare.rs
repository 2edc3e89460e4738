//! `mpps compare`: records and plans without rights; on beds, a set-up that is slower and one that is not.

use crate::program::{self, Ended, Scratch, mpps, privileged, run};
use mpps_record::{ComparisonLine, Finding, Phase, ToldBy, read_file, to_line};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compare.md");
const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/ndr/rules-100.sh");

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

fn can_run() -> bool {
    privileged() && program::has("nft")
}

/// A record of a simulated router that forwards so much.
fn record(scratch: &Scratch, name: &str, capacity: &str) -> String {
    let path = scratch.path(name).to_str().expect("UTF-8").to_owned();
    let pair = format!("capacity={capacity},tester=2M");
    let words = [
        "throughput",
        "--frame",
        "64",
        "--simulate",
        &pair,
        "--record",
        &path,
    ];
    let ended = run(&mut mpps(&words));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    path
}

#[test]
fn two_records_are_compared_or_refused() {
    let scratch = Scratch::new("compare-records");
    let fast = record(&scratch, "fast.jsonl", "800k");
    let slow = record(&scratch, "slow.jsonl", "600k");
    let compare = |words: &[&str]| run(&mut mpps(&[&["compare"], words].concat()));
    let refused = compare(&[&fast, &slow]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.error().contains("they differ in simulated: "),
        "{refused:?}"
    );
    assert!(
        refused.error().contains("--may-differ simulated"),
        "{refused:?}"
    );

    let allowed = ["--may-differ", "simulated"];
    let slower = compare(&[&[fast.as_str(), &slow], &allowed[..]].concat());
    assert_eq!(slower.code, Some(0), "{slower:?}");
    assert!(
        slower.stdout.contains("64 B: 25.0 % fewer frames/s"),
        "{slower:?}"
    );
    let limit = ["--fail-if-slower", "3%"];
    let failed = compare(&[&[fast.as_str(), &slow], &allowed[..], &limit].concat());
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let faster = compare(&[&[slow.as_str(), &fast], &allowed[..], &limit].concat());
    assert_eq!(faster.code, Some(0), "{faster:?}");

    let document = json(&compare(
        &[&[fast.as_str(), &slow, "--json"], &allowed[..]].concat(),
    ));
    let entry = &document["compared"][0];
    assert_eq!(
        (&entry["what"], &entry["difference"]["finding"]),
        (&"64 B".into(), &"different".into())
    );
    let document = json(&compare(&[&fast, &slow, "--json"]));
    assert_eq!(
        document["compared"][0]["refused"],
        "they differ in simulated"
    );

    // What is missing is said: here the end of a run, and a trial.
    let cut = scratch.path("cut.jsonl").display().to_string();
    let text = std::fs::read_to_string(&slow).expect("a record");
    let is_kept = |line: &&str| !line.contains("\"kind\":\"end\"");
    let kept: Vec<&str> = text.lines().filter(is_kept).collect();
    std::fs::write(&cut, kept.join("\n") + "\n").expect("a file");
    let ended = compare(&[&[fast.as_str(), &cut], &allowed[..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.error().contains("was killed, or still runs"),
        "{ended:?}"
    );

    for (words, wanted) in [
        ([fast.as_str(), &fast].as_slice(), "the same file"),
        (&[&fast], "give two records"),
        (
            &[&fast, &slow, "--may-differ", "colour"],
            "there is no colour",
        ),
        (&[&fast, "/nowhere.jsonl"], "/nowhere.jsonl"),
        (&[&fast, &slow, "--a", "none"], "cannot be used with"),
        (&["--a", "none"], "--b"),
    ] {
        let ended = compare(words);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(wanted), "{words:?}: {ended:?}");
    }
}

#[test]
fn a_record_of_a_comparison_is_refused() {
    let scratch = Scratch::new("compare-comparison");
    let result = record(&scratch, "result.jsonl", "800k");
    let begin = std::fs::read_to_string(&result).expect("a record");
    let begin = begin.lines().next().expect("the run's first line");
    let run_name = read_file(Path::new(&result)).expect("runs").runs[0]
        .name
        .clone();
    let line = to_line(&run_name, &ComparisonLine::default()).expect("a line");
    let comparison = scratch.path("comparison.jsonl");
    std::fs::write(&comparison, [begin.as_bytes(), b"\n", &line].concat()).expect("a record");
    let comparison = comparison.to_str().expect("UTF-8");
    let twin = scratch.path("twin.jsonl");
    std::fs::copy(comparison, &twin).expect("a copy");
    let twin = twin.to_str().expect("UTF-8");
    for files in [
        [comparison, &result],
        [&result, comparison],
        [comparison, twin],
    ] {
        let refused = run(&mut mpps(&[&["compare"], &files[..]].concat()));
        let wanted = format!(
            "{comparison} is a comparison itself: give all set-ups to one mpps compare (--a, --b, --c). Its \
             differences hold between its own variants, on its machine at its time. mpps report puts those of several \
             records on one page"
        );
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
        assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
        assert!(refused.error().contains(&wanted), "{refused:?}");
    }
}

#[test]
fn a_dry_run_shows_each_variant() {
    let words = [
        "compare",
        "--a",
        "none",
        "--b",
        "rules=--queues 2 --rx-ring 512",
        "--dry-run",
    ];
    let ended = run(&mut mpps(
        &[&words[..], &["--within", "1%", "--flows", "3"]].concat(),
    ));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for wanted in [
        "until each difference of 1 % is found or excluded",
        "variant      none\n",
        "variant      rules\n",
        "queues 2",
        "512 frames",
    ] {
        assert!(ended.stdout.contains(wanted), "{wanted}: {ended:?}");
    }
    assert_eq!(ended.stdout.matches("3 flows").count(), 2, "{ended:?}");
    // Without a script it is known before a bed stands.
    assert!(!ended.stdout.contains("chosen on the bed"), "{ended:?}");
    let document = json(&run(&mut mpps(&[&words[..], &["--json"]].concat())));
    assert_eq!(document["variants"][1]["bed"]["queues"], 2);
    assert!(document["receiver"].is_string(), "{document}");
    assert_eq!(document["variants"][1]["flags"][0], "--queues");
    let script = ["compare", "--a", "none", "--b", DOCUMENT, "--dry-run"];
    let ended = run(&mut mpps(&script));
    assert!(
        ended.error().contains("compare.md"),
        "not executable: {ended:?}"
    );
}

/// The steps of the workflow in the document, as a runner does: each in a shell of its own that ends at an error.
fn steps() -> Vec<String> {
    let document = std::fs::read_to_string(DOCUMENT).expect("the document");
    let yaml = document.split("```yaml\n").nth(1).expect("a workflow");
    let yaml = yaml.split("```").next().expect("its end");
    let mut steps = Vec::new();
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.trim_end().ends_with("run: |") {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let is_within =
            |line: &&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
        let mut step = String::new();
        while let Some(line) = lines.next_if(is_within) {
            step += line;
            step.push('\n');
        }
        steps.push(step);
    }
    steps
}

#[test]
fn the_documents_workflow_runs() {
    let steps = steps();
    assert_eq!(steps.len(), 3, "{steps:?}");
    if !can_run() || !program::has("git") {
        return;
    }
    let scratch = Scratch::new("compare-workflow");
    let bin = scratch.path("bin");
    std::fs::create_dir(&bin).expect("folder");
    std::os::unix::fs::symlink(program::MPPS, bin.join("mpps")).expect("link");
    scratch.script("bin/sudo", "#!/bin/sh\nexec \"$@\"\n");
    scratch.script("setup.sh", "#!/bin/sh\ntrue\n");
    let repository = "git init -q . && git add setup.sh && git -c user.name=t -c user.email=t@localhost commit -qm before";
    assert_eq!(step(&scratch, &bin, repository).code, Some(0));
    std::fs::copy(RULES, scratch.path("setup.sh")).expect("the change");
    let [before, compare, summary] = &steps[..] else {
        panic!("three steps");
    };
    let ended = step(&scratch, &bin, before);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let compared = step(&scratch, &bin, compare);
    let shown = step(&scratch, &bin, summary);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let summary = std::fs::read_to_string(scratch.path("summary.md")).expect("a summary");
    assert!(summary.contains("Compared with before"), "{summary}");
    let record = scratch.path("compare.jsonl");
    each_turn_is_in(&record);
    if compared.stdout.contains("could not tell") {
        assert_eq!(compared.code, Some(0), "{compared:?}");
        println!("SKIP: too disturbed");
        return;
    }
    assert_eq!(compared.code, Some(1), "{compared:?}");
    assert!(summary.contains("after: FAILED: "), "{summary}");
    let shown = run(mpps(&["show", "--json"]).arg(&record));
    let rules = &json(&shown)["comparisons"][0]["variants"][1];
    assert_eq!(rules["difference"]["finding"], "different", "{rules}");
    let end = |change: &str, name: &str| rules["difference"][change][name].as_f64();
    assert!(end("rate_change", "high") < Some(-0.2), "{rules}");
    assert!(end("cost_ns", "low") > Some(100.0), "{rules}");
    let text = rules["text"].as_str().expect("words");
    assert!(
        text.starts_with("after: ") && text.contains(" more a frame for the router"),
        "{text}"
    );
    // The summary's sentence has both names, and the frame size.
    let told = text.replace("after: ", "after against before: ");
    assert!(summary.contains(&told), "{summary}");
}

/// The trials are numbered. Each turn's are in the record, with phase and variant. Set-ups take turns: A B, B A, B A, A B.
fn each_turn_is_in(record: &Path) {
    let read = mpps_record::read_file(record).expect("a record");
    let run = &read.runs[0];
    let [line] = &run.comparisons[..] else {
        panic!("one comparison: {:?}", run.comparisons);
    };
    let numbers = run.trials.iter().map(|trial| trial.trial);
    assert!(numbers.eq(1..=run.trials.len() as u32));
    let turns = turns(line);
    for variant in &line.variants {
        for (numbers, phase) in [
            (&variant.overload_trials, Phase::Overload),
            (&variant.fixed_trials, Phase::Fixed),
        ] {
            assert_eq!(numbers.len(), turns, "{line:?}");
            for number in numbers {
                let trial = &run.trials[*number as usize - 1];
                let of = (&trial.phase, trial.variant.as_ref());
                assert_eq!(of, (&phase, Some(&variant.name)), "{number}");
            }
        }
    }
    let fixed = run.trials.iter();
    let fixed = fixed.filter(|trial| trial.phase == Phase::Fixed);
    let order: Vec<&str> = fixed.filter_map(|trial| trial.variant.as_deref()).collect();
    let [a, b] = ["before", "after"];
    let expected = [a, b, b, a, b, a, a, b].into_iter().cycle();
    assert_eq!(order, expected.take(2 * turns).collect::<Vec<&str>>());
}

/// How many turns each set-up had, by the pairs that they made. However few these are, the rules cost CPU time.
fn turns(line: &ComparisonLine) -> usize {
    let [before, after] = &line.variants[..] else {
        panic!("two set-ups: {line:?}");
    };
    assert!(before.difference.is_none(), "{line:?}");
    let found = after.difference.as_ref().expect("a comparison");
    assert_eq!(found.told_by, ToldBy::Rate, "both are overloaded");
    // CPU time of the router's own threads shows it, however little of the CPU others leave.
    let costs = [before, after].map(|variant| variant.ns_per_frame.expect("a turn").median);
    assert!(costs[1] > costs[0] + 200.0, "{costs:?}");
    let pairs = found.pairs.expect("pairs");
    let pairs = pairs.counted + pairs.disturbed + pairs.distance + pairs.not_overloaded;
    assert!(pairs >= 1, "one round at least");
    let turns = before.overload_trials.len();
    // Once the rates are decided, more turns may follow for the cost at the fixed load.
    let more = turns - pairs as usize;
    assert!(
        more == 0 || found.finding != Finding::NotDecided,
        "{line:?}"
    );
    turns
}

/// One step, as root in a folder of its own.
fn step(scratch: &Scratch, bin: &Path, text: &str) -> Ended {
    let path = std::env::var("PATH").unwrap_or_default();
    let folder: PathBuf = scratch.path(".");
    run(Command::new("bash")
        .args(["-e", "-c", text])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("BASE", "HEAD")
        .env("BUDGET", "20s")
        .env("GITHUB_STEP_SUMMARY", scratch.path("summary.md")))
}

#[test]
fn a_build_that_cannot_take_turns_is_refused() {
    let scratch = Scratch::new("compare-builds");
    let program = |name: &str, text: &str| {
        let path = scratch.script(name, text);
        path.to_str().expect("UTF-8").to_owned()
    };
    let other = program("other", "#!/bin/sh\necho '{\"tool\": 1}'\n");
    let newer = program(
        "newer",
        "#!/bin/sh\necho '{\"job\": \"trial\", \"schema\": 99}'\n",
    );
    let refuses = program("refuses", "#!/bin/sh\necho 'no such flag' >&2\nexit 2\n");
    for (binary, wanted) in [
        (
            "/nowhere/mpps",
            "--a-binary /nowhere/mpps: run it: No such file",
        ),
        (DOCUMENT, "Permission denied"),
        (&other, "it is no mpps"),
        (&newer, "of schema 99, and this mpps reads "),
        (&refuses, "it refuses: no such flag"),
    ] {
        let words = ["compare", "--a-binary", binary, "--b-binary", program::MPPS];
        let ended = run(&mut mpps(&words));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(wanted), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
    let both = [
        "compare",
        "--a-binary",
        program::MPPS,
        "--b-binary",
        program::MPPS,
    ];
    let planned = |more: &[&str]| run(&mut mpps(&[&both[..], more].concat()));
    let ended = planned(&["--dry-run", "--flows", "3", "--b", "two=--queues 2"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("variant      two\n"), "{ended:?}");
    let ended = planned(&["--c", "none"]);
    assert!(ended.error().contains("cannot be used with"), "{ended:?}");
    let alone = run(&mut mpps(&both[..3]));
    assert!(alone.error().contains("--b-binary"), "{alone:?}");
}

/// Short budgets for a turn of each build. A machine at rest has several in the first one; a restless machine may need all
/// of it to begin.
const BUDGETS: [&str; 2] = ["5s", "12s"];

/// The variants of two builds that took turns: too few for a finding, but each has its numbers. `None`: the machine was too
/// restless for any.
fn builds(b: &str, budget: &str) -> Option<Vec<Value>> {
    let scratch = Scratch::new("builds-rules");
    let path = scratch.path("record.jsonl");
    let mut words = vec!["compare", "--a-binary", program::MPPS, "--b-binary", b];
    words.extend(["--budget", budget, "--json", "--record"]);
    words.extend(path.to_str());
    let ended = run(&mut mpps(&words));
    if ended.code == Some(2) && ended.error().contains("no trial of a build counts") {
        return None;
    }
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:?}");
    let read = mpps_record::read_file(&path).expect("a record");
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    let trials = &read.runs[0].trials;
    let numbers = trials.iter().map(|trial| trial.trial);
    assert!(numbers.eq(1..=trials.len() as u32));
    // Nothing that a comparison of builds would not use.
    assert!(trials.iter().all(|trial| trial.phase != Phase::Wire));
    let variants = json(&ended)["comparisons"][0]["variants"].clone();
    Some(variants.as_array().expect("variants").clone())
}

#[test]
fn builds_differ_by_what_one_adds_to_its_bed() {
    if !can_run() {
        return;
    }
    let scratch = Scratch::new("builds-slower");
    let text = format!(
        "#!/bin/sh\nexec {} \"$@\" --dut-setup={RULES}\n",
        program::MPPS
    );
    let slower = scratch.script("slower", &text);
    let slower = slower.to_str().expect("UTF-8");
    let mut measured = None;
    for budget in BUDGETS {
        measured = builds(slower, budget).or(measured);
        if measured.as_deref().and_then(costs).is_some() {
            break;
        }
    }
    let Some(variants) = measured else {
        println!("SKIP: needs a quieter machine: no trial of a build counts");
        return;
    };
    let digests: Vec<Option<&str>> = (variants.iter())
        .map(|variant| variant["binary"]["sha256"].as_str())
        .collect();
    assert!(digests[0].is_some_and(|digest| digest.len() == 64));
    assert_ne!(digests[0], digests[1]);
    match costs(&variants).as_deref() {
        Some([one, other]) => assert!(*other > one + 200.0, "{one} ns, {other} ns"),
        _ => println!("SKIP: needs a quieter machine: no turn of a build counts"),
    }
}

/// What a frame costs with each variant, ns. `None`: no turn of one counts.
fn costs(variants: &[Value]) -> Option<Vec<f64>> {
    let costs = variants.iter();
    let costs = costs.map(|variant| variant["ns_per_frame"]["median"].as_f64());
    costs.collect()
}

/// A build whose router is simulated, so its turns need no bed and no quiet machine.
fn simulated_build(scratch: &Scratch, name: &str, pair: &str) -> String {
    let mpps = program::MPPS;
    let text = format!("#!/bin/sh\nexec {mpps} \"$@\" --simulate={pair}\n");
    let path = scratch.script(name, &text);
    path.to_str().expect("UTF-8").to_owned()
}

/// Two builds get the sentence of two set-ups, the exit code, and a record that is shown again.
#[test]
fn two_builds_get_a_finding() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("builds-finding");
    let [before, after, slower] = [
        ("before", "capacity=1M,ring=0"),
        ("after", "capacity=1M,ring=0"),
        ("slower", "capacity=900k,ring=0"),
    ]
    .map(|(name, pair)| simulated_build(&scratch, name, pair));
    for (b, code, finding, said) in [
        (
            &after,
            0,
            "no-difference",
            "after against before: no difference seen (within 0",
        ),
        (&slower, 1, "different", "slower against before: 11"),
    ] {
        let path = scratch.path(finding);
        let mut words = vec!["compare", "--a-binary", &before, "--b-binary", b];
        words.extend(["--fail-if-slower", "3%", "--quiet", "--record"]);
        let ended = run(mpps(&words).arg(&path));
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert!(ended.stdout.contains(said), "{ended:?}");
        let failed = "FAILED: 10 % fewer frames/s, more than the 3 % allowed";
        assert_eq!(ended.stdout.contains(failed), code == 1, "{ended:?}");
        assert!(ended.stdout.contains("\nsimulated: capacity="), "{ended:?}");
        let shown = run(mpps(&["show"]).arg(&path));
        assert_eq!((shown.code, &shown.stdout), (Some(0), &ended.stdout));
        let shown = json(&run(mpps(&["show", "--json"]).arg(&path)));
        let difference = &shown["comparisons"][0]["variants"][1]["difference"];
        assert_eq!(difference["finding"], finding, "{shown}");
        assert_eq!(difference["pairs"]["counted"], 8, "{shown}");
        let report = scratch.path("report.md");
        let words = ["report", "--format", "md", "--output"];
        let reported = run(mpps(&words).arg(&report).arg(&path));
        assert_eq!(reported.code, Some(0), "{reported:?}");
        let page = std::fs::read_to_string(&report).expect("a report");
        let sentence = ended.stdout.lines().find(|line| line.contains(said));
        let sentence = sentence.and_then(|line| line.split_once(": "));
        assert!(
            sentence.is_some_and(|(_, found)| page.contains(found)),
            "{page}"
        );
    }
}
