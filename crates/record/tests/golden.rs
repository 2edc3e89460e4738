//! Two committed runs. Simulated: `mpps throughput --frame 64 --simulate capacity=1.2M,ring=512,noise=2% --record
//! run.jsonl`. Measured on a bed of a virtual machine with 2 CPUs: `mpps throughput --frame 64 --budget 8s --record
//! run.jsonl`.

use mpps_record::{
    Body, Claim, ForwardingLimit, LimitedBy, Line, Outcome, Phase, RateIs, ReceiverPlace, RunBed,
    SCHEMA, Stability, TrialLine, Verdict, read_file, read_to_show, to_line,
};
use std::path::Path;

fn path(file: &str) -> std::path::PathBuf {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    golden.join(file)
}

/// A run of today's schema: what a person would be told is there.
#[test]
fn the_golden_run_reads_back() {
    let records = read_file(&path("run.jsonl")).expect("a record");
    assert_eq!((records.runs.len(), records.problems.len()), (1, 0));
    let run = &records.runs[0];
    assert_eq!((run.schema, run.trials.len()), (SCHEMA, 15));
    let begin = run.begin.as_ref().expect("a first line");
    assert!(matches!(begin.bed, RunBed::Simulated { .. }));
    assert_eq!(begin.comparability, begin.comparability.clone().keyed());
    let search = begin.plan.search.as_ref().expect("a search");
    assert!(search.pass_rule.is_some() && search.goals.len() == 1);
    let [result] = run.results.as_slice() else {
        panic!("one result");
    };
    assert_eq!(result.outcome, Outcome::Found);
    assert_eq!(
        (&result.rate_is, result.rate_fps),
        (&Some(RateIs::Equal), Some(1_164_240))
    );
    assert_eq!(result.claim, Some(Claim::Estimate));
    assert_eq!(result.limited_by, Some(LimitedBy::Dut));
    assert_eq!(result.stability, Stability::Stable);
    let maximum = result.overload.max_forwarding_fps.expect("a rate");
    assert_eq!((maximum.low, maximum.high), (1_176_000, 1_200_000));
    assert!(result.doubts.iter().all(|doubt| doubt.weight.is_some()));
    let stands_on = result.stands_on.stands_on_trial.expect("a trial");
    let trial = &run.trials[stands_on as usize - 1];
    assert_eq!(
        (trial.trial, trial.offered_fps.round()),
        (stands_on, 1_164_240.0)
    );
    assert_eq!(
        trial.lateness.histogram_ns.as_ref().map(|all| all.0.len()),
        Some(0)
    );
    assert_eq!(
        run.end.as_ref().map(|end| (end.trials, end.exit_code)),
        Some((15, 0))
    );
}

