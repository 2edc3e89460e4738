//! A comparison: set-ups that took turns on one machine, and by how much each differs from the first.

use crate::bed::SetUpScript;
use crate::other::Other;
use crate::result::{Doubt, Interval};
use crate::route_changes::{ReplayedFile, RouteChanges};
use crate::words::{Finding, ReceiverPlace, ToldBy};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One frame size (`mpps compare`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// Where the tester received, for all variants.
    pub receiver: Option<ReceiverPlace>,
    /// A difference smaller than this share needs not be found.
    pub within_share: f64,
    /// Differences up to this share are also seen between beds of the same set-up.
    pub alike_share: f64,
    /// Time for all of it.
    pub budget_ns: u64,
    /// A variant slower than the first one by more than this share fails; null: none does.
    #[serde(default)]
    pub fail_if_slower_share: Option<f64>,
    /// The same load for all variants.
    pub fixed_fps: u64,
    /// The first one is the one that others are compared with.
    pub variants: Vec<Variant>,
    /// What ended it early.
    pub why: Option<String>,
    /// What to doubt.
    #[serde(default)]
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

impl ComparisonLine {
    /// The factors of its variants; `None` where these are no combinations of levels.
    #[must_use]
    pub fn factors(&self) -> Option<Factors<'_>> {
        let names = self.variants.iter().map(|one| one.name.as_str());
        Factors::from_names(&names.collect::<Vec<_>>())
    }
}

/// Factors of a comparison whose variants are all combinations of their levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Factors<'a> {
    /// Names of the levels of each factor; the first variant has the first of each.
    pub levels: Vec<Vec<&'a str>>,
    /// The level of each factor, for each variant.
    pub variants: Vec<Vec<usize>>,
}

impl<'a> Factors<'a> {
    /// What stands between the levels in the name of a variant.
    pub const BETWEEN: char = '+';

    /// All combinations of so many levels each; the first one changes first.
    #[must_use]
    pub fn combinations(sizes: &[usize]) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for size in sizes {
            let with = |level, levels: &Vec<usize>| [&levels[..], &[level]].concat();
            let each = (0..*size).flat_map(|level| all.iter().map(move |one| with(level, one)));
            all = each.collect();
        }
        all
    }

    /// Those that names of variants tell: a level of each factor, with `+` between them. Two changes may also be four
    /// variants whose last is called "both". `None` of other comparisons.
    #[must_use]
    pub fn from_names(names: &[&'a str]) -> Option<Self> {
        if let [neither, one, other, "both"] = *names {
            return Some(Self {
                levels: vec![vec![neither, one], vec![neither, other]],
                variants: Self::combinations(&[2, 2]),
            });
        }
        let mut found = Self::default();
        for name in names {
            let parts: Vec<&str> = name.split(Self::BETWEEN).collect();
            found
                .levels
                .resize(parts.len().max(found.levels.len()), Vec::new());
            let place = |(levels, part): (&mut Vec<&'a str>, &&'a str)| {
                let known = levels.iter().position(|level| level == part);
                known.unwrap_or_else(|| {
                    levels.push(part);
                    levels.len() - 1
                })
            };
            let places: Vec<usize> = found.levels.iter_mut().zip(&parts).map(place).collect();
            if found.variants.contains(&places) {
                return None;
            }
            found.variants.push(places);
        }
        let several = found.levels.iter().filter(|levels| levels.len() > 1);
        let all: usize = found.levels.iter().map(Vec::len).product();
        let is_whole = |places: &Vec<usize>| places.len() == found.levels.len();
        let is_factorial = several.count() > 1 && all == names.len();
        (is_factorial && found.variants.iter().all(is_whole)).then_some(found)
    }
}

/// One set-up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variant {
    /// As the user calls it.
    pub name: String,
    /// Its flags as typed, where it has any of its own.
    pub flags: Vec<String>,
    /// Its set-up script.
    pub set_up: Option<SetUpScript>,
    /// The build of mpps that measured it; missing where this one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<Binary>,
    /// 1.1 times what it was expected to forward in its last turn; a sender that backs off offers more.
    pub overload_fps: u64,
    /// What it forwarded at overload; null where too few windows were undisturbed.
    pub forwarding_fps: Option<Interval<u64>>,
    /// CPU time of a frame at overload.
    pub ns_per_frame: Option<Interval<f64>>,
    /// CPU time of a frame at the fixed load.
    pub fixed_ns_per_frame: Option<Interval<f64>>,
    /// Numbers of its trials at overload.
    pub overload_trials: Vec<u32>,
    /// Numbers of its trials at the fixed load.
    pub fixed_trials: Vec<u32>,
    /// The file of route changes that was replayed into it; missing where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<ReplayedFile>,
    /// What was made of it in all its trials together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_changes: Option<RouteChanges>,
    /// Against the first one; null for the first one.
    pub difference: Option<Difference>,
}

