//! What is checked: each subject with what its lack costs and what to do about it.

/// What is checked, in the order it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// Root, or the capabilities.
    Rights,
    /// The kernel's version.
    Kernel,
    /// The kernel's types.
    Btf,
    /// Kernel threads can be seen and moved.
    KernelThreads,
    /// Namespaces, links, addresses: a bed.
    Bed,
    /// XDP in the driver of a veth.
    NativeXdp,
    /// Programs at tracepoints with the kernel's types.
    Tracepoints,
    /// What ticks on every CPU, to see it stand still.
    StallWatch,
    /// `BPF_PROG_TEST_RUN` with live frames.
    LiveFrames,
    /// Frames come through a bed with the virtual NIC.
    Cpumap,
    /// Frames come through a bed with NAPI in a thread.
    Napi,
    /// Frames come through a bed in softirq.
    Softirq,
    /// IPv6.
    Ipv6,
    /// Packet sockets with rings.
    PacketSocket,
    /// A compiler for eBPF.
    Clang,
    /// Two network interfaces.
    Nics,
    /// How many CPUs.
    Cpus,
    /// Whether tester and DUT share a core.
    Siblings,
    /// Memory left.
    Memory,
    /// What the hypervisor takes.
    Steal,
    /// How long CPUs stand still.
    Stalls,
    /// What other programs take.
    Others,
    /// Dead runs.
    Leftovers,
    /// Real-time threads are stopped.
    RealTime,
    /// eBPF is compiled.
    Jit,
    /// The kernel counts eBPF's time.
    BpfStatistics,
    /// What the kernel tells the time by.
    Clock,
    /// The clock follows the load.
    Governor,
    /// Deep idle states.
    IdleStates,
    /// The kernel checks itself.
    DebugKernel,
}

/// What became of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Good,
    /// It works, and costs something.
    Costs,
    /// It is not there, or does not work.
    Lacks,
    /// Not found out.
    Unknown,
}

impl State {
    /// The word in tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Costs => "costs",
            Self::Lacks => "lacks",
            Self::Unknown => "unknown",
        }
    }
}

/// One subject and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What.
    pub subject: Subject,
    /// How it stands.
    pub state: State,
    /// What was seen, one line.
    pub seen: String,
}

impl Check {
    pub(super) fn new(subject: Subject, state: State, seen: impl Into<String>) -> Self {
        Self {
            subject,
            state,
            seen: seen.into(),
        }
    }

    /// Good, or it costs something.
    pub(super) fn good_if(subject: Subject, good: bool, seen: impl Into<String>) -> Self {
        let state = if good { State::Good } else { State::Costs };
        Self::new(subject, state, seen)
    }

    /// It worked, or the error says why not.
    pub(super) fn tried<E: std::fmt::Display>(
        subject: Subject,
        result: &Result<String, E>,
    ) -> Self {
        match result {
            Ok(seen) => Self::new(subject, State::Good, seen),
            Err(error) => Self::new(subject, State::Lacks, error.to_string()),
        }
    }

    pub(super) fn untried(subject: Subject, why: &str) -> Self {
        Self::new(subject, State::Unknown, why)
    }
}

