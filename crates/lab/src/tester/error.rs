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
    /// The kthread of a receive ring did not appear.
    NoKthread(String),
    /// The receiver cannot stand at the DUT's exit.
    NoExit(super::NoExit),
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

impl fmt::Display for TesterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linux(error) => error.fmt(f),
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
    fn from(_: mpps_wire::template::FrameLength) -> Self {
        Self::Layout("frame template")
    }
}

impl From<mpps_linux::Error> for TesterError {
    fn from(error: mpps_linux::Error) -> Self {
        Self::Linux(error)
    }
}
