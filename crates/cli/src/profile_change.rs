//! What a frame's time gained or lost between two profiles of `mpps explain`, by stage and by cause.

use crate::exit::Exit;
use mpps_method::stage::{Change, Spent, changes};
use mpps_record::{Interval, PartChange, PartCost, ProfileChange, ProfileLine, ProfiledLoad};
use mpps_report::profile::saturated;
use mpps_report::stage::is_beds;

/// The second profile against the first at saturation. Differences up to the share `alike` of a part are none.
pub fn profile_change(one: &ProfileLine, other: &ProfileLine, alike: f64) -> ProfileChange {
    let unknown = ProfiledLoad::default();
    let [before, after] = [one, other].map(|line| saturated(line).unwrap_or(&unknown));
    let router = changes(&[(router(before), router(after))], alike);
    let parts = |of: fn(&ProfiledLoad) -> &[PartCost]| {
        let pairs: Vec<(&PartCost, &PartCost)> = of(before)
            .iter()
            .filter_map(|part| Some((part, of(after).iter().find(|same| same.part == part.part)?)))
            .collect();
        let times = pairs.iter();
        let times = times.map(|(one, other)| (spent(before, one), spent(after, other)));
        let changes = changes(&times.collect::<Vec<_>>(), alike);
        let named = pairs.iter().zip(changes);
        named
            .map(|((one, _), change)| part(&one.part, &change))
            .collect()
    };
    ProfileChange {
        router_before_ns: before.router_ns,
        router: router
            .first()
            .map(|change| part("router", change))
            .unwrap_or_default(),
        stages: parts(|load| &load.stages),
        causes: parts(|load| &load.causes),
    }
}

/// What a change means where a router that takes longer by more than a share fails.
pub fn exit(change: &ProfileChange, fail_if_slower: Option<f64>) -> Exit {
    let slower = change.router.ns.median / change.router_before_ns;
    match fail_if_slower {
        Some(limit) if change.router.seen && slower > limit => Exit::NotMet,
        _ => Exit::Measured,
    }
}

fn part(name: &str, change: &Change) -> PartChange {
    PartChange::new(name, [change.low, change.ns, change.high], change.seen)
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