/// A reader who shows a long record needs no details of most of its trials.
#[test]
fn most_trials_of_a_long_record_keep_numbers_alone() {
    let whole = std::fs::read_to_string(path("bed.jsonl")).expect("a record");
    let is_detailed = |trial: &&TrialLine| {
        let quantiles = [&trial.lateness, &trial.latency];
        quantiles.iter().any(|one| one.histogram_ns.is_some())
            || !(trial.losses.is_empty() && trial.stalls.is_empty() && trial.work.is_empty())
    };
    let trial = whole
        .lines()
        .find(|line| line.contains(r#""kind":"trial""#));
    let text = format!("{}\n", trial.expect("a trial")).repeat(510);
    let file = std::env::temp_dir().join(format!("mpps-long-{}.jsonl", std::process::id()));
    std::fs::write(&file, text).expect("a file");
    let shown = read_to_show(&file).expect("a record");
    let all = read_file(&file).expect("a record");
    std::fs::remove_file(&file).expect("the file goes");
    let [shown, all] = [&shown.runs[0].trials, &all.runs[0].trials];
    assert_eq!((shown.len(), all.len()), (510, 510));
    assert_eq!(all.iter().filter(is_detailed).count(), 510);
    assert_eq!(shown.iter().filter(is_detailed).count(), 500);
    assert_eq!(shown[509].directions, all[509].directions);
    assert_eq!(shown[509].latency.p50_ns, all[509].latency.p50_ns);
}

/// A run on a bed has the facts, counts and times that a simulated one lacks.
#[test]
fn the_measured_run_reads_back() {
    let records = read_file(&path("bed.jsonl")).expect("a record");
    assert_eq!((records.runs.len(), records.problems.len()), (1, 0));
    let run = &records.runs[0];
    let begin = run.begin.as_ref().expect("a first line");
    let bed = begin.bed.bed().expect("a bed");
    assert_eq!((bed.nic.as_str(), bed.rx_ring_frames), ("cpumap", 4096));
    assert!(bed.tester_interfaces.is_some() && bed.dut_setup.is_none());
    assert_eq!(begin.comparability, begin.comparability.clone().keyed());
    let facts = &begin.facts;
    assert_eq!(
        facts.mitigations_text(),
        begin.comparability.mitigations,
        "as the key has it"
    );
    assert_eq!(facts.kernel.setting("net.core.dev_weight"), Some(64));
    assert_eq!(facts.cpu.last_cache_octets(), Some(32 << 20));
    let governors = facts.cpu.governors.why().expect("a virtual machine");
    assert!(governors.ends_with("scaling_governor: not there"));
    let configuration = facts.kernel.configuration.known().expect("read");
    assert_eq!(configuration.has("VETH"), Some(true));
    let phases = run.trials.iter().map(|trial| &trial.phase);
    assert_eq!(phases.filter(|phase| **phase == Phase::Gate).count(), 5);
    let [.., lossy, void] = run.trials.as_slice() else {
        panic!("trials of the search");
    };
    assert_eq!(
        (&lossy.verdict, &void.verdict),
        (&Verdict::Lossy, &Verdict::Void)
    );
    assert!(lossy.latency.timed_frames > 0 && lossy.losses[0].longest.frames > 0);
    let [result] = run.results.as_slice() else {
        panic!("one result");
    };
    assert_eq!(result.receiver, Some(ReceiverPlace::Exit));
    assert_eq!(
        (&result.outcome, &result.rate_is),
        (&Outcome::NoneLossless, &Some(RateIs::Below))
    );
    assert_eq!(
        result.overload.max_forwarding_limited_by,
        Some(ForwardingLimit::RouterCpu)
    );
    assert!(result.overload.cost.is_some() && result.overload.exit_program_ns.is_some());
}

/// Every line is written as it was read, to the octet.
#[test]
fn golden_runs_are_written_as_they_were_read() {
    for file in ["run.jsonl", "bed.jsonl"] {
        written_as_read(&path(file));
    }
}

fn written_as_read(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a file");
    let run = read_file(path).expect("a record").runs.remove(0).name;
    for line in text.lines() {
        let members: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let mut members = members.as_object().expect("an object").clone();
        members.remove("schema");
        members.remove("run");
        let read: Line = serde_json::from_value(members.into()).expect("a line");
        assert_eq!(written(&run, &read), format!("{line}\n"));
    }
}

fn written(run: &str, line: &Line) -> String {
    fn text<T: Body>(run: &str, body: &T) -> String {
        String::from_utf8(to_line(run, body).expect("a line")).expect("text")
    }
    match line {
        Line::Run(body) => text(run, &**body),
        Line::Trial(body) => text(run, &**body),
        Line::Result(body) => text(run, &**body),
        Line::Point(body) => text(run, &**body),
        Line::Curve(body) => text(run, &**body),
        Line::Overload(body) => text(run, &**body),
        Line::Latency(body) => text(run, &**body),
        Line::Burst(body) => text(run, &**body),
        Line::Recovery(body) => text(run, &**body),
        Line::Reset(body) => text(run, &**body),
        Line::Profile(body) => text(run, &**body),
        Line::Sweep(body) => text(run, &**body),
        Line::Effects(body) => text(run, &**body),
        Line::Load(body) => text(run, &**body),
        Line::Comparison(body) => text(run, &**body),
        Line::Calibration(body) => text(run, &**body),
        Line::Campaign(body) => text(run, &**body),
        Line::Cell(body) => text(run, &**body),
        Line::End(body) => text(run, &**body),
    }
}
