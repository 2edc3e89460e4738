//! What can go wrong with the tester itself.

use thiserror::Error;

/// The tester could not be set up or read: no statement about the DUT follows.
#[derive(Debug, Error)]
pub enum TesterError {
    /// The kernel refused something.
    #[error(transparent)]
    Linux(#[from] mpps_linux::Error),
    /// Loading or reading an eBPF program failed.
    #[error("{operation}: {cause} ({})", remedy(cause))]
    Bpf {
        /// What was tried.
        operation: &'static str,
        /// What libbpf said, and what the kernel said to it.
        cause: String,
    },
    /// A program's memory is not laid out as its reader expects: a fault of this build.
    #[error("{0}: another layout than this build expects: rebuild mpps")]
    Layout(&'static str),
    /// Fewer entries of a program's map were read than it had written.
    #[error(
        "{0}: the kernel gave fewer entries than were written: run again; report it if it stays"
    )]
    ShortRead(&'static str),
    /// More frame sizes in one trial than the sender's schedule holds: given, held.
    #[error("{0} frame sizes in one mix, and the sender holds {1}: give fewer")]
    TooManySizes(usize, usize),
    /// A frame that cannot be built from the addresses and lengths given.
    #[error(transparent)]
    Frame(#[from] mpps_wire::template::FrameLength),
    /// The kthread of a receive ring did not appear.
    #[error(
        "kernel thread {0} did not appear: is its CPU online, and does this process namespace show \
         kernel threads (docker: --pid host)?"
    )]
    NoKthread(String),
    /// The receiver cannot stand at the DUT's exit.
    #[error("--receiver exit: {0}; {remedy}", remedy = .0.remedy())]
    NoExit(NoExit),
    /// The kernel lacks the hooks of the DUT's ports.
    #[error(
        "no program can run at the bed's ports: {NO_HOOK}. Load the modules or take a newer kernel"
    )]
    NoHook,
    /// Nothing can be put at the DUT's ports.
    #[error(
        "this needs a program at the router's ports, and mpps can attach none to an external device: leave out --external"
    )]
    NoDutPorts,
    /// The machine watch's timer does not tick on this CPU: the kernel's reason, or a question.
    #[error("the machine watch does not tick on CPU {0}: {1}")]
    NoTimer(usize, String),
    /// A port of the tester's is down.
    #[error(
        "the tester's port {port} in netns {netns} is down, so it sends and receives nothing. Run ip -n {netns} link \
         set {port} up, or raise the bed anew"
    )]
    PortDown {
        /// Its name.
        port: String,
        /// Where it is.
        netns: String,
    },
    /// More frames in one trial than can be told apart.
    #[error("a trial of more than 2^38 frames: shorten --time")]
    TooManyFrames,
    /// The router cannot be asked there.
    #[error(
        "--management-traffic: only its owner knows the management port of an external device; leave it out"
    )]
    NoQueries,
    /// Ctrl-C or SIGTERM.
    #[error("interrupted")]
    Interrupted,
}

impl TesterError {
    /// From libbpf's error.
    pub(crate) fn bpf(operation: &'static str, error: &libbpf_rs::Error) -> Self {
        Self::Bpf {
            operation,
            cause: format!("{error:#}"),
        }
    }
}

/// EMFILE (`errno(3)`) has nothing to do with rights or the kernel's version.
fn remedy(cause: &str) -> &'static str {
    if cause.contains("(os error 24)") {
        "raise `ulimit -n`"
    } else {
        "needs root and Linux 5.18 or newer with BTF; see docs/kernels.md"
    }
}

pub(crate) const NO_HOOK: &str = "this kernel has neither tcx links (Linux 6.6) nor clsact with eBPF (modules sch_ingress, \
    cls_bpf)";

/// Why the receiver cannot stand at the DUT's exit.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NoExit {
    /// What is under test has none: its words.
    #[error("{0}")]
    Dut(&'static str),
    /// The kernel lacks the hook.
    #[error("{NO_HOOK}")]
    Kernel,
    /// Packet sockets receive at the tester's port only.
    #[error("--port af-packet receives at the tester's port")]
    PacketSockets,
    /// Merged frames are cut again behind the hook.
    #[error("--l4 tcp-stream lets GRO merge frames, which are cut again behind the exit")]
    Merged,
    /// The port has a queueing discipline, which comes behind the hook: its kind.
    #[error("the queueing discipline {1} of {0} runs after the exit and would be left out")]
    Queued(String, String),
    /// The port has egress filters of somebody else's, which may let frames past.
    #[error("{0} has egress filters of its own, which may let frames past the exit")]
    Filters(String),
}

impl NoExit {
    /// What to do. Without the hook the port can receive, but no wire can take the router's place.
    const fn remedy(&self) -> &'static str {
        if matches!(self, Self::Kernel) {
            "load the modules, take a newer kernel, or give --receiver port"
        } else {
            "give --receiver port"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tester::ports::sender::{Sender, SenderPlan};
    use mpps_ebpf::instruments::sender::{FRAME_OCTETS_MAX, SIZES_MAX};
    use mpps_method::Transport;

    /// What loading a sender with these frame lengths says; none of them is tried on the kernel.
    fn refusal(lengths: Vec<u16>) -> String {
        let plan = SenderPlan {
            templates: Vec::new(),
            ipv6: false,
            transport: Transport::Udp,
            flows: 1,
            flow_length: None,
            destinations: None,
            seed: 0,
            lengths,
            batch: 1,
            clock_frames: 1,
            cpu: 0,
        };
        let loaded = Sender::load(plan, &[], None).map(drop);
        loaded.expect_err("no such sender").to_string()
    }

    #[test]
    fn only_a_wrong_layout_asks_for_another_build() {
        let many = refusal(vec![60; SIZES_MAX + 1]);
        assert!(many.contains("give fewer"), "{many}");
        let long = u16::try_from(FRAME_OCTETS_MAX + 1).expect("a length");
        let long = refusal(vec![long]);
        assert!(long.contains("choose 60 to"), "{long}");
        let short = TesterError::ShortRead("marks of the sender").to_string();
        assert!(short.contains("run again"), "{short}");
        for text in [many, long, short] {
            assert!(!text.contains("rebuild"), "{text}");
        }
        let layout = TesterError::Layout("sender state").to_string();
        assert!(layout.contains("rebuild mpps"), "{layout}");
    }

    #[test]
    fn too_many_open_files_has_its_own_remedy() {
        let error = |number| TesterError::Bpf {
            operation: "open the sender",
            cause: std::io::Error::from_raw_os_error(number).to_string(),
        };
        assert!(error(24).to_string().ends_with("(raise `ulimit -n`)"));
        assert!(error(1).to_string().contains("needs root"));
    }

    /// The command line prints an error with all its sources.
    #[test]
    fn a_kernel_s_refusal_is_told_once() {
        let denied = std::io::Error::from_raw_os_error(13);
        let linux = mpps_linux::Error::from_io("open", "a port", &denied);
        let error = TesterError::from(linux.clone());
        assert_eq!(error.to_string(), linux.to_string());
        assert!(std::error::Error::source(&error).is_none());
    }
}
