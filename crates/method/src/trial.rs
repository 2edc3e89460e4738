//! One trial: what was counted, never ratios. Ratios are computed from the counts when asked for.

use std::fmt;

use crate::counts::Counts;
use crate::distance::MachineState;
use crate::disturbed::{Disturbance, Disturbed, time_of};
use crate::histogram::Histogram;
use crate::ledger::Ledger;
use crate::pattern::Losses;
use crate::units::{Rate, Span};
use crate::window::{Window, undisturbed_cost};

pub use mpps_record::{
    CpuBusy, CpuGap, CpuSpeed, CpuSteal, CpuWork, Queries, RouteChanges, SizeCount,
};

/// One way through the DUT: forward (A to D), or back (D to A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// What the tester counted.
    pub counts: Counts,
    /// Where each frame went.
    pub ledger: Ledger,
}

/// What some tasks had of one of the bed's CPUs during the trial: those that are no part of DUT or tester, or the
/// router's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTasks {
    /// The CPU's number.
    pub cpu: usize,
    /// The longest time one of them ran without a break.
    pub longest: Span,
    /// All their time.
    pub total: Span,
    /// Whose the longest time was.
    pub culprit: TaskName,
}

/// The round trip of a cache line between the tester's CPU and the DUT's, beside a trial: how far apart they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuExchange {
    /// Just before the trial.
    pub before: Span,
    /// Just after it.
    pub after: Span,
}

/// A task's name as the kernel keeps it: up to 15 octets, padded with zeros.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskName(pub [u8; 16]);

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let octets = self.0.split(|&octet| octet == 0).next().unwrap_or_default();
        f.pad(&String::from_utf8_lossy(octets))
    }
}

impl fmt::Debug for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What the DUT's own IP layer counted during a trial, canaries included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackCounts {
    /// Packets it sent on: fewer than frames where offloads merged some. (A data plane that goes past the IP
    /// layer counts none.)
    pub forwarded: u64,
    /// Packets it dropped for want of a route.
    pub no_route: u64,
}

