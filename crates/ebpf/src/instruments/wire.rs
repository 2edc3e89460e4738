//! Reads `wire.bpf.c`: a wire in place of the router.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/wire.skel.rs"));
}
pub use skeleton::{OpenWireSkel, WireSkel, WireSkelBuilder};