/// A build of mpps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Binary {
    /// Where it lay.
    pub path: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Its version, as it says.
    pub version: String,
}

/// By how much a variant differs from another. Where it has `pairs`, intervals hold in 19 of 20 comparisons,
/// since version 21 of the method those of one run together. Between two
/// finished runs they come from within each run, and do not show what the machine did between them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// What was found.
    pub finding: Finding,
    /// What tells the two apart.
    pub told_by: ToldBy,
    /// Frames/s more at overload, as a share of the first one's: less than 0 is fewer.
    pub rate_change: Option<Interval<f64>>,
    /// CPU time more at overload, as a share of the first one's.
    pub cost_change: Option<Interval<f64>>,
    /// CPU time of a frame more at overload.
    pub cost_ns: Option<Interval<f64>>,
    /// CPU time of a frame more at the fixed load.
    pub fixed_cost_ns: Option<Interval<f64>>,
    /// Pairs of turns; null between two records.
    pub pairs: Option<Pairs>,
}

/// Pairs of turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pairs {
    /// Those that count.
    pub counted: u32,
    /// How often was looked whether they are enough.
    pub looks: u32,
    /// Left out because too few windows of a trial were undisturbed.
    pub disturbed: u32,
    /// Left out because the two trials were not in one state of the machine.
    pub distance: u32,
    /// Of those that count, pairs whose trials were not in one state: where that is most pairs, none is left out for it.
    #[serde(default)]
    pub moved: u32,
    /// Pairs that `fixed_cost_ns` stands on. Since method version 24 some may have followed those that count.
    #[serde(default)]
    pub fixed: u32,
    /// Left out because the DUT forwarded all that was sent.
    pub not_overloaded: u32,
}

impl Pairs {
    /// All that are left out.
    #[must_use]
    pub const fn left_out(&self) -> u32 {
        self.disturbed + self.distance + self.not_overloaded
    }
}

impl fmt::Display for Pairs {
    /// Those that count: `8 pairs`, `60 pairs, 48 of them in changing states of the machine`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pairs", self.counted)?;
        match self.moved {
            0 => Ok(()),
            moved => write!(f, ", {moved} of them in changing states of the machine"),
        }
    }
}

impl fmt::Display for Difference {
    /// As a person reads it: `231 ns more a frame for the router (206 to 255, 8 pairs): 31 % fewer frames/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.finding {
            Finding::Different => self.different(f),
            Finding::NoDifference => self.no_difference(f),
            Finding::NotDecided | Finding::Other(_) => self.not_decided(f),
        }
    }
}

impl Difference {
    /// By which share the variant is slower, where a difference was found: fewer frames/s, or more CPU time a frame
    /// where the tester reached its limit before the router. The median counts.
    #[must_use]
    pub fn slower_share(&self) -> Option<f64> {
        let (change, _) = self
            .decides()
            .filter(|_| self.finding == Finding::Different)?;
        Some(match self.told_by {
            ToldBy::Cost => change.median,
            ToldBy::Rate | ToldBy::Other(_) => -change.median,
        })
    }

    /// By which share the variant may be slower, for all that the interval says.
    #[must_use]
    pub fn slower_at_most(&self) -> Option<f64> {
        let (change, _) = self.decides()?;
        Some(match self.told_by {
            ToldBy::Cost => change.high,
            ToldBy::Rate | ToldBy::Other(_) => -change.low,
        })
    }

    /// Whether enough could be compared for an interval.
    #[must_use]
    pub fn has_interval(&self) -> bool {
        self.decides().is_some()
    }

    /// The change of frames/s, where the router and not the tester ended first.
    #[must_use]
    pub fn told_rate_change(&self) -> Option<Interval<f64>> {
        self.rate_change.filter(|_| self.told_by != ToldBy::Cost)
    }

