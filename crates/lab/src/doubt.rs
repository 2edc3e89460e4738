//! What to doubt about a result: each doubt says what was seen, why it matters, what to do next.

mod claim;
mod frames;
mod host;
mod raised;
mod words;

pub use frames::FrameDoubt;
pub use host::HostDoubt;

use crate::search::Searched;
use crate::search::gate::Gated;
use crate::search::measurer::{Measurer, Surroundings};
use crate::search::saturation::Saturated;
use crate::tester::ReceiverPlace;
use crate::why_lost::{CatchUp, WhyLost};
use mpps_method::speed::Slowed;
use mpps_method::{
    Claim, Evenness, FrameSpec, Headroom, Instability, Irregular, LossPattern, LossRate, Outcome,
    Passes, Rate, SearchGoal, Span, Stability, Trial,
};

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
    /// What the trials said at the load found, or at the lowest that failed.
    pub passes: Passes,
    /// The trial the result stands on.
    pub trial: Option<Trial>,
    /// The number of that trial among those of the job.
    pub stands_on: Option<u32>,
    /// Loss at the lowest load that failed.
    pub loss_above: Option<LossRate>,
    /// Why frames were lost at the load that failed, or at the lowest that lost any.
    pub why_lost: Option<WhyLost>,
    /// The forwarding rate at 80 % of the DUT's CPU.
    pub headroom: Option<Headroom>,
    /// How evenly the frames left in the trial the result stands on.
    pub evenness: Option<Evenness>,
    /// Whether the DUT loses frames for no load.
    pub stability: Stability,
    /// The tester's own ceiling for this traffic.
    pub ceiling: Rate,
    /// What the DUT forwarded at overload, and what a frame costs it there.
    pub saturated: Saturated,
    /// Where the tester received; `None` of a simulated pair.
    pub receiver: Option<ReceiverPlace>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
}

/// One reason not to believe a number without a second thought.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// The DUT loses frames at a load that it should not feel.
    Unstable(Instability),
    /// The machine let nobody see whether the DUT does.
    GateUnknown {
        /// Trials run at the low load.
        trials: u32,
        /// Of these, trials that say something of the DUT.
        judged: u32,
    },
    /// The loss that bounds the result has another cause than load.
    LossNotByLoad {
        /// The load.
        rate: Rate,
        /// What it looks like.
        pattern: LossPattern,
    },
    /// The loss that bounds the result may be due to frames that the sender was late with and sent at once.
    SenderCaughtUp(CatchUp),
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
    /// A CPU of the bed was slower beside some trials than beside others.
    Slowed(Slowed),
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
    /// Pauses that the watch cannot see fill the rings at the load that lost frames.
    StallUnseen {
        /// Frames the rings hold.
        ring: u32,
        /// The load.
        rate: Rate,
        /// The watch sees no shorter pause.
        unseen: Span,
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
    /// The tester could not offer the load of these trials.
    NotOffered {
        /// So many.
        trials: u32,
        /// Of so many in the search.
        of: u32,
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
    /// The trials ended before the bounds were as close as asked for: how far the search got.
    OutOfTrials(Irregular),
    /// A table is loaded, and frames go to few of its addresses.
    FewDestinations {
        /// Routes in the DUT.
        routes: u64,
        /// Different destinations.
        met: u64,
    },
    /// The measurement ended before every destination had its frame.
    PartOfDestinations {
        /// Frames it sent to the router.
        sent_frames: u64,
        /// Frames that once through all destinations takes.
        period_frames: u64,
    },
    /// Router and tester were simulated: as they were written.
    Simulated(String),
    /// The tester's ceiling was not found: no wire can be laid in place of somebody else's device.
    CeilingUnproven {
        /// What the sender alone can do.
        sender: Rate,
    },
    /// The DUT merged frames and cut them again (GRO).
    Merged {
        /// Frames that came back.
        frames: u64,
        /// Packets the DUT forwarded.
        packets: u64,
    },
    /// The port where the tester sends is a veth.
    VethCable {
        /// Its name.
        port: String,
    },
    /// A device of somebody else's, whose own counters are unknown.
    DeviceUnknown,
    /// The bed has no wire.
    NotionalLink,
    /// The virtual NIC hands packets to GRO, which a NIC's driver may do otherwise.
    VirtualNic,
    /// The router's own tasks, or the machine, did something that the numbers do not show.
    Host(HostDoubt),
    /// Frames came that a router does not send so.
    Frames(FrameDoubt),
}

/// A doubt in words.
pub(crate) struct Words {
    /// Short name, for records.
    pub name: &'static str,
    /// What was seen.
    pub seen: String,
    /// Why it matters.
    pub why: &'static str,
    /// What to run or change next.
    pub next: &'static str,
}

/// What to doubt about overload alone.
#[must_use]
pub fn of_overload(around: &Surroundings) -> Vec<Doubt> {
    let shared = around.cpus_shared.then_some(Doubt::CpuShared);
    let mut doubts: Vec<Doubt> = shared.into_iter().collect();
    doubts.extend(raised::of_table(around.table));
    doubts
}

/// Weighs what a finished search found for one goal.
#[must_use]
pub fn weigh(
    measurer: &dyn Measurer,
    saturated: &Saturated,
    gated: &Gated,
    mut searched: Searched,
) -> Finding {
    let (around, ceiling) = (measurer.surroundings(), saturated.ceiling);
    raised::not_the_duts_limit(&around, &mut searched);
    let mut doubts = raised::of_gate(&gated.stability);
    doubts.extend(raised::of_speed(gated, &searched));
    doubts.extend(raised::all(&around, ceiling, &searched));
    let distance = saturated.maximum().and_then(|most| most.distance_ns);
    let changed = HostDoubt::of_distance(distance, searched.evidence.as_ref());
    doubts.extend(changed.map(Doubt::Host));
    let trials = gated.trials.iter().chain(searched.trials.iter());
    let result = searched.result;
    let evidence = searched.evidence.as_ref();
    Finding {
        frames: measurer.frames().clone(),
        goal: result.goal,
        claim: claim::claim(measurer, &searched),
        passes: result.passes,
        loss_above: claim::loss_above(measurer, &searched),
        why_lost: WhyLost::of(
            &searched.trials,
            claim::failed(&result.outcome),
            around.ring_frames,
        ),
        headroom: Headroom::from_trials(trials),
        evenness: evidence.and_then(|trial| Evenness::of(trial, around.ring_frames)),
        stability: gated.stability,
        outcome: result.outcome,
        conditional_throughput: result.conditional_throughput(),
        irregular: result.irregular,
        trial: searched.evidence,
        stands_on: searched.stands_on,
        ceiling,
        saturated: saturated.clone(),
        receiver: around.receiver,
        doubts,
    }
}