/// Everything one trial left behind. [`Trial::judge`](Self::judge) says what it is evidence of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Offered load over all directions together.
    pub offered: Rate,
    /// Its first slot, by the monotonic clock; `None` where no clock ran, because it was simulated.
    pub begun: Option<Span>,
    /// Length of the schedule: from the first slot to the last.
    pub duration: Span,
    /// What that was to be, where the sender was stopped before, for it could not offer the load any more
    /// ([`Rules::cannot_count`](crate::Rules::cannot_count)). Counts are those of the slots that passed.
    pub cut_short_from: Option<Span>,
    /// One for each direction sent in.
    pub directions: Vec<Direction>,
    /// Frames that arrived only when the trial was over for longer than its drain may take. More than
    /// [`OVERDUE_MAX`] of those sent count as lost and late in [`Trial::counts`]; each direction's own counts have them
    /// as received.
    pub overdue: u64,
    /// Which frames were lost outside disturbances, one for each direction that lost any; empty where the receiver
    /// cannot tell.
    pub losses: Vec<Losses>,
    /// Whether the sender passed all its slots by itself (not cut short by a signal or an error).
    pub sender_ended: bool,
    /// The DUT's busy time, one for each of its CPUs.
    pub busy: Vec<CpuBusy>,
    /// What each CPU of the machine did in all.
    pub work: Vec<CpuWork>,
    /// Stolen time, one for each CPU of the bed.
    pub steal: Vec<CpuSteal>,
    /// The machine's own stalls: the longest of each CPU of the bed.
    pub gaps: Vec<CpuGap>,
    /// When each of them was, where a CPU stood still for longer than its watch's own unrest.
    pub stalls: Vec<Disturbance>,
    /// When a CPU of the bed was slow.
    pub slow: Vec<Disturbance>,
    /// When other programs had a CPU of the bed for long.
    pub others: Vec<Disturbance>,
    /// What fell into these times and the guards behind them. The rest of the trial is evidence.
    pub disturbed: Disturbed,
    /// What the DUT forwarded in each short window, where the receiver keeps that.
    pub windows: Vec<Window>,
    /// When the first of them begins, by the monotonic clock; all are of one length.
    pub windows_from: Option<Span>,
    /// What other programs had of the bed's CPUs, one for each of them.
    pub other_tasks: Vec<CpuTasks>,
    /// What the router's own tasks had of them besides the threads whose time is its busy time: tasks of its
    /// namespace, kernel workers and ksoftirqd on its CPUs. They void nothing.
    pub dut_tasks: Vec<CpuTasks>,
    /// How fast the bed's CPUs were before and after, one for each of them; empty where nobody timed them.
    pub speeds: Vec<CpuSpeed>,
    /// How far apart the tester's CPU and the DUT's were; `None` where they share one, or nobody timed it.
    pub exchange: Option<CpuExchange>,
    /// Management queries; `None` where none are sent.
    pub queries: Option<Queries>,
    /// How late each frame was sent.
    pub lateness: Histogram,
    /// From the tag's time to arrival, of each frame; empty when arrivals were not timed.
    pub latency: Histogram,
    /// Most frames sent since the sender last had to wait for a slot. Not how many came at once: a sender with little to
    /// spare waits seldom ([`Trial::catch_up_frames`] is for that).
    pub largest_burst: u64,
    /// Frames by length; empty when not counted, else it must agree with the counts.
    pub per_size: Vec<SizeCount>,
    /// Frames the virtual NIC gave to each queue.
    pub per_queue: Vec<u64>,
    /// The DUT's own counts; `None` where it does not tell.
    pub stack: Option<StackCounts>,
    /// Route changes made in the DUT meanwhile; `None` where none were asked for.
    pub route_changes: Option<RouteChanges>,
}

/// A trial's load is not sustained when a larger share of its frames than this arrives after the drain's time.
pub const OVERDUE_MAX: f64 = 0.01;

impl Trial {
    /// Most frames the sender was behind its schedule at once and caught up with: the load in the greatest lateness (from above, to
    /// the 6 % its histogram knows). `None` where lateness was not timed.
    #[must_use]
    pub fn catch_up_frames(&self) -> Option<u64> {
        let latest = self.lateness.quantile(1.0)?;
        Some(self.offered.frames_in(latest))
    }

    /// What was stolen of a CPU in pauses too short for the watch, as a share of the trial.
    #[must_use]
    pub fn stolen_share(&self, steal: &CpuSteal) -> f64 {
        let seen = time_of(&self.stalls, steal.cpu);
        steal.steal_ns.saturating_sub(seen) as f64 / self.whole_ns()
    }

    /// All times in which the machine disturbed a CPU of the bed.
    pub fn disturbances(&self) -> impl Iterator<Item = &Disturbance> {
        self.stalls.iter().chain(&self.slow).chain(&self.others)
    }

