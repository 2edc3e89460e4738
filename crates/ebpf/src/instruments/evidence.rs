//! Reads `evidence.bpf.c`: the polls of the router's threads.

skeleton!("evidence");

plain! {
    poll_counts: 16 { polls, frames }
}

/// One CPU's polls that took frames, and the frames.
pub use types::poll_counts as Polls;
