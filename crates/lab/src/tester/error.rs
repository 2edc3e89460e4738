//! What can go wrong with the tester itself.

use std::fmt;

/// The tester could not be set up or read: no statement about the DUT follows.
#[derive(Debug)]
pub enum TesterError {
    /// The kernel refused something.
    Linux(mpps_linux::Error),
    /// Loading or reading an eBPF program failed.
    Bpf {
        /// What was tried.
        operation: &'static str,
        /// What libbpf said.
        cause: String,
    },
    /// A program's memory is not laid out as its reader expects: a fault of this build.
    Layout(&'static str),
    /// Fewer entries of a program's map were read than it had written.
    ShortRead(&'static str),
    /// A thread of the tester ended by a panic; its message is on stderr.
    Panicked(&'static str),
    /// More frame sizes in one trial than the sender's schedule holds: given, held.
    TooManySizes(usize, usize),
    /// A frame that cannot be built from the addresses and lengths given.
    Frame(mpps_wire::template::FrameLength),
    /// The kthread of a receive ring did not appear.
    NoKthread(String),
    /// The receiver cannot stand at the DUT's exit.
    NoExit(NoExit),
    /// The machine watch's timer does not tick on this CPU.
    NoTimer(usize),
    /// A port of the tester's is down.
    PortDown {
        /// Its name.
        port: String,
        /// Where it is.
        netns: String,
    },
    /// More frames in one trial than can be told apart.
    TooManyFrames,
    /// Ctrl-C or SIGTERM.
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

/// Why the receiver cannot stand at the DUT's exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoExit {
    /// The DUT is a device of somebody else's.
    Device,
    /// Packet sockets receive at the tester's port only.
    PacketSockets,
    /// Merged frames are cut again behind the hook.
    Merged,
    /// The port has a queueing discipline, which comes behind the hook: its kind.
    Queued(String, String),
    /// The port has egress filters of somebody else's, which may let frames past.
    Filters(String),
}

impl fmt::Display for NoExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device => write!(f, "a device between real ports has no exit of ours"),
            Self::PacketSockets => write!(f, "--port af-packet receives at the tester's port"),
            Self::Merged => write!(
                f,
                "--l4 tcp-stream lets GRO merge frames, which are cut again behind the exit"
            ),
            Self::Queued(port, kind) => write!(
                f,
                "the queueing discipline {kind} of {port} comes behind the exit and would be left out"
            ),
            Self::Filters(port) => write!(
                f,
                "{port} has egress filters of its own, which may let frames past the exit"
            ),
        }
    }
}

impl fmt::Display for TesterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linux(error) => error.fmt(f),
            // EMFILE (`errno(3)`) has nothing to do with rights or the kernel's version.
            Self::Bpf { operation, cause } if cause.contains("(os error 24)") => {
                write!(f, "{operation}: {cause} (raise `ulimit -n`)")
            }
            Self::Bpf { operation, cause } => {
                write!(
                    f,
                    "{operation}: {cause} (needs root and Linux 5.18 or newer with BTF; see docs/kernels.md)"
                )
            }
            Self::Layout(what) => write!(
                f,
                "{what} has another layout than this build expects: rebuild mpps"
            ),
            Self::ShortRead(what) => write!(
                f,
                "{what}: the kernel gave fewer entries than were written: run again; report it if it stays"
            ),
            Self::Panicked(what) => write!(
                f,
                "{what} ended by a fault of mpps itself: please report the message above"
            ),
            Self::TooManySizes(given, held) => write!(
                f,
                "{given} frame sizes in one mix, and the sender holds {held}: give fewer"
            ),
            Self::Frame(error) => error.fmt(f),
            Self::NoKthread(name) => write!(
                f,
                "kernel thread {name} did not appear: is its CPU online, and does this process namespace show \
                 kernel threads (docker: --pid host)?"
            ),
            Self::NoExit(why) => write!(f, "--receiver exit: {why}; give --receiver port"),
            Self::NoTimer(cpu) => write!(
                f,
                "the machine watch does not tick on CPU {cpu}: is the CPU online?"
            ),
            Self::PortDown { port, netns } => write!(
                f,
                "the tester's port {port} in netns {netns} is down: nothing can be sent or received there \
                 (ip -n {netns} link set {port} up, or raise the bed anew)"
            ),
            Self::TooManyFrames => f.write_str("a trial of more than 2^38 frames: shorten --time"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for TesterError {}

impl From<mpps_wire::template::FrameLength> for TesterError {
    fn from(error: mpps_wire::template::FrameLength) -> Self {
        Self::Frame(error)
    }
}

impl From<mpps_linux::Error> for TesterError {
    fn from(error: mpps_linux::Error) -> Self {
        Self::Linux(error)
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
        let loaded = Sender::load(plan, &[]).map(drop);
        loaded.expect_err("no such sender").to_string()
    }

    #[test]
    fn only_a_wrong_layout_asks_for_another_build() {
        let many = refusal(vec![60; SIZES_MAX + 1]);
        assert!(many.contains("give fewer"), "{many}");
        let long = u16::try_from(FRAME_OCTETS_MAX + 1).expect("a length");
        let long = refusal(vec![long]);
        assert!(long.contains("choose 60 to"), "{long}");
        let panicked = TesterError::Panicked("the sender's thread").to_string();
        assert!(panicked.contains("please report"), "{panicked}");
        let short = TesterError::ShortRead("marks of the sender").to_string();
        assert!(short.contains("run again"), "{short}");
        for text in [many, long, panicked, short] {
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
}
