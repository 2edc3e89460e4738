//! The kernel interfaces that the tester uses. Some of them have a newer and an older form. The tester tries which of them
//! this kernel has. It does not trust the version, because distributions add and remove interfaces.

use crate::bed::Interfaces;
use crate::tester::error::TesterError;
use crate::tester::machine::watch::{StallWatch, Timers};
use crate::tester::programs;
use mpps_ebpf::instruments::wire::WireSkelBuilder;
use mpps_linux::{bpf, cpu, napi};
use std::os::fd::AsFd;
use std::sync::OnceLock;

mpps_method::named! {
    /// How programs get into the DUT's path (the wire, the receiver at its exit, planted faults).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TrafficControl {
        /// As a tcx link, which goes with its process (Linux 6.6).
        Tcx = "tcx",
        /// As a filter of a clsact qdisc.
        Clsact = "clsact",
        /// Not at all.
        None = "none",
    }
}

mpps_method::named! {
    /// How the threads that poll a port are found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NapiList {
        /// The kernel lists them by netlink (Linux 6.8).
        Netlink = "netlink",
        /// An eBPF iterator looks through all tasks.
        Tasks = "tasks",
    }
}

/// The interfaces used on one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelInterfaces {
    /// How programs get into the DUT's path.
    pub traffic_control: TrafficControl,
    /// What ticks on each CPU.
    pub stall_watch: StallWatch,
    /// How NAPI threads are found.
    pub napi_list: NapiList,
}

impl KernelInterfaces {
    /// What Linux 6.1 has.
    pub const OLDEST: Self = Self {
        traffic_control: TrafficControl::Clsact,
        stall_watch: StallWatch::Threads,
        napi_list: NapiList::Tasks,
    };

    /// The interfaces to use on this kernel. The newer ones are tried once, and nothing stays behind.
    ///
    /// # Errors
    /// An interface could not be tried: not root, or no BTF.
    pub fn find(interfaces: Interfaces) -> Result<Self, TesterError> {
        match interfaces {
            Interfaces::Newest => {}
            Interfaces::Oldest => return Ok(Self::OLDEST),
            Interfaces::Fewest => {
                let traffic_control = TrafficControl::None;
                return Ok(Self {
                    traffic_control,
                    ..Self::OLDEST
                });
            }
        }
        static NEWEST: OnceLock<KernelInterfaces> = OnceLock::new();
        if let Some(newest) = NEWEST.get() {
            return Ok(*newest);
        }
        let newest = Self::newest()?;
        Ok(*NEWEST.get_or_init(|| newest))
    }

    fn newest() -> Result<Self, TesterError> {
        // Messages of the loader go into errors, not to stderr.
        libbpf_rs::set_print(None);
        Ok(Self {
            traffic_control: if has_tcx()? {
                TrafficControl::Tcx
            } else {
                TrafficControl::Clsact
            },
            stall_watch: if has_bound_timers()? {
                StallWatch::Timers
            } else {
                StallWatch::Threads
            },
            napi_list: if has_napi_list()? {
                NapiList::Netlink
            } else {
                NapiList::Tasks
            },
        })
    }
}

fn has_tcx() -> Result<bool, TesterError> {
    let open = programs::open(WireSkelBuilder::default(), "open the wire")?;
    let wire = programs::load(open, "load the wire")?;
    Ok(bpf::has_tcx(wire.progs.wire.as_fd())?)
}

/// Whether an eBPF timer can be bound to a CPU. Starts one on this CPU for a moment.
fn has_bound_timers() -> Result<bool, TesterError> {
    let here = cpu::available()?.iter().next().unwrap_or(0);
    match Timers::start(&[here], None) {
        Ok(_timers) => Ok(true),
        // PREEMPT_RT has no timers for eBPF, so the program is not even loaded there.
        Err(TesterError::NoTimer(..) | TesterError::Bpf { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether the kernel lists NAPI instances. The loopback serves as a device, because every namespace has one.
fn has_napi_list() -> Result<bool, TesterError> {
    match napi::list("lo") {
        Ok(_) => Ok(true),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error.into()),
    }
}
