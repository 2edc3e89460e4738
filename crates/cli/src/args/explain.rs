//! `mpps explain`.

use super::quantity::{count, trial_length};
use super::{OutputArgs, PlaceArgs, SentArgs};
use clap::Args;
use mpps_lab::jobs::explain::TRIALS_MIN;
use mpps_method::Span;
use mpps_method::sweep::{Axis, POINTS_MIN};

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
pub struct ExplainArgs {
    /// Length of each trial, in seconds or with a unit (200ms, 5m)
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = trial_length, help_heading = "Load")]
    pub time: Span,
    /// Trials at saturation that are sampled, each beside one that is not; more make the intervals narrower
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Load",
          value_parser = clap::value_parser!(u32).range(i64::from(TRIALS_MIN)..=100))]
    pub trials: u32,
    /// Let a program on the router's path spin so many ns for each frame, where it receives: the stage RX has to cost
    /// that much more, and what the program costs beside its spin. It tests the profile itself
    #[arg(long, value_name = "NS", help_heading = "Load", value_parser = clap::value_parser!(u64).range(1..=BURN_MAX))]
    pub burn: Option<u64>,
    /// Measure what a frame costs at places of an axis (flows, destinations, routes, frame, cores), fit a line and
    /// predict the places left out of it; AXIS=V1,V2,... names the places (destinations=1,1k,64k,1M), at least 4
    #[arg(long, value_name = "AXIS", value_parser = sweep, help_heading = "Sweep")]
    pub sweep: Option<SweepArg>,
    /// Measure the scenarios of tables I to V of Raumer, Emmerich and others (2015): 4 frame sizes, then 256 to 1 M flows
    /// through as many routes; print them beside the published figures
    #[arg(long, conflicts_with_all = ["sweep", "frame"], help_heading = "Sweep")]
    pub paper_tables: bool,
    /// What is sent.
    #[command(flatten)]
    pub sent: SentArgs,
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
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
