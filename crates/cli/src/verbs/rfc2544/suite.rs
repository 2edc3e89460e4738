//! The parts of `mpps rfc2544`: RFC 2544 section 26, a row each. A part is done for one frame size after the other by the
//! job of its own verb.

use super::super::contract::Measure;
use super::super::reset::Reset;
use super::Throughput;
use crate::plan::trials_of;
use mpps_lab::jobs::SearchedRate;
use mpps_lab::jobs::back_to_back::BurstPlan;
use mpps_lab::jobs::latency::{LatencyLoad, LatencyPlan};
use mpps_lab::jobs::loss::LossPlan;
use mpps_lab::jobs::recovery::RecoveryPlan;
use mpps_lab::jobs::reset::{self, Away, ResetPlan};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_method::{FrameSpec, Rate, Span};

/// Everything that was asked for.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The search, of all frame sizes; the other parts take what is sent from it.
    pub search: Throughput,
    /// How long and how often.
    pub lengths: Lengths,
    /// In the order of the RFC.
    pub parts: Vec<&'static Part>,
}

/// How long and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// A trial, also at the overload that the DUT recovers from.
    pub trial: Span,
    /// Latency at the throughput, through the router and again through a wire.
    pub latency: Span,
    /// The longest burst.
    pub burst: Span,
    /// Searches for the longest burst.
    pub bursts: u32,
    /// Trials with an overload, and with each reset.
    pub recoveries: u32,
    /// A trial with a reset, which RFC 2544 leaves open.
    pub reset: Span,
    /// Each part of each frame size.
    pub budget: Option<Span>,
}

/// What RFC 2544 asks for: section 24, and 20 streams of 120 s for latency. It leaves the number of recoveries open.
pub const FULL: Lengths = Lengths {
    trial: Span::from_millis(60_000),
    latency: Span::from_millis(20 * 120_000),
    burst: Span::from_millis(2_000),
    bursts: 50,
    recoveries: 5,
    reset: Span::from_millis(2_000),
    budget: None,
};
/// Those of `--quick`.
pub const QUICK: Lengths = Lengths {
    trial: Span::from_millis(1_000),
    latency: Span::from_millis(4_000),
    burst: Span::from_millis(2_000),
    bursts: 5,
    recoveries: 3,
    reset: FULL.reset,
    budget: Some(Span::from_millis(30_000)),
};
/// Loads of the loss series (RFC 2544 section 26.3: 10 % at most).
const STEP: f64 = 0.1;
/// Trials of a search whose time is not limited, about.
const SEARCH_TRIALS: u64 = 12;
/// Set-up, overload and drain of a part take so long, about.
const AROUND: Span = Span::from_millis(12_000);

impl Lengths {
    /// With trials of another length, and as much latency as belongs to them.
    pub fn with(self, trial: Option<Span>, budget: Option<Span>) -> Self {
        let trials = self.latency.as_nanos() / self.trial.as_nanos();
        let trial = trial.unwrap_or(self.trial);
        Self {
            trial,
            latency: trial.times(trials),
            burst: self.burst.min(trial.plus(trial)),
            reset: self.reset.min(trial.times(5)),
            budget: budget.or(self.budget),
            ..self
        }
    }

    /// So many trials of a length with what is around them, but no longer than the budget.
    fn about(&self, times: u64, each: Span) -> Span {
        let whole = each.times(times).plus(AROUND);
        self.budget.map_or(whole, |budget| whole.min(budget))
    }
}

/// A part.
#[derive(Debug)]
pub struct Part {
    /// The verb that does the same alone.
    pub verb: &'static str,
    /// Its section of RFC 2544.
    pub section: &'static str,
    /// What RFC 2544 asks for, and whether less is done.
    asked: (&'static str, fn(&Lengths) -> bool),
    /// How long one frame size takes, about.
    about: fn(&Lengths) -> Span,
    /// What its verb does, of all sizes; by the rate that a part before it has found.
    pub plan: fn(&Suite, Option<SearchedRate>) -> Box<dyn Measure>,
}

impl Part {
    /// What RFC 2544 asks for, where these lengths are short of it.
    pub fn shortened_from(&self, lengths: &Lengths) -> Option<&'static str> {
        let (asked, is_shortened) = self.asked;
        is_shortened(lengths).then_some(asked)
    }
}

