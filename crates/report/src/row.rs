//! A result of a record as a row: what it is about, and how its rate is to be read.

use crate::number;
use mpps_record::doubts::LOST_DISTURBED;
use mpps_record::{ForwardingLimit, LimitedBy, RateIs, ResultLine};
use std::ops::Deref;

/// How a result's rate, in frames/s, is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// This is it, within the resolution.
    Is(u64),
    /// The router does at least this; something else ended first.
    AtLeast(u64),
    /// It passed in too few trials, because the search ended early.
    Unconfirmed(u64),
    /// Frames were lost even at this rate, the lowest tried.
    Below(u64),
    /// Not measured.
    #[default]
    Nothing,
}

/// What method versions before 19 had as the property that a result lacks, where its rate was not confirmed. They wrote such a
/// rate as a bound.
pub(crate) const NOT_CONFIRMED: [&str; 2] = [
    "the load found still lacks some of its trials",
    "the load found had not had all its trials yet",
];

impl Reading {
    /// How the rate of a result's line is to be read.
    #[must_use]
    pub fn from_line(line: &ResultLine) -> Self {
        let Some((is, rate)) = line.rate_is.as_ref().zip(line.rate_fps) else {
            return Self::Nothing;
        };
        let lacks = line.irregular.as_deref().unwrap_or_default();
        match is {
            RateIs::Equal => Self::Is(rate),
            RateIs::AtLeast if NOT_CONFIRMED.contains(&lacks) => Self::Unconfirmed(rate),
            RateIs::AtLeast => Self::AtLeast(rate),
            RateIs::Unconfirmed => Self::Unconfirmed(rate),
            RateIs::Below => Self::Below(rate),
            RateIs::Other(_) => Self::Nothing,
        }
    }

    /// The rate, however it is to be read.
    #[must_use]
    pub const fn rate(self) -> Option<u64> {
        match self {
            Self::Is(rate) | Self::AtLeast(rate) | Self::Unconfirmed(rate) | Self::Below(rate) => {
                Some(rate)
            }
            Self::Nothing => None,
        }
    }

    /// The rate in a cell: `1.38M`, `≥ 1.38M`, `< 10.1k`, or `1.38M?` where it is not confirmed.
    #[must_use]
    pub fn in_cell(self, words: impl Fn(f64) -> String) -> Option<String> {
        let rate = words(self.rate()? as f64);
        Some(match self {
            Self::Is(_) | Self::Nothing => rate,
            Self::AtLeast(_) => format!("≥ {rate}"),
            Self::Below(_) => format!("< {rate}"),
            Self::Unconfirmed(_) => format!("{rate}?"),
        })
    }

    /// The rate, where it passed as often as its goal asks.
    #[must_use]
    pub const fn confirmed(self) -> Option<u64> {
        match self {
            Self::Is(rate) | Self::AtLeast(rate) => Some(rate),
            Self::Unconfirmed(_) | Self::Below(_) | Self::Nothing => None,
        }
    }
}

/// A result, and what it is about.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The frame sizes, and the goal where there are several: `64`, `64 pdr 0.5 %`.
    pub subject: String,
    /// The same in words: `64 B`, `imix`, `64 B, pdr 0.5 %`.
    pub name: String,
    line: &'a ResultLine,
}

impl Deref for Row<'_> {
    type Target = ResultLine;

    fn deref(&self) -> &ResultLine {
        self.line
    }
}

impl<'a> Row<'a> {
    /// A row a result. Results of one frame size stand one after the other.
    #[must_use]
    pub fn each(results: &'a [ResultLine]) -> Vec<Self> {
        let alike = |two: &[ResultLine]| two[0].frame == two[1].frame && two[0].goal != two[1].goal;
        let several_goals = results.windows(2).any(alike);
        let row = |line: &'a ResultLine| {
            let goal = line.goal.as_ref().filter(|_| several_goals);
            let with_goal = |frame: String, gap: &str| match goal {
                Some(goal) => format!("{frame}{gap}{goal}"),
                None => frame,
            };
            Self {
                subject: with_goal(line.frame.clone(), " "),
                name: with_goal(number::frame(&line.frame), ", "),
                line,
            }
        };
        results.iter().map(row).collect()
    }

    /// How the rate is to be read.
    #[must_use]
    pub fn reading(&self) -> Reading {
        Reading::from_line(self.line)
    }

    /// What limits the rate at overload; where that was not measured, what ended the search.
    #[must_use]
    pub fn limit(&self) -> &str {
        let search = self.line.limited_by.as_ref().map(LimitedBy::as_str);
        let overload = self.line.overload.max_forwarding_limited_by.as_ref();
        let limit = overload.map(ForwardingLimit::as_str).or(search);
        limit.unwrap_or("-")
    }

    /// How busy the DUT's busiest CPU was there.
    #[must_use]
    pub fn busy_share(&self) -> Option<f64> {
        match self.overload.max_forwarding_fps {
            Some(_) => self.overload.max_forwarding_busy_share,
            None => self.dut_busiest_cpu_share,
        }
    }

    /// Whether it leaves out frames that were lost or left unsent in disturbances.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.doubts.iter().any(|doubt| doubt.name == LOST_DISTURBED)
    }

    /// Loss that its goal allows, 0 to 1.
    #[must_use]
    pub fn loss_allowed(&self) -> f64 {
        self.goal_loss_ratio.unwrap_or(0.0)
    }
}
