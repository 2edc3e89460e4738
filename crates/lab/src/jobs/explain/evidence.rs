//! What a saturated trial counted: by CPU, and what was dropped where and why.

use super::hardware::{HardwareCounters, Reading};
use crate::dut::Front;
use crate::tester::{EvidenceProbe, Tester, TesterError};
use mpps_ebpf::instruments::evidence::Polls;
use mpps_linux::{procstat, task};
use mpps_method::Trial;
use mpps_record::{CpuEvidence, Drops, Evidence};
use std::collections::BTreeMap;

/// The place of drops at the ring behind the virtual NIC.
pub(super) const NIC_RING: &str = "virtual NIC's ring";
/// The same where a thread of the veth's own takes the frames.
pub(super) const VETH_RING: &str = "veth's ring";
/// The place of drops that the kernel gives a reason for.
pub(super) const ROUTER: &str = "router";

/// Counters at one moment.
pub(super) struct Counters {
    hardware: Reading,
    /// How often the DUT's threads were put on each CPU. One that has a CPU of its own is put there when it wakes up.
    wakes: BTreeMap<usize, u64>,
    interrupts: Vec<(usize, u64)>,
    polls: Vec<Polls>,
    drops: BTreeMap<String, u64>,
}

impl Counters {
    pub fn read(
        tester: &Tester<'_>,
        probe: Option<&EvidenceProbe>,
        hardware: &HardwareCounters,
    ) -> Result<Self, TesterError> {
        let mut wakes = BTreeMap::new();
        for (tid, cpu) in tester.dut_threads() {
            *wakes.entry(*cpu).or_default() += task::schedstat(*tid)?.slices;
        }
        Ok(Self {
            hardware: hardware.read()?,
            wakes,
            interrupts: procstat::interrupts()?,
            polls: probe.map_or(Ok(Vec::new()), EvidenceProbe::polls)?,
            drops: probe.map_or(Ok(BTreeMap::new()), EvidenceProbe::drops)?,
        })
    }

    pub fn wakes_since(&self, before: &Self) -> u64 {
        let wakes = |counters: &Self| counters.wakes.values().sum::<u64>();
        wakes(self) - wakes(before)
    }

    /// Polls for each frame, of those that were counted.
    pub fn polls_a_frame_since(&self, before: &Self) -> Option<f64> {
        let counted = self.polled_since(before);
        (counted.frames > 0).then(|| counted.polls as f64 / counted.frames as f64)
    }

    /// On all CPUs.
    fn polled_since(&self, before: &Self) -> Polls {
        let sum = |number: fn(&Polls) -> u64| {
            let all = |counters: &Self| counters.polls.iter().map(number).sum::<u64>();
            all(self) - all(before)
        };
        Polls {
            polls: sum(|cpu| cpu.polls),
            frames: sum(|cpu| cpu.frames),
        }
    }

    /// What the trial between both counted, behind this front.
    pub fn evidence(&self, before: &Self, trial: &Trial, front: Option<Front>) -> Evidence {
        let cpus = trial
            .busy
            .iter()
            .map(|busy| self.cpu_evidence(before, trial, busy.cpu, busy.all_ns()));
        let (ledger, sent) = (trial.ledger(), trial.counts().sent.max(1));
        let drops = |place: &str, reason: Option<&String>, frames: u64| Drops {
            place: place.to_owned(),
            reason: reason.cloned(),
            frames,
            share: frames as f64 / sent as f64,
        };
        let mut all = vec![
            drops("sending port", None, ledger.lost_before_nic),
            drops(ring(front), None, ledger.lost_nic_ring),
        ];
        let since = |(reason, count): (&String, &u64)| {
            let earlier = before.drops.get(reason).copied().unwrap_or(0);
            drops(ROUTER, Some(reason), count - earlier)
        };
        all.extend(self.drops.iter().map(since));
        all.retain(|drops| drops.frames > 0);
        Evidence {
            cpus: cpus.collect(),
            drops: all,
            locks_in: None,
            hardware: self.hardware.since(&before.hardware, ledger.nic_accepted),
        }
    }

    fn cpu_evidence(&self, before: &Self, trial: &Trial, cpu: usize, busy_ns: u64) -> CpuEvidence {
        let trial_s = trial.duration.as_secs_f64().max(f64::MIN_POSITIVE);
        // Interrupts and wake-ups are counted from before the set-up to after the drain.
        let whole_s = self.hardware.seconds_since(&before.hardware);
        let interrupts = |counters: &Self| {
            let own = counters
                .interrupts
                .iter()
                .find(|(number, _)| *number == cpu);
            own.map_or(0, |(_, count)| *count)
        };
        let wakes = |counters: &Self| counters.wakes.get(&cpu).copied().unwrap_or(0);
        let polls = |counters: &Self| counters.polls.get(cpu).copied().unwrap_or_default();
        let (now, then) = (polls(self), polls(before));
        let (polls, frames) = (now.polls - then.polls, now.frames - then.frames);
        // Polls were counted for a part of the trial, so these stand for all of its frames.
        let counted = self.polled_since(before).frames.max(1);
        let whole = trial.ledger().nic_accepted as f64 / counted as f64;
        CpuEvidence {
            cpu,
            interrupts_per_s: (interrupts(self) - interrupts(before)) as f64 / whole_s,
            polls_per_s: polls as f64 * whole / trial_s,
            frames_per_poll: (polls > 0).then(|| frames as f64 / polls as f64),
            wake_ups_per_s: (wakes(self) - wakes(before)) as f64 / whole_s,
            busy_share: (busy_ns as f64 / 1e9 / trial_s).min(1.0),
        }
    }
}

/// The place of drops at the router's ring.
fn ring(front: Option<Front>) -> &'static str {
    match front {
        Some(Front::Napi | Front::Softirq) => VETH_RING,
        _ => NIC_RING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{Direction, Span};

    #[test]
    fn a_plain_veth_has_a_ring_of_its_own() {
        let counters = Counters {
            hardware: Reading::at(0),
            wakes: BTreeMap::new(),
            interrupts: Vec::new(),
            polls: Vec::new(),
            drops: BTreeMap::new(),
        };
        let mut trial = Trial {
            directions: vec![Direction::default()],
            ..Trial::default()
        };
        trial.directions[0].ledger.lost_nic_ring = 7;
        let place = |front| {
            let found = counters.evidence(&counters, &trial, Some(front));
            let places = found.drops.into_iter().map(|drops| drops.place);
            places.collect::<Vec<_>>()
        };
        assert_eq!(place(Front::Napi), ["veth's ring"]);
        assert_eq!(place(Front::Cpumap), ["virtual NIC's ring"]);
    }

    #[test]
    fn rates_are_over_the_time_counted() {
        let counters = |at_ns, count| Counters {
            hardware: Reading::at(at_ns),
            wakes: [(1, count)].into(),
            interrupts: vec![(1, count)],
            polls: Vec::new(),
            drops: BTreeMap::new(),
        };
        // Set-up and drain take as long as the trial.
        let trial = Trial {
            duration: Span::from_millis(1_000),
            ..Trial::default()
        };
        let after = counters(2_000_000_000, 200);
        let found = after.cpu_evidence(&counters(0, 0), &trial, 1, 0);
        let rates = (found.interrupts_per_s, found.wake_ups_per_s);
        assert_eq!(rates, (100.0, 100.0));
    }
}
