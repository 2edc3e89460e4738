//! `mpps calibrate`: plants faults and finds them.

use super::contract::{Measure, Place, ended};
use super::measure::measure;
use crate::args::{CalibrateArgs, FAULTS};
use crate::exit::Exit;
use crate::plan::CalibrationPlan;
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::jobs::calibrate::calibrate;
use mpps_lab::traffic::Traffic;

/// Runs the verb.
pub fn run(args: &CalibrateArgs) -> Result<Exit> {
    measure(&args.output, None, CalibrationPlan::new(args)?)
}

impl Measure for CalibrationPlan {
    fn job(&self) -> Job<'_> {
        Job::calibrate(&self.traffic, self.receiver)
    }

    fn more(&self) -> String {
        let name = |fault| FAULTS.iter().find(|(_, _, known)| known == fault);
        let names = self.faults.iter().filter_map(name).map(|(name, ..)| *name);
        let names: Vec<&str> = names.collect();
        format!("faults       {}, one after the other\n", names.join(", "))
    }

    fn traffic(&mut self) -> &mut Traffic {
        &mut self.traffic
    }

    fn check_bed(&self, name: &str, bed: &BedPlan) -> Result<()> {
        Self::check_bed(self, name, bed)
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.traffic = self.traffic_on(bed)?;
        Ok(())
    }

    fn run(&self, place: Place<'_>, recorder: &mut Recorder) -> Result<()> {
        let error = calibrate(place.bed()?, &self.traffic, &self.faults, recorder);
        ended(error)
    }
}