impl Subject {
    /// Short name, for tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rights => "rights",
            Self::Kernel => "kernel",
            Self::Btf => "kernel-types",
            Self::KernelThreads => "kernel-threads",
            Self::Bed => "bed",
            Self::NativeXdp => "native-xdp",
            Self::Tracepoints => "tracepoints",
            Self::StallWatch => "stall-watch",
            Self::LiveFrames => "live-frames",
            Self::Cpumap => "front-cpumap",
            Self::Napi => "front-napi",
            Self::Softirq => "front-softirq",
            Self::Ipv6 => "ipv6",
            Self::PacketSocket => "af-packet",
            Self::Clang => "clang",
            Self::Nics => "nics",
            Self::Cpus => "cpus",
            Self::Siblings => "siblings",
            Self::Memory => "memory",
            Self::Steal => "steal",
            Self::Stalls => "stalls",
            Self::Others => "other-programs",
            Self::Leftovers => "leftovers",
            Self::RealTime => "real-time",
            Self::Jit => "bpf-jit",
            Self::BpfStatistics => "bpf-statistics",
            Self::Clock => "clock",
            Self::Governor => "governor",
            Self::IdleStates => "idle-states",
            Self::DebugKernel => "debug-kernel",
        }
    }

    /// What it costs where it lacks or is poor.
    #[must_use]
    pub const fn cost(self) -> &'static str {
        match self {
            Self::Rights => "no bed, no eBPF: nothing can be measured; plans, limits and help work",
            Self::Kernel => "the tester needs what older kernels do not have",
            Self::Btf => {
                "programs at tracepoints cannot be loaded, and without them the ledger does not close"
            }
            Self::KernelThreads => {
                "threads of DUT and receiver cannot be pinned, nor their time be read"
            }
            Self::Bed => "no test bed",
            Self::NativeXdp => "no virtual NIC, no receiver",
            Self::Tracepoints => "loss at ports and rings is not seen: no trial would be valid",
            Self::StallWatch => {
                "stalls of the machine are not seen, and would be taken for the router's loss"
            }
            Self::LiveFrames => "no sender that is fast enough from one core",
            Self::Cpumap => "no virtual NIC with rings of its own: the default bed",
            Self::Napi => "no --nic napi",
            Self::Softirq => "no --nic softirq",
            Self::Ipv6 => "no --ipv6",
            Self::PacketSocket => "no frames above 3400 octets, no ports without XDP",
            Self::Clang => "mpps cannot be built here; running it needs none",
            Self::Nics => {
                "nothing to put a device under test between: this machine's own router can be measured all the same"
            }
            Self::Cpus => {
                "sender and receiver share a core, or even the DUT does: the tester is the limit before the router is"
            }
            Self::Siblings => {
                "the DUT's core is shared with the tester's: each slows the other by a third or more"
            }
            Self::Memory => "large tables and long trials do not fit",
            Self::Steal => {
                "trials are voided and run again; what is left is lower than on a machine of its own"
            }
            Self::Stalls => {
                "rings overflow while the CPU stands still: trials are voided, small rings lose frames"
            }
            Self::Others => "they take CPU time and cache from tester and DUT: trials are voided",
            Self::Leftovers => "a dead run's namespaces, and perhaps its programs, are still there",
            Self::RealTime => {
                "a receiver that needs more than its share is stopped for the rest of the second: the tester loses frames, trials are invalid"
            }
            Self::Jit => "eBPF is interpreted: tester and any XDP router are several times slower",
            Self::BpfStatistics => {
                "every run of an eBPF program reads the clock twice: 20 to 50 ns a frame"
            }
            Self::Clock => {
                "each look at the time is slow: the sender paces with it, latency is read with it"
            }
            Self::Governor => {
                "the clock follows the load: low loads are measured at another speed than high ones"
            }
            Self::IdleStates => {
                "waking a sleeping CPU takes that long: latency and loss at low loads"
            }
            Self::DebugKernel => "the router is several times slower than the same kernel without",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Rights => "run it with sudo; docs/privileges.md says what each right is for",
            Self::Kernel => "run a newer kernel: docs/kernels.md",
            Self::Btf => "run a kernel with CONFIG_DEBUG_INFO_BTF, as distributions' are",
            Self::KernelThreads => {
                "run it in the host's own process namespace (docker: --pid host)"
            }
            Self::Bed => "see the line; in a container: --privileged",
            Self::NativeXdp | Self::Tracepoints | Self::StallWatch | Self::LiveFrames => {
                "run the kernel that docs/kernels.md asks for, with its eBPF options"
            }
            Self::Cpumap | Self::Napi | Self::Softirq => {
                "see the line; `mpps bed up` and `mpps bed shell` show the bed from inside"
            }
            Self::Ipv6 => "boot without ipv6.disable=1, with CONFIG_IPV6",
            Self::PacketSocket => "a kernel with CONFIG_PACKET, and CAP_NET_RAW",
            Self::Clang => "apt-get install clang, or `cargo xtask setup`",
            Self::Nics => "two free ports for --external",
            Self::Cpus => "more CPUs, or read DUT busy and ns per frame instead of the rate",
            Self::Siblings => "--dut-cpus and --tester-cpus on different cores, or SMT off",
            Self::Memory => "end something, or smaller tables and shorter trials",
            Self::Steal => {
                "run it when the host is quieter, or on a machine of its own; compare in pairs only"
            }
            Self::Stalls => "as for steal; a larger --rx-ring rides out short ones",
            Self::Others => "end them, or keep them off the bed's CPUs",
            Self::Leftovers => "mpps recover",
            Self::RealTime => "sysctl kernel.sched_rt_runtime_us=-1 while measuring",
            Self::Jit => "sysctl net.core.bpf_jit_enable=1, and net.core.bpf_jit_harden=0 or 1",
            Self::BpfStatistics => "sysctl kernel.bpf_stats_enabled=0",
            Self::Clock => "boot with clocksource=tsc where the CPU's counter is steady",
            Self::Governor => "cpupower frequency-set -g performance",
            Self::IdleStates => "cpupower idle-set -D 20, or boot with processor.max_cstate=1",
            Self::DebugKernel => "run a kernel without those options",
        }
    }
}
