//! What is checked: each subject is a row, with its name, what its lack costs and what to do about it.

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Short name, for tables and records.
    pub name: &'static str,
    /// What it costs where it lacks or is poor.
    pub cost: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// A constant a row, and all rows in the order they are told.
macro_rules! subjects {
    ($($(#[$what:meta])* $row:ident = $name:literal, $cost:literal, $remedy:literal;)*) => {
        impl Subject {
            $($(#[$what])* pub const $row: Self = Self { name: $name, cost: $cost, remedy: $remedy };)*
            pub(super) const ALL: &[Self] = &[$(Self::$row),*];
        }
    };
}

subjects! {
    /// Root, or the capabilities.
    RIGHTS = "rights",
        "no bed, no eBPF: nothing can be measured; plans, limits and help work",
        "run it with sudo; docs/privileges.md says what each right is for";
    /// The kernel's version.
    KERNEL = "kernel",
        "the tester needs what older kernels do not have",
        "run a newer kernel: docs/kernels.md";
    /// The kernel's types.
    BTF = "kernel-types",
        "programs at tracepoints cannot be loaded, and without them the ledger does not close",
        "run a kernel with CONFIG_DEBUG_INFO_BTF, as distributions' are";
    /// Kernel threads can be seen and moved.
    KERNEL_THREADS = "kernel-threads",
        "threads of DUT and receiver cannot be pinned, nor their time be read",
        "run it in the host's own process namespace (docker: --pid host)";
    /// Namespaces, links, addresses: a bed.
    BED = "bed",
        "no test bed",
        "see the line; in a container: --privileged";
    /// XDP in the driver of a veth.
    NATIVE_XDP = "native-xdp",
        "no virtual NIC, no receiver",
        "run the kernel that docs/kernels.md asks for, with its eBPF options";
    /// Programs at tracepoints with the kernel's types.
    TRACEPOINTS = "tracepoints",
        "loss at ports and rings is not seen: no trial would be valid",
        "run the kernel that docs/kernels.md asks for, with its eBPF options";
    /// What ticks on every CPU, to see it stand still.
    STALL_WATCH = "stall-watch",
        "stalls of the machine are not seen, and would be taken for the router's loss",
        "run the kernel that docs/kernels.md asks for, with its eBPF options";
    /// `BPF_PROG_TEST_RUN` with live frames.
    LIVE_FRAMES = "live-frames",
        "no sender that is fast enough from one core",
        "run the kernel that docs/kernels.md asks for, with its eBPF options";
    /// Frames come through a bed with the virtual NIC.
    CPUMAP = "front-cpumap",
        "no virtual NIC with rings of its own: the default bed",
        "see the line; `mpps bed up` and `mpps bed shell` show the bed from inside";
    /// Frames come through a bed with NAPI in a thread.
    NAPI = "front-napi",
        "no --nic napi",
        "see the line; `mpps bed up` and `mpps bed shell` show the bed from inside";
    /// Frames come through a bed in softirq.
    SOFTIRQ = "front-softirq",
        "no --nic softirq",
        "see the line; `mpps bed up` and `mpps bed shell` show the bed from inside";
    /// IPv6.
    IPV6 = "ipv6",
        "no --ipv6",
        "boot without ipv6.disable=1, with CONFIG_IPV6";
    /// Packet sockets with rings.
    PACKET_SOCKET = "af-packet",
        "no frames above 3400 octets, no ports without XDP",
        "a kernel with CONFIG_PACKET, and CAP_NET_RAW";
    /// A compiler for eBPF.
    CLANG = "clang",
        "mpps cannot be built here; running it needs none",
        "apt-get install clang, or `cargo xtask setup`";
    /// Two network interfaces.
    NICS = "nics",
        "nothing to put a device under test between: this machine's own router can be measured all the same",
        "two free ports for --external";
    /// How many CPUs.
    CPUS = "cpus",
        "sender and receiver share a core, or even the DUT does: the tester is the limit before the router is",
        "more CPUs, or read DUT busy and ns per frame instead of the rate";
    /// Whether tester and DUT share a core.
    SIBLINGS = "siblings",
        "the DUT's core is shared with the tester's: each slows the other by a third or more",
        "--dut-cpus and --tester-cpus on different cores, or SMT off";
    /// Memory left.
    MEMORY = "memory",
        "large tables and long trials do not fit",
        "end something, or smaller tables and shorter trials";
    /// What the hypervisor takes.
    STEAL = "steal",
        "trials are voided and run again; what is left is lower than on a machine of its own",
        "run it when the host is quieter, or on a machine of its own; compare in pairs only";
    /// How long CPUs stand still.
    STALLS = "stalls",
        "rings overflow while the CPU stands still: trials are voided, small rings lose frames",
        "as for steal; a larger --rx-ring rides out short ones";
    /// What other programs take.
    OTHERS = "other-programs",
        "they take CPU time and cache from tester and DUT: trials are voided",
        "end them, or keep them off the bed's CPUs";
    /// Dead runs.
    LEFTOVERS = "leftovers",
        "a dead run's namespaces, and perhaps its programs, are still there",
        "mpps recover";
    /// Real-time threads are stopped.
    REAL_TIME = "real-time",
        "a receiver that needs more than its share is stopped for the rest of the second: the tester loses frames, trials are invalid",
        "sysctl kernel.sched_rt_runtime_us=-1 while measuring";
    /// eBPF is compiled.
    JIT = "bpf-jit",
        "eBPF is interpreted: tester and any XDP router are several times slower",
        "sysctl net.core.bpf_jit_enable=1, and net.core.bpf_jit_harden=0 or 1";
    /// The kernel counts eBPF's time.
    BPF_STATISTICS = "bpf-statistics",
        "every run of an eBPF program reads the clock twice: 20 to 50 ns a frame",
        "sysctl kernel.bpf_stats_enabled=0";
    /// What the kernel tells the time by.
    CLOCK = "clock",
        "each look at the time is slow: the sender paces with it, latency is read with it",
        "boot with clocksource=tsc where the CPU's counter is steady";
    /// The clock follows the load.
    GOVERNOR = "governor",
        "the clock follows the load: low loads are measured at another speed than high ones",
        "cpupower frequency-set -g performance";
    /// Deep idle states.
    IDLE_STATES = "idle-states",
        "waking a sleeping CPU takes that long: latency and loss at low loads",
        "cpupower idle-set -D 20, or boot with processor.max_cstate=1";
    /// The kernel checks itself.
    DEBUG_KERNEL = "debug-kernel",
        "the router is several times slower than the same kernel without",
        "run a kernel without those options";
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
