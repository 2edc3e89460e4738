//! Reads `tap.bpf.c`: what stands before and behind a packet socket of the tester.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/tap.skel.rs"));
}
pub use skeleton::{OpenTapSkel, TapSkel, TapSkelBuilder};
