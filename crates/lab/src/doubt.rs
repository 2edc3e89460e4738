//! What to doubt about a result: each doubt says what was seen, why it matters, what to do next.

mod claim;

use crate::jobs::throughput::Searched;
use crate::measurer::{Measurer, Surroundings};
use mpps_method::claim::FINAL_TRIAL;
use mpps_method::{
    Claim, Estimate, FrameSpec, GoalResult, Irregular, LimitedBy, LossRate, Outcome, Rate,
    SearchGoal, Span, Trial, Verdict,
};
use std::fmt;

/// Near its ceiling the tester itself may lose what the DUT did not.
const NEAR_CEILING: f64 = 0.95;
/// Steal above this share can move a result (the quiet machine's bound).
const STEAL_SHARE: f64 = 0.005;
/// A DUT that has no time left is about as busy as this.
const BUSY: f64 = 0.95;
/// The fullest queue may hold so many times its fair share.
const UNEVEN: f64 = 1.5;

/// A result of one frame size with all that is to be said of it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Frame sizes sent.
    pub frames: FrameSpec,
    /// The goal of MLRsearch; `None` for a bisection.
    pub goal: Option<SearchGoal>,
    /// How the search ended.
    pub outcome: Outcome,
    /// RFC 9971's Conditional Throughput: the load found, less what is lost there.
    pub conditional_throughput: Option<Rate>,
    /// What a regular result (RFC 9971) would have and this one has not.
    pub irregular: Option<Irregular>,
    /// What may be claimed; `None` when nothing can.
    pub claim: Option<Claim>,
    /// Where the tester ended before the DUT: what the DUT might do, by its busy time.
    pub estimate: Option<Estimate>,
    /// The trial the result stands on.
    pub trial: Option<Trial>,
    /// Loss at the lowest load that failed.
    pub loss_above: Option<LossRate>,
    /// The tester's own ceiling for this traffic.
    pub ceiling: Rate,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
}

/// One reason not to believe a number without a second thought.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// Trials shorter than RFC 2544's 60 s.
    ShortTrial {
        /// Their length.
        trial: Span,
    },
    /// The result lies close to, or at, what the tester can do.
    TesterNearCeiling {
        /// The result.
        result: Rate,
        /// The ceiling.
        ceiling: Rate,
    },
    /// Tester and DUT share a CPU.
    CpuShared,
    /// The hypervisor took CPU time.
    Steal {
        /// Largest share of a trial, of any CPU.
        share: f64,
    },
    /// Trials were voided.
    Voided {
        /// Voided.
        voided: u32,
        /// Of so many.
        trials: u32,
    },
    /// The ring hides an overload of this size within one trial.
    RingHides {
        /// Frames the rings hold.
        ring: u32,
        /// Overload hidden.
        hidden: Rate,
    },
    /// Receive queues got unequal shares.
    UnevenQueues {
        /// Fullest queue's share over the fair share.
        ratio: f64,
        /// Queues without any frame.
        empty: usize,
        /// Queues.
        queues: usize,
    },
    /// The same load passed once and failed once.
    Contradiction {
        /// The load.
        rate: Rate,
    },
    /// The DUT lost frames while its CPU had time left.
    LossWhileIdle {
        /// The load.
        rate: Rate,
        /// Busy share of the DUT's busiest CPU at it.
        busy: f64,
    },
    /// Frames of others reached the receiver.
    Foreign {
        /// How many, over all trials.
        frames: u64,
    },
    /// The trials ended before the bounds were as close as asked for.
    TooWide {
        /// Their distance, as a share of the upper one.
        width: f64,
        /// What was asked for.
        wanted: f64,
    },
    /// Router and tester were simulated: as they were written.
    Simulated(String),
    /// The bed has no wire.
    NotionalLink,
    /// The virtual NIC hands packets to GRO, which a NIC's driver may do otherwise.
    VirtualNic,
}

