//! Loads `pause.bpf.c`: a CPU that stands still for a while.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/pause.skel.rs"));
}
pub use skeleton::{OpenPauseSkel, PauseSkel, PauseSkelBuilder};

/// Keys of the map `paused`.
pub const PAUSES: u32 = 0;
/// See [`PAUSES`]: the longest, ns.
pub const LONGEST_NS: u32 = 1;
