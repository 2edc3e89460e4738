//! From the figures of a loss to a word for it. `docs/method.md`, "Why frames were lost", states the same rule.

use super::Losses;
use crate::units::Span;
use std::fmt;

/// An episode that lost so many frames is a bunch: an isolated frame more or less is chance, these are not.
pub const BUNCH: u64 = 16;
/// Fewer frames lost say nothing of a pattern.
const SCARCE: u64 = 16;
/// Fewer runs say nothing of a period.
const PERIODS: u64 = 8;
/// This share of the distances is the same where loss is periodic.
const SAME: f64 = 0.9;
/// What counts frames off begins with the first of them: within so many periods. (A policer that smooth traffic
/// exceeds by a round share counts off as well, but only when its bucket is used up.)
const PERIODIC_HEAD: f64 = 2.0;
/// Chance begins with the first frame too. Before so many mean distances without a loss something was filled.
const FULL_HEAD: f64 = 8.0;
/// Loss that lasts shows in so many windows at least, in half of those to the end of the trial, and has a run for
/// each or each two ...
const LASTING: u64 = 3;
/// ... and where it has one cause, no window of many, and no run of a few windows, has more than this share of it.
const EVEN: f64 = 0.3;
const MANY: u64 = 10;
/// This share of the frames is lost in bunches where none is lost alone.
const BUNCHED: f64 = 0.9;
/// In a bunch, the longest run of a DUT that stood still holds at least this share of the loss ...
const SOLID: f64 = 0.8;
/// ... and of one that was merely too slow less than this: between its runs it served.
const LOOSE: f64 = 0.5;
/// Runs of chance are so much longer or shorter than their expectation at most, as a share.
const RUN_LENGTH: f64 = 0.15;
/// So is the variation of their distances, and by this over the root of their number besides.
const SPACING: f64 = 0.15;
const SPACING_SMALL: f64 = 1.5;
/// Bounds of the dispersion over its expectation (chi-squared with 99 degrees: 1 by 0.14).
const DISPERSION: std::ops::Range<f64> = 0.5..2.0;

/// What a loss looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossPattern {
    /// More came than was taken, for longer: bunches of runs between which frames were served. A ring that
    /// overflows, a policer, a queue in the DUT.
    Overflow,
    /// Nothing was taken for a while: bunches that are one run each, nearly.
    Stall {
        /// How often.
        pauses: u64,
        /// How long the sender took for the longest run. What stood still did so for longer: its ring was filled
        /// before.
        longest: Span,
    },
    /// Each frame with the same chance, whatever the load.
    Random {
        /// One frame in so many.
        one_in: u64,
    },
    /// One frame in so many, counted off.
    Periodic {
        /// Frames from one loss to the next.
        every: u64,
    },
    /// More than one of these, or none.
    Mixed,
    /// Too few frames to tell.
    Scarce,
}

impl LossPattern {
    /// The word in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Stall { .. } => "stall",
            Self::Random { .. } => "random",
            Self::Periodic { .. } => "periodic",
            Self::Mixed => "mixed",
            Self::Scarce => "scarce",
        }
    }
}

impl fmt::Display for LossPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overflow => f.write_str("overflow: frames arrived faster than the DUT took them"),
            Self::Stall { pauses: 1, longest } => {
                write!(f, "stall: the DUT took no frames for {longest}")
            }
            Self::Stall { pauses, longest } => write!(
                f,
                "stall: the DUT took no frames, {pauses} times, for up to {longest}"
            ),
            Self::Random { one_in } => write!(f, "random: one frame in {one_in}, by chance"),
            Self::Periodic { every } => write!(f, "periodic: every {every}th frame"),
            Self::Mixed => f.write_str("mixed: no single cause"),
            Self::Scarce => f.write_str("too few lost frames to tell why"),
        }
    }
}

pub(super) fn pattern(losses: &Losses) -> LossPattern {
    let lost = losses.lost as f64;
    let first = losses.before as f64;
    let (every, as_often) = losses.spacing_commonest;
    if losses.runs >= PERIODS
        && as_often as f64 >= SAME * (losses.runs - 1) as f64
        && first <= PERIODIC_HEAD * every as f64
    {
        return LossPattern::Periodic { every };
    }
    if losses.lost < SCARCE {
        return LossPattern::Scarce;
    }
    let refused = losses
        .at_ring
        .is_some_and(|frames| frames as f64 >= lost / 2.0);
    let filled_first = first > FULL_HEAD * losses.spacing_mean;
    if losses.runs >= SCARCE && !refused && !filled_first && by_chance(losses) {
        let one_in = (losses.sent as f64 / lost).round() as u64;
        return LossPattern::Random { one_in };
    }
    match sustained(losses) {
        Some(even) if even => LossPattern::Overflow,
        Some(_) => LossPattern::Mixed,
        None => from_moments(losses),
    }
}

/// Whether the loss went on from its beginning to the trial's end, and if so, whether evenly.
fn sustained(losses: &Losses) -> Option<bool> {
    let open = losses.windows.iter().skip_while(|&&lost| lost == 0);
    let (mut windows, mut with_loss, mut most) = (0, 0, 0);
    for &lost in open {
        windows += 1;
        with_loss += u64::from(lost > 0);
        most = lost.max(most);
    }
    // A run may lie across the border of two windows.
    let lasting = with_loss >= LASTING && 2 * with_loss >= windows && 2 * losses.runs >= with_loss;
    let most = if with_loss >= MANY {
        most
    } else {
        losses.longest.frames
    };
    let even = most as f64 <= EVEN * losses.lost as f64;
    (lasting && (even || with_loss >= MANY)).then_some(even)
}

/// Loss at some moments only.
fn from_moments(losses: &Losses) -> LossPattern {
    let lost = losses.lost as f64;
    if (losses.lost_in_bunches as f64) < BUNCHED * lost {
        return LossPattern::Mixed;
    }
    let solid = losses.lost_in_lumps as f64 / lost;
    if solid >= SOLID {
        LossPattern::Stall {
            pauses: losses.bunches,
            longest: losses.lasting(losses.longest.frames),
        }
    } else if solid < LOOSE {
        LossPattern::Overflow
    } else {
        LossPattern::Mixed
    }
}

/// Whether runs, distances and windows are what a chance of lost over sent for each frame makes them: lengths and
/// distances geometric, counts binomial.
fn by_chance(losses: &Losses) -> bool {
    let chance = losses.lost as f64 / losses.sent.max(1) as f64;
    let arrives = 1.0 - chance;
    if arrives <= 0.0 {
        return false;
    }
    let run_length = losses.lost as f64 / losses.runs as f64 * arrives;
    // A distance is a run of lost and a run of arrived frames, each geometric.
    let mean = 1.0 / chance + 1.0 / arrives;
    let variance = arrives / chance.powi(2) + chance / arrives.powi(2);
    let spacing = losses.spacing_cv / (variance.sqrt() / mean);
    let within = SPACING + SPACING_SMALL / (losses.runs as f64).sqrt();
    (run_length - 1.0).abs() <= RUN_LENGTH
        && (spacing - 1.0).abs() <= within
        && DISPERSION.contains(&(losses.dispersion / arrives))
}
