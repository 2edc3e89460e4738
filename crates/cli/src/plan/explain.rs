//! What `mpps explain` is to profile.

use super::compare::{SetUp, stem};
use super::sending::Sending;
use super::{BedChoice, BedWish, Planned};
use crate::args::{ExplainArgs, WithSetUps};
use anyhow::{Context, Error, Result, bail, ensure};
use mpps_lab::bed::Front;
use mpps_lab::jobs::JobError;
use mpps_lab::jobs::explain;
use mpps_lab::jobs::fixed_load::Load;
use std::ffi::OsString;

/// Where, what, and through which routes.
pub type ExplainPlan = Planned<explain::ExplainPlan>;

/// The set-up that another one is explained against.
#[derive(Debug)]
pub struct Baseline {
    /// What the explained one is called.
    pub explained: String,
    /// What this one is called.
    pub name: String,
    /// Its own flags as typed.
    pub flags: Vec<String>,
    /// The rest.
    pub plan: ExplainPlan,
}

impl ExplainPlan {
    /// What the arguments mean, and those of the set-up of `--against`. `typed` are all words behind the program's name.
    pub fn new(args: &ExplainArgs, typed: &[OsString]) -> Result<(Self, Option<Baseline>)> {
        let plan = Self::from_args(args)?;
        let against = args.against.as_deref().map(|set_up| {
            let against = Baseline::new(set_up, &plan, typed);
            against.with_context(|| format!("--against \"{set_up}\""))
        });
        Ok((plan, against.transpose()?))
    }

    /// The bed that it raises for itself.
    ///
    /// # Errors
    /// It has none.
    pub fn own_bed(&self) -> Result<&BedWish> {
        match &self.bed {
            BedChoice::Own(bed) => Ok(bed),
            _ => bail!("--bed: each set-up of --against has a bed of its own: leave out --bed"),
        }
    }

    /// What the arguments mean without `--against`.
    pub(super) fn from_args(args: &ExplainArgs) -> Result<Self> {
        let mut sending = Sending::new(&args.run.sent, &args.run.place, None)?;
        if args.against.is_some() && args.run.sent.traffic.frame.is_none() {
            sending.sizes = vec![sending.traffic.frames.clone()];
        }
        let softirq = matches!(&sending.bed, BedChoice::Own(wish) if wish.nic == Front::Softirq);
        let has_threads = !softirq && sending.bed.dut().planned().needs_cpus();
        ensure!(has_threads, JobError::NoThreads);
        let offer = explain::ExplainPlan {
            burn_ns: args.burning.burn,
            offer: sending.fixed_load(&[Load::Max], args.time, args.trials()),
        };
        Ok(sending.planned(offer))
    }
}

impl Baseline {
    fn new(typed_set_up: &str, explained: &ExplainPlan, typed: &[OsString]) -> Result<Self> {
        let set_up = SetUp::read(typed_set_up)?;
        let flags = set_up.flags.clone();
        let args = ExplainArgs::with_flags(typed, &flags).map_err(Error::msg)?;
        let mut plan = ExplainPlan::from_args(&args)?;
        let (own, other) = (explained.own_bed()?, plan.own_bed()?);
        let (offer, others) = (&explained.offer.offer, &plan.offer.offer);
        for (what, same) in [
            ("frames", offer.sizes == others.sizes),
            ("receivers", offer.receiver == others.receiver),
            (
                "CPUs",
                (&own.dut_cpus, &own.tester_cpus) == (&other.dut_cpus, &other.tester_cpus),
            ),
        ] {
            ensure!(
                same,
                "{what} of both have to be the same: give them outside the quotes"
            );
        }
        ensure!(
            offer.sizes.len() == 1,
            "--frame: one frame size or one mix is explained against another set-up: give one"
        );
        let script = own.dut_setup.as_deref();
        let explained = script.map_or_else(|| "this set-up".to_owned(), stem);
        if let (BedChoice::Own(bed), true) = (&mut plan.bed, flags.is_empty()) {
            bed.dut_setup = None;
        }
        let name = set_up.name();
        Ok(Self {
            explained: match explained == name {
                true => format!("{explained} (explained)"),
                false => explained,
            },
            name,
            flags,
            plan,
        })
    }
}
