//! What leaves the tester, and when: the asked rate, evenly, by counts and clocks that are not the sender's own.
//! The sender alone, before a port that drops in its driver: what the DUT and the receiver cost it where they
//! share its CPU is no question of its pace.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::planted::{Departures, PlantedPauses, Sink};
use mpps_ebpf::instruments::departures::Departed;
use mpps_ebpf::instruments::sender::{Order, Outcome, PACE_SHIFT};
use mpps_lab::bed::{Bed, Side};
use mpps_lab::tester::{
    ReceiverMode, Sender, SenderPlan, Tester, TrafficSender, until_ended, ways,
};
use mpps_linux::links;
use mpps_linux::packet::{RxRing, RxSpec};
use mpps_method::{Histogram, Span};

/// The machine may disturb most of them: another program with the same right to the CPU takes it for ms.
const ATTEMPTS: u32 = 30;
const TOLERANCE: f64 = 0.001;

/// The sender, and whoever else counts its frames.
struct Alone<'a> {
    bed: &'a Bed,
    sender: Sender<'a>,
    departures: Departures,
    _sink: Sink,
}

impl<'a> Alone<'a> {
    fn on(bed: &'a Bed) -> Self {
        mpps_linux::cpu::pin_current_thread(&bed.plan().cpus.tester_set()).expect("pin");
        let plan = SenderPlan::new(bed, &support::traffic(), &ways(bed, false));
        let port = (bed.netns(Side::A), bed.port(Side::A).ifindex);
        let sink = Sink::attach(bed.netns(Side::B), bed.port(Side::B).ifindex);
        Self {
            bed,
            sender: Sender::load(plan.expect("a plan"), &[port], None).expect("sender"),
            departures: Departures::watch(bed.port(Side::A)).expect("watch"),
            _sink: sink.expect("sink"),
        }
    }

    fn arrived(&self) -> u64 {
        let stats = || links::stats(&self.bed.port(Side::B).name);
        let stats = self.bed.netns(Side::B).run(stats).expect("netns");
        stats.expect("statistics").rx_packets
    }

    /// To the slot and to the frame, by three counts, whatever the machine did.
    fn send(&self, order: Order) -> (Outcome, Departed) {
        self.departures.clear().expect("clear");
        let before = self.arrived();
        let sent = self.sender.send(order, &until_ended).expect("sent");
        let departed = self.departures.read().expect("read");
        assert!(sent.ended_ns > 0, "{sent:?}");
        assert_eq!(sent.sent[0] + sent.unsent[0], order.slots);
        assert_eq!(departed.frames, sent.sent[0], "what left");
        assert_eq!(
            self.arrived() - before,
            sent.sent[0],
            "what arrived at the other end of the cable"
        );
        (sent, departed)
    }
}

/// Of catching up: what these orders say, whatever a trial's do.
const BOUND_NS: u64 = 1_000_000;

fn order(fps: f64, millis: u64) -> Order {
    Order {
        gap_fp: (1e9 * f64::from(1u32 << PACE_SHIFT) / fps).round() as u64,
        slots: (fps * millis as f64 / 1e3).round() as u64,
        late_max_ns: BOUND_NS,
        delay_ns: 1_000_000,
        id: 7,
        ..Order::default()
    }
}

/// Frames a second between the first and the last of them.
fn rate(frames: u64, first_ns: u64, last_ns: u64) -> f64 {
    (frames - 1) as f64 * 1e9 / (last_ns - first_ns) as f64
}

fn histogram(counts: &[u64]) -> Histogram {
    Histogram::from_counts(counts.to_vec()).expect("as many buckets")
}

fn quantile_ns(counts: &[u64], part: f64) -> u64 {
    let value = histogram(counts).quantile(part);
    value.expect("something was counted").as_nanos()
}

#[test]
fn the_asked_rate_leaves_by_two_other_counts() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let alone = Alone::on(&bed);
    for fps in [1_000.0, 33_333.0, 100_000.0, 1_000_000.0, 2_500_000.0] {
        let mut seen = Vec::new();
        let exact = (0..ATTEMPTS).any(|_| {
            let (sent, departed) = alone.send(order(fps, 500));
            // A slot that a stall used up is told as unsent: both together keep the pace.
            let slots = departed.frames + sent.unsent[0];
            let left = rate(slots, departed.first_ns, departed.last_ns);
            seen.push((sent.unsent[0], left));
            (left / fps - 1.0).abs() < TOLERANCE
        });
        assert!(exact, "{fps} asked: {seen:?}");
    }
}

