//! Doubts about the loads of a series, one trial each: whether they met the same router.

use super::{Doubt, Weight};
use mpps_method::{Rate, Trial, Verdict};

/// A load that lost a share of its frames larger by this than a higher load met another router.
const LOST_MORE: f64 = 0.01;
/// A load is an overload if it lost more than this share.
const OVERLOADED: f64 = 0.02;
/// Overloads of one router forward at least this share of the most that one of them forwards.
const AS_MUCH: f64 = 0.9;

/// `passed`: what a search before the series found without loss.
pub(super) fn doubts(trials: &[(Trial, Verdict)], passed: Option<Rate>) -> Vec<Doubt> {
    let counted = trials.iter().filter(|(_, verdict)| verdict.counts());
    let loads: Vec<Load> = counted.filter_map(|(trial, _)| Load::new(trial)).collect();
    let below = passed.and_then(|passed| lost_below(&loads, passed));
    lost_more(&loads)
        .or_else(|| forwarded_less(&loads))
        .into_iter()
        .chain(below)
        .collect()
}

/// What one load says.
#[derive(Clone, Copy)]
struct Load {
    offered: Rate,
    forwarded: Rate,
    lost: f64,
}

impl Load {
    fn new(trial: &Trial) -> Option<Self> {
        let (offered, lost) = (trial.undisturbed_rate()?, trial.loss_ratio()?);
        let forwarded = Rate::from_fps(offered.fps() * (1.0 - lost));
        Some(Self {
            offered,
            forwarded,
            lost,
        })
    }
}

/// A lower load that lost more than a higher one.
fn lost_more(loads: &[Load]) -> Option<Doubt> {
    let pairs = loads
        .iter()
        .flat_map(|low| loads.iter().map(move |high| (low, high)));
    let pairs = pairs.filter(|(low, high)| low.offered.fps() < high.offered.fps());
    let (low, high) = pairs.max_by(|one, other| {
        let more = |(low, high): &(&Load, &Load)| low.lost - high.lost;
        more(one).total_cmp(&more(other))
    })?;
    (low.lost - high.lost > LOST_MORE).then(|| {
        uneven(format!(
            "{} lost {:.1} % of its frames, the higher load of {} lost {:.1} %",
            low.offered,
            100.0 * low.lost,
            high.offered,
            100.0 * high.lost
        ))
    })
}

/// An overload at which the router forwarded less than at a higher one. At the higher one it may forward less, because
/// losses at a ring of the bed cost it time.
fn forwarded_less(loads: &[Load]) -> Option<Doubt> {
    let over = loads.iter().filter(|load| load.lost > OVERLOADED);
    let pairs = over
        .clone()
        .flat_map(|low| over.clone().map(move |high| (low, high)));
    let rises = |(low, high): &(&Load, &Load)| {
        low.offered.fps() < high.offered.fps()
            && low.forwarded.fps() < AS_MUCH * high.forwarded.fps()
    };
    let share = |(low, high): &(&Load, &Load)| low.forwarded.fps() / high.forwarded.fps();
    let (low, high) = pairs
        .filter(rises)
        .min_by(|one, other| share(one).total_cmp(&share(other)))?;
    Some(uneven(format!(
        "of {} the router forwarded {}, of {} it forwarded {}",
        low.offered, low.forwarded, high.offered, high.forwarded
    )))
}

fn uneven(seen: String) -> Doubt {
    Doubt {
        name: "uneven-loads",
        weight: Weight::Unsure(0),
        seen,
        why: "Each load is one trial, in whatever state the machine was.",
        next: "Run it again. mpps throughput compares loads in one state of the machine.",
    }
}

/// Loads that a search has seen pass.
fn lost_below(loads: &[Load], passed: Rate) -> Option<Doubt> {
    let below = loads
        .iter()
        .filter(|load| load.offered.fps() <= passed.fps());
    let worst = below.max_by(|one, other| one.lost.total_cmp(&other.lost))?;
    (worst.lost > 0.0).then(|| Doubt {
        name: "lost-below-throughput",
        weight: Weight::Unsure(0),
        seen: format!(
            "{} lost {:.2} % of its frames, though the search before saw {passed} pass without loss",
            worst.offered, 100.0 * worst.lost
        ),
        why: "One of both is not what the router does always: the machine was in another state, or trials of this load differ.",
        next: "Run mpps trial at this load several times: it shows where frames are lost.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(offered: f64, lost: f64) -> Load {
        let forwarded = Rate::from_fps(offered * (1.0 - lost));
        Load {
            offered: Rate::from_fps(offered),
            forwarded,
            lost,
        }
    }

    #[test]
    fn a_curve_of_one_router_has_no_doubt() {
        let even = [
            load(2e6, 0.5),
            load(1.5e6, 0.35),
            load(1.01e6, 0.01),
            load(1e6, 0.0),
        ];
        assert!(lost_more(&even).is_none() && forwarded_less(&even).is_none());
        assert!(lost_below(&even, Rate::from_fps(1e6)).is_none());
        assert!(lost_more(&[]).is_none() && forwarded_less(&even[3..]).is_none());
    }

    #[test]
    fn loads_that_met_another_router_are_named() {
        let lost = lost_more(&[load(2e6, 0.5), load(1.8e6, 0.6), load(1e6, 0.0)]).expect("a doubt");
        assert_eq!(
            lost.seen,
            "1.800 Mfps lost 60.0 % of its frames, the higher load of 2.000 Mfps lost 50.0 %"
        );
        let less = forwarded_less(&[load(4e6, 0.5), load(3.5e6, 0.6)]).expect("a doubt");
        assert_eq!(
            less.seen,
            "of 3.500 Mfps the router forwarded 1.400 Mfps, of 4.000 Mfps it forwarded 2.000 Mfps"
        );
        // Losses of a higher load may cost the router time.
        assert!(forwarded_less(&[load(4e6, 0.65), load(3.6e6, 0.5)]).is_none());
        let below =
            lost_below(&[load(2e6, 0.5), load(1e6, 0.02)], Rate::from_fps(1.4e6)).expect("a doubt");
        assert!(
            below
                .seen
                .starts_with("1.000 Mfps lost 2.00 % of its frames, though"),
            "{}",
            below.seen
        );
    }
}
