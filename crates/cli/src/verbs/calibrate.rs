//! `mpps calibrate`: plants faults and finds them.

use super::contract::{Measure, UnderTest, ended};
use super::measure::measure;
use crate::args::{CalibrateArgs, FAULTS};
use crate::exit::Exit;
use crate::plan::{BedChoice, BedWish, DestinationPlan, Planned, bed_name};
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::{Result, ensure};
use mpps_lab::bed::{Bed, BedPlan, DutPlan, Front, RX_RING, RssKey};
use mpps_lab::jobs::calibrate::{FaultKind, calibrate};
use mpps_lab::tester::{ReceiverPlace, receiver_place};
use mpps_lab::traffic::Traffic;
use mpps_method::FrameSpec;
use mpps_method::destinations::Draw;
use std::ops::RangeInclusive;

/// The smallest frame costs the most a bit: where the meter has most to do.
const FRAME: &str = "64";
/// One flow, so that nothing but a planted fault changes its order.
const FLOWS: u32 = 1;
/// One flow fills one ring: more of them could not be found.
const QUEUES: u16 = 1;
/// Rings that can be found; in a smaller one the sender's own batches are too large a share.
const RX_RING_RANGE: RangeInclusive<u32> = 1024..=16_384;

/// Runs the verb.
pub fn run(args: &CalibrateArgs) -> Result<Exit> {
    measure(&args.output, None, CalibrationPlan::new(args)?)
}

/// What to calibrate with.
#[derive(Debug)]
pub struct CalibrationPlan {
    /// 64-octet frames, one flow, one way.
    pub traffic: Traffic,
    /// Where the tester receives; `None`: as `mpps throughput` chooses.
    pub receiver: Option<ReceiverPlace>,
    /// What is planted, in this order.
    pub faults: Vec<FaultKind>,
}

impl CalibrationPlan {
    /// What the arguments mean.
    pub fn new(args: &CalibrateArgs) -> Result<Planned<Self>> {
        let bed = match &args.kept_bed {
            Some(name) => BedChoice::Kept(bed_name(name)?),
            None => BedChoice::Own(wish(args)?),
        };
        ensure!(
            args.destinations.draw != Some(Draw::Missing),
            "--draw missing: the DUT drops every frame, and a planted fault cannot be told from that; give another draw"
        );
        let traffic = Traffic {
            frames: FrameSpec::parse_list(FRAME)?.remove(0),
            flows: FLOWS,
            queries_per_s: args.management_traffic,
            ..Traffic::default()
        };
        Ok(Planned {
            bed,
            destinations: DestinationPlan::from_args(&args.destinations, &traffic)?,
            offer: Self {
                traffic,
                receiver: args.receiver,
                faults: faults(&args.only),
            },
        })
    }
}

/// Those that were asked for, all where none was, in the order of the rows.
fn faults(only: &[FaultKind]) -> Vec<FaultKind> {
    let asked = |fault: &FaultKind| only.is_empty() || only.contains(fault);
    FaultKind::ALL.into_iter().filter(asked).collect()
}

fn wish(args: &CalibrateArgs) -> Result<BedWish> {
    let rx_ring = args.rx_ring.unwrap_or(RX_RING);
    let (low, high) = (RX_RING_RANGE.start(), RX_RING_RANGE.end());
    ensure!(
        RX_RING_RANGE.contains(&rx_ring),
        "--rx-ring {rx_ring}: give {low} to {high} frames"
    );
    Ok(BedWish {
        name: None,
        nic: Front::Cpumap,
        queues: Some(QUEUES),
        rx_ring,
        rss: RssKey::Default,
        interfaces: args.kernel_interfaces,
        dut_cpus: args.cpus.dut_cpus.clone(),
        tester_cpus: args.cpus.tester_cpus.clone(),
        filters: args.filters,
        dut_setup: None,
        dut: DutPlan::Kernel,
    })
}

impl Measure for CalibrationPlan {
    fn job(&self) -> Job<'_> {
        let rule = "calibration".to_owned();
        Job::of_traffic("calibrate", &self.traffic, self.receiver, rule)
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

    fn check_bed(&self, bed: &BedPlan) -> Result<()> {
        let (low, high) = (RX_RING_RANGE.start(), RX_RING_RANGE.end());
        ensure!(
            bed.nic == Front::Cpumap
                && bed.queues == QUEUES
                && RX_RING_RANGE.contains(&bed.rx_ring),
            "bed {} has front {}, queues {}, rings of {}. Calibrating takes front cpumap, {QUEUES} queue and \
             rings of {low} to {high}: mpps bed up NAME --queues {QUEUES}, or no --bed",
            bed.name.as_deref().unwrap_or_default(),
            bed.nic.name(),
            bed.queues,
            bed.rx_ring
        );
        Ok(())
    }

