//! The thread that makes route changes: paced, in batches, on a CPU of the tester's.

use super::ReplayedChanges;
use crate::fib::Family;
use ipnet::IpNet;
use mpps_linux::Error;
use mpps_linux::clock::{monotonic_ns, thread_ns};
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::routes::{Bulk, Request, Via};
use mpps_linux::task;
use mpps_method::ChangeSpeed;
use mpps_record::RouteChanges;
use mpps_tables::Change;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Changes that are due within this time go together: each wake-up takes the CPU from the sender, ns.
const TICK_NS: u64 = 1_000_000;
/// A change is late this long after it was due, ns.
const LATE_NS: u64 = 10_000_000;

/// How far the changes have come in a router's FIB.
pub(super) struct Player {
    pub(super) cpu: usize,
    /// A socket in the router's namespace; the thread itself never enters it, or it would count as the router's.
    pub(super) bulk: Bulk,
    pub(super) family: Family,
    pub(super) via: [Via; 2],
    pub(super) replace: [Request; 2],
    pub(super) remove: Request,
    pub(super) prefixes: Vec<IpNet>,
    /// The next hop of each prefix; `None`: the router has no route to it.
    pub(super) hop: Vec<Option<usize>>,
    /// The next change of the file.
    pub(super) next: usize,
    pub(super) rounds: u32,
    pub(super) sequence: u32,
}

/// Changes that are being made. They end when this is dropped.
pub struct Replay {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<RouteChanges, Error>>>,
}

impl Replay {
    pub(super) fn start(changes: &Arc<ReplayedChanges>) -> Result<Self, Error> {
        let (stop, stopped) = channel();
        let changes = Arc::clone(changes);
        let thread = std::thread::Builder::new()
            .name("mpps-routes".to_owned())
            .spawn(move || match changes.player().as_mut() {
                Some(player) => player.play(&changes, &stopped),
                None => Ok(RouteChanges::default()),
            })
            .map_err(|e| Error::from_io("start thread", "route changes", &e))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Ends it and returns what was done.
    ///
    /// # Errors
    /// The kernel could not be asked any more, or its thread panicked. A refused change is no error here.
    pub fn stop(mut self) -> Result<RouteChanges, Error> {
        self.end().unwrap_or(Ok(RouteChanges::default()))
    }

    fn end(&mut self) -> Option<Result<RouteChanges, Error>> {
        drop(self.stop.take());
        let ended = self.thread.take()?.join();
        Some(task::joined(ended, "the thread of route changes").flatten())
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        // Who drops it has an error of its own to tell.
        let _played = self.end();
    }
}

impl Player {
    fn play(
        &mut self,
        of: &ReplayedChanges,
        stopped: &Receiver<()>,
    ) -> Result<RouteChanges, Error> {
        cpu::pin_current_thread(&CpuSet::single(self.cpu))?;
        let list = &of.changes.list;
        let (begun_ns, cpu_ns) = (monotonic_ns(), thread_ns());
        let refused_before = self.bulk.refusals().len();
        let mut made = RouteChanges::default();
        let first = self.next_change(list);
        let mut pace = Pace {
            speed: of.speed,
            made: 0,
            from_ns: first.map_or(0, |first| self.round_ns(list) + first.after_ns),
        };
        let mut now_ns = 0;
        loop {
            let Some(change) = self.next_change(list) else {
                // Nothing is left to change: the time until the end counts all the same.
                let _ended = stopped.recv();
                break;
            };
            let due_ns = pace.due_ns(self.round_ns(list), change.after_ns);
            let sent = if due_ns > now_ns {
                self.bulk.flush()?;
                now_ns = monotonic_ns() - begun_ns;
                let wait_ns = due_ns.saturating_sub(now_ns).max(TICK_NS);
                if due_ns > now_ns && !waits(stopped, wait_ns) {
                    break;
                }
                true
            } else {
                let is_late = pace.speed != ChangeSpeed::Max && now_ns - due_ns > LATE_NS;
                made.late += u64::from(is_late);
                pace.made += 1;
                self.make(change, &mut made)?
            };
            if sent {
                now_ns = monotonic_ns() - begun_ns;
                if matches!(stopped.try_recv(), Err(TryRecvError::Disconnected)) {
                    break;
                }
            }
        }
        self.bulk.flush()?;
        let end_ns = monotonic_ns() - begun_ns;
        made.due = self.due(list, &pace, end_ns);
        made.refused = (self.bulk.refusals().len() - refused_before) as u64;
        made.time_ns = end_ns;
        made.cpu_ns = thread_ns() - cpu_ns;
        made.cpu = self.cpu;
        Ok(made)
    }

