//! What a frame's time gained or lost between two profiles of `mpps explain`, by stage and by cause.

use crate::exit::Exit;
use mpps_method::stage::{Change, Spent, changes};
use mpps_record::{Interval, PartCost, ProfileLine, ProfiledLoad};
use mpps_report::profile::{is_beds, saturated};
use serde::Serialize;
use std::fmt;

/// The change of a frame's time at saturation.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileChange {
    /// The router's time of a frame in the first profile.
    router_before_ns: f64,
    router: PartChange,
    stages: Vec<PartChange>,
    causes: Vec<PartChange>,
}

/// The change of one part.
#[derive(Clone, Debug, Default, Serialize)]
struct PartChange {
    part: String,
    /// More time of a frame. The intervals of all stages hold together in 19 of 20 comparisons, and those of all causes.
    ns: Interval<f64>,
    /// Whether the whole interval lies beyond what two runs of one set-up differ by.
    seen: bool,
}

impl ProfileChange {
    /// The second profile against the first. Differences up to the share `alike` of a part are none.
    #[must_use]
    pub fn new(one: &ProfileLine, other: &ProfileLine, alike: f64) -> Self {
        let unknown = ProfiledLoad::default();
        let [before, after] = [one, other].map(|line| saturated(line).unwrap_or(&unknown));
        let router = changes(&[(router(before), router(after))], alike);
        let parts = |of: fn(&ProfiledLoad) -> &[PartCost]| {
            let pairs: Vec<(&PartCost, &PartCost)> = of(before)
                .iter()
                .filter_map(|part| {
                    Some((part, of(after).iter().find(|same| same.part == part.part)?))
                })
                .collect();
            let times = pairs.iter();
            let times = times.map(|(one, other)| (spent(before, one), spent(after, other)));
            let changes = changes(&times.collect::<Vec<_>>(), alike);
            let named = pairs.iter().zip(changes);
            named
                .map(|((one, _), change)| part(&one.part, change))
                .collect()
        };
        Self {
            router_before_ns: before.router_ns,
            router: router
                .first()
                .map(|change| part("router", *change))
                .unwrap_or_default(),
            stages: parts(|load| &load.stages),
            causes: parts(|load| &load.causes),
        }
    }

    /// What it means where a router that takes longer by more than a share fails.
    #[must_use]
    pub fn exit(&self, fail_if_slower: Option<f64>) -> Exit {
        let slower = self.router.ns.median / self.router_before_ns;
        match fail_if_slower {
            Some(limit) if self.router.seen && slower > limit => Exit::NotMet,
            _ => Exit::Measured,
        }
    }
}

impl fmt::Display for ProfileChange {
    /// `+211 ns a frame for the router (190 to 230): prerouting +150 (120 to 180), rest no difference seen (each within
    /// 9 ns); by cause: ...`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Interval { low, median, high } = self.router.ns;
        if self.router.seen {
            write!(
                f,
                "{median:+.0} ns a frame for the router ({low:.0} to {high:.0})"
            )?;
        } else {
            let within = self.router.within();
            write!(
                f,
                "no difference seen for the router (within {within:.0} ns a frame)"
            )?;
        }
        let (stages, causes) = (told(&self.stages), told(&self.causes));
        write!(f, "; by stage: {stages}; by cause: {causes}")
    }
}

impl PartChange {
    /// How large a difference may be that was not seen.
    fn within(&self) -> f64 {
        self.ns.low.abs().max(self.ns.high.abs()).ceil()
    }
}

/// The parts whose change was seen, the largest first, and within what the others did not.
fn told(parts: &[PartChange]) -> String {
    let (mut seen, rest): (Vec<&PartChange>, Vec<_>) = parts.iter().partition(|part| part.seen);
    seen.sort_by(|one, other| other.ns.median.abs().total_cmp(&one.ns.median.abs()));
    let one = |change: &&PartChange| {
        let PartChange { part, ns, .. } = change;
        let bed = if is_beds(part) { " of the bed" } else { "" };
        format!(
            "{part}{bed} {:+.0} ({:.0} to {:.0})",
            ns.median, ns.low, ns.high
        )
    };
    let mut words: Vec<String> = seen.iter().map(one).collect();
    if !rest.is_empty() {
        let rest_of = if seen.is_empty() { "" } else { "rest " };
        let within = rest.iter().map(|part| part.within()).fold(0.0, f64::max);
        words.push(format!(
            "{rest_of}no difference seen (each within {within:.0} ns)"
        ));
    }
    words.join(", ")
}

fn part(
    name: &str,
    Change {
        ns,
        low,
        high,
        seen,
    }: Change,
) -> PartChange {
    PartChange {
        part: name.to_owned(),
        ns: Interval {
            low,
            median: ns,
            high,
        },
        seen,
    }
}

fn spent(load: &ProfiledLoad, PartCost { ns, .. }: &PartCost) -> Spent {
    Spent {
        ns: ns.median,
        low: ns.low,
        high: ns.high,
        trials: load.trials.len() as u32,
    }
}

/// The router's time: that of the whole frame without the bed's stages. The errors of these add up.
fn router(load: &ProfiledLoad) -> Spent {
    let beds = load.stages.iter().filter(|at| is_beds(&at.part));
    let intervals = beds.map(|at| at.ns).chain([load.frame_ns]);
    let half = |ns: Interval<f64>| (ns.high - ns.median).max(ns.median - ns.low);
    let half = intervals.map(|ns| half(ns).powi(2)).sum::<f64>().sqrt();
    Spent {
        ns: load.router_ns,
        low: load.router_ns - half,
        high: load.router_ns + half,
        trials: load.trials.len() as u32,
    }
}
