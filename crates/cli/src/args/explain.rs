//! `mpps explain`.

use super::compare::WithSetUps;
use super::measuring::on_a_bed;
use super::quantity::{count, trial_length};
use super::top::{watched_cpus, watched_time};
use super::{PlaceArgs, RunArgs, SentArgs};
use clap::{Args, Command};
use mpps_lab::jobs::explain::TRIALS_MIN;
use mpps_lab::observe::CpuSet;
use mpps_method::Span;
use mpps_method::sweep::{Axis, POINTS_MIN};

/// Trials at saturation, and pairs of them with `--against`.
const TRIALS: [u32; 2] = [5, 20];

/// Longest burn, ns: a frame that costs more leaves too few of them.
const BURN_MAX: u64 = 100_000;

/// An axis, and places on it; empty: the usual ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepArg {
    /// The axis.
    pub axis: Axis,
    /// As typed, without repetitions, by rising value.
    pub places: Vec<u64>,
}

/// `destinations`, or `destinations=1,1k,64k,1M`.
fn sweep(text: &str) -> Result<SweepArg, String> {
    let (name, places) = text
        .split_once('=')
        .map_or((text, None), |(name, places)| (name, Some(places)));
    let axis = Axis::from_name(name).ok_or("give flows, destinations, routes, frame or cores")?;
    let places = places.map_or(Ok(Vec::new()), |places| {
        places.split(',').map(count).collect()
    });
    let mut places: Vec<u64> = places?;
    places.sort_unstable();
    places.dedup();
    if places.first() == Some(&0) {
        return Err("give places above 0".to_owned());
    }
    if !places.is_empty() && places.len() < POINTS_MIN {
        return Err(format!(
            "give at least {POINTS_MIN} different places, because some are held out of the fit"
        ));
    }
    Ok(SweepArg { axis, places })
}

/// Arguments of `mpps explain`.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load", mut_args(on_a_bed))]
pub struct ExplainArgs {
    /// Length of each trial, in seconds or with a unit (200ms, 5m)
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = trial_length)]
    pub time: Span,
    /// Sampled trials at saturation, each beside one that is not sampled [default: 5]. With --against: pairs of trials, one
    /// of each set-up [default: 20]. More of them make the intervals narrower
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(i64::from(TRIALS_MIN)..=1000))]
    pub trials: Option<u32>,
    /// Tell what each stage and cause takes more than in this set-up. The two take turns. A SETUP is none (the same
    /// without --dut-setup), a program as for --dut-setup, or flags of its own ('--queues 1', '--burn 0'). NAME=SETUP
    /// names it
    #[arg(long, value_name = "SETUP", allow_hyphen_values = true)]
    pub against: Option<String>,
    /// A cost that is known.
    #[command(flatten)]
    pub burning: BurnArgs,
    /// Measure what a frame costs at places of an axis: flows, destinations, routes, frame or cores. Fit a line, and predict
    /// the places left out of it. AXIS=V1,V2,... names at least 4 places (destinations=1,1k,64k,1M)
    #[arg(long, value_name = "AXIS", value_parser = sweep, conflicts_with = "against", help_heading = "Sweep")]
    pub sweep: Option<SweepArg>,
    /// Measure the scenarios of tables I to V of Raumer, Emmerich and others (2015). They have 4 frame sizes, then 256
    /// to 1 M flows through as many routes. The published figures stand beside the results
    #[arg(long, conflicts_with_all = ["sweep", "frame", "against"], help_heading = "Sweep")]
    pub paper_tables: bool,
    /// Look at these CPUs of this host at its work (2-5, or all). All traffic is of others: nothing is sent, and nothing is
    /// changed. Interfaces are those of this network namespace
    #[arg(long, value_name = "CPUS", help_heading = "Host", value_parser = watched_cpus,
          conflicts_with_all = ["time", "trials", "burn", "against", "sweep", "paper_tables", "TrafficArgs", "DestinationArgs", "PortArgs", "kept_bed",
                                "nic", "queues", "rx_ring", "rss", "kernel_interfaces", "dut_cpus", "tester_cpus", "filters", "dut_setup", "share",
                                "dry_run"])]
    pub cpus: Option<CpuSet>,
    /// How long to look (10, 800ms, 2m)
    #[arg(long = "for", value_name = "SECONDS", default_value = "10", value_parser = watched_time, requires = "cpus",
          help_heading = "Host")]
    pub look: Span,
    /// What is sent, where, and where results go.
    #[command(flatten)]
    pub run: RunArgs,
}

/// A cost that is known.
#[derive(Args, Debug)]
pub struct BurnArgs {
    /// Test the profile itself: a program spins for NS ns at each frame where the router receives. The stage RX then
    /// has to cost that much more, and what the program takes beside its spin. With 0 it has the latter alone
    #[arg(long, value_name = "NS", help_heading = "Load", value_parser = clap::value_parser!(u64).range(0..=BURN_MAX))]
    pub burn: Option<u64>,
}

/// The flags that the set-up of `--against` can have of its own.
#[derive(Args, Debug)]
struct AgainstArgs {
    #[command(flatten)]
    _burning: BurnArgs,
    #[command(flatten)]
    _sent: SentArgs,
    #[command(flatten)]
    _place: PlaceArgs,
}

impl ExplainArgs {
    /// Trials at saturation, or pairs.
    pub fn trials(&self) -> u32 {
        let usual = TRIALS[usize::from(self.against.is_some())];
        self.trials.unwrap_or(usual)
    }
}

impl WithSetUps for ExplainArgs {
    const VERB: &str = "explain";

    fn own() -> Command {
        AgainstArgs::augment_args(Command::new(Self::VERB))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_an_axis_with_places() {
        let places = sweep("routes=1M,1,1k,10,1k").expect("a sweep").places;
        assert_eq!(places, [1, 10, 1_000, 1_000_000]);
        assert!(sweep("cores").expect("a sweep").places.is_empty());
        for (text, why) in [
            ("ports", "destinations"),
            ("frame=64,128,256", "at least 4"),
            ("flows=0,1,2,3", "above 0"),
            ("flows=1,2,x,4", "whole number"),
        ] {
            assert!(sweep(text).expect_err(text).contains(why), "{text}");
        }
    }
}