    /// Hands the next change to the kernel, or keeps it for the batch. Whether a batch was sent.
    fn make(&mut self, change: Change, made: &mut RouteChanges) -> Result<bool, Error> {
        let place = change.prefix as usize;
        let (prefix, hop) = (self.prefixes[place], self.hop[place]);
        let (request, count) = match (change.announced, hop) {
            (true, None) => {
                self.hop[place] = Some(0);
                (&self.replace[0], &mut made.added)
            }
            (true, Some(hop)) => {
                self.hop[place] = Some(1 - hop);
                (&self.replace[1 - hop], &mut made.replaced)
            }
            (false, _) => {
                self.hop[place] = None;
                (&self.remove, &mut made.withdrawn)
            }
        };
        *count += 1;
        self.sequence = self.sequence.wrapping_add(1).max(1);
        self.next += 1;
        self.bulk.push(request, prefix, self.sequence)
    }

    /// The next change that changes anything. `None`: the whole file has none any more.
    fn next_change(&mut self, list: &[Change]) -> Option<Change> {
        for _ in 0..=list.len() {
            if self.next >= list.len() {
                self.next = 0;
                self.rounds += 1;
            }
            let change = list[self.next];
            if change.announced || self.hop[change.prefix as usize].is_some() {
                return Some(change);
            }
            self.next += 1;
        }
        None
    }

    /// Time of the file at which the current round began, ns, its end joined to its beginning.
    fn round_ns(&self, list: &[Change]) -> u64 {
        let length_ns = list.last().map_or(0, |last| last.after_ns + 1);
        u64::from(self.rounds - 1) * length_ns
    }

    /// Changes that were due until the end, made or not.
    fn due(&self, list: &[Change], pace: &Pace, end_ns: u64) -> u64 {
        match pace.speed {
            ChangeSpeed::Max => pace.made,
            ChangeSpeed::PerSecond(changes) => {
                pace.made.max((end_ns as f64 * changes / 1e9) as u64)
            }
            ChangeSpeed::Times(_) => {
                let round_ns = self.round_ns(list);
                let is_due = |change: &&Change| pace.due_ns(round_ns, change.after_ns) <= end_ns;
                pace.made + list.iter().skip(self.next).take_while(is_due).count() as u64
            }
        }
    }

    /// The first cause of a refusal.
    pub(super) fn refusal(&self) -> String {
        let first = self.bulk.refusals().iter().next();
        first.map_or("the kernel refused no change".to_owned(), |(_, refusal)| {
            let count = self.bulk.refusals().len();
            format!("the kernel refused {count} changes, the first because of {refusal}")
        })
    }
}

/// Waits; `false` when it is to stop before.
fn waits(stopped: &Receiver<()>, ns: u64) -> bool {
    let waited = stopped.recv_timeout(Duration::from_nanos(ns));
    waited == Err(RecvTimeoutError::Timeout)
}

/// When changes are due.
struct Pace {
    speed: ChangeSpeed,
    made: u64,
    /// Time of the file at which this replay began, ns.
    from_ns: u64,
}

impl Pace {
    /// When the next change is due, ns since the replay began; `round_ns` is when its round began in the file's time.
    fn due_ns(&self, round_ns: u64, after_ns: u64) -> u64 {
        match self.speed {
            ChangeSpeed::PerSecond(changes) => (self.made as f64 * 1e9 / changes) as u64,
            ChangeSpeed::Times(times) => {
                ((round_ns + after_ns - self.from_ns) as f64 / times) as u64
            }
            ChangeSpeed::Max => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_due_by_pace_or_by_the_file() {
        let due_ns = |speed| {
            let pace = Pace {
                speed,
                made: 250,
                from_ns: 4_000_000_000,
            };
            pace.due_ns(3_000_000_000, 2_000_000_000)
        };
        assert_eq!(due_ns(ChangeSpeed::PerSecond(1_000.0)), 250_000_000);
        assert_eq!(due_ns(ChangeSpeed::Times(10.0)), 100_000_000);
        assert_eq!(due_ns(ChangeSpeed::Max), 0);
    }
}
