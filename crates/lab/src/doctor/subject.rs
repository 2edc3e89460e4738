//! What is checked: each subject is a row, with its name, what its lack costs and what to do about it.

use std::borrow::Borrow;
use std::fmt::Display;

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
        "mpps can raise no bed and load no eBPF, so it cannot measure. Plans, limits and help work.",
        "Run it with sudo. docs/privileges.md explains each right.";
    /// The kernel's version.
    KERNEL = "kernel",
        "The tester needs features that this kernel lacks.",
        "Run a newer kernel (docs/kernels.md).";
    /// The kernel's types.
    BTF = "kernel-types",
        "Programs at tracepoints cannot be loaded. Without them the ledger does not close.",
        "Run a kernel with CONFIG_DEBUG_INFO_BTF. Distributions' kernels have it.";
    /// Kernel threads can be seen and moved.
    KERNEL_THREADS = "kernel-threads",
        "The threads of DUT and receiver cannot be pinned, and their time cannot be read.",
        "Run it in the host's own process namespace (docker: --pid host).";
    /// Namespaces, links, addresses: a bed.
    BED = "bed",
        "mpps can raise no bed.",
        "Read the error in the line above. A container needs --privileged.";
    /// XDP in the driver of a veth.
    NATIVE_XDP = "native-xdp",
        "The virtual NIC and the receiver do not work.",
        "Run the kernel that docs/kernels.md asks for, with its eBPF options.";
    /// Programs at tracepoints with the kernel's types.
    TRACEPOINTS = "tracepoints",
        "Loss at ports and rings is not seen, so no trial would be valid.",
        "Run the kernel that docs/kernels.md asks for, with its eBPF options.";
    /// What ticks on every CPU, to see it stand still.
    STALL_WATCH = "stall-watch",
        "Stalls of the machine are not seen. Their loss would count as the router's.",
        "Run the kernel that docs/kernels.md asks for, with its eBPF options.";
    /// `BPF_PROG_TEST_RUN` with live frames.
    LIVE_FRAMES = "live-frames",
        "mpps has no sender that is fast enough from one core.",
        "Run the kernel that docs/kernels.md asks for, with its eBPF options.";
    /// Programs for traffic control at the router's ports.
    PATH = "port-programs",
        "The receiver cannot stand at the router's exit, and no wire can take the router's place. The parts of a frame's cost are unknown.",
        "Load the modules sch_ingress and cls_bpf, or run a newer kernel (docs/kernels.md).";
    /// Frames come through a bed with the virtual NIC.
    CPUMAP = "front-cpumap",
        "The default bed needs a virtual NIC with rings of its own.",
        "Read the error in the line above. `mpps bed up` and `mpps bed shell` show the bed from inside.";
    /// Frames come through a bed with NAPI in a thread.
    NAPI = "front-napi",
        "--nic napi does not work.",
        "Read the error in the line above. `mpps bed up` and `mpps bed shell` show the bed from inside.";
    /// Frames come through a bed in softirq.
    SOFTIRQ = "front-softirq",
        "--nic softirq does not work.",
        "Read the error in the line above. `mpps bed up` and `mpps bed shell` show the bed from inside.";
    /// IPv6.
    IPV6 = "ipv6",
        "--ipv6 does not work.",
        "Boot a kernel with CONFIG_IPV6, without ipv6.disable=1.";
    /// Packet sockets with rings.
    PACKET_SOCKET = "af-packet",
        "Frames above 3400 octets and ports without XDP do not work.",
        "Run a kernel with CONFIG_PACKET, with CAP_NET_RAW.";
    /// A compiler for eBPF.
    CLANG = "clang",
        "mpps cannot be built here. A built mpps runs without clang.",
        "Run apt-get install clang, or `cargo xtask setup`.";
    /// Two network interfaces.
    NICS = "nics",
        "An external device needs two ports. This machine's own router can be measured without them.",
        "Install two free ports for --external.";
    /// How many CPUs.
    CPUS = "cpus",
        "Sender and receiver, or even tester and DUT, share a core. The tester reaches its limit before the router does.",
        "Use more CPUs, or read DUT busy and ns per frame instead of the rate.";
    /// Whether tester and DUT share a core.
    SIBLINGS = "siblings",
        "DUT and tester share a core. Each slows the other by a third or more.",
        "Give --dut-cpus and --tester-cpus different cores, or switch SMT off.";
    /// Memory left.
    MEMORY = "memory",
        "Large tables and long trials do not fit.",
        "End other programs, or use smaller tables and shorter trials.";
    /// What the hypervisor takes.
    STEAL = "steal",
        "A trial runs again if over 2 % of a CPU was stolen or disturbances took over half of it. Rates are lower than on a machine of its own.",
        "Run it when the host is quieter, or on a machine of its own. Compare in pairs only.";
    /// How long CPUs stand still.
    STALLS = "stalls",
        "Rings overflow while a CPU stands still, small rings first. That time does not count. A trial is void if disturbances took over half of it.",
        "Run it when the host is quieter. A larger --rx-ring holds the frames of short stalls.";
    /// What other programs take.
    OTHERS = "other-programs",
        "They take CPU time and cache from tester and DUT. A trial is void if they took over half of it, or 5 % in short turns.",
        "End them, or keep them off the bed's CPUs.";
    /// Dead runs.
    LEFTOVERS = "leftovers",
        "The namespaces of a dead run, and perhaps its programs, are still there.",
        "Run mpps recover.";
    /// Real-time threads are stopped.
    REAL_TIME = "real-time",
        "The kernel stops a receiver that needs more than its share for the rest of the second. The tester then loses frames, and trials are invalid.",
        "Set sysctl kernel.sched_rt_runtime_us=-1 while measuring.";
    /// eBPF is compiled.
    JIT = "bpf-jit",
        "The kernel interprets eBPF. The tester and any XDP router are several times slower.",
        "Set sysctl net.core.bpf_jit_enable=1, and net.core.bpf_jit_harden=0 or 1.";
    /// The kernel counts eBPF's time.
    BPF_STATISTICS = "bpf-statistics",
        "Every run of an eBPF program reads the clock twice. This costs 20 to 50 ns a frame.",
        "Set sysctl kernel.bpf_stats_enabled=0.";
    /// What the kernel tells the time by.
    CLOCK = "clock",
        "Each reading of the clock is slow. The sender paces with it, and latency is measured with it.",
        "Boot with clocksource=tsc where the CPU's counter is steady.";
    /// The clock follows the load.
    GOVERNOR = "governor",
        "The CPU clock follows the load. Low loads are measured at another speed than high loads.",
        "Run cpupower frequency-set -g performance.";
    /// Deep idle states.
    IDLE_STATES = "idle-states",
        "A sleeping CPU takes that long to wake. This causes latency and loss at low loads.",
        "Run cpupower idle-set -D 20, or boot with processor.max_cstate=1.";
    /// The kernel checks itself.
    DEBUG_KERNEL = "debug-kernel",
        "The router is several times slower than with the same kernel without these options.",
        "Run a kernel without these options.";
}

