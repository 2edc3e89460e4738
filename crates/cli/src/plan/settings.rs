//! What `mpps tune measure` is to measure.

use super::compare::check_share;
use super::sending::Sending;
use super::{ComparePlan, Planned};
use crate::args::{MeasureSettingsArgs, no_setting};
use anyhow::{Context, Result, bail, ensure};
use mpps_lab::bed::BedPlan;
use mpps_lab::jobs::compare::{self, ALIKE_ON_ONE_BED};
use mpps_lab::jobs::settings::{self, times};
use mpps_lab::tune::measurable::{Ground, Unmeasured, check};
use mpps_method::tune::{Row, in_order};
use mpps_method::{Family, Span};
use std::ffi::OsString;
use std::path::PathBuf;

/// The settings, and how to measure them.
#[derive(Debug)]
pub struct SettingsPlan {
    /// Settings on one bed, traffic and times.
    pub measured: settings::SettingsPlan,
    /// Settings on two beds.
    pub beds: Vec<TwoBeds>,
    /// Those that are not measured, and why.
    pub left_out: Vec<(&'static Row, Unmeasured)>,
    /// The least time for the others.
    pub least: Span,
    /// The record of the run that is gone on with.
    pub resume: Option<PathBuf>,
    /// Without progress.
    pub quiet: bool,
}

/// A setting on two beds, which are the variants of a comparison.
#[derive(Debug)]
pub struct TwoBeds {
    /// The setting; none: the placebo.
    pub row: Option<&'static Row>,
    /// Its levels.
    pub plan: ComparePlan,
    /// Their beds. Once a tester stands, nobody can tell any more which CPUs they would have.
    pub beds: Vec<BedPlan>,
}

/// Two beds that are alike.
const PLACEBO_LEVELS: [&str; 2] = ["one bed", "another"];
const PLACEBO_FLAGS: [&str; 2] = ["none", "none"];

impl TwoBeds {
    /// The beds with these flags besides the typed ones.
    fn new(
        row: Option<&'static Row>,
        levels: [&str; 2],
        flags: [&str; 2],
        typed: &[OsString],
    ) -> Result<Self> {
        let plan = ComparePlan::from_two(levels, flags, typed)?;
        let beds = plan.on_this_machine()?;
        Ok(Self { row, plan, beds })
    }

    fn placebo(typed: &[OsString]) -> Result<Self> {
        Self::new(None, PLACEBO_LEVELS, PLACEBO_FLAGS, typed)
    }
}

impl Planned<SettingsPlan> {
    /// What the arguments mean. `typed` are all words behind the program's name.
    ///
    /// # Errors
    /// One line that names the remedy.
    pub fn new(args: &MeasureSettingsArgs, typed: &[OsString]) -> Result<Self> {
        let is_typed = args.run.sent.traffic.frame.is_some();
        let sending = Sending::new(&args.run.sent, &args.run.place, None)?;
        let bed = sending.bed.own_router().context(
            "--bed and --external: tune measure switches settings of a bed that it raises itself; leave them out",
        )?;
        let bed = bed.on_this_machine()?;
        ensure!(
            !is_typed || sending.sizes.len() == 1,
            "--frame: tune measure takes one frame size or one mix; run it once for each"
        );
        check_share("--within", args.within, ALIKE_ON_ONE_BED)?;
        let rows = rows(&args.only, args.group.as_deref())?;
        let is_named = !args.only.is_empty();
        let at = Ground {
            bed: &bed,
            traffic: &sending.traffic,
            receiver: sending.receiver,
            is_named,
            allows_machine: args.allow_system_changes,
        };
        let (mut left_out, mut measured, mut beds) = (Vec::new(), Vec::new(), Vec::new());
        for row in &rows {
            match check(row, &at).and_then(|()| two_beds(row, args, typed)) {
                Ok(Some(two)) => beds.push(two),
                Ok(None) => measured.push(*row),
                Err(why) => left_out.push((*row, why)),
            }
        }
        let count = rows.len() - left_out.len();
        check_some(count, &left_out)?;
        if !beds.is_empty() {
            beds.insert(0, TwoBeds::placebo(typed)?);
        }
        let [least, usual] = times(&measured, beds.len(), args.screen).with_context(|| {
            format!("--screen: {count} settings are too many; name fewer with --only or --group")
        })?;
        let budget = args.budget.unwrap_or(usual);
        ensure!(
            budget >= least,
            "--budget {budget}: {count} setting(s) and the placebos need at least {least} here; give more, or fewer settings with --only"
        );
        let mut traffic = sending.traffic.clone();
        traffic.frames = sending.sizes[0].clone();
        let receiver = sending.receiver;
        Ok(sending.planned(SettingsPlan {
            measured: settings::SettingsPlan {
                rows: on_one_bed(rows),
                beds: beds.len(),
                is_named,
                allows_machine: args.allow_system_changes,
                is_screen: args.screen,
                by_stage: args.by_stage,
                traffic,
                how: compare::ComparePlan {
                    within: args.within,
                    budget,
                    receiver,
                    whole_rounds: false,
                },
            },
            beds,
            left_out,
            least,
            resume: args.resume.clone(),
            quiet: args.run.output.quiet,
        }))
    }
}

impl SettingsPlan {
    /// Ids of those that are measured.
    pub fn ids(&self) -> Vec<&'static str> {
        let is_left_out = |row: &&&'static Row| {
            let mut left_out = self.left_out.iter();
            left_out.any(|(other, _)| other.id == row.id)
        };
        let rows = self.measured.rows.iter().filter(|row| !is_left_out(row));
        let beds = self.beds.iter().filter_map(|two| two.row.as_ref());
        rows.chain(beds).map(|row| row.id).collect()
    }
}

