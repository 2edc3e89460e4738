//! The sender with packet sockets. A thread on the tester's CPU writes due frames into the rings and hands them to the
//! drivers, one direction after the other.

use super::frames::Frames;
use super::pace::{self, Pace};
use crate::tester::error::TesterError;
use crate::tester::ports::sender::{SenderPlan, most};
use crate::tester::ports::wait::{Due, Progress, wait_for_end};
use crate::tester::ports::{Asked, TrafficSender};
use mpps_ebpf::instruments::sender::{BUCKETS, DIRECTIONS, MARK_PAUSE_NS, Mark, Order, Outcome};
use mpps_linux::netns::NetNs;
use mpps_linux::packet::{FlushEnd, TxRing, TxSpec};
use mpps_linux::{clock, cpu, task};
use mpps_method::histogram;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Fewest slots of a ring: a driver may have this many frames under way.
const SLOTS: usize = 4096;

/// What happens to a frame that the port refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRefusal {
    /// It is lost, like a frame that finds a NIC's ring full. For a port whose queue is the DUT's own ring.
    Lose,
    /// It is sent again until its slot is too late. For a port whose queue belongs to the tester.
    Retry,
}

/// Sending ports, ready.
pub struct PacketSender {
    plan: SenderPlan,
    on_refusal: OnRefusal,
    rings: Mutex<Vec<TxRing>>,
    by_length: Mutex<BTreeMap<u16, u64>>,
    marks: Mutex<Vec<Mark>>,
}

impl PacketSender {
    /// Makes the rings of the ports: namespace and interface name, by direction.
    pub fn open(
        plan: SenderPlan,
        ports: &[(&NetNs, &str)],
        on_refusal: OnRefusal,
    ) -> Result<Self, TesterError> {
        let largest = plan.lengths.iter().copied().max().unwrap_or(60);
        let spec = TxSpec {
            slots: SLOTS,
            frame_max: usize::from(largest),
        };
        let open = |(netns, port): &(&NetNs, &str)| {
            Ok::<_, TesterError>(netns.run(|| TxRing::open(port, spec))??)
        };
        Ok(Self {
            rings: Mutex::new(ports.iter().map(open).collect::<Result<_, _>>()?),
            plan,
            on_refusal,
            by_length: Mutex::default(),
            marks: Mutex::default(),
        })
    }

    /// The first frames that this sender would write for an order. The directions take turns. Nothing is sent.
    #[must_use]
    pub fn preview(plan: &SenderPlan, order: &Order, frames: usize) -> Vec<Vec<u8>> {
        let ways: Vec<Frames> = (0..plan.templates.len())
            .map(|way| Frames::new(plan, way, order))
            .collect();
        let write = |number: usize| {
            let (way, sequence) = (&ways[number % ways.len()], (number / ways.len()) as u64);
            let mut frame = vec![0; usize::from(way.length(sequence))];
            way.write(sequence, clock::monotonic_ns(), &mut frame);
            frame
        };
        (0..frames).map(write).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl TrafficSender for PacketSender {
    fn send(&self, order: Order, go_on: &Asked<'_>) -> Result<Outcome, TesterError> {
        let due = Due {
            ns: (clock::monotonic_ns() + order.delay_ns).saturating_add(order.length_ns()),
            set_up_ns: 0,
            paced: order.gap_fp > 0,
        };
        let stop = AtomicBool::new(false);
        let unsent: [AtomicU64; DIRECTIONS] = std::array::from_fn(|_| AtomicU64::new(0));
        let (started_ns, slots) = (AtomicU64::new(0), AtomicU64::new(0));
        let progress = || {
            Ok(Progress {
                started_ns: started_ns.load(Ordering::Relaxed),
                unsent: unsent.each_ref().map(|way| way.load(Ordering::Relaxed)),
                slots: slots.load(Ordering::Relaxed),
                ended: false,
            })
        };
        let (ran, watched) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                cpu::pin_current_thread(&cpu::CpuSet::single(self.plan.cpu))?;
                let mut rings = lock(&self.rings);
                let mut run = Run::new(self, &order, &mut rings);
                started_ns.store(run.outcome.started_ns, Ordering::Relaxed);
                run.carry_out(&stop, &unsent, &slots)?;
                Ok::<_, TesterError>((run.outcome, run.by_length, run.marks))
            });
            let watched = wait_for_end(&due, go_on, progress, || thread.is_finished());
            stop.store(true, Ordering::Release);
            (thread.join(), watched)
        });
        let stopped = watched?;
        let (outcome, by_length, marks) = task::joined(ran, "the sender's thread")??;
        *lock(&self.by_length) = by_length;
        *lock(&self.marks) = marks;
        Ok(Outcome { stopped, ..outcome })
    }

    fn at_once(&self, order: &Order) -> u32 {
        most(order, self.plan.batch)
    }

    fn by_length(&self) -> Result<Vec<(u16, u64)>, TesterError> {
        let sent = lock(&self.by_length);
        let count = |length: u16| (length, sent.get(&length).copied().unwrap_or(0));
        Ok(self.distinct_lengths().into_iter().map(count).collect())
    }

    fn marks(&self) -> Result<Vec<Mark>, TesterError> {
        Ok(lock(&self.marks).clone())
    }

    fn distinct_lengths(&self) -> Vec<u16> {
        self.plan.distinct_lengths()
    }
}

