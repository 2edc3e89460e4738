//! The parts of `mpps rfc2544`: RFC 2544 section 26, a row each. A part is done for one frame size after the other by the
//! job of its own verb.

use crate::plan::trials_of;
use crate::record::{Job, curve_line, result_lines};
use crate::recorder::Recorder;
use crate::verbs::contract::BedJob;
use crate::words::rule;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::back_to_back::BurstPlan;
use mpps_lab::jobs::latency::{LatencyLoad, LatencyPlan};
use mpps_lab::jobs::loss::{self, Curve, LossPlan};
use mpps_lab::jobs::recovery::RecoveryPlan;
use mpps_lab::jobs::reset::{self, ResetPlan};
use mpps_lab::jobs::throughput::{self, SizeResult, ThroughputPlan};
use mpps_lab::jobs::{JobError, SearchedRate};
use mpps_method::{FrameSpec, Rate, Span};

/// Everything that was asked for.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The search, of all frame sizes; the other parts take what is sent from it.
    pub measurement: ThroughputPlan,
    /// How long and how often.
    pub lengths: Lengths,
    /// In the order of the RFC.
    pub parts: Vec<&'static Part>,
    /// What every rate without loss is expected to reach.
    pub expect_min: Option<Rate>,
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
    budget: None,
};
/// Those of `--quick`.
pub const QUICK: Lengths = Lengths {
    trial: Span::from_millis(1_000),
    latency: Span::from_millis(4_000),
    burst: Span::from_millis(2_000),
    bursts: 5,
    recoveries: 3,
    budget: Some(Span::from_millis(30_000)),
};
/// Loads of the loss series (RFC 2544 section 26.3: 10 % at most).
const STEP: f64 = 0.1;
/// A trial with a reset.
const RESET: Span = Span::from_millis(2_000);
/// Trials of a search whose time is not limited, about.
const SEARCH_TRIALS: u64 = 12;
/// Set-up, overload and drain of a part take so long, about.
const AROUND: Span = Span::from_millis(12_000);

impl Lengths {
    /// With trials of another length, and as much latency as belongs to them.
    #[must_use]
    pub fn with(self, trial: Option<Span>, budget: Option<Span>) -> Self {
        let trials = self.latency.as_nanos() / self.trial.as_nanos();
        let trial = trial.unwrap_or(self.trial);
        Self {
            trial,
            latency: Span::from_nanos(trial.as_nanos().saturating_mul(trials)),
            burst: self.burst.min(trial.plus(trial)),
            budget: budget.or(self.budget),
            ..self
        }
    }

