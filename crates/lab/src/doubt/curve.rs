//! Doubts about the loads of a series, one trial each: whether they met the same router.

use super::{Doubt, Weight};
use mpps_method::{Rate, Trial, Verdict};

/// A load that lost a share of its frames larger by this than a higher load met another router.
const LOST_MORE: f64 = 0.01;
/// A load is an overload if it lost more than this share.
const OVERLOADED: f64 = 0.02;
/// Overloads of one router forward at least this share of the most that one of them forwards.
const AS_MUCH: f64 = 0.9;

/// What one load says: what was offered, and the share of it that was lost.
type Load = (Rate, f64);

/// `passed`: what a search before the series found without loss.
pub(super) fn doubt(trials: &[(Trial, Verdict)], passed: Option<Rate>) -> Option<Doubt> {
    let load = |trial: &Trial| Some((trial.undisturbed_rate()?, trial.loss_ratio()?));
    let counted = trials.iter().filter(|(_, verdict)| verdict.counts());
    let loads: Vec<Load> = counted.filter_map(|(trial, _)| load(trial)).collect();
    uneven(&loads, passed)
}

/// A lower load that lost more than a higher one, or an overload at which the router forwarded less than at a higher one. At
/// the higher one it may forward less, because losses at a ring of the bed cost it time. Else a load that a search saw pass.
fn uneven(loads: &[Load], passed: Option<Rate>) -> Option<Doubt> {
    let forwarded = |(offered, lost): Load| Rate::from_fps(offered.fps() * (1.0 - lost));
    let told = |load: Load| {
        let (offered, lost, forwarded) = (load.0, 100.0 * load.1, forwarded(load));
        format!("of {offered} {lost:.2} % was lost and {forwarded} forwarded")
    };
    let more = |(low, high): &(Load, Load)| low.1 - high.1;
    let is_uneven = |pair: &(Load, Load)| {
        let (low, high) = *pair;
        let are_over = low.1.min(high.1) > OVERLOADED;
        let is_less = are_over && forwarded(low).fps() < AS_MUCH * forwarded(high).fps();
        low.0 < high.0 && (more(pair) > LOST_MORE || is_less)
    };
    let pairs = (loads.iter()).flat_map(|low| loads.iter().map(move |high| (*low, *high)));
    let worst = (pairs.filter(is_uneven)).max_by(|one, other| more(one).total_cmp(&more(other)));
    let seen = worst.map(|(low, high)| {
        format!(
            "a lower load fared worse than a higher one: {}; {}",
            told(low),
            told(high)
        )
    });
    let below = |passed: Rate| {
        let mut lost = loads
            .iter()
            .filter(|(offered, lost)| *offered <= passed && *lost > 0.0);
        let load = told(*lost.next()?);
        Some(format!(
            "{load}; the search before saw {passed} pass without loss"
        ))
    };
    Some(Doubt {
        name: "uneven-loads",
        weight: Weight::Unsure(0),
        seen: seen.or_else(|| passed.and_then(below))?,
        why: "Each load is one trial, in whatever state the machine was.",
        next: "Run it again. mpps throughput compares loads in one state of the machine, and mpps trial shows where a load loses frames.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(offered: f64, lost: f64) -> Load {
        (Rate::from_fps(offered), lost)
    }

    fn seen(loads: &[Load], passed: Option<f64>) -> Option<String> {
        uneven(loads, passed.map(Rate::from_fps)).map(|doubt| doubt.seen)
    }

    #[test]
    fn a_curve_of_one_router_has_no_doubt() {
        let even = [
            load(2e6, 0.5),
            load(1.5e6, 0.35),
            load(1.01e6, 0.01),
            load(1e6, 0.0),
        ];
        assert_eq!(seen(&even, Some(1e6)), None);
        assert_eq!(seen(&even[3..], None), None);
        assert_eq!(seen(&[], Some(1e6)), None);
        // Losses of a higher load may cost the router time.
        assert_eq!(seen(&[load(4e6, 0.65), load(3.6e6, 0.5)], None), None);
    }

    #[test]
    fn loads_that_met_another_router_are_named() {
        let lost = seen(&[load(2e6, 0.5), load(1.8e6, 0.6), load(1e6, 0.0)], None);
        let wanted = "a lower load fared worse than a higher one: of 1.800 Mfps 60.00 % was lost and 720.0 kfps forwarded; \
                      of 2.000 Mfps 50.00 % was lost and 1.000 Mfps forwarded";
        assert_eq!(lost.as_deref(), Some(wanted));
        let less = seen(&[load(4e6, 0.5), load(3.5e6, 0.5)], None);
        let wanted = "a lower load fared worse than a higher one: of 3.500 Mfps 50.00 % was lost and 1.750 Mfps forwarded; \
                      of 4.000 Mfps 50.00 % was lost and 2.000 Mfps forwarded";
        assert_eq!(less.as_deref(), Some(wanted));
    }

    #[test]
    fn a_load_that_a_search_saw_pass_is_named() {
        let loads = [load(2e6, 0.5), load(1e6, 0.002)];
        let wanted = "of 1.000 Mfps 0.20 % was lost and 998.0 kfps forwarded; \
                      the search before saw 1.400 Mfps pass without loss";
        assert_eq!(seen(&loads, Some(1.4e6)).as_deref(), Some(wanted));
        assert_eq!(seen(&loads, Some(0.9e6)), None);
    }
}