/// A packet socket in the DUT counts the frames and stamps them with another clock than the sender's.
#[test]
fn another_count_and_clock_confirm_the_rate() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let tester = Tester::raise(&bed, &support::traffic(), 1 << 20, ReceiverMode::Polled);
    let tester = tester.unwrap_or_else(|error| panic!("tester: {error}"));
    let spec = RxSpec {
        blocks: 32,
        block_octets: 1 << 20,
        // A trial is over before the ring is.
        retire_ms: 100,
        snap_octets: 64,
    };
    for fps in [10_000.0, 100_000.0] {
        let mut seen = Vec::new();
        let exact = (0..ATTEMPTS).any(|_| {
            let open = || RxRing::open(&bed.port(Side::B).name, spec.clone());
            let mut sniffer = bed.netns(Side::B).run(open).expect("netns").expect("ring");
            let sent = (tester.sender)
                .send(order(fps, 1_000), &until_ended)
                .expect("sent");
            let mut stamps = Vec::new();
            let all = mpps_lab::clock::wait_for(1_000_000_000, 5_000_000, || {
                sniffer.drain(|arrival| stamps.push(arrival.realtime_ns))?;
                Ok::<_, mpps_linux::Error>(stamps.len() as u64 >= sent.sent[0])
            });
            let counts = sniffer.counts().expect("counts");
            assert!(
                all.expect("drain"),
                "{} of {}, {counts:?}, the DUT {:?}",
                stamps.len(),
                sent.sent[0],
                tester.ledger.read(0).expect("counts")
            );
            let (first, last) = (stamps.iter().min(), stamps.iter().max());
            let arrived = rate(
                stamps.len() as u64 + sent.unsent[0],
                *first.expect("one"),
                *last.expect("one"),
            );
            assert_eq!(
                stamps.len() as u64,
                sent.sent[0],
                "no frame but the sender's"
            );
            seen.push((sent.unsent[0], arrived));
            (arrived / fps - 1.0).abs() < TOLERANCE
        });
        assert!(exact, "{fps} asked: {seen:?}");
    }
}

/// 10 microseconds apart each frame goes alone, and when it is due.
#[test]
fn frames_leave_one_by_one_at_low_rates() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let alone = Alone::on(&bed);
    let mut seen = Vec::new();
    let even = (0..ATTEMPTS).any(|_| {
        let (sent, departed) = alone.send(order(100_000.0, 500));
        let bulks: u64 = departed.bulks.iter().sum();
        let single = departed.bulks[1] as f64 / bulks as f64;
        let gaps: Vec<u64> = [0.05, 0.5, 0.95]
            .map(|part| quantile_ns(&departed.gaps, part))
            .to_vec();
        let late = quantile_ns(&sent.lateness, 0.95);
        seen.push(format!(
            "alone {single:.3}, gaps {gaps:?}, late {late}, burst {}",
            sent.burst_largest
        ));
        // At this pace a batch is one frame, so none waits for another.
        single > 0.95
            && gaps[0] > 2_000
            && gaps[1].abs_diff(10_000) < 2_000
            && gaps[2] < 20_000
            && late < 5_000
    });
    println!("{seen:#?}");
    assert!(even, "{seen:#?}");
}

/// A sender that was away makes up for it within its bound, and the histogram has every frame of it.
#[test]
fn planted_lateness_is_found_and_caught_up() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let alone = Alone::on(&bed);
    let fps = 200_000.0;
    // Within the bound of catching up, and beyond it.
    for pause_ns in [400_000, 3_000_000_u64] {
        let catch_up_ns = pause_ns.min(BOUND_NS);
        let mut seen = Vec::new();
        let found = (0..ATTEMPTS).any(|_| {
            let sender = bed.plan().cpus.sender();
            let pauses = PlantedPauses::plant(sender, 100_000_000, pause_ns).expect("plant");
            let (sent, departed) = alone.send(order(fps, 1_000));
            let (count, _) = pauses.planted();
            drop(pauses);
            let latest = sent.late_largest_ns;
            assert!(latest <= BOUND_NS, "{latest} ns late");
            let (_, top) = histogram(&sent.lateness).max_bucket().expect("frames");
            assert!(top.as_nanos() >= latest, "the histogram holds the latest");
            // The first of the frames that were due meanwhile is as late as the pause was long, the last not at
            // all; while it makes up for them more become due.
            let late = histogram(&sent.lateness);
            let late_over = |part: u64| -> u64 {
                let from = mpps_method::histogram::index(catch_up_ns / part);
                late.counts().iter().skip(from).sum()
            };
            let due = |ns: u64| count as f64 * ns as f64 * fps / 1e9;
            let halfway = late_over(2) as f64 / (due(catch_up_ns) / 2.0);
            let unsent = due(pause_ns - catch_up_ns);
            let gap = quantile_ns(&departed.gaps, 1.0);
            seen.push(format!(
                "{count} pauses, latest {latest} ns, halfway {halfway:.2}, unsent {} of {unsent}, gap {gap}, burst {}",
                sent.unsent[0], sent.burst_largest
            ));
            let burst = catch_up_ns as f64 * fps / 1e9;
            (5..=12).contains(&count)
                && latest > catch_up_ns * 9 / 10
                && (0.8..2.5).contains(&halfway)
                && (sent.unsent[0] as f64 - unsent).abs() <= 0.15 * unsent + 20.0
                && gap >= pause_ns
                && (0.9 * burst..2.0 * burst).contains(&(sent.burst_largest as f64))
        });
        println!("{seen:#?}");
        assert!(found, "{} of pause: {seen:#?}", Span::from_nanos(pause_ns));
    }
}
