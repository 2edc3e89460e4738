//! One trial: an offer becomes a [`Trial`] of counts. Nothing here knows what a good result is.
//!
//! 1. If asked for, send warm-up frames at the trial's load. They do not count.
//! 2. Time a fixed piece of work on each CPU of the bed.
//! 3. Arm the receivers and read all counters.
//! 4. Send the opening canaries.
//! 5. Send the load. Where route changes were asked for, the DUT's routes change meanwhile.
//! 6. Drain: wait until every frame is accounted for, or nothing has moved for a while.
//! 7. Send the closing canaries. They prove that the receiver still worked.
//! 8. Read all counters again, and time the work again.
//!
//! The counters are read when no frame is under way.

mod along;
mod assemble;
mod beside;
mod disturbed;
mod exchange;
mod in_turns;
mod losses;
mod overload;
pub mod probe;
pub mod rules;
pub(crate) mod speed;
mod stations;
mod stepped;
mod windows;

pub use beside::{Beside, run_beside, sent_between};
pub use in_turns::{InTurns, TURN_NS, mean, run_in_turns, turn_at};
pub use overload::{backs_off, run_overload};
pub use stepped::{Passed, Stepped, run_stepped, run_stepped_watched};

use crate::bed;
use crate::clock::wait_for;
use crate::fib::Replay;
use crate::tester::{GoOn, Management, Tester, TesterError, until_ended, way_id};
use assemble::Parts;
use mpps_ebpf::instruments::receiver::Received;
use mpps_ebpf::instruments::sender::{DIRECTIONS, Mark, Order, Outcome, PACE_SHIFT, Stopped};
use mpps_linux::clock::monotonic_ns;
use mpps_method::disturbed::{excluded, in_all};
use mpps_method::{Canaries, CpuExchange, Offer, Rate, Rules, Span, Trial};
use stations::Stations;

/// Canary frames each time, in each direction.
pub const CANARIES: u64 = 16;
/// From one canary to the next, ns.
const CANARY_GAP_NS: u64 = 50_000;
/// A canary not met after this long is missing, ns.
const CANARY_LIMIT_NS: u64 = 500_000_000;
/// Nothing is under way any more if nothing was received and nothing worked on for this long, ns.
const QUIET_NS: u64 = 100_000_000;
/// Shortest time limit of a drain, ns, because the machine may stand still during it.
const DRAIN_MIN_NS: u64 = 50_000_000;
/// Longest drain, ns. RFC 2544 section 23 waits two seconds for residual frames.
const DRAIN_LIMIT_NS: u64 = 2_000_000_000;
/// Between two looks while draining, ns.
const LOOK_NS: u64 = 2_000_000;
/// The sender does not make up for a slot that is later than this, ns, or later than a quarter of the ring lasts. The
/// quarter bounds how many frames the DUT gets at once. A shared machine has some pauses of 1 to 3 ms a second. Without
/// making up for them a trial at 400 kfps would leave too many frames unsent.
pub const LATE_MAX_NS: u64 = 4_000_000;
/// A trial is extended by at most this time, to make up for disturbances.
const LONGER_MAX: Span = Span::from_millis(15_000);
/// Upper bound of any load. No sender of this tester has been faster. It bounds memory, not results.
pub const SENDER_MAX: Rate = Rate::from_fps(12_000_000.0);
/// From the start of the sender's call to the first slot, ns.
const DELAY_NS: u64 = 1_000_000;

/// Runs one trial.
///
/// # Errors
/// The tester failed: the namespace vanished, the kernel refused a call, or Ctrl-C. There is no trial then.
pub fn run(tester: &mut Tester<'_>, offer: &Offer) -> Result<Trial, TesterError> {
    let begun = Begun::paced(tester, offer, offer.duration)?;
    let sent = tester.sender.send(begun.order, &until_ended)?;
    begun.end(tester, sent)
}