    fn resolve(&mut self, bed: &Bed) -> Result<()> {
        self.traffic.receiver = match self.receiver {
            Some(place) => place,
            None => receiver_place(bed, &self.traffic)?,
        };
        Ok(())
    }

    fn run(&self, on: UnderTest<'_>, recorder: &mut Recorder) -> Result<()> {
        let error = calibrate(on.bed()?, &self.traffic, &self.faults, recorder);
        ended(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use clap::Parser;

    fn args(words: &str) -> CalibrateArgs {
        let typed = ["mpps", "calibrate"]
            .into_iter()
            .chain(words.split_whitespace());
        match Cli::try_parse_from(typed).expect(words).verb {
            Verb::Calibrate(args) => args,
            other => panic!("not calibrate: {other:?}"),
        }
    }

    #[test]
    fn without_arguments_one_flow_goes_through_one_ring() {
        let plan = CalibrationPlan::new(&args("")).expect("a plan");
        assert_eq!(
            (
                plan.offer.traffic.frames.to_string().as_str(),
                plan.offer.traffic.flows
            ),
            ("64", 1)
        );
        let BedChoice::Own(wish) = plan.bed else {
            panic!("a bed of its own")
        };
        assert_eq!(
            (wish.nic, wish.queues, wish.rx_ring),
            (Front::Cpumap, Some(1), 4096)
        );
    }

    #[test]
    fn the_receiver_is_the_one_asked_for() {
        for (words, place) in [
            ("", None),
            ("--receiver exit", Some(ReceiverPlace::Exit)),
            ("--receiver port", Some(ReceiverPlace::Port)),
        ] {
            let plan = CalibrationPlan::new(&args(words)).expect("a plan");
            assert_eq!(plan.offer.receiver, place, "{words}");
        }
    }

    #[test]
    fn faults_are_planted_in_one_order() {
        let plan = |words| CalibrationPlan::new(&args(words)).expect("a plan").offer;
        assert_eq!(plan("").faults, FaultKind::ALL);
        let asked = plan("--only cost,loss").faults;
        assert_eq!(asked, [FaultKind::Loss, FaultKind::COST]);
    }

    #[test]
    fn modifiers_are_of_bed_and_traffic() {
        let plan =
            CalibrationPlan::new(&args("--filters 25 --management-traffic 10 --networks 256"));
        let plan = plan.expect("a plan");
        let BedChoice::Own(wish) = plan.bed else {
            panic!("a bed of its own")
        };
        assert_eq!(
            (wish.filters, plan.offer.traffic.queries_per_s),
            (Some(25), Some(10))
        );
        let routes = plan.destinations.expect("routes");
        assert_eq!(routes.draw, Draw::PerAddress);
        let changes = "--table rib --route-changes updates,speed=10/s";
        let plan = CalibrationPlan::new(&args(changes)).expect("a plan");
        assert!(
            plan.destinations
                .is_some_and(|plan| plan.route_changes.is_some())
        );
        let missing = CalibrationPlan::new(&args("--table rib --draw missing"));
        let error = missing.expect_err("no frame comes back").to_string();
        assert!(error.contains("give another draw"), "{error}");
    }

    #[test]
    fn a_ring_too_small_to_be_found_is_refused() {
        for ring in ["1023", "16385"] {
            let error = CalibrationPlan::new(&args(&format!("--rx-ring {ring}"))).expect_err(ring);
            assert!(error.to_string().contains("1024 to 16384"), "{error}");
        }
    }

    #[test]
    fn a_kept_bed_has_to_fit() {
        let plan = CalibrationPlan::new(&args("--bed lab1")).expect("a plan");
        let plan = plan.offer;
        let bed = |nic, queues| BedPlan {
            name: Some("lab1".to_owned()),
            nic,
            queues,
            ..BedPlan::usual(mpps_lab::bed::CpuSplit {
                dut: vec![1],
                tester: vec![0],
            })
        };
        assert!(plan.check_bed(&bed(Front::Cpumap, 1)).is_ok());
        for (nic, queues) in [(Front::Napi, 1), (Front::Cpumap, 2)] {
            let error = plan.check_bed(&bed(nic, queues)).expect_err("unfit");
            assert!(
                error.to_string().contains("mpps bed up NAME --queues 1"),
                "{error}"
            );
        }
    }
}