    fn decides(&self) -> Option<(Interval<f64>, &'static str)> {
        match self.told_by {
            ToldBy::Cost => Some((self.cost_change?, "CPU time a frame")),
            ToldBy::Rate | ToldBy::Other(_) => Some((self.rate_change?, "frames/s")),
        }
    }

    /// By what it was told. Where that is the rate, the cost may differ all the same: something else limits the rate.
    fn no_difference(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let far = |of: Interval<f64>| of.low.abs().max(of.high.abs());
        let rate = self.told_rate_change();
        let rate = rate.map(|rate| format!("within {:.1} % of the frames/s", far(rate) * 100.0));
        let cost = self.cost_ns.map(|cost| match cost {
            Interval { low, high, .. } if rate.is_some() && low * high > 0.0 => {
                let (least, most) = (low.abs().min(high.abs()), far(cost));
                let word = if low < 0.0 { "less" } else { "more" };
                format!("but {least:.0} to {most:.0} ns {word} a frame for the router")
            }
            _ => format!("within {:.0} ns a frame", far(cost)),
        });
        let within: Vec<String> = rate.into_iter().chain(cost).collect();
        f.write_str("no difference seen")?;
        if within.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", within.join(", "))
    }

    fn different(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.pairs.map(|pairs| format!(", {pairs}"));
        let pairs = pairs.unwrap_or_default();
        let rate = self.told_rate_change();
        let more = |median: f64, less| if median < 0.0 { less } else { "more" };
        // A cost whose interval holds 0 says nothing of the difference.
        let cost = self.cost_ns.filter(|cost| cost.low * cost.high > 0.0);
        if let Some(cost) = cost {
            let [low, high] = [cost.low.abs(), cost.high.abs()];
            let (median, word) = (cost.median.abs(), more(cost.median, "less"));
            let (low, high) = (low.min(high), low.max(high));
            write!(
                f,
                "{median:.0} ns {word} a frame for the router ({low:.0} to {high:.0}{pairs})"
            )?;
        }
        // Where the tester ended first, a cost that was told says it all.
        let told = self.decides().filter(|_| cost.is_none() || rate.is_some());
        if let Some((change, what)) = told {
            let less = if rate.is_some() { "fewer" } else { "less" };
            let (percent, word) = (change.median.abs() * 100.0, more(change.median, less));
            if cost.is_some() {
                let digits = usize::from(percent < 9.95);
                return write!(f, ": {percent:.digits$} % {word} frames/s");
            }
            let (low, high) = (change.low * 100.0, change.high * 100.0);
            write!(
                f,
                "{percent:.1} % {word} {what} ({low:+.1} to {high:+.1} %{pairs})"
            )?;
        }
        match rate {
            Some(_) => Ok(()),
            None => f.write_str(
                ", frames/s not compared: the tester reached its limit before the router",
            ),
        }
    }

