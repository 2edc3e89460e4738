//! Reads `evidence.bpf.c`: the polls of the router's threads, and packets that the kernel dropped, by reason.

skeleton!("evidence");

plain! {
    poll_counts: 24 { polls, frames, empty }
}

/// One CPU's polls: those that took frames, the frames, and those that took none.
pub use types::poll_counts as Polls;

/// Places of the map of reasons; the last is of all others.
pub const REASONS: u32 = 256;
