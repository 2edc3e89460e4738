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