/// All parts.
pub const PARTS: [Part; 6] = [
    Part {
        verb: "throughput",
        section: "26.1",
        asked: ("trials of 60 s", |lengths| lengths.trial < FULL.trial),
        about: |lengths| lengths.about(SEARCH_TRIALS, lengths.trial),
        plan: |suite, _| {
            Box::new(Throughput {
                expect_min: None,
                ..suite.search.clone()
            })
        },
    },
    Part {
        verb: "latency",
        section: "26.2",
        asked: ("20 streams of 120 s", |at| at.latency < FULL.latency),
        about: |lengths| lengths.latency.times(2).plus(AROUND),
        plan: |suite, searched| {
            Box::new(LatencyPlan {
                measurement: suite.search.measurement.clone(),
                throughput: None,
                searched,
                loads: vec![LatencyLoad::Share(1.0)],
                time: suite.lengths.latency,
                may_sleep: false,
            })
        },
    },
    Part {
        verb: "loss",
        section: "26.3",
        asked: ("trials of 60 s", |lengths| lengths.trial < FULL.trial),
        about: |lengths| lengths.about(10, lengths.trial),
        plan: |suite, searched| {
            Box::new(LossPlan {
                measurement: ThroughputPlan {
                    minimum: Rate::ZERO,
                    ..suite.trials_of(suite.lengths.trial)
                },
                step: STEP,
                passed: searched.map(|found| found.rate),
            })
        },
    },
    Part {
        verb: "back-to-back",
        section: "26.4",
        asked: ("50 repetitions, bursts of 2 s", |lengths| {
            (lengths.bursts, lengths.burst) < (FULL.bursts, FULL.burst)
        }),
        about: |lengths| lengths.about(lengths.bursts.into(), QUICK.trial),
        plan: |suite, _| {
            Box::new(BurstPlan {
                measurement: suite.trials_of(suite.lengths.burst),
                repeats: suite.lengths.bursts,
            })
        },
    },
    Part {
        verb: "recovery",
        section: "26.5",
        asked: ("60 s of overload", |lengths| lengths.trial < FULL.trial),
        about: |lengths| lengths.about(u64::from(lengths.recoveries) * 2, lengths.trial),
        plan: |suite, searched| {
            Box::new(RecoveryPlan {
                measurement: suite.search.measurement.clone(),
                searched,
                overload: suite.lengths.trial,
                after: suite.lengths.trial,
                trials: suite.lengths.recoveries,
            })
        },
    },
    Part {
        verb: "reset",
        section: "26.6",
        // It leaves length and number open.
        asked: ("", |_| false),
        about: |lengths| lengths.about(u64::from(lengths.recoveries) * 3, lengths.reset),
        plan: |suite, searched| {
            let share = |found: SearchedRate| Rate::from_fps(found.rate.fps() * reset::SHARE);
            let plan = ResetPlan {
                measurement: suite.search.measurement.clone(),
                parts: Vec::new(),
                rate: searched.map(share),
                time: suite.lengths.reset,
                away: Away::default(),
                trials: suite.lengths.recoveries,
            };
            Box::new(Reset { plan, all: true })
        },
    },
];

impl Suite {
    /// The same for one frame size.
    pub fn for_size(&self, frames: &FrameSpec) -> Self {
        let mut one = self.clone();
        one.search.measurement.sizes = vec![frames.clone()];
        one
    }

    /// How long all is going to take but for the first `done` parts, about.
    pub fn left(&self, done: usize) -> Span {
        let sizes = self.search.measurement.sizes.iter();
        let each = sizes.flat_map(|_| self.parts.iter().map(|part| (part.about)(&self.lengths)));
        each.skip(done).fold(Span::ZERO, Span::plus)
    }

    /// What is sent, in trials of this length without a search.
    fn trials_of(&self, length: Span) -> ThroughputPlan {
        ThroughputPlan {
            search: trials_of(length),
            ..self.search.measurement.clone()
        }
    }
}
