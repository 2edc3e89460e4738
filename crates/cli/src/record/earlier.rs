//! The trials of earlier runs of settings, as a resumed one takes them.

use anyhow::{Result, anyhow, bail, ensure};
use mpps_lab::jobs::settings::{Earlier, Recorded};
use mpps_lab::line::block_of_line;
use mpps_method::{Rate, Span};
use mpps_record::{Direction, Records, Run, RunLine, TrialLine};
use serde_json::Value;
use std::path::Path;

/// Of a record, what a run of the same plan goes on with.
///
/// # Errors
/// The record cannot be read, has no such run, or its plan is another one.
pub fn earlier_runs(path: &Path, now: &Run) -> Result<Earlier> {
    let shown = path.display();
    let read = read(path)?;
    let has_turns = |run: &&Run| run.name != now.name && !run.trials.is_empty();
    let mut earlier = Earlier::default();
    for (number, run) in read.runs.iter().filter(has_turns).enumerate() {
        if let (Some(before), Some(now)) = (&run.begin, &now.begin) {
            let differ = differences(before, now);
            ensure!(
                differ.is_empty(),
                "--resume {shown}: its run is of another plan ({}): give the flags of that run, or leave out --resume",
                differ.join("; ")
            );
        }
        for line in &run.trials {
            earlier.last_trial = earlier.last_trial.max(line.trial);
            let turn = line.variant.clone().unwrap_or_default();
            earlier.add(turn, recorded(line, number));
        }
        let ended = |line: &TrialLine| line.begun_after_ns.unwrap_or(0) + line.duration_ns;
        let spent = run.trials.iter().map(ended).max().unwrap_or(0);
        earlier.spent = Span::from_nanos(earlier.spent.as_nanos() + spent);
        earlier.names.push(run.name.clone());
    }
    ensure!(
        !earlier.names.is_empty(),
        "--resume {shown}: it has no trial to go on with; leave out --resume to begin"
    );
    Ok(earlier)
}

fn read(path: &Path) -> Result<Records> {
    mpps_record::read_file(path).map_err(|error| anyhow!("--resume: {error}"))
}

/// Whether a record has runs of `mpps tune measure` alone, with trials. Nothing is written to another one.
///
/// # Errors
/// What it is instead.
pub fn check_resumable(path: &Path) -> Result<()> {
    let shown = path.display();
    let runs = read(path)?.runs;
    let other = runs.iter().find(|run| {
        let begin = run.begin.as_ref();
        begin.is_none_or(|begin| begin.plan.settings.is_none())
    });
    if let Some(other) = other {
        let job = other
            .begin
            .as_ref()
            .map_or("campaign", |begin| begin.job.as_str());
        bail!(
            "--resume {shown}: it has a run of mpps {job}; give a record of mpps tune measure alone"
        );
    }
    ensure!(
        runs.iter().any(|run| !run.trials.is_empty()),
        "--resume {shown}: it has no trial to go on with; leave out --resume to begin"
    );
    Ok(())
}

/// In what the plan and the conditions of two runs differ.
fn differences(before: &RunLine, now: &RunLine) -> Vec<String> {
    let plan = |line: &RunLine| {
        let mut plan = serde_json::to_value(&line.plan).unwrap_or_default();
        let own = plan.get_mut("settings").map(Value::take);
        (plan, own.unwrap_or_default())
    };
    let (before_plan, now_plan) = (plan(before), plan(now));
    let mut differ = Vec::new();
    for (ours, theirs) in [(&now_plan.0, &before_plan.0), (&now_plan.1, &before_plan.1)] {
        for (name, value) in ours.as_object().into_iter().flatten() {
            let other = theirs.get(name).unwrap_or(&Value::Null);
            if other != value {
                differ.push(format!("{name}: {other} there, {value} here"));
            }
        }
    }
    if before.job != now.job {
        differ.push(format!("it is of mpps {}", before.job));
    }
    // What the plan says already is said with its values.
    let conditions = now.comparability.differences(&before.comparability);
    let told = |name: &String| !matches!(name.as_str(), "search" | "traffic");
    differ.extend(conditions.into_iter().filter(told));
    differ
}