/// Whether any setting is measured.
fn check_some(count: usize, left_out: &[(&Row, Unmeasured)]) -> Result<()> {
    if let (0, [(row, why), ..]) = (count, left_out) {
        bail!(
            "no setting to measure: {} {} (mpps tune measure --dry-run shows all that can be)",
            row.id,
            words(why)
        );
    }
    Ok(())
}

/// `is inert here: needs several CPUs`.
pub fn words(why: &Unmeasured) -> String {
    match why {
        Unmeasured::Inert(why) => format!("is inert here: {why}"),
        Unmeasured::NotSwitched(why) => format!("is not measured: {why}"),
    }
}

/// The two beds that are the levels of a setting, where it has them.
fn two_beds(
    row: &'static Row,
    args: &MeasureSettingsArgs,
    typed: &[OsString],
) -> Result<Option<TwoBeds>, Unmeasured> {
    let (Some(beds), [from, to]) = (row.beds(), &row.levels()[..]) else {
        return Ok(None);
    };
    let mut typed = typed.to_vec();
    let sent = &args.run.sent.traffic;
    if beds.contains(&"--ipv6") && sent.frame.is_none() {
        // Both levels need frames of one size, and IPv6 has the larger headers.
        let least = Family::V6.frame_min(sent.l4);
        typed.push(format!("--frame={least}").into());
    }
    let two = TwoBeds::new(Some(row), [from, to], beds, &typed);
    two.map(Some)
        .map_err(|error| Unmeasured::NotSwitched(format!("{error:#}")))
}

fn on_one_bed(mut rows: Vec<&'static Row>) -> Vec<&'static Row> {
    rows.retain(|row| row.beds().is_none());
    rows
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, TuneVerb, Verb};
    use crate::plan::VariantPlan;
    use clap::Parser;
    use mpps_method::tune::CATALOGUE;

    /// The comparison of a setting's two beds in a run with these flags.
    fn comparison(row: &'static Row, flags: &[&str]) -> Result<Option<TwoBeds>, Unmeasured> {
        let words = ["tune", "measure"].iter().chain(flags);
        let typed: Vec<OsString> = words.map(OsString::from).collect();
        let all = std::iter::once(OsString::from("mpps")).chain(typed.clone());
        let verb = Cli::try_parse_from(all).expect("flags").verb;
        let Verb::Tune(tune) = verb else {
            panic!("not tune: {verb:?}");
        };
        match tune.verb {
            TuneVerb::Measure(args) => two_beds(row, &args, &typed),
            other => panic!("not measure: {other:?}"),
        }
    }

    #[test]
    fn bed_flags_are_flags_of_a_comparison() {
        let mut count = 0;
        for row in CATALOGUE.iter().filter(|row| row.beds().is_some()) {
            for flags in [[].as_slice(), &["--dscp", "7", "--seed", "3"]] {
                let plan = comparison(row, flags);
                let plan = plan.unwrap_or_else(|why| panic!("{}: {why:?}", row.id));
                let variants = plan.expect("two beds").plan.variants;
                let names = variants.iter().map(|one| one.name.as_str());
                assert!(names.eq(row.levels()), "{}", row.id);
                let differ = |one: &VariantPlan| {
                    let (bed, traffic) = (&one.bed, &one.traffic);
                    let bed = (bed.nic, bed.queues, bed.rss, bed.rx_ring);
                    format!("{bed:?} {traffic:?} {:?}", one.destinations)
                };
                assert_ne!(differ(&variants[0]), differ(&variants[1]), "{}", row.id);
                let dscp = if flags.is_empty() { 0 } else { 7 };
                // Another front does other parts of the work on the tester's CPU.
                assert_eq!(variants[0].bed.nic, variants[1].bed.nic, "{}", row.id);
                let has_flags = |one: &VariantPlan| one.traffic.dscp == dscp;
                assert!(variants.iter().all(has_flags), "{}", row.id);
            }
            count += 1;
        }
        assert!(count >= 6, "{count}");
    }

    #[test]
    fn flags_that_do_not_fit_the_run_are_told() {
        let row = |id: &str| CATALOGUE.iter().find(|row| row.id == id).expect(id);
        let refused = comparison(row("full_table"), &["--networks", "256"]);
        let Err(Unmeasured::NotSwitched(why)) = refused else {
            panic!("{refused:?}");
        };
        assert!(why.contains("--networks"), "{why}");
        assert!(comparison(row("gro"), &[]).is_ok_and(|plan| plan.is_none()));
        let frames = |flags: &[&str]| {
            let plan = comparison(row("ipv6"), flags).expect("a plan");
            plan.expect("two beds").plan.variants[0]
                .traffic
                .frames
                .to_string()
        };
        let of = [
            frames(&[]),
            frames(&["--frame", "512"]),
            frames(&["--l4", "tcp"]),
        ];
        assert_eq!(of, ["78", "512", "90"]);
    }
}