    /// So many trials of a length with what is around them, but no longer than the budget.
    fn about(&self, times: u64, each: Span) -> Span {
        let whole = Span::from_nanos(each.as_nanos().saturating_mul(times)).plus(AROUND);
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
    /// What is done, in words.
    rule: fn(&Suite) -> String,
    /// What RFC 2544 asks for, and whether less is done.
    asked: (&'static str, fn(&Lengths) -> bool),
    /// How long one frame size takes, about.
    about: fn(&Lengths) -> Span,
    /// Does it.
    pub run: fn(&Suite, &Bed, &mut Recorder, &mut Option<SearchedRate>) -> Option<JobError>,
}

/// All parts.
pub const PARTS: [Part; 6] = [
    Part {
        verb: "throughput",
        section: "26.1",
        rule: |suite| rule(&suite.measurement.search),
        asked: ("trials of 60 s", |lengths| lengths.trial < FULL.trial),
        about: |lengths| lengths.about(SEARCH_TRIALS, lengths.trial),
        run: throughput,
    },
    Part {
        verb: "latency",
        section: "26.2",
        rule: |suite| Job::latency(&suite.latency(None)).rule,
        asked: ("20 streams of 120 s", |at| at.latency < FULL.latency),
        about: |lengths| Span::from_nanos(lengths.latency.as_nanos() * 2).plus(AROUND),
        run: |suite, bed, recorder, found| suite.latency(*found).measure(bed, recorder),
    },
    Part {
        verb: "loss",
        section: "26.3",
        rule: |suite| Job::loss(&suite.loss()).rule,
        asked: ("trials of 60 s", |lengths| lengths.trial < FULL.trial),
        about: |lengths| lengths.about(10, lengths.trial),
        run: loss,
    },
    Part {
        verb: "back-to-back",
        section: "26.4",
        rule: |suite| Job::burst(&suite.bursts()).rule,
        asked: ("50 repetitions, bursts of 2 s", |lengths| {
            (lengths.bursts, lengths.burst) < (FULL.bursts, FULL.burst)
        }),
        about: |lengths| lengths.about(lengths.bursts.into(), QUICK.trial),
        run: |suite, bed, recorder, _| suite.bursts().measure(bed, recorder),
    },
    Part {
        verb: "recovery",
        section: "26.5",
        rule: |suite| Job::recovery(&suite.recovery(None)).rule,
        asked: ("60 s of overload", |lengths| lengths.trial < FULL.trial),
        about: |lengths| lengths.about(u64::from(lengths.recoveries) * 2, lengths.trial),
        run: |suite, bed, recorder, found| suite.recovery(*found).measure(bed, recorder),
    },
    Part {
        verb: "reset",
        section: "26.6",
        rule: |suite| Job::reset(&suite.reset(None)).rule,
        // It leaves length and number open.
        asked: ("", |_| false),
        about: |lengths| lengths.about(u64::from(lengths.recoveries) * 3, RESET),
        run: reset,
    },
];

impl Suite {
    /// The same for one frame size.
    #[must_use]
    pub fn for_size(&self, frames: &FrameSpec) -> Self {
        let mut one = self.clone();
        one.measurement.sizes = vec![frames.clone()];
        one
    }

    /// The parts as the record's first line has them.
    #[must_use]
    pub fn planned(&self) -> Vec<mpps_record::Part> {
        let planned = |part: &&Part| {
            let (asked, is_shortened) = part.asked;
            mpps_record::Part {
                verb: part.verb.to_owned(),
                section: part.section.to_owned(),
                rule: (part.rule)(self),
                shortened_from: is_shortened(&self.lengths).then(|| asked.to_owned()),
            }
        };
        self.parts.iter().map(planned).collect()
    }

    /// How long all is going to take but for the first `done` parts, about.
    #[must_use]
    pub fn left(&self, done: usize) -> Span {
        let sizes = self.measurement.sizes.iter();
        let each = sizes.flat_map(|_| self.parts.iter().map(|part| (part.about)(&self.lengths)));
        each.skip(done).fold(Span::ZERO, Span::plus)
    }

    fn latency(&self, searched: Option<SearchedRate>) -> LatencyPlan {
        LatencyPlan {
            measurement: self.measurement.clone(),
            throughput: None,
            searched,
            loads: vec![LatencyLoad::Share(1.0)],
            time: self.lengths.latency,
        }
    }

    fn loss(&self) -> LossPlan {
        LossPlan {
            measurement: ThroughputPlan {
                search: trials_of(self.lengths.trial),
                minimum: Rate::ZERO,
                ..self.measurement.clone()
            },
            step: STEP,
        }
    }

    fn bursts(&self) -> BurstPlan {
        BurstPlan {
            measurement: ThroughputPlan {
                search: trials_of(self.lengths.burst),
                ..self.measurement.clone()
            },
            repeats: self.lengths.bursts,
        }
    }

    fn recovery(&self, searched: Option<SearchedRate>) -> RecoveryPlan {
        RecoveryPlan {
            measurement: self.measurement.clone(),
            searched,
            overload: self.lengths.trial,
            after: self.lengths.trial,
            trials: self.lengths.recoveries,
        }
    }

    /// All that the bed has, at a share of the throughput; of the maximum forwarding rate where that was not found.
    fn reset(&self, searched: Option<SearchedRate>) -> ResetPlan {
        let share = |found: SearchedRate| Rate::from_fps(found.rate.fps() * reset::SHARE);
        ResetPlan {
            measurement: self.measurement.clone(),
            parts: Vec::new(),
            rate: searched.map(share),
            time: RESET,
            hold: Span::ZERO,
            trials: self.lengths.recoveries,
        }
    }
}

/// Finds the rate that latency and recovery go by.
fn throughput(
    suite: &Suite,
    bed: &Bed,
    recorder: &mut Recorder,
    found: &mut Option<SearchedRate>,
) -> Option<JobError> {
    let plan = &suite.measurement;
    let mut results = recorder.with(|size: &SizeResult, stands| {
        let findings = size.findings.as_ref().ok();
        *found = findings.and_then(|findings| SearchedRate::from_findings(findings).ok());
        result_lines(size, plan, &stands, false)
    });
    throughput::measure(bed, plan, &mut results)
}

fn loss(
    suite: &Suite,
    bed: &Bed,
    recorder: &mut Recorder,
    _: &mut Option<SearchedRate>,
) -> Option<JobError> {
    let plan = suite.loss();
    let line = |curve: &Curve, stands| vec![curve_line(curve, &plan, false, stands)];
    loss::measure(bed, &plan, &mut recorder.with(line))
}

fn reset(
    suite: &Suite,
    bed: &Bed,
    recorder: &mut Recorder,
    found: &mut Option<SearchedRate>,
) -> Option<JobError> {
    let mut plan = suite.reset(*found);
    plan.parts = reset::Part::all_of(bed.plan().dut_setup.is_some());
    plan.measure(bed, recorder)
}