/// Runs one trial until its time outside disturbances is as long as the offer asks for, or [`longest`] is over. It stops
/// early if the tester cannot offer the load any more ([`Rules::cannot_count`]). Loss never ends a trial.
pub fn run_undisturbed(
    tester: &mut Tester<'_>,
    offer: &Offer,
    rules: &Rules,
) -> Result<Trial, TesterError> {
    let begun = Begun::paced(tester, offer, longest(offer.duration))?;
    let ask = |started_ns, unsent| go_on(tester, offer, rules, started_ns, unsent);
    let sent = tester.sender.send(begun.order, &ask)?;
    begun.end(tester, sent)
}

/// Runs one burst of `frames` back-to-back (RFC 2544 26.4), as fast as the sender can.
pub fn run_burst(tester: &mut Tester<'_>, frames: u64) -> Result<Trial, TesterError> {
    let begun = Begun::back_to_back(tester, back_to_back(frames))?;
    let sent = tester.sender.send(begun.order, &until_ended)?;
    begun.end(tester, sent)
}

fn back_to_back(frames: u64) -> Order {
    Order {
        gap_fp: 0,
        slots: frames,
        late_max_ns: u64::MAX,
        delay_ns: DELAY_NS,
        ..Order::default()
    }
}

/// The longest duration of a trial that needs this much time outside disturbances.
#[must_use]
pub fn longest(undisturbed: Span) -> Span {
    let more = undisturbed.min(LONGER_MAX);
    Span::from_nanos(undisturbed.as_nanos() + more.as_nanos())
}

/// How far the sender was, to its last frame.
fn marks(tester: &Tester<'_>, sent: &Outcome) -> Result<Vec<Mark>, TesterError> {
    let mut marks = tester.sender.marks()?;
    marks.push(Mark {
        ns: sent.last_ns,
        sequence: sent.sent,
    });
    Ok(marks)
}

fn paced(tester: &Tester<'_>, rate: Rate, slots: u64) -> Order {
    Order {
        gap_fp: gap_fp(rate.fps()),
        slots,
        late_max_ns: late_max_ns(rate.fps(), rules::one_ring(tester.bed)),
        delay_ns: DELAY_NS,
        ..Order::default()
    }
}

/// Most frames that the sender hands on at once at this rate.
pub fn frames_at_once(tester: &Tester<'_>, rate: Rate) -> u32 {
    let order = tester.continued(paced(tester, rate, 1));
    tester.sender.at_once(&order)
}

/// Sends frames that do not count, so that the DUT has learned and cached what it can before a trial. They have an id of
/// their own. A frame that arrives during the trial is counted as late.
pub fn send_uncounted(tester: &mut Tester<'_>, rate: Rate, slots: u64) -> Result<(), TesterError> {
    if slots == 0 {
        return Ok(());
    }
    let (id, canary_id) = tester.next_ids();
    arm(tester, id, canary_id, slots)?;
    let before = Stations::read(tester)?;
    let order = tester.continued(Order {
        id,
        ..paced(tester, rate, slots)
    });
    let sent = tester.sender.send(order, &until_ended)?;
    tester.pass(sent.sent.iter().copied().max().unwrap_or(0));
    drain(tester, &sent, &before, u64::MAX).map(drop)
}

/// Makes every receiver wait for frames with this id.
fn arm(tester: &Tester<'_>, id: u16, canary_id: u16, slots: u64) -> Result<(), TesterError> {
    let per_direction = slots.div_ceil(tester.traffic.directions());
    let lengths = tester.sender.distinct_lengths();
    let mut receivers = tester.receivers.iter().enumerate();
    receivers.try_for_each(|(way, receiver)| {
        let (id, canary_id) = (way_id(id, way), way_id(canary_id, way));
        receiver.arm(id, canary_id, per_direction, &lengths)
    })
}

/// A trial before its load: receivers armed, counters read, opening canaries met.
struct Begun {
    offer: Offer,
    order: Order,
    length: Span,
    canary_id: u16,
    opening: Vec<Canaries>,
    before: Stations,
    exchange: Option<Span>,
    /// How long a fixed piece of work took on each CPU. A burst times none.
    speeds: Option<Vec<(usize, Span)>>,
    route_changes: Option<Replay>,
    /// The management path's first in this trial.
    first_question: Option<usize>,
}

