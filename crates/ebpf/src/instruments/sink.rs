//! Loads `sink.bpf.c`: drops whatever comes.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/sink.skel.rs"));
}
pub use skeleton::{OpenSinkSkel, SinkSkel, SinkSkelBuilder};
