//! What speaks against a fit.

use super::Predicted;
use crate::statistics::median;

/// Held-out points are to be predicted so well in the median.
pub const OFF_MAX: f64 = 0.15;
/// An interval of the fit that reaches farther to one side says little.
const WIDE: f64 = 0.3;
/// A cost that falls by more than this part along the axis, and rises too, is on no line.
const FALLS: f64 = 0.1;
/// A machine that drifts by more changes the points by more than their intervals.
const DRIFT_MAX: f64 = 0.1;

/// What the points of a sweep say of its fit.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// Every point: its place, its cost in ns, and the predicted one where it was held out.
    pub points: Vec<(f64, f64, Option<Predicted>)>,
    /// The first point once more at the end, by itself, minus 1.
    pub drift: Option<f64>,
}

impl Check {
    /// The median of how far held-out points are off, as a part of what was measured. An interval that reaches 0, or farther
    /// than the cost, predicts nothing.
    #[must_use]
    pub fn off(&self) -> Option<f64> {
        let off = self.points.iter().filter_map(|(_, ns, predicted)| {
            let at = predicted.filter(|at| at.low > 0.0 && at.high <= 2.0 * at.ns)?;
            Some((at.ns / ns - 1.0).abs())
        });
        median(&off.collect::<Vec<_>>())
    }

    /// The largest fall and the largest rise along the axis, as parts of what was there, and how far the costs lie apart.
    fn turns(&self) -> (f64, f64, f64) {
        let mut sorted: Vec<(f64, f64)> = self.points.iter().map(|&(at, ns, _)| (at, ns)).collect();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (mut most, mut least) = (0.0_f64, f64::MAX);
        let (mut fall, mut rise) = (0.0_f64, 0.0_f64);
        for (_, ns) in sorted {
            (most, least) = (most.max(ns), least.min(ns));
            fall = fall.max(1.0 - ns / most);
            rise = rise.max(ns / least - 1.0);
        }
        (fall, rise, most / least - 1.0)
    }

    /// Why the fit is not to be trusted, a sentence each. None: nothing speaks against it.
    #[must_use]
    pub fn distrust(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let mut told = Vec::new();
        let (fall, rise, effect) = self.turns();
        if let Some(drift) = self.drift {
            let moved = format!("the first point differed by {} at the end", percent(drift));
            if drift.abs() >= effect {
                told.push(format!(
                    "{moved}, and all points differ by {}: the machine drifted more than the axis changes",
                    percent(effect)
                ));
            } else if drift.abs() > DRIFT_MAX {
                told.push(format!(
                    "{moved}: the machine drifted by more than {:.0} % meanwhile",
                    DRIFT_MAX * 100.0
                ));
            }
        }
        if fall > FALLS && rise > FALLS {
            told.push(format!(
                "the cost is not monotone: along the axis it rises by {} and falls by {}",
                percent(rise),
                percent(fall)
            ));
        }
        let reaches = self.points.iter().filter_map(|(_, _, predicted)| {
            let predicted = predicted.as_ref()?;
            Some((predicted.high - predicted.ns) / predicted.ns)
        });
        let reach = reaches.fold(0.0, f64::max);
        if reach > WIDE {
            told.push(format!(
                "the interval of the fit reaches {} to one side: more points, or longer trials, make it narrower",
                percent(reach)
            ));
        }
        if let Some(off) = self.off().filter(|off| *off > OFF_MAX) {
            told.push(format!(
                "half of the points that were held out are off by {} or more",
                percent(off)
            ));
        }
        told
    }
}
