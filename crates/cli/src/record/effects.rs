//! The effects of settings as their line has them, and the trials of earlier runs as a resumed one takes them.

use super::comparison::{cost, difference};
use super::overload::rates;
use anyhow::{Result, anyhow, bail, ensure};
use mpps_lab::jobs::compare::ALIKE;
use mpps_lab::jobs::settings::{Earlier, Effect, Outcome, Recorded, SettingsPlan};
use mpps_lab::jobs::settings::{Screen, Together};
use mpps_lab::tune::toggle::Unmeasured;
use mpps_method::compare::Measure;
use mpps_method::saturation::{Block, Distance, Interval, Window};
use mpps_method::screen::Pair;
use mpps_method::statistics::median;
use mpps_method::{Rate, Span};
use mpps_record::{self as record, Alias, EffectsLine, Interaction, Other, Records, Run, RunLine};
use mpps_record::{SettingEffect, TrialLine};
use serde_json::Value;
use std::path::Path;

/// The line of all settings; trials of these earlier runs count too.
#[must_use]
pub fn effects_line(outcome: &Outcome, plan: &SettingsPlan, resumed: &[String]) -> EffectsLine {
    EffectsLine {
        frame: plan.traffic.frames.to_string(),
        receiver: outcome.receiver.map(Into::into),
        within_share: plan.how.within,
        alike_share: ALIKE,
        budget_ns: plan.how.budget.as_nanos(),
        tests: u32::try_from(outcome.tests).unwrap_or(u32::MAX),
        seed: plan.traffic.seed,
        named: plan.is_named,
        effects: outcome.effects.iter().map(effect).collect(),
        screen: outcome.screen.as_ref().map(screen),
        together: outcome.together.as_ref().map(together),
        not_together: outcome.not_together.clone(),
        resumed: resumed.to_vec(),
        why: outcome.error.as_ref().map(ToString::to_string),
        doubts: Vec::new(),
        other: Other::new(),
    }
}

fn effect(found: &Effect) -> SettingEffect {
    let [from, to] = found.levels.clone();
    let [from_trials, to_trials] = found.trials.clone();
    let (inert, not_measured) = match &found.unmeasured {
        Some(Unmeasured::Inert(why)) => (Some(why.clone()), None),
        Some(Unmeasured::NotSwitched(why)) => (None, Some(why.clone())),
        None => (None, None),
    };
    SettingEffect {
        setting: found.id.to_owned(),
        name: found.name.to_owned(),
        from,
        to,
        with: found.with.map(str::to_owned),
        needs: Some(found.needs.to_owned()).filter(|needs| !needs.is_empty()),
        placebo: found.is_placebo,
        difference: found.compared.as_ref().map(|compared| {
            let difference = difference(compared, found.measure);
            let pairs = difference.pairs.filter(|_| !found.is_screened);
            record::Difference {
                pairs,
                ..difference
            }
        }),
        inert,
        not_measured,
        alone: found.alone.clone(),
        screened: found.is_screened,
        by_stage: found.by_stage.clone(),
        from_trials,
        to_trials,
    }
}

fn screen(found: &Screen) -> record::Screen {
    let Screen {
        design,
        ids,
        left_out,
        controls,
        screened,
        ..
    } = found;
    let named = |(one, other): Pair| {
        [one, other].map(|column| ids.get(column).copied().unwrap_or_default().to_owned())
    };
    let (early, late) = controls.split_at(controls.len() / 2);
    let drift = median(early).zip(median(late));
    let interactions = screened.interactions.iter().map(|one| Interaction {
        settings: named(one.pair),
        cost_ns: cost(one.ns),
        aliases: (one.aliases.iter())
            .map(|(pair, share)| Alias {
                settings: named(*pair),
                share: *share,
            })
            .collect(),
    });
    record::Screen {
        settings: ids.iter().map(ToString::to_string).collect(),
        columns: design.columns() as u32,
        runs: design.runs() as u32,
        blocks: found.blocks as u32,
        incomplete_blocks: found.incomplete as u32,
        disturbed: left_out.disturbed,
        distance: left_out.distance,
        not_overloaded: left_out.not_overloaded,
        stands_ns: Interval::from_samples(controls).map(cost),
        stands_turns: controls.len() as u32,
        drift_share: drift.map(|(early, late)| late / early - 1.0),
        tells_interactions: screened.tells_interactions,
        interactions: interactions.collect(),
    }
}

