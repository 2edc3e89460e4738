//! Bytes <-> values: Ethernet, IPv4, IPv6, UDP, neighbours' questions, checksums, the test tag, Toeplitz, the frame a tester
//! sends, and MRT.
//!
//! Parsers look at what they are given and never judge it; emitters write into the caller's buffer.
//! Knows no I/O, no clock and none of our other crates.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::too_many_lines,
        clippy::print_stdout,
        clippy::print_stderr
    )
)]

// Tests read frames back by a file that lab's tests read too.
#[cfg(test)]
extern crate self as mpps_wire;

pub mod checksum;
pub mod ether;
mod field;
pub mod ipv4;
pub mod ipv6;
pub mod mrt;
pub mod neighbour;
pub mod tag;
pub mod tcp;
pub mod template;
pub mod toeplitz;
pub mod udp;

pub use ether::MacAddr;
pub use neighbour::Neighbour;
pub use tag::{TAG_LEN, Tag};
pub use template::FrameTemplate;

/// A buffer too short for what is to be read from it or written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} needs {needs} octets, there are {has}")]
pub struct TooShort {
    /// What was to fit.
    pub what: &'static str,
    /// Octets it needs.
    pub needs: usize,
    /// Octets there are.
    pub has: usize,
}