impl Begun {
    /// Begins a trial at the offer's rate and of this length, after the warm-up.
    fn paced(tester: &mut Tester<'_>, offer: &Offer, length: Span) -> Result<Self, TesterError> {
        let order = paced(tester, offer.rate, offer.rate.frames_in(length));
        send_uncounted(tester, offer.rate, offer.rate.frames_in(tester.warm_up))?;
        let speeds = speed::read(&tester.bed.plan().cpus.all())?;
        Ok(Self {
            speeds: Some(speeds),
            ..Self::new(tester, *offer, order, length)?
        })
    }

    fn new(
        tester: &mut Tester<'_>,
        offer: Offer,
        order: Order,
        length: Span,
    ) -> Result<Self, TesterError> {
        bed::bound_outputs(tester.bed);
        let exchange = exchange::read(tester.bed)?;
        let (id, canary_id) = tester.next_ids();
        arm(tester, id, canary_id, order.slots)?;
        let before = Stations::read(tester)?;
        let opening = send_canaries(tester, canary_id, &vec![0; tester.receivers.len()])?;
        tester.watch.clear()?;
        tester.other_tasks.clear()?;
        let changes = tester.traffic.route_changes.as_ref();
        let route_changes = changes.map(|changes| changes.start()).transpose()?;
        Ok(Self {
            route_changes: route_changes.flatten(),
            // The load follows at once.
            first_question: tester.management.as_ref().map(Management::begin),
            offer,
            order: tester.continued(Order { id, ..order }),
            length,
            canary_id,
            opening,
            before,
            exchange,
            speeds: None,
        })
    }

    /// Begins a trial without a pace.
    fn back_to_back(tester: &mut Tester<'_>, order: Order) -> Result<Self, TesterError> {
        let offer = Offer::new(Rate::default(), Span::ZERO);
        Self::new(tester, offer, order, Span::ZERO)
    }

    /// Waits for the frames under way and reads the counters.
    fn end(mut self, tester: &mut Tester<'_>, sent: Outcome) -> Result<Trial, TesterError> {
        if self.order.lasts_ns > 0 && sent.ended_ns > 0 {
            // The sender ended by the time: slots that were left are no part of the order.
            self.order.slots = sent.slots;
        }
        let route_changes = self.route_changes.take();
        let route_changes = route_changes.map(Replay::stop).transpose()?;
        tester.pass(sent.sent.iter().copied().max().unwrap_or(0));
        let (sizes_sent, marks) = (tester.sender.by_length()?, tester.sender.marks()?);
        let drain_ns = drain_ns(&self.offer, rules::ring(tester.bed, &tester.traffic));
        // Other tasks that run during the drain do no harm, so their CPU time is read before.
        let (cpu_use, cpu_use_ns) = (tester.other_tasks.read()?, monotonic_ns());
        let overdue = drain(tester, &sent, &self.before, drain_ns)?;
        let watched = tester.watch.read()?;
        let (stalls, slow) = (tester.watch.stalls()?, tester.watch.slow()?);
        let stretches = tester.other_tasks.stretches()?;
        let asked = tester.management.as_ref().zip(self.first_question);
        let queries = asked.map(|(path, first)| path.pause(first)).transpose()?;
        let met: Vec<u64> = self.opening.iter().map(|c| c.received_frames).collect();
        let closing = send_canaries(tester, self.canary_id, &met)?;
        let after = Stations::read(tester)?;
        let received = read_receivers(tester)?;
        let parts = Parts {
            guard: rules::choose(tester, &self.offer).guard,
            begun: &self,
            sent,
            sizes_sent,
            marks,
            overdue,
            closing,
            after,
            received,
            watched,
            stalls,
            slow,
            stretches,
            cpu_use,
            cpu_use_ns,
        };
        let mut trial = assemble::trial(tester, parts)?;
        (trial.route_changes, trial.queries) = (route_changes, queries);
        let exchange = self.exchange.zip(exchange::read(tester.bed)?);
        trial.exchange = exchange.map(|(before, after)| CpuExchange { before, after });
        if let Some(before) = self.speeds {
            trial.speeds = speed::beside(&before, &speed::read(&tester.bed.plan().cpus.all())?);
        }
        Ok(trial)
    }
}

