//! What `mpps tune measure` is to measure.

use super::sending::Sending;
use super::{BedChoice, Planned};
use crate::args::MeasureSettingsArgs;
use crate::verbs::tune::no_setting;
use anyhow::{Context, Result, bail, ensure};
use mpps_lab::bed::DutPlan;
use mpps_lab::jobs::compare::ComparePlan;
use mpps_lab::jobs::settings::{self, times};
use mpps_lab::tune::toggle::{Ground, Unmeasured, check};
use mpps_method::Span;
use mpps_method::tune::{Row, in_order};
use std::path::PathBuf;

/// The settings, and how to measure them.
#[derive(Debug)]
pub struct SettingsPlan {
    /// Settings, traffic and times.
    pub measured: settings::SettingsPlan,
    /// Those that are not measured, and why.
    pub left_out: Vec<(&'static Row, Unmeasured)>,
    /// The least time for the others.
    pub least: Span,
    /// The record of the run that is gone on with.
    pub resume: Option<PathBuf>,
}

impl Planned<SettingsPlan> {
    /// What the arguments mean.
    ///
    /// # Errors
    /// One line that names the remedy.
    pub fn new(args: &MeasureSettingsArgs) -> Result<Self> {
        let is_typed = args.run.sent.traffic.frame.is_some();
        let sending = Sending::new(&args.run.sent, &args.run.place, None)?;
        let bed = match &sending.bed {
            BedChoice::Own(wish) if matches!(wish.dut, DutPlan::Kernel) => {
                wish.on_this_machine()?
            }
            _ => bail!(
                "--bed and --external: tune measure switches settings of a bed that it raises itself; leave them out"
            ),
        };
        ensure!(
            !is_typed || sending.sizes.len() == 1,
            "--frame: tune measure takes one frame size or one mix; run it once for each"
        );
        let rows = rows(&args.only, args.group.as_deref())?;
        let is_named = !args.only.is_empty();
        let at = Ground {
            bed: &bed,
            traffic: &sending.traffic,
            receiver: sending.receiver,
            is_named,
        };
        let refused = |row: &&'static Row| Some((*row, check(row, &at).err()?));
        let left_out: Vec<(&Row, Unmeasured)> = rows.iter().filter_map(refused).collect();
        let count = rows.len() - left_out.len();
        if let (0, [(row, why), ..]) = (count, &left_out[..]) {
            bail!(
                "no setting to measure: {} {} (mpps tune measure --dry-run shows all that can be)",
                row.id,
                words(why)
            );
        }
        let is_measured =
            |row: &&&'static Row| left_out.iter().all(|(other, _)| other.id != row.id);
        let measured: Vec<&Row> = rows.iter().filter(is_measured).copied().collect();
        let [least, usual] = times(&measured, args.screen).with_context(|| {
            format!("--screen: {count} settings are too many; name fewer with --only or --group")
        })?;
        let budget = args.budget.unwrap_or(usual);
        ensure!(
            budget >= least,
            "--budget {budget}: {count} settings and their placebo need at least {least} here; give more, or fewer settings with --only"
        );
        let mut traffic = sending.traffic.clone();
        traffic.frames = sending.sizes[0].clone();
        let receiver = sending.receiver;
        Ok(sending.planned(SettingsPlan {
            measured: settings::SettingsPlan {
                rows,
                is_named,
                is_screen: args.screen,
                by_stage: args.by_stage,
                traffic,
                how: ComparePlan {
                    within: args.within,
                    budget,
                    receiver,
                },
            },
            left_out,
            least,
            resume: args.resume.clone(),
        }))
    }
}

impl SettingsPlan {
    /// Ids of those that are measured.
    #[must_use]
    pub fn ids(&self) -> Vec<&'static str> {
        let is_left_out = |row: &&&'static Row| {
            let mut left_out = self.left_out.iter();
            left_out.any(|(other, _)| other.id == row.id)
        };
        let rows = self.measured.rows.iter().filter(|row| !is_left_out(row));
        rows.map(|row| row.id).collect()
    }
}

/// `is inert here: needs several CPUs`.
#[must_use]
pub fn words(why: &Unmeasured) -> String {
    match why {
        Unmeasured::Inert(why) => format!("is inert here: {why}"),
        Unmeasured::NotSwitched(why) => format!("is not measured: {why}"),
    }
}

fn rows(only: &[String], group: Option<&str>) -> Result<Vec<&'static Row>> {
    let mut rows = in_order();
    if let Some(unknown) = (only.iter()).find(|id| rows.iter().all(|row| row.id != **id)) {
        return Err(no_setting(unknown));
    }
    rows.retain(|row| {
        (only.is_empty() || only.iter().any(|id| id == row.id))
            && group.is_none_or(|group| group == row.group)
    });
    ensure!(
        !rows.is_empty(),
        "--only and --group: no setting is in both"
    );
    Ok(rows)
}