/// A frame in the ring that the driver has not taken yet, and the state to return to if it is refused.
#[derive(Clone, Copy)]
struct Staged {
    pace: Pace,
    sequence: u64,
    length: u16,
    late_ns: u64,
}

/// One direction of one run.
struct Way<'a> {
    ring: &'a mut TxRing,
    frames: Frames,
    pace: Pace,
    /// Sequence number of the next frame: frames handed over so far, and staged ones.
    sequence: u64,
    staged: Vec<Staged>,
    /// Most frames staged at once now. They are few after a refusal, because frames behind the refused one are staged
    /// again.
    some: usize,
    ended: bool,
}

/// One order being carried out.
struct Run<'a> {
    ways: Vec<Way<'a>>,
    batch: usize,
    on_refusal: OnRefusal,
    burst: u64,
    mark_gap_ns: u64,
    /// When it last looked at the clock, monotonic ns.
    looked_ns: u64,
    marks: Vec<Mark>,
    outcome: Outcome,
    by_length: BTreeMap<u16, u64>,
}

impl<'a> Run<'a> {
    fn new(sender: &PacketSender, order: &Order, rings: &'a mut [TxRing]) -> Self {
        let started_ns = clock::monotonic_ns() + order.delay_ns;
        let directions = rings.len();
        let batch = (sender.at_once(order) as usize).max(1);
        let way = |(way, ring): (usize, &'a mut TxRing)| Way {
            ring,
            frames: Frames::new(&sender.plan, way, order),
            pace: Pace::new(order, way as u64, directions as u64, started_ns),
            sequence: 0,
            staged: Vec::with_capacity(batch),
            some: 1,
            ended: false,
        };
        Self {
            ways: rings.iter_mut().enumerate().map(way).collect(),
            batch,
            on_refusal: sender.on_refusal,
            burst: 0,
            mark_gap_ns: order.mark_gap_ns(),
            looked_ns: 0,
            marks: Vec::new(),
            outcome: Outcome {
                started_ns,
                lateness: vec![0; BUCKETS],
                ..Outcome::default()
            },
            by_length: BTreeMap::new(),
        }
    }

