//! Each doubt in words: what was seen, why it matters, what to do next.

use super::{CatchUp, Doubt};
use mpps_method::claim::FINAL_TRIAL;
use mpps_method::{Rate, Span};
use std::fmt;

const MERGED: &str = "GRO merged them, and they were cut again";
const VIRTUAL_NIC: &str = "the receive ring is a virtual NIC's (CPUMAP), and its path runs GRO";
const STALL_CHARGED: &str = "so short a pause is not seen: its loss is charged to the DUT";
const CAUGHT_UP: &str = "so many at once need room in the DUT's ring: the loss may be the tester's making, and the DUT do more";
const ON_SENDERS_CPU: &str =
    "what the device does with a frame it does on the sender's CPU, in the sender's time";
const UNKNOWN: &str =
    "the device between the ports is not ours: its counters, its CPU and its rings are unknown";
const NOT_SHARP: &str =
    "the border between loss and none is not sharp; one search finds one point of it";
const CPU_SHARED: &str =
    "the DUT gets what the tester leaves: the rate is the pair's, not the router's";

impl Doubt {
    /// Short name, for records.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unstable(_) => "unstable",
            Self::GateUnknown { .. } => "gate-unknown",
            Self::LossNotByLoad { .. } => "loss-not-by-load",
            Self::SenderCaughtUp(_) => "sender-caught-up",
            Self::ShortTrial { .. } => "short-trial",
            Self::TesterNearCeiling { .. } => "tester-near-ceiling",
            Self::CpuShared => "cpu-shared",
            Self::Steal { .. } => "steal",
            Self::Slowed(_) => "cpu-slowed",
            Self::Voided { .. } => "voided",
            Self::RingHides { .. } => "ring-hides",
            Self::StallUnseen { .. } => "stall-unseen",
            Self::UnevenQueues { .. } => "uneven-queues",
            Self::Contradiction { .. } => "contradiction",
            Self::NotOffered { .. } => "not-offered",
            Self::LossWhileIdle { .. } => "loss-while-idle",
            Self::Foreign { .. } => "foreign",
            Self::OutOfTrials(_) => "out-of-trials",
            Self::FewDestinations { .. } => "few-destinations",
            Self::PartOfDestinations { .. } => "part-of-destinations",
            Self::Simulated(_) => "simulated",
            Self::CeilingUnproven { .. } => "ceiling-unproven",
            Self::Merged { .. } => "merged",
            Self::VethCable { .. } => "veth-cable",
            Self::DeviceUnknown => "device-unknown",
            Self::NotionalLink => "notional-link",
            Self::VirtualNic => "virtual-nic",
            Self::Host(doubt) => doubt.words().name,
            Self::Frames(doubt) => doubt.words().name,
        }
    }

    /// What was seen.
    #[must_use]
    pub fn seen(&self) -> String {
        match self {
            Self::Unstable(found) => found.to_string(),
            Self::GateUnknown { trials, judged } => format!(
                "whether the DUT loses frames at a low load is not known: {judged} of {trials} trials were undisturbed"
            ),
            Self::LossNotByLoad { rate, pattern } => {
                format!("the loss at {rate} does not look like load ({pattern})")
            }
            Self::SenderCaughtUp(catch_up) => caught_up(catch_up),
            Self::ShortTrial { trial } => {
                format!("trials of {trial}, RFC 2544 asks for {FINAL_TRIAL}")
            }
            Self::TesterNearCeiling { result, ceiling } => {
                format!("{result} is at or near the tester's own ceiling of {ceiling}")
            }
            Self::CpuShared => "tester and DUT share a CPU".to_owned(),
            Self::Steal { share } => stolen(*share),
            Self::Slowed(found) => found.to_string(),
            Self::Voided { voided, trials } => {
                format!("{voided} of {trials} trials were void and run again")
            }
            Self::RingHides { ring, hidden } => {
                format!("a ring of {ring} frames hides an overload of {hidden} in one trial")
            }
            Self::StallUnseen { ring, rate, unseen } => stall_unseen(*ring, *rate, *unseen),
            Self::UnevenQueues {
                ratio,
                empty,
                queues,
            } => uneven(*ratio, *empty, *queues),
            Self::Contradiction { rate } => {
                format!("{rate} passed in one trial and failed in another")
            }
            Self::NotOffered { trials, of } => {
                format!("the tester could not offer the load of {trials} of {of} trials")
            }
            Self::LossWhileIdle { rate, busy } => format!(
                "at {rate} the DUT lost frames while its busiest CPU was {:.0} % busy",
                busy * 100.0
            ),
            Self::Foreign { frames } => format!("{frames} frames not ours reached the receiver"),
            Self::OutOfTrials(how) => format!("the trials allowed ended the search: {how}"),
            Self::FewDestinations { routes, met } => {
                format!("the DUT holds {routes} routes and frames go to {met} destination(s)")
            }
            Self::PartOfDestinations {
                sent_frames,
                period_frames,
            } => format!(
                "{sent_frames} frames were sent; once through all destinations takes {period_frames}"
            ),
            Self::Simulated(pair) => format!("nothing was measured: simulated {pair}"),
            Self::CeilingUnproven { sender } => format!(
                "the tester's sender reaches {sender}; what its receiver reaches was not proven"
            ),
            Self::Merged { frames, packets } => {
                format!("the DUT forwarded {frames} frames as {packets} packets: {MERGED}")
            }
            Self::VethCable { port } => format!("{port} is a veth: {ON_SENDERS_CPU}"),
            Self::DeviceUnknown => UNKNOWN.to_owned(),
            Self::NotionalLink => "the bed has no wire: frames pass by reference".to_owned(),
            Self::VirtualNic => VIRTUAL_NIC.to_owned(),
            Self::Host(doubt) => doubt.words().seen,
            Self::Frames(doubt) => doubt.words().seen,
        }
    }

    /// Why it matters.
    #[must_use]
    pub fn why(&self) -> &'static str {
        match self {
            Self::Unstable(_) => {
                "what the search found is where chance left it, no property of a load"
            }
            Self::GateUnknown { .. } => {
                "a DUT that loses frames whatever the load would look like a slow one"
            }
            Self::LossNotByLoad { .. } => {
                "something else than the rate bounds the result; without it the DUT may do more"
            }
            Self::SenderCaughtUp(_) => CAUGHT_UP,
            Self::ShortTrial { .. } => {
                "rare stalls of the DUT may not have happened yet: an Estimate, not a Throughput"
            }
            Self::TesterNearCeiling { .. } => {
                "the DUT may well do more, and the tester may lose what the DUT did not"
            }
            Self::CpuShared => CPU_SHARED,
            Self::Steal { .. } => {
                "the DUT had less of its CPU than it will have on a machine of its own"
            }
            Self::Slowed(_) => {
                "its clock was lowered or its core shared, which no stolen time shows: rates fall with it, the tester's ceiling too"
            }
            Self::Voided { .. } => "a machine this restless may have disturbed the others as well",
            Self::RingHides { .. } => "loads closer to each other than that cannot be told apart",
            Self::StallUnseen { .. } => STALL_CHARGED,
            Self::UnevenQueues { .. } => "the busiest queue limits, the other CPUs idle",
            Self::Contradiction { .. } => NOT_SHARP,
            Self::NotOffered { .. } => {
                "they say nothing of the DUT and took none of its trials, but its rate may lie above what was offered"
            }
            Self::LossWhileIdle { .. } => {
                "a pause or a burst overflowed a queue; the DUT can keep up more"
            }
            Self::Foreign { .. } => "something besides the tester sends through the DUT",
            Self::OutOfTrials(_) => "the rate is known no better than that",
            Self::FewDestinations { .. } => {
                "what few destinations need of the table stays in the CPU's caches: the rate is not the table's"
            }
            Self::PartOfDestinations { .. } => {
                "the others were never looked up: the rate is of fewer destinations than it names"
            }
            Self::Simulated(_) => {
                "a simulation is for trying goals and searches, it says nothing of a router"
            }
            Self::CeilingUnproven { .. } => {
                "loss that its NIC or its driver does not count would look like the device's"
            }
            Self::Merged { .. } => {
                "the rate counts frames, the DUT routed fewer, larger packets: traffic that cannot be merged is slower"
            }
            Self::VethCable { .. } => {
                "a rate that the tester limits is that of tester and device together; a slow device makes a slow sender, not loss"
            }
            Self::DeviceUnknown => {
                "what was lost between the ports may have been lost by a cable or a NIC as well; busy time and cost per frame are not known"
            }
            Self::NotionalLink => {
                "percent of link and Gbit/s are arithmetic; large frames cost no more than small ones"
            }
            Self::VirtualNic => {
                "a hardware NIC's driver costs more or less than that; compare like with like"
            }
            Self::Host(doubt) => doubt.words().why,
            Self::Frames(doubt) => doubt.words().why,
        }
    }

    /// What to run or change next.
    #[must_use]
    pub fn next(&self) -> &'static str {
        match self {
            Self::Unstable(_) | Self::LossNotByLoad { .. } => {
                "see `losses` of its trials in the record; nstat, ethtool -S and drop rules in the DUT (mpps bed shell)"
            }
            Self::GateUnknown { .. } => "run again when the machine is quieter",
            Self::SenderCaughtUp(_) => {
                "run again when the machine is quieter, give the sender a CPU of its own (--tester-cpus), or a larger --rx-ring"
            }
            Self::ShortTrial { .. } => "--preset rfc2544 (a Throughput; minutes)",
            Self::OutOfTrials(_) => "a larger --trials-at-most, or --preset csit",
            Self::FewDestinations { .. } => {
                "--table FILE --destinations 1M, or mpps fib-scale for what each number of them costs"
            }
            Self::PartOfDestinations { .. } => "a longer --time, or fewer --destinations",
            Self::Simulated(_) => "the same without --simulate, as root",
            Self::TesterNearCeiling { .. } => {
                "judge by DUT busy and ns per frame, or give the tester more CPUs"
            }
            Self::CpuShared => {
                "--tester-cpus and --dut-cpus with different CPUs, on a machine that has them"
            }
            Self::Steal { .. } | Self::Slowed(_) | Self::Voided { .. } => {
                "run again when the machine is quieter; compare in pairs only"
            }
            Self::RingHides { .. } => "a longer --time or a smaller --rx-ring",
            Self::StallUnseen { .. } => {
                "--nic cpumap, whose ring is as large as --rx-ring says, or a quieter machine"
            }
            Self::UnevenQueues { .. } => "more --flows, or --rss default instead of symmetric",
            Self::Contradiction { .. } | Self::LossWhileIdle { .. } => {
                "--preset csit (up to 21 trials at a load), or a larger --rx-ring"
            }
            Self::NotOffered { .. } => {
                "a --max-rate below the tester's ceiling, --tester-cpus with more CPUs, or a quieter machine"
            }
            Self::Foreign { .. } => "look at what --dut-setup started",
            Self::CeilingUnproven { .. } => {
                "join the two ports with a cable and run the same with --dut-mac of the second port: what that finds is the ceiling"
            }
            Self::Merged { .. } => {
                "--l4 tcp: segments that no offload can merge; or ethtool -K mB rx-udp-gro-forwarding off"
            }
            Self::VethCable { .. } => {
                "give the device's port a CPU of its own (RPS, or NAPI in a thread), or measure between NICs"
            }
            Self::DeviceUnknown => "read the device's own counters before and after",
            Self::NotionalLink | Self::VirtualNic => "see docs/method.md",
            Self::Host(doubt) => doubt.words().next,
            Self::Frames(doubt) => doubt.words().next,
        }
    }
}

fn stolen(share: f64) -> String {
    let percent = share * 100.0;
    format!("the hypervisor took {percent:.1} % of a CPU during a trial")
}

fn caught_up(catch_up: &CatchUp) -> String {
    let CatchUp {
        rate,
        frames,
        ring,
        lost,
    } = catch_up;
    let percent = *frames as f64 / f64::from(*ring) * 100.0;
    format!(
        "at {rate} the sender was late and made up for {frames} frames at once ({percent:.0} % of a ring of {ring}); {lost} were lost"
    )
}

fn stall_unseen(ring: u32, rate: Rate, unseen: Span) -> String {
    let fills = Span::from_secs_f64(f64::from(ring) / rate.fps().max(1.0));
    format!(
        "at {rate} a pause of {fills} fills the ring of {ring} frames, and the watch sees no pause below {unseen}"
    )
}

fn uneven(ratio: f64, empty: usize, queues: usize) -> String {
    format!("the fullest of {queues} queues got {ratio:.1} times its share, {empty} got none")
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (next: {})", self.seen(), self.why(), self.next())
    }
}