    /// Counts over all directions.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = self.counted();
        let overdue = self.overdue_lost();
        counts.received = counts.received.saturating_sub(overdue);
        counts.lost = counts.lost.saturating_add(overdue);
        counts.late = counts.late.saturating_add(overdue);
        counts
    }

    /// Overdue frames, where they are so many that they count as lost.
    fn overdue_lost(&self) -> u64 {
        let many = self.overdue as f64 > OVERDUE_MAX * self.counted().sent as f64;
        if many { self.overdue } else { 0 }
    }

    /// The same with every frame that arrived at all.
    #[must_use]
    pub fn counted(&self) -> Counts {
        let ways = self.directions.iter();
        ways.fold(Counts::default(), |sum, way| sum.plus(&way.counts))
    }

    /// Ledger over all directions (for printing; each direction's own is what must close).
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.directions
            .iter()
            .fold(Ledger::default(), |sum, way| sum.plus(&way.ledger))
    }

    /// Counts over all directions without what fell into disturbances.
    #[must_use]
    pub fn undisturbed(&self) -> Counts {
        let counts = self.counts();
        let Disturbed { sent, unsent, .. } = self.disturbed;
        let lost = self.lost_disturbed();
        let fewer = u64::saturating_sub;
        Counts {
            intended: fewer(counts.intended, sent.saturating_add(unsent)),
            sent: fewer(counts.sent, sent),
            unsent: fewer(counts.unsent, unsent),
            received: fewer(counts.received, fewer(sent, lost)),
            lost: fewer(counts.lost, lost),
            ..counts
        }
    }

    /// Frames sent in disturbances and lost, as far as that is known.
    #[must_use]
    pub fn lost_disturbed(&self) -> u64 {
        self.disturbed.lost.unwrap_or(0)
    }

    /// Frames that the tester itself lost.
    #[must_use]
    pub fn lost_by_tester(&self) -> u64 {
        let ledger = self.ledger();
        (ledger.lost_before_nic).saturating_add(ledger.lost_receiver_ring)
    }

    /// Frames lost at the DUT's own stations outside disturbances: those that cannot be the tester's loss. Canaries are
    /// none of them; overdue frames are, where they are many.
    #[must_use]
    pub fn lost_at_dut(&self) -> u64 {
        self.undisturbed()
            .lost
            .saturating_sub(self.lost_by_tester())
    }

    /// Lost at the DUT of the frames that reached its NIC, 0 to 1, outside disturbances; `None` when none did.
    #[must_use]
    pub fn loss_ratio(&self) -> Option<f64> {
        let sent = self.undisturbed().sent;
        let reached = sent.saturating_sub(self.ledger().lost_before_nic);
        (reached > 0).then(|| self.lost_at_dut() as f64 / reached as f64)
    }

    /// Load really sent: frames sent over the trial's length. Never above the offered load.
    #[must_use]
    pub fn sent_rate(&self) -> Option<Rate> {
        Rate::from_frames(self.counts().sent, self.duration).map(|sent| sent.min(self.offered))
    }

    /// The same outside disturbances.
    #[must_use]
    pub fn undisturbed_rate(&self) -> Option<Rate> {
        let sent = Rate::from_frames(self.undisturbed().sent, self.undisturbed_time());
        sent.map(|sent| sent.min(self.offered))
    }

    /// The part of its length outside disturbances.
    #[must_use]
    pub fn undisturbed_time(&self) -> Span {
        let disturbed = self.disturbed.time.as_nanos();
        Span::from_nanos(self.duration.as_nanos().saturating_sub(disturbed))
    }

    /// Forwarding rate (RFC 2285 3.6.1): frames received over the trial's length.
    #[must_use]
    pub fn forwarding_rate(&self) -> Option<Rate> {
        Rate::from_frames(self.counts().received, self.duration)
    }

    /// Share of the DUT's CPU time that was busy, over all its CPUs, 0 to about 1 (the time read covers the drain after
    /// the last frame too), without the time that other programs had of them for long; `None` without a busy time.
    #[must_use]
    pub fn busy_share(&self) -> Option<f64> {
        let whole: f64 = self.busy.iter().map(|busy| self.had_ns(busy.cpu)).sum();
        let busy: u64 = self.busy.iter().map(CpuBusy::all_ns).sum();
        (whole > 0.0).then(|| busy as f64 / whole)
    }

    /// Busy share of the DUT's busiest CPU, the router's own tasks included; the one that limits. It is cut at 1, because the
    /// accounts cover the drain too.
    #[must_use]
    pub fn busiest_share(&self) -> Option<f64> {
        self.busiest_by(CpuBusy::all_ns)
    }

    /// The same of the forwarding threads alone.
    #[must_use]
    pub fn busiest_threads_share(&self) -> Option<f64> {
        self.busiest_by(|busy| busy.run_ns)
    }

    /// CPUs that the forwarding threads used in all: the sum of their shares. Two threads on one CPU use one CPU.
    #[must_use]
    pub fn cpus_used(&self) -> f64 {
        self.shares(|busy| busy.run_ns).sum()
    }

    fn busiest_by(&self, ns: impl Fn(&CpuBusy) -> u64) -> Option<f64> {
        self.shares(ns).max_by(f64::total_cmp)
    }

    fn shares(&self, ns: impl Fn(&CpuBusy) -> u64) -> impl Iterator<Item = f64> {
        let had = self.busy.iter().filter(|busy| self.had_ns(busy.cpu) > 0.0);
        had.map(move |busy| (ns(busy) as f64 / self.had_ns(busy.cpu)).min(1.0))
    }

    /// The time in which the DUT could have this CPU, ns.
    fn had_ns(&self, cpu: usize) -> f64 {
        let others = time_of(&self.others, cpu);
        self.duration.as_nanos().saturating_sub(others) as f64
    }

    /// The trial's length, or what was asked for where it was cut short: a tick of 10 ms would be most of a moment.
    #[must_use]
    pub fn whole(&self) -> Span {
        self.cut_short_from.unwrap_or(self.duration)
    }

    pub(crate) fn whole_ns(&self) -> f64 {
        self.whole().as_nanos().max(1) as f64
    }

    /// Busy time of the DUT's threads for each frame its ring took, ns; `None` when either is zero or unknown. Its own tasks are
    /// left out: what a routing daemon does is no frame's cost. So are disturbed windows, where windows tell and enough are
    /// undisturbed: a CPU that stands still or is slow is busy for longer.
    #[must_use]
    pub fn ns_per_frame(&self) -> Option<f64> {
        let (frames, busy_ns) = (self.ledger().nic_accepted, self.busy_ns());
        let of_all = (frames > 0 && busy_ns > 0.0).then(|| busy_ns / frames as f64)?;
        Some(of_all * self.undisturbed_cost().unwrap_or(1.0))
    }

    /// The window that a moment of the monotonic clock is in.
    #[must_use]
    pub fn window_at(&self, at: Span) -> Option<&Window> {
        let since = at.as_nanos().checked_sub(self.windows_from?.as_nanos())?;
        let each = self.windows.first()?.duration.as_nanos().max(1);
        let place = usize::try_from(since / each).ok()?;
        self.windows.get(place)
    }

    /// The same trial, in which all windows of another state count as disturbed.
    #[must_use]
    pub fn only_in(&self, state: &MachineState) -> Self {
        let mut here = self.clone();
        for window in &mut here.windows {
            window.disturbed |= !state.holds(window);
        }
        here
    }

    /// What a frame took in undisturbed windows, as a multiple of what it took in all of the trial; `None` where its cost is
    /// that of all of it.
    #[must_use]
    pub fn undisturbed_cost(&self) -> Option<f64> {
        undisturbed_cost(&self.windows, self.duration)
    }

    fn busy_ns(&self) -> f64 {
        self.busy.iter().map(|cpu| cpu.run_ns as f64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Busy;

    fn trial() -> Trial {
        let counts = Counts {
            intended: 1000,
            sent: 1000,
            received: 900,
            lost: 100,
            ..Counts::default()
        };
        let ledger = Ledger {
            nic_accepted: 950,
            ..Ledger::default()
        };
        Trial {
            offered: Rate::from_fps(1000.0),
            duration: Span::from_secs_f64(1.0),
            directions: vec![Direction { counts, ledger }; 2],
            busy: vec![
                CpuBusy {
                    cpu: 1,
                    run_ns: 200_000_000,
                    ..CpuBusy::default()
                },
                CpuBusy {
                    cpu: 2,
                    run_ns: 180_000_000,
                    ..CpuBusy::default()
                },
            ],
            ..Trial::default()
        }
    }

    #[test]
    fn ratios_come_from_the_counts_of_all_directions() {
        let trial = trial();
        assert_eq!(trial.loss_ratio(), Some(0.1));
        assert_eq!(trial.forwarding_rate().unwrap().fps(), 1800.0);
        assert_eq!(trial.ns_per_frame(), Some(200_000.0));
        assert!((trial.busy_share().unwrap() - 0.19).abs() < 1e-12);
        assert!((trial.busiest_share().unwrap() - 0.2).abs() < 1e-12);
        assert_eq!(
            trial.sent_rate().unwrap().fps(),
            1000.0,
            "never above the offered load"
        );
    }

    #[test]
    fn disturbed_windows_are_no_cost_of_a_frame() {
        let window = |forwarded, disturbed| Window {
            duration: Span::from_millis(10),
            forwarded,
            disturbed,
            busy: Some(Busy {
                time: Span::from_millis(10),
                wakes: 0,
            }),
            ..Window::default()
        };
        let mut trial = trial();
        trial.duration = Span::from_millis(40);
        // Slow in one of four: in three frames take 200 000 ns of 250 000 on average.
        trial.windows = vec![window(50, false); 3];
        trial.windows.push(window(10, true));
        assert_eq!(trial.ns_per_frame(), Some(160_000.0));
        // They are of the end of a long trial alone.
        trial.duration = Span::from_millis(51);
        assert_eq!(trial.ns_per_frame(), Some(200_000.0));
        trial.duration = Span::from_millis(40);
        // Two windows are too few to tell.
        trial.windows[0].disturbed = true;
        assert_eq!(trial.ns_per_frame(), Some(200_000.0));
        // Nobody accounts for them.
        trial.windows = vec![window(50, false); 3];
        trial.windows.push(window(10, true));
        trial.windows.iter_mut().for_each(|one| one.busy = None);
        assert_eq!(trial.ns_per_frame(), Some(200_000.0));
    }

    #[test]
    fn a_cpu_is_busy_with_the_routers_tasks_too() {
        let mut trial = trial();
        trial.busy[1].tasks_ns = 500_000_000;
        assert!((trial.busiest_share().unwrap() - 0.68).abs() < 1e-12);
        assert!((trial.busiest_threads_share().unwrap() - 0.2).abs() < 1e-12);
        assert!((trial.cpus_used() - 0.38).abs() < 1e-12);
        trial.busy[1].tasks_ns = 900_000_000;
        assert_eq!(
            trial.busiest_share(),
            Some(1.0),
            "with the drain it is more"
        );
        assert_eq!(trial.ns_per_frame(), Some(200_000.0), "no cost of a frame");
    }

    #[test]
    fn frames_long_after_the_trial_are_lost() {
        let mut trial = trial();
        trial.overdue = 20;
        assert_eq!(trial.counts(), trial.counted(), "a hundredth");
        let before = trial.lost_at_dut();
        trial.overdue = 21;
        let counts = trial.counts();
        assert_eq!(
            (counts.received, counts.lost, counts.late),
            (1_779, 221, 21)
        );
        assert_eq!(trial.lost_at_dut(), before + 21);
    }

    #[test]
    fn work_too_little_to_be_seen_is_no_cost() {
        let mut trial = trial();
        trial.busy.iter_mut().for_each(|cpu| cpu.run_ns = 0);
        assert_eq!(trial.ns_per_frame(), None);
    }

    #[test]
    fn an_empty_trial_has_no_ratios() {
        let trial = Trial::default();
        assert_eq!(trial.loss_ratio(), None);
        assert_eq!(trial.sent_rate(), None);
        assert_eq!(trial.forwarding_rate(), None);
        assert_eq!(trial.busy_share(), None);
        assert_eq!(trial.busiest_share(), None);
        assert_eq!(trial.ns_per_frame(), None);
    }
}
