//! Reads `other_tasks.bpf.c`: what other programs had of the bed's CPUs.

use super::watch::Stall;

skeleton!("other_tasks");

/// Whose a task is, as the program counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The tester's, or a thread whose time is counted as the DUT's busy time: not counted here.
    Testers,
    /// Neither tester nor router.
    Others,
    /// The router's own.
    Routers,
}

plain! {
    had: 32 { longest_ns, total_ns, longest_comm }
    others_cpu: 88 { watched, cleared_ns, others, router, stretches }
    others_came: 48 { pid, ns, whose, seen_ns, comm }
    stretch: 16 { from_ns, to_ns }
}

/// What some tasks had of a CPU since it was last cleared, ns; the name is zero-padded, as the kernel keeps it.
pub use types::had as Had;

/// One CPU since it was last cleared.
pub use types::others_cpu as CpuUse;

/// Long times of others' kept of each CPU.
pub const STRETCHES_MAX: u32 = 4096;

/// Bits of `watched`: a CPU of the bed; one of the DUT's (`other_tasks.bpf.c` has the same).
const WATCHED: u64 = 1;
const DUT: u64 = 2;

impl CpuUse {
    /// A watched CPU (the DUT's, or another of the bed) with nothing seen yet, from now on (ns, CLOCK_MONOTONIC).
    #[must_use]
    pub fn cleared(now_ns: u64, dut: bool) -> Self {
        Self {
            watched: WATCHED | if dut { DUT } else { 0 },
            cleared_ns: now_ns,
            ..Self::default()
        }
    }

    /// The tally of these tasks; `None` for the tester's.
    pub const fn had_by(&mut self, whose: Whose) -> Option<&mut Had> {
        match whose {
            Whose::Testers => None,
            Whose::Others => Some(&mut self.others),
            Whose::Routers => Some(&mut self.router),
        }
    }
}

/// Who came to a CPU at the last switch seen, and by all that was seen has it still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    /// Task id; 0: the idle task, or none seen yet.
    pub pid: u64,
    /// When, ns (CLOCK_MONOTONIC).
    pub ns: u64,
    /// Whose it is.
    pub whose: Whose,
}

impl From<types::others_came> for Came {
    fn from(came: types::others_came) -> Self {
        let whose = match came.whose {
            1 => Whose::Others,
            2 => Whose::Routers,
            _ => Whose::Testers,
        };
        Self {
            pid: came.pid,
            ns: came.ns,
            whose,
        }
    }
}

impl From<types::stretch> for Stall {
    fn from(types::stretch { from_ns, to_ns }: types::stretch) -> Self {
        Self { from_ns, to_ns }
    }
}