impl Doubt {
    /// Short name, for records.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::ShortTrial { .. } => "short-trial",
            Self::TesterNearCeiling { .. } => "tester-near-ceiling",
            Self::CpuShared => "cpu-shared",
            Self::Steal { .. } => "steal",
            Self::Voided { .. } => "voided",
            Self::RingHides { .. } => "ring-hides",
            Self::UnevenQueues { .. } => "uneven-queues",
            Self::Contradiction { .. } => "contradiction",
            Self::LossWhileIdle { .. } => "loss-while-idle",
            Self::Foreign { .. } => "foreign",
            Self::TooWide { .. } => "too-wide",
            Self::Simulated(_) => "simulated",
            Self::NotionalLink => "notional-link",
            Self::VirtualNic => "virtual-nic",
        }
    }

    /// What was seen.
    #[must_use]
    pub fn seen(&self) -> String {
        match self {
            Self::ShortTrial { trial } => {
                format!("trials of {trial}, RFC 2544 asks for {FINAL_TRIAL}")
            }
            Self::TesterNearCeiling { result, ceiling } => {
                format!("{result} is at or near the tester's own ceiling of {ceiling}")
            }
            Self::CpuShared => "tester and DUT share a CPU".to_owned(),
            Self::Steal { share } => format!(
                "the hypervisor took {:.1} % of a CPU during a trial",
                share * 100.0
            ),
            Self::Voided { voided, trials } => {
                format!("{voided} of {trials} trials were disturbed and run again")
            }
            Self::RingHides { ring, hidden } => {
                format!("a ring of {ring} frames hides an overload of {hidden} in one trial")
            }
            Self::UnevenQueues {
                ratio,
                empty,
                queues,
            } => {
                format!(
                    "the fullest of {queues} queues got {ratio:.1} times its share, {empty} got none"
                )
            }
            Self::Contradiction { rate } => {
                format!("{rate} passed in one trial and failed in another")
            }
            Self::LossWhileIdle { rate, busy } => format!(
                "at {rate} the DUT lost frames while its busiest CPU was {:.0} % busy",
                busy * 100.0
            ),
            Self::Foreign { frames } => {
                format!("{frames} frames that are not ours reached the receiver")
            }
            Self::TooWide { width, wanted } => {
                let (width, wanted) = (*width, *wanted);
                Irregular::TooWide { width, wanted }.to_string()
            }
            Self::Simulated(pair) => format!("nothing was measured: simulated {pair}"),
            Self::NotionalLink => "the bed has no wire: frames pass by reference".to_owned(),
            Self::VirtualNic => {
                "the receive ring is a virtual NIC's (CPUMAP), and its path runs GRO".to_owned()
            }
        }
    }

    /// Why it matters.
    #[must_use]
    pub fn why(&self) -> &'static str {
        match self {
            Self::ShortTrial { .. } => {
                "rare stalls of the DUT may not have happened yet: an Estimate, not a Throughput"
            }
            Self::TesterNearCeiling { .. } => {
                "the DUT may well do more, and the tester may lose what the DUT did not"
            }
            Self::CpuShared => {
                "the DUT gets what the tester leaves: the rate is the pair's, not the router's"
            }
            Self::Steal { .. } => {
                "the DUT had less of its CPU than it will have on a machine of its own"
            }
            Self::Voided { .. } => "a machine this restless may have disturbed the others as well",
            Self::RingHides { .. } => "loads closer to each other than that cannot be told apart",
            Self::UnevenQueues { .. } => "the busiest queue limits, the other CPUs idle",
            Self::Contradiction { .. } => {
                "the border between loss and none is not sharp; one search finds one point of it"
            }
            Self::LossWhileIdle { .. } => {
                "a pause or a burst overflowed a queue; the rate the DUT can keep up is higher"
            }
            Self::Foreign { .. } => "something besides the tester sends through the DUT",
            Self::TooWide { .. } => {
                "the trials allowed were used up: the rate lies somewhere between the two loads"
            }
            Self::Simulated(_) => {
                "a simulation is for trying goals and searches, it says nothing of a router"
            }
            Self::NotionalLink => {
                "percent of link and Gbit/s are arithmetic; large frames cost no more than small ones"
            }
            Self::VirtualNic => {
                "a hardware NIC's driver costs more or less than that; compare like with like"
            }
        }
    }

    /// What to run or change next.
    #[must_use]
    pub fn next(&self) -> &'static str {
        match self {
            Self::ShortTrial { .. } => "--preset rfc2544 (a Throughput; minutes)",
            Self::TooWide { .. } => "a larger --trials-at-most, or --preset csit",
            Self::Simulated(_) => "the same without --simulate, as root",
            Self::TesterNearCeiling { .. } => {
                "judge by DUT busy and ns per frame, or give the tester more CPUs"
            }
            Self::CpuShared => "--tester-cpus and --dut-cpus with different CPUs",
            Self::Steal { .. } | Self::Voided { .. } => {
                "run again when the machine is quieter; compare in pairs only"
            }
            Self::RingHides { .. } => "a longer --time or a smaller --rx-ring",
            Self::UnevenQueues { .. } => "more --flows, or --rss default instead of symmetric",
            Self::Contradiction { .. } | Self::LossWhileIdle { .. } => {
                "--preset csit (up to 21 trials at a load), or a larger --rx-ring"
            }
            Self::Foreign { .. } => "look at what --dut-setup started",
            Self::NotionalLink | Self::VirtualNic => "see docs/method.md",
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (next: {})", self.seen(), self.why(), self.next())
    }
}

