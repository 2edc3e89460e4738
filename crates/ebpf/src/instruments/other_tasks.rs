//! Reads `other_tasks.bpf.c`: what other programs had of the bed's CPUs.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/other_tasks.skel.rs"));
}
pub use skeleton::{OpenOtherTasksSkel, OtherTasksSkel, OtherTasksSkelBuilder};

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

/// What some tasks had of a CPU since it was last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Had {
    /// Longest time one of them ran without a break, ns.
    pub longest_ns: u64,
    /// All their time, ns.
    pub total_ns: u64,
    /// Name of the task that ran longest, as the kernel keeps it (zero-padded).
    pub longest_comm: [u8; 16],
}

/// One CPU since it was last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUse {
    /// When it was, ns (CLOCK_MONOTONIC).
    pub cleared_ns: u64,
    /// What tasks had that are neither the tester's nor the router's.
    pub others: Had,
    /// What the router's own tasks had.
    pub router: Had,
    /// Long times of others'; the last [`STRETCHES_MAX`] are kept.
    pub stretches: u64,
}

/// Long times of others' kept of each CPU.
pub const STRETCHES_MAX: u32 = 4096;

impl CpuUse {
    /// A watched CPU (the DUT's, or another of the bed) with nothing seen yet, from now on (ns, CLOCK_MONOTONIC).
    #[must_use]
    pub fn cleared(now_ns: u64, dut: bool) -> Vec<u8> {
        [1 | u64::from(dut) << 1, now_ns, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            .iter()
            .flat_map(|word: &u64| word.to_ne_bytes())
            .collect()
    }

    /// Reads one CPU's entry; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        let words: [u64; 11] = crate::to_words(value).try_into().ok()?;
        let [_watched, cleared_ns, had @ .., stretches] = words;
        let [others, router] = [0, 4].map(|first| Had {
            longest_ns: had[first],
            total_ns: had[first + 1],
            longest_comm: comm(had[first + 2], had[first + 3]),
        });
        Some(Self {
            cleared_ns,
            others,
            router,
            stretches,
        })
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

fn comm(first: u64, second: u64) -> [u8; 16] {
    let mut octets = [0; 16];
    octets[..8].copy_from_slice(&first.to_ne_bytes());
    octets[8..].copy_from_slice(&second.to_ne_bytes());
    octets
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

impl Came {
    /// Reads one CPU's entry; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        let &[pid, ns, whose, ..] = crate::to_words(value).as_slice() else {
            return None;
        };
        let whose = match whose {
            1 => Whose::Others,
            2 => Whose::Routers,
            _ => Whose::Testers,
        };
        Some(Self { pid, ns, whose })
    }
}
