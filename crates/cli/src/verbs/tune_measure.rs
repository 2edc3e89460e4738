//! `mpps tune measure`: the effect of each setting, one at a time.

use super::contract::{CellPlan, Measure, UnderTest, ended};
use super::measure::measure;
use super::tune_beds;
use crate::args::MeasureSettingsArgs;
use crate::campaign::CellBed;
use crate::exit::Exit;
use crate::plan::{Planned, SettingsPlan, unmeasured_in_words};
use crate::record::{Job, check_resumable, earlier_runs};
use crate::recorder::Recorder;
use anyhow::{Context, Result};
use mpps_lab::jobs::settings::{self, Earlier};
use mpps_lab::jobs::{Observer, ResultObserver};
use mpps_lab::traffic::Traffic;
use mpps_lab::tune::measurable::kernel_lacks;
use mpps_method::Span;
use mpps_method::tune::named;
use mpps_record::MeasuredSettings;
use mpps_report::number;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy; the bed is lowered by then.
pub fn run(args: &MeasureSettingsArgs) -> Result<Exit> {
    if let Some(path) = &args.resume {
        check_resumable(path)?;
    }
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let plan = Planned::<SettingsPlan>::new(args, &typed)?;
    let mut output = args.run.output.clone();
    output.record = output.record.or_else(|| args.resume.clone());
    measure(&output, args.plot.as_deref(), plan)
}

/// What a cell of a campaign does with these flags.
pub fn cell(args: &MeasureSettingsArgs, typed: &[OsString]) -> Result<CellPlan> {
    let plan = Planned::<SettingsPlan>::new(args, typed)?;
    let on = CellBed::new(&plan, &plan.offer.job());
    Ok((vec![on], plan.offer.measured.how.budget))
}

impl Measure for SettingsPlan {
    fn job(&self) -> Job<'_> {
        let (plan, ids) = (&self.measured, self.ids());
        let within = plan.how.within;
        let (of, to) = (
            number::plural(ids.len(), "setting"),
            number::percent_or_under(within),
        );
        let rule = match plan.is_screen {
            true => {
                format!("blocks of turns of {of} and a placebo, many switched at once, at overload")
            }
            false => format!(
                "pairs of turns of {of} and a placebo at overload, until each difference of {to} is found or excluded"
            ),
        };
        let mut job = Job::of_traffic("tune", &plan.traffic, plan.how.receiver, rule);
        job.plan.settings = Some(MeasuredSettings {
            settings: ids.iter().map(ToString::to_string).collect(),
            screen: plan.is_screen,
            within_share: within,
            budget_ns: plan.how.budget.as_nanos(),
        });
        job
    }

    fn more(&self) -> String {
        let mut text = format!("time         {}\n\n", self.time());
        for row in self.beds.iter().filter_map(|two| two.row) {
            let [a, b] = row.beds().unwrap_or_default();
            let _ = writeln!(text, "{} on two beds: {a} and {b}", row.id);
        }
        let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (row, why) in &self.left_out {
            let ids = by_reason.entry(unmeasured_in_words(why));
            ids.or_default().push(row.id);
        }
        for (why, ids) in by_reason {
            let _ = writeln!(
                text,
                "{}: {}",
                why.trim_start_matches("is "),
                ids.join(", ")
            );
        }
        let mut ids = self.ids();
        ids.retain(|id| named(id).into_iter().any(|row| kernel_lacks(row).is_some()));
        if !ids.is_empty() {
            let ids = ids.join(", ");
            let _ = writeln!(
                text,
                "may be inert, because a kernel can lack what they need (only a run tells): {ids}"
            );
        }
        text
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.measured.traffic
    }

    fn run(&self, on: UnderTest<'_>, recorder: &mut Recorder) -> Result<()> {
        let count = self.ids().len();
        recorder.step(&format!(
            "settings: {count}, and a placebo; time: {}",
            self.time()
        ));
        let earlier = match &self.resume {
            Some(path) => earlier_runs(path, recorder.run())?,
            None => Earlier::default(),
        };
        if !earlier.names.is_empty() {
            recorder.step(&format!(
                "resumed: {} trials were measured before",
                earlier.last_trial
            ));
        }
        recorder.size_begins(Some(self.measured.how.budget));
        let bed = on.bed()?;
        let mut outcome = settings::measure(bed, &self.measured, earlier.clone(), recorder)?;
        let beds = tune_beds::measure(self, &mut outcome, &earlier, recorder);
        let written = recorder.result(&outcome.line);
        ended(outcome.error)
            .and(beds)
            .and(written.with_context(|| recorder.record().not_written()))
    }
}

impl SettingsPlan {
    fn time(&self) -> String {
        let told = |time: Span| match time.as_secs_f64() {
            seconds if seconds >= 120.0 => format!("{:.0} minutes", seconds / 60.0),
            _ => time.to_string(),
        };
        let time = format!("{} to {}", told(self.least), told(self.measured.how.budget));
        match self.measured.by_stage {
            true => format!(
                "{time}, and {} more for each setting that acts",
                settings::PROFILES
            ),
            false => time,
        }
    }
}