    fn not_decided(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.pairs.unwrap_or_default();
        match self.decides() {
            Some((Interval { low, high, .. }, what)) => {
                let (low, high) = (low * 100.0, high * 100.0);
                write!(
                    f,
                    "not decided: {low:+.1} to {high:+.1} % {what}, neither beyond what equal set-ups differ by nor within what was asked"
                )?;
            }
            None => f.write_str("not decided: too few pairs count")?,
        }
        if self.pairs.is_none() {
            return Ok(());
        }
        let left_out = [
            (pairs.disturbed, "disturbed"),
            (pairs.distance, "in changing states of the machine"),
            (pairs.not_overloaded, "not overloaded"),
        ];
        let left_out = left_out.iter().filter(|(count, _)| *count > 0);
        let left_out: Vec<String> = left_out
            .map(|(count, why)| format!("{count} {why}"))
            .collect();
        match left_out.is_empty() {
            true => write!(f, " ({pairs})"),
            false => write!(f, " ({pairs}; left out: {})", left_out.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, median: f64, high: f64) -> Option<Interval<f64>> {
        Some(Interval { low, median, high })
    }

    fn pairs(counted: u32) -> Option<Pairs> {
        Some(Pairs {
            counted,
            ..Pairs::default()
        })
    }

    #[test]
    fn names_of_levels_tell_factors() {
        let names = ["one+off", "both+off", "one+on", "both+on"];
        let found = Factors::from_names(&names).expect("two factors");
        assert_eq!(found.levels, [["one", "both"], ["off", "on"]]);
        assert_eq!(found.variants, [[0, 0], [1, 0], [0, 1], [1, 1]]);
        let old = Factors::from_names(&["none", "a", "b", "both"]).expect("two changes");
        assert_eq!(old.levels, [["none", "a"], ["none", "b"]]);
        assert_eq!(old.variants, found.variants);
        for other in [
            &["one+off", "both+off", "one+on"][..],
            &["one+off", "both+off", "one+on", "one+on"],
            &["one+off", "both+off", "one+on", "all"],
            &["a", "b"],
            // One factor alone changes.
            &["1-queue+1-cpu", "2-queues+1-cpu"],
        ] {
            assert_eq!(Factors::from_names(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_difference_reads_as_one_sentence() {
        let slower = Difference {
            finding: Finding::Different,
            told_by: ToldBy::Rate,
            rate_change: interval(-0.33, -0.31, -0.28),
            cost_ns: interval(206.0, 231.0, 255.0),
            pairs: pairs(8),
            ..Difference::default()
        };
        assert_eq!(
            slower.to_string(),
            "231 ns more a frame for the router (206 to 255, 8 pairs): 31 % fewer frames/s"
        );
        // Of one digit a rounding would take a third.
        let little = Difference {
            rate_change: interval(-0.008, -0.0062, -0.0051),
            cost_ns: interval(2.0, 3.0, 4.0),
            ..slower.clone()
        };
        assert!(little.to_string().ends_with(": 0.6 % fewer frames/s"));
        let two_queues = Difference {
            rate_change: interval(0.81, 0.9, 0.96),
            cost_ns: interval(-3.0, 2.0, 6.0),
            ..slower.clone()
        };
        assert_eq!(
            two_queues.to_string(),
            "90.0 % more frames/s (+81.0 to +96.0 %, 8 pairs)"
        );
        let by_cost = Difference {
            told_by: ToldBy::Cost,
            cost_ns: interval(-40.0, -30.0, -20.0),
            pairs: None,
            ..slower
        };
        assert_eq!(
            by_cost.to_string(),
            "30 ns less a frame for the router (20 to 40), frames/s not compared: the tester reached \
             its limit before the router"
        );
        // Of two records the router's part may hold 0 where the whole cost does not.
        let by_share = Difference {
            cost_ns: interval(-4.0, 30.0, 64.0),
            cost_change: interval(0.012, 0.031, 0.045),
            ..by_cost
        };
        assert_eq!(
            by_share.to_string(),
            "3.1 % more CPU time a frame (+1.2 to +4.5 %), frames/s not compared: the tester reached its limit \
             before the router"
        );
    }

    #[test]
    fn no_difference_and_no_decision_say_how_sure() {
        let none = Difference {
            finding: Finding::NoDifference,
            cost_ns: interval(-9.0, -1.0, 6.0),
            ..Difference::default()
        };
        assert_eq!(none.to_string(), "no difference seen (within 9 ns a frame)");
        // A shaper holds the rate: the cost differs all the same.
        let dearer = Difference {
            rate_change: interval(-0.004, 0.0, 0.003),
            cost_ns: interval(280.0, 300.0, 320.0),
            ..none
        };
        assert_eq!(
            dearer.to_string(),
            "no difference seen (within 0.4 % of the frames/s, but 280 to 320 ns more a frame for the router)"
        );
        let wide = Difference {
            finding: Finding::NotDecided,
            rate_change: interval(-0.012, 0.01, 0.034),
            pairs: pairs(15),
            ..Difference::default()
        };
        assert_eq!(
            wide.to_string(),
            "not decided: -1.2 to +3.4 % frames/s, neither beyond what equal set-ups differ by nor within what was \
             asked (15 pairs)"
        );
        let some = Difference {
            pairs: pairs(15).map(|pairs| Pairs {
                disturbed: 2,
                not_overloaded: 1,
                ..pairs
            }),
            ..wide
        };
        let told = some.to_string();
        let wanted = " (15 pairs; left out: 2 disturbed, 1 not overloaded)";
        assert!(told.ends_with(wanted), "{told}");
    }
}