/// Whether a trial goes on. It ends when it was undisturbed for long enough, or when it cannot offer its load.
fn go_on(
    tester: &Tester<'_>,
    offer: &Offer,
    rules: &Rules,
    started_ns: u64,
    unsent: [u64; DIRECTIONS],
) -> Result<GoOn, TesterError> {
    let passed_ns = match started_ns {
        0 => 0,
        _ => monotonic_ns().saturating_sub(started_ns),
    };
    let wanted_ns = offer.duration.as_nanos();
    let slots = offer.rate.frames_in(offer.duration);
    let intended = assemble::by_way(slots, tester.receivers.len());
    let short = |excused: u64| {
        let unsent = unsent.map(|unsent| unsent.saturating_sub(excused));
        let ways: Vec<(u64, u64)> = unsent.into_iter().zip(intended.clone()).collect();
        rules.cannot_count(&ways)
    };
    // Reading the disturbances costs system calls, so it is left out while the trial is too short anyway.
    if passed_ns < wanted_ns && !short(0) {
        return Ok(GoOn::For(wanted_ns - passed_ns));
    }
    let mut times = tester.watch.stalls()?;
    times.extend(tester.watch.slow()?);
    times.extend(tester.other_tasks.stretches()?);
    let times = disturbed::since(started_ns, &times);
    let parts = excluded(&times, &rules.guard, Span::from_nanos(passed_ns));
    let disturbed = in_all(&parts);
    if short(offer.rate.frames_in(disturbed)) {
        return Ok(GoOn::Stop(Stopped::CannotCount));
    }
    let undisturbed_ns = passed_ns - disturbed.as_nanos();
    Ok(match wanted_ns.saturating_sub(undisturbed_ns) {
        0 => GoOn::Stop(Stopped::Enough),
        missing_ns => GoOn::For(missing_ns),
    })
}

/// Sends canaries and waits for them. Returns, by direction, how many were sent and how many arrived.
fn send_canaries(tester: &Tester<'_>, id: u16, met: &[u64]) -> Result<Vec<Canaries>, TesterError> {
    let order = Order {
        gap_fp: CANARY_GAP_NS << PACE_SHIFT,
        slots: CANARIES * tester.traffic.directions(),
        // A canary only has to arrive. Its time does not matter.
        late_max_ns: CANARY_LIMIT_NS,
        id,
        plain: true,
        ..Order::default()
    };
    let read = |sent: &Outcome| -> Result<Vec<Canaries>, TesterError> {
        let received = read_receivers(tester)?;
        let canaries = |(way, received): (usize, &Received)| Canaries {
            sent_frames: sent.sent[way],
            received_frames: received.canary.saturating_sub(met[way]),
        };
        Ok(received.iter().enumerate().map(canaries).collect())
    };
    let sent = tester.sender.send(order, &until_ended)?;
    // The first may take as long as the DUT delays frames, the others follow it.
    let arrive = wait_for(CANARY_LIMIT_NS, LOOK_NS, || {
        Ok::<_, TesterError>(read(&sent)?.iter().all(|c| c.received_frames > 0))
    })?;
    if arrive {
        wait_until_quiet(tester, CANARY_LIMIT_NS, || {
            let missing = |c: &Canaries| c.sent_frames.saturating_sub(c.received_frames);
            Ok(read(&sent)?.iter().map(missing).sum())
        })?;
    }
    read(&sent)
}

/// Waits until no frame is under way, or until no frame has arrived for [`QUIET_NS`] while the DUT had nothing to do.
fn wait_until_quiet(
    tester: &Tester<'_>,
    limit_ns: u64,
    mut under_way: impl FnMut() -> Result<u64, TesterError>,
) -> Result<(), TesterError> {
    let (mut last, mut moved_at) = ((0, 0), monotonic_ns());
    let ended = wait_for(limit_ns, LOOK_NS, || {
        let now = (under_way()?, stations::dut_run_ns(tester)?);
        let now_ns = monotonic_ns();
        if now != last {
            (last, moved_at) = (now, now_ns);
        }
        Ok(now.0 == 0 || now_ns - moved_at > QUIET_NS)
    });
    ended.map(drop)
}