mpps_method::named! {
    /// What became of a check.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State {
        /// As it should be.
        Good = "good",
        /// It works, and costs something.
        Costs = "costs",
        /// It is not there, or does not work.
        Lacks = "lacks",
        /// Not found out.
        Unknown = "unknown",
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

/// How a subject stands, and what was seen; or why it was not found out.
pub(super) type Seen = Result<(State, String), String>;

pub(super) fn good(seen: impl Into<String>) -> Seen {
    Ok((State::Good, seen.into()))
}

pub(super) fn lacks(seen: impl Into<String>) -> Seen {
    Ok((State::Lacks, seen.into()))
}

/// Good, or it costs something.
pub(super) fn good_if(good: bool, seen: impl Into<String>) -> Seen {
    let state = if good { State::Good } else { State::Costs };
    Ok((state, seen.into()))
}

/// Good where there is none of these, which are told.
pub(super) fn good_if_none(of: &[impl Borrow<str>], none: impl Into<String>) -> Seen {
    match of {
        [] => good(none),
        some => good_if(false, some.join(", ")),
    }
}

/// It worked, or the error says why not.
pub(super) fn tried(result: Result<String, impl Display>) -> Seen {
    result.map_or_else(|error| lacks(error.to_string()), good)
}

impl Check {
    pub(super) fn new(subject: Subject, seen: Seen) -> Self {
        let (state, seen) = seen.unwrap_or_else(|why| (State::Unknown, why));
        Self {
            subject,
            state,
            seen,
        }
    }
}