fn together(found: &Together) -> record::Together {
    let [others, better] = &found.fps;
    let [others_trials, better_trials] = found.trials.clone();
    record::Together {
        better: found.better.clone(),
        others_fps: rates(others),
        better_fps: rates(better),
        difference: difference(&found.compared, Measure::Rate),
        predicted_fps: found.predicted_fps.map(|fps| fps.round() as u64),
        others_trials,
        better_trials,
    }
}

/// What earlier runs of the same plan measured.
#[derive(Debug, Default)]
pub struct EarlierRuns {
    /// Their names.
    pub names: Vec<String>,
    /// Their trials.
    pub turns: Earlier,
}

/// Of a record, what a run of the same plan goes on with.
///
/// # Errors
/// The record cannot be read, has no such run, or its plan is another one.
pub fn earlier_runs(path: &Path, now: &Run) -> Result<EarlierRuns> {
    let shown = path.display();
    let read = read(path)?;
    let has_turns = |run: &&Run| run.name != now.name && !run.trials.is_empty();
    let mut earlier = EarlierRuns::default();
    for run in read.runs.iter().filter(has_turns) {
        if let (Some(before), Some(now)) = (&run.begin, &now.begin) {
            let differ = differences(before, now);
            ensure!(
                differ.is_empty(),
                "--resume {shown}: its run is of another plan ({}): give the flags of that run, or leave out --resume",
                differ.join("; ")
            );
        }
        let turns = &mut earlier.turns;
        for line in &run.trials {
            turns.told = turns.told.max(line.trial);
            turns.add(line.variant.clone().unwrap_or_default(), recorded(line));
        }
        let ended = |line: &TrialLine| line.begun_after_ns.unwrap_or(0) + line.duration_ns;
        let spent = run.trials.iter().map(ended).max().unwrap_or(0);
        turns.spent = Span::from_nanos(turns.spent.as_nanos() + spent);
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

/// A trial as its line has it.
fn recorded(line: &TrialLine) -> Recorded {
    let sum = |count: fn(&record::Direction) -> u64| line.directions.iter().map(count).sum::<u64>();
    let duration = Span::from_nanos(line.duration_ns);
    let rate = |frames| Rate::from_frames(frames, duration).unwrap_or_default();
    let taken = sum(|way| way.ledger.nic_accepted_frames.unwrap_or(0));
    let busy: u64 = line.busy.iter().map(|cpu| cpu.run_ns).sum();
    let exchange = line.exchange_before_ns.zip(line.exchange_after_ns);
    let fps = line.forwarded_undisturbed_fps;
    let second = Span::from_millis(1_000);
    Recorded {
        number: line.trial,
        overload: Block {
            sent: rate(sum(|way| {
                way.sent_frames
                    .saturating_sub(way.ledger.lost_before_nic_frames)
            })),
            busiest: None,
            ns_per_frame: (taken > 0 && busy > 0).then(|| busy as f64 / taken as f64),
            distance: exchange.map_or(Distance::Unknown, |(before, after)| {
                Distance::from_round_trips(before as f64, after as f64)
            }),
            windows: vec![Window {
                duration: second,
                forwarded: fps.map_or(0, |fps| fps.round() as u64),
                disturbed: fps.is_none(),
            }],
        },
        whole_fps: rate(sum(|way| way.received_frames)).fps(),
        lost_nothing: sum(|way| way.ledger.lost_nic_ring_frames + way.ledger.lost_in_dut_frames)
            == 0,
    }
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
            (earlier.turns.told, earlier.turns.spent),
            (2, Span::from_millis(2_350))
        );
        let mut turns = earlier.turns;
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
