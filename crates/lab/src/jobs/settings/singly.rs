//! The largest effects of a screen, each in turns of its own: a screen tells what a frame costs, and a rate only by that.

use super::together::{effect_ns, is_distrusted, is_worth};
use super::tried::{Tried, in_turns};
use super::{EACH, Found, Job, together_time};
use crate::jobs::JobError;
use mpps_method::Span;
use mpps_method::compare::ToldBy;

/// So many of them.
const LARGEST: usize = 5;
/// Pairs of each. Five and the placebo, six in all, need 11 that count, and a restless machine voids some.
const PAIRS: u64 = 15;

/// What it takes to confirm those of so many settings, with the placebo.
pub(super) fn time(settings: usize) -> Span {
    let pairs = PAIRS * (settings.min(LARGEST) as u64 + 1);
    Span::from_nanos(EACH.as_nanos() * 2 * pairs)
}

/// Turns of each, where there is time for them. The placebo takes turns with them, because the screen's placebos say nothing of
/// turns.
pub(super) fn confirm(
    tried: &mut [Tried<'_>],
    job: &mut Job<'_, '_>,
    found: &Found,
) -> Result<(), JobError> {
    if is_distrusted(tried, found) {
        return Ok(());
    }
    let kept = job
        .budget
        .as_nanos()
        .saturating_sub(together_time().as_nanos());
    let end = job.deadline(Span::from_nanos(kept));
    let has_rate = |one: &Tried<'_>| one.screened.is_some() && one.measure == ToldBy::Rate;
    let with_rate = tried.iter_mut().filter(|one| has_rate(one));
    let (placebo, mut worth): (Vec<_>, Vec<_>) = with_rate.partition(|one| one.is_placebo());
    worth.retain(|one| is_worth(one));
    worth.sort_by(|a, b| effect_ns(b).abs().total_cmp(&effect_ns(a).abs()));
    worth.truncate(LARGEST);
    let mut wanted = 0;
    worth.retain(|one| {
        wanted += 1;
        // A deadline also leaves what fits in by half. Half of the pairs would tell nothing.
        let both_halves = time(wanted).plus(time(wanted));
        end.leaves(both_halves) || one.names.iter().any(|name| job.earlier.has(name))
    });
    if !worth.is_empty() {
        worth.extend(placebo);
    }
    let tests = worth.len();
    let ended = in_turns(worth, tests, end, job);
    let mut placebo = tried.iter().filter(|one| one.is_placebo());
    let is_blind = placebo.all(|one| !one.has_own_interval());
    for one in tried.iter_mut().filter(|one| one.screened.is_some()) {
        // The screen's effect stays. Turns say nothing where those of the placebo say nothing.
        if one.refused.take().is_some() || is_blind {
            one.comparison = None;
        }
    }
    ended
}
