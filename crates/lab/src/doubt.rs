//! What to doubt about a result: each doubt says what was seen, why it matters, what to do next.

use crate::bed::{Bed, Front};
use crate::jobs::throughput::{Searched, ThroughputPlan};
use crate::rules;
use crate::traffic::Traffic;
use mpps_method::claim::FINAL_TRIAL;
use mpps_method::{
    Claim, Estimate, FrameSpec, LimitedBy, LossRate, Outcome, Rate, Span, Throughput, Trial,
    Verdict,
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
    /// How the search ended.
    pub outcome: Outcome,
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
                "the border between loss and none is not sharp; one bisection finds one point of it"
            }
            Self::LossWhileIdle { .. } => {
                "a pause or a burst overflowed a queue; the rate the DUT can keep up is higher"
            }
            Self::Foreign { .. } => "something besides the tester sends through the DUT",
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
            Self::ShortTrial { .. } => "--time 60",
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
                "--trials-per-load 5 --accept any, or a larger --rx-ring"
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

/// Weighs a finished search.
#[must_use]
pub fn weigh(
    bed: &Bed,
    plan: &ThroughputPlan,
    traffic: &Traffic,
    ceiling: Rate,
    searched: Searched,
) -> Finding {
    let mut doubts = of_trials(&searched.trials);
    doubts.extend(of_result(&searched.outcome, ceiling));
    doubts.extend(of_plan(bed, plan, &searched));
    doubts.extend(of_loss(&searched));
    doubts.extend(of_queues(searched.lossless.as_ref()));
    let judged = |trial: &Trial| {
        let offer = mpps_method::Offer {
            rate: trial.offered,
            duration: trial.duration,
        };
        rules::of(bed, &offer)
    };
    let tester_limited = matches!(
        searched.outcome,
        Outcome::Found {
            limited_by: LimitedBy::Tester,
            ..
        }
    );
    Finding {
        frames: traffic.frames.clone(),
        claim: searched
            .lossless
            .as_ref()
            .and_then(|trial| claim(trial, &judged(trial))),
        estimate: searched
            .lossless
            .as_ref()
            .filter(|_| tester_limited)
            .and_then(|trial| Estimate::from_busy_share(trial, &judged(trial))),
        loss_above: loss_above(&searched, judged),
        outcome: searched.outcome,
        trial: searched.lossless,
        ceiling,
        doubts,
    }
}

fn claim(trial: &Trial, rules: &mpps_method::Rules) -> Option<Claim> {
    match Throughput::from_trial(trial, rules) {
        Ok(throughput) => Some(Claim::Throughput(throughput)),
        Err(_) => Estimate::from_short_trial(trial, rules).map(Claim::Estimate),
    }
}

fn loss_above(
    searched: &Searched,
    judged: impl Fn(&Trial) -> mpps_method::Rules,
) -> Option<LossRate> {
    let lossy = searched
        .trials
        .iter()
        .filter(|(_, verdict)| matches!(verdict, Verdict::Lossy { .. }));
    let lowest = lossy.min_by(|(a, _), (b, _)| a.offered.fps().total_cmp(&b.offered.fps()))?;
    LossRate::from_trial(&lowest.0, &judged(&lowest.0))
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

fn of_result(outcome: &Outcome, ceiling: Rate) -> Vec<Doubt> {
    let mut doubts = Vec::new();
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
    doubts
}

fn of_plan(bed: &Bed, plan: &ThroughputPlan, searched: &Searched) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if plan.trial < FINAL_TRIAL {
        doubts.push(Doubt::ShortTrial { trial: plan.trial });
    }
    if bed.plan().cpus.shared() {
        doubts.push(Doubt::CpuShared);
    }
    // Where nothing was lost the ring hid nothing that the result depends on.
    if let Outcome::Found {
        lossless,
        lossy: Some(lossy),
        ..
    } = searched.outcome
    {
        let ring = rules::ring(bed);
        let hidden = Rate::of(u64::from(ring), plan.trial).unwrap_or_default();
        if hidden.fps() > lossy.fps() - lossless.fps() {
            doubts.push(Doubt::RingHides { ring, hidden });
        }
    }
    doubts.push(Doubt::NotionalLink);
    if bed.plan().nic == Front::Cpumap {
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
    } = searched.outcome
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