    /// Sends until all slots have passed or it is stopped. It keeps `unsent` and `slots` up to date.
    fn carry_out(
        &mut self,
        stop: &AtomicBool,
        unsent: &[AtomicU64; DIRECTIONS],
        slots: &AtomicU64,
    ) -> Result<(), TesterError> {
        while !stop.load(Ordering::Acquire) {
            let now_ns = clock::monotonic_ns();
            self.mark(now_ns);
            let mut idle = true;
            for (at, told) in unsent.iter().enumerate().take(self.ways.len()) {
                let way = &mut self.ways[at];
                way.stage(now_ns);
                told.store(way.pace.unsent(), Ordering::Relaxed);
                if !way.staged.is_empty() {
                    idle = false;
                    self.hand_over(at)?;
                }
            }
            let passed = self.ways.iter().map(|way| way.pace.passed());
            slots.store(passed.sum(), Ordering::Relaxed);
            if self.ways.iter().all(|way| way.ended) {
                self.outcome.ended_ns = clock::monotonic_ns();
                break;
            }
            if idle {
                self.burst = 0;
                std::hint::spin_loop();
            }
        }
        for (at, way) in self.ways.iter().enumerate().take(DIRECTIONS) {
            self.outcome.slots += way.pace.passed();
            self.outcome.unsent[at] = way.pace.unsent();
            self.outcome.sent[at] = way.sequence;
        }
        Ok(())
    }

    /// Records how many frames were sent, at regular times and at both ends of a pause. Nothing may be staged.
    fn mark(&mut self, ns: u64) {
        let before_ns = std::mem::replace(&mut self.looked_ns, ns);
        let paused = before_ns > 0 && ns - before_ns > MARK_PAUSE_NS;
        let due = |mark: &Mark| ns >= mark.ns + self.mark_gap_ns;
        if !paused && !self.marks.last().is_none_or(due) {
            return;
        }
        let mut sequence = [0; DIRECTIONS];
        for (sequence, way) in sequence.iter_mut().zip(&self.ways) {
            *sequence = way.sequence;
        }
        let ends = [Some(before_ns + 1).filter(|_| paused), Some(ns)];
        let marks = ends.into_iter().flatten();
        self.marks.extend(marks.map(|ns| Mark { ns, sequence }));
    }

    /// Hands the staged frames of one direction to the driver and counts those that it took.
    fn hand_over(&mut self, at: usize) -> Result<(), TesterError> {
        let way = &mut self.ways[at];
        let flushed = way.ring.flush()?;
        let mut handed = flushed.taken;
        way.some = match flushed.end {
            FlushEnd::Done => (2 * way.some).min(self.batch),
            FlushEnd::Refused | FlushEnd::Busy => 1,
        };
        if flushed.end == FlushEnd::Refused && self.on_refusal == OnRefusal::Lose {
            handed += 1;
        }
        way.ring.recall();
        if let Some(back) = way.staged.get(handed) {
            (way.pace, way.sequence) = (back.pace, back.sequence);
            way.ended = false;
        }
        let now_ns = clock::monotonic_ns();
        for frame in self.ways[at].staged.drain(..).take(handed) {
            self.outcome.lateness[histogram::index(frame.late_ns)] += 1;
            self.outcome.late_largest_ns = self.outcome.late_largest_ns.max(frame.late_ns);
            *self.by_length.entry(frame.length).or_default() += 1;
        }
        if handed > 0 {
            if self.outcome.first_ns == 0 {
                self.outcome.first_ns = now_ns;
            }
            self.outcome.last_ns = now_ns;
            self.burst += handed as u64;
            self.outcome.burst_largest = self.outcome.burst_largest.max(self.burst);
        }
        Ok(())
    }
}

impl Way<'_> {
    /// Writes due frames into the ring, at most `some` of them.
    fn stage(&mut self, now_ns: u64) {
        while self.staged.len() < self.some {
            let late_ns = match self.pace.due(now_ns) {
                pace::Due::Frame(late_ns) => late_ns,
                pace::Due::Wait => return,
                pace::Due::Ended => {
                    self.ended = true;
                    return;
                }
            };
            let (frames, sequence) = (&self.frames, self.sequence);
            let length = frames.length(sequence);
            let written = self.ring.stage(usize::from(length), |slot| {
                frames.write(sequence, now_ns, slot);
            });
            if !written {
                return;
            }
            self.staged.push(Staged {
                pace: self.pace,
                sequence,
                length,
                late_ns,
            });
            self.pace.pass();
            self.sequence += 1;
        }
    }
}