/// A trial of this run as its line has it.
fn recorded(line: &TrialLine, run: usize) -> Recorded {
    let duration = Span::from_nanos(line.duration_ns);
    let whole = Rate::from_frames(sum(line, |way| way.received_frames), duration);
    let lost = |way: &Direction| way.ledger.lost_nic_ring_frames + way.ledger.lost_in_dut_frames;
    Recorded {
        number: line.trial,
        run,
        overload: block_of_line(line),
        whole_fps: whole.unwrap_or_default().fps(),
        lost_nothing: sum(line, lost) == 0,
    }
}

/// Frames of all directions.
fn sum(line: &TrialLine, frames: fn(&Direction) -> u64) -> u64 {
    line.directions.iter().map(frames).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{MeasuredSettings, to_line};

    const GOLDEN: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../record/tests/golden/run.jsonl"
    );

    /// A run of settings that was killed after two trials, in a file of its own, and its first line.
    fn killed(name: &str) -> (std::path::PathBuf, Run) {
        let golden = mpps_record::read_file(Path::new(GOLDEN)).expect("a record");
        let mut run = golden.runs[0].clone();
        let begin = run.begin.as_mut().expect("a first line");
        begin.job = "tune".to_owned();
        begin.plan.settings = Some(MeasuredSettings {
            settings: vec!["gro".to_owned()],
            within_share: 0.02,
            ..MeasuredSettings::default()
        });
        let mut lines = to_line("killed", begin).expect("a line");
        for (number, turn) in [(1, "gro on"), (2, "gro off")] {
            let line = TrialLine {
                trial: number,
                variant: Some(turn.to_owned()),
                forwarded_undisturbed_fps: Some(1e6 * f64::from(number)),
                begun_after_ns: Some(1_000_000_000 * u64::from(number)),
                duration_ns: 350_000_000,
                ..run.trials[0].clone()
            };
            lines.extend(to_line("killed", &line).expect("a line"));
        }
        let name = format!("mpps-resume-{}-{name}.jsonl", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, lines).expect("a file");
        run.name = "resumed".to_owned();
        (path, run)
    }

    #[test]
    fn a_resumed_run_has_the_turns_before() {
        let (path, now) = killed("same");
        let earlier = earlier_runs(&path, &now).expect("the same plan");
        std::fs::remove_file(&path).expect("tidy up");
        assert_eq!(earlier.names, ["killed"]);
        assert_eq!(
            (earlier.last_trial, earlier.spent),
            (2, Span::from_millis(2_350))
        );
        let mut turns = earlier;
        let off = turns.take("gro off").expect("a trial");
        assert_eq!(
            (off.number, mpps_method::compare::rate(&off.overload)),
            (2, Some(2e6))
        );
        assert!(turns.take("gro off").is_none() && turns.take("gro on").is_some());
    }

    #[test]
    fn another_plan_is_refused_with_what_differs() {
        let (path, mut now) = killed("other");
        let begin = now.begin.as_mut().expect("a first line");
        begin.plan.traffic.seed = 7;
        let settings = begin.plan.settings.as_mut().expect("settings");
        settings.within_share = 0.05;
        settings.settings.push("mtu".to_owned());
        let refused = earlier_runs(&path, &now)
            .expect_err("another plan")
            .to_string();
        let same = Run::new("killed");
        let none = earlier_runs(&path, &same)
            .expect_err("only itself")
            .to_string();
        std::fs::remove_file(&path).expect("tidy up");
        for wanted in [
            "seed: 1 there, 7 here",
            "within_share: 0.02 there, 0.05 here",
            "settings: [\"gro\"] there, [\"gro\",\"mtu\"] here",
        ] {
            assert!(refused.contains(wanted), "{wanted}: {refused}");
        }
        assert!(none.contains("no trial to go on with"), "{none}");
    }
}