/// Waits until the frames under way have arrived or are known to be lost. Returns how many of them arrived later than
/// `in_time_ns` after the sender's end.
fn drain(
    tester: &Tester<'_>,
    sent: &Outcome,
    before: &Stations,
    in_time_ns: u64,
) -> Result<u64, TesterError> {
    let begun = monotonic_ns();
    let mut in_time = None;
    wait_until_quiet(tester, DRAIN_LIMIT_NS, || {
        let under_way = under_way(tester, sent, before)?;
        if in_time.is_none() && monotonic_ns() - begun > in_time_ns {
            in_time = Some(arrived(&read_receivers(tester)?));
        }
        Ok(under_way)
    })?;
    let all = arrived(&read_receivers(tester)?);
    Ok(in_time.map_or(0, |in_time| all - in_time))
}

/// How long a trial's last frames may take: the time in which this load fills the rings, a hundredth of the trial, or
/// 50 ms, whichever is longest.
fn drain_ns(offer: &Offer, ring: u32) -> u64 {
    let ring_ns = f64::from(ring) / offer.rate.fps().max(1.0) * 1e9;
    (ring_ns as u64)
        .max(offer.duration.as_nanos() / 100)
        .max(DRAIN_MIN_NS)
}

/// Frames sent that have neither arrived nor been refused by a port or a ring.
fn under_way(tester: &Tester<'_>, sent: &Outcome, before: &Stations) -> Result<u64, TesterError> {
    let arrived = arrived(&read_receivers(tester)?);
    let gone = arrived + before.unrouted_since(tester)? + before.refused_since(tester)?;
    Ok(sent.sent.iter().sum::<u64>().saturating_sub(gone))
}

/// Frames of the trial, each counted once.
fn arrived(received: &[Received]) -> u64 {
    received.iter().map(|r| r.tagged - r.duplicated).sum()
}

fn read_receivers(tester: &Tester<'_>) -> Result<Vec<Received>, TesterError> {
    tester
        .receivers
        .iter()
        .map(|receiver| receiver.read())
        .collect()
}

/// Time between two slots, ns << 20. The rounding is below 1e-8 of any rate.
fn gap_fp(rate_fps: f64) -> u64 {
    (1e9 * (1u64 << PACE_SHIFT) as f64 / rate_fps).round() as u64
}

/// How late a slot may be and still be sent, ns: bounded by [`LATE_MAX_NS`] and by a quarter of the ring.
pub(crate) fn late_max_ns(rate_fps: f64, ring: u32) -> u64 {
    let quarter_ring_ns = f64::from(ring) / 4.0 / rate_fps * 1e9;
    LATE_MAX_NS.min(quarter_ring_ns as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_exact_where_whole_nanoseconds_are_not() {
        // 3.3 Mpps: 303.03 ns; whole ns would be 0.01 % off a frame, and 1 % at 33 ns.
        let gap = gap_fp(3_300_000.0);
        let frames_in_a_second = (1_000_000_000u128 << PACE_SHIFT) / u128::from(gap);
        assert!(
            (frames_in_a_second as i64 - 3_300_000).abs() <= 1,
            "{frames_in_a_second}"
        );
    }

    #[test]
    fn a_drain_takes_as_long_as_ring_trial_or_50_ms() {
        let drain = |fps: f64, secs: f64| {
            let rate = mpps_method::Rate::from_fps(fps);
            let duration = mpps_method::Span::from_secs_f64(secs);
            drain_ns(&Offer { rate, duration }, 4_096) / 1_000_000
        };
        assert_eq!(drain(1e6, 1.0), 50);
        assert_eq!(drain(4_096.0, 1.0), 1_000);
        assert_eq!(drain(1e6, 60.0), 600);
    }

    #[test]
    fn catching_up_fills_at_most_a_quarter_of_the_ring() {
        assert_eq!(late_max_ns(10_000.0, 4096), LATE_MAX_NS);
        assert_eq!(late_max_ns(1_000_000.0, 512), 128_000);
    }
}