/// Weighs what a finished search found for one goal.
#[must_use]
pub fn weigh(measurer: &dyn Measurer, ceiling: Rate, searched: Searched) -> Finding {
    let around = measurer.surroundings();
    let mut doubts = of_trials(&searched.trials);
    doubts.extend(of_result(&searched.result, ceiling));
    doubts.extend(of_surroundings(&around, &searched.result));
    doubts.extend(of_loss(&searched));
    doubts.extend(of_queues(searched.evidence.as_ref()));
    let result = searched.result;
    let tester_limited = matches!(
        result.outcome,
        Outcome::Found {
            limited_by: LimitedBy::Tester,
            ..
        }
    );
    let evidence = searched.evidence.as_ref();
    let estimate = |trial| Estimate::from_busy_share(trial, &claim::rules(measurer, trial));
    Finding {
        frames: measurer.frames().clone(),
        goal: result.goal,
        claim: claim::claim(measurer, &searched),
        estimate: evidence.filter(|_| tester_limited).and_then(estimate),
        loss_above: claim::loss_above(measurer, &searched),
        outcome: result.outcome,
        conditional_throughput: result.conditional_throughput(),
        irregular: result.irregular,
        trial: searched.evidence,
        ceiling,
        doubts,
    }
}

fn of_trials(trials: &[(Trial, Verdict)]) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let share = |trial: &Trial| {
        let most = trial
            .steal
            .iter()
            .map(|cpu| cpu.steal_ns)
            .max()
            .unwrap_or(0);
        most as f64 / (trial.duration.as_nanos().max(1)) as f64
    };
    let steal = trials
        .iter()
        .map(|(trial, _)| share(trial))
        .fold(0.0, f64::max);
    if steal > STEAL_SHARE {
        doubts.push(Doubt::Steal { share: steal });
    }
    let passed = |rate: Rate| {
        trials
            .iter()
            .any(|(t, v)| t.offered == rate && *v == Verdict::Lossless)
    };
    let failed = trials
        .iter()
        .filter(|(_, v)| matches!(v, Verdict::Lossy { .. }))
        .map(|(t, _)| t.offered);
    if let Some(rate) = failed.into_iter().find(|&rate| passed(rate)) {
        doubts.push(Doubt::Contradiction { rate });
    }
    let frames = trials.iter().map(|(trial, _)| trial.counts().foreign).sum();
    if frames > 0 {
        doubts.push(Doubt::Foreign { frames });
    }
    doubts
}

fn of_result(result: &GoalResult, ceiling: Rate) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let outcome = &result.outcome;
    let (Outcome::Found { voided, trials, .. }
    | Outcome::NoneLossless { voided, trials, .. }
    | Outcome::CouldNotMeasure { voided, trials, .. }) = *outcome;
    if voided > 0 {
        doubts.push(Doubt::Voided { voided, trials });
    }
    if let Outcome::Found { lossless, .. } = *outcome
        && lossless.fps() > NEAR_CEILING * ceiling.fps()
    {
        doubts.push(Doubt::TesterNearCeiling {
            result: lossless,
            ceiling,
        });
    }
    if let Some(Irregular::TooWide { width, wanted }) = result.irregular {
        doubts.push(Doubt::TooWide { width, wanted });
    }
    if result.final_trial < FINAL_TRIAL {
        let trial = result.final_trial;
        doubts.push(Doubt::ShortTrial { trial });
    }
    doubts
}

fn of_surroundings(around: &Surroundings, result: &GoalResult) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if around.cpus_shared {
        doubts.push(Doubt::CpuShared);
    }
    // Where nothing was lost the ring hid nothing that the result depends on.
    if let Outcome::Found {
        lossless,
        lossy: Some(lossy),
        ..
    } = result.outcome
    {
        let ring = around.ring_frames;
        let hidden = Rate::of(u64::from(ring), result.final_trial).unwrap_or_default();
        if hidden.fps() > lossy.fps() - lossless.fps() {
            doubts.push(Doubt::RingHides { ring, hidden });
        }
    }
    match &around.simulated {
        Some(pair) => doubts.push(Doubt::Simulated(pair.clone())),
        None => doubts.push(Doubt::NotionalLink),
    }
    if around.virtual_nic {
        doubts.push(Doubt::VirtualNic);
    }
    doubts
}

/// Only where the DUT's loss bounds the result.
fn of_loss(searched: &Searched) -> Option<Doubt> {
    let Outcome::Found {
        lossy: Some(rate),
        limited_by: LimitedBy::Dut,
        ..
    } = searched.result.outcome
    else {
        return None;
    };
    let lossy = |(trial, verdict): &&(Trial, Verdict)| {
        trial.offered == rate && matches!(verdict, Verdict::Lossy { .. })
    };
    let busy = searched
        .trials
        .iter()
        .find(lossy)
        .and_then(|(trial, _)| trial.busiest_share())?;
    (busy < BUSY).then_some(Doubt::LossWhileIdle { rate, busy })
}

fn of_queues(trial: Option<&Trial>) -> Option<Doubt> {
    let queues = &trial?.per_queue;
    let (fullest, sum) = (*queues.iter().max()?, queues.iter().sum::<u64>());
    let fair = sum as f64 / queues.len() as f64;
    let ratio = fullest as f64 / fair.max(1.0);
    let empty = queues.iter().filter(|&&frames| frames == 0).count();
    (queues.len() > 1 && (ratio > UNEVEN || empty > 0)).then_some(Doubt::UnevenQueues {
        ratio,
        empty,
        queues: queues.len(),
    })
}
