//! All eBPF programs of mpps, as triplets `NAME.{bpf.c,h,rs}`, and what user space must know to read
//! their maps. Knows nothing of beds, trials or searches; attaches nothing.
//!
//! Values cross the border by their C types ([`Plain`]): the compiler takes them from BTF, and each
//! triplet's Rust file asserts their sizes.
#![allow(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::too_many_lines, clippy::print_stdout, clippy::print_stderr)
)]

#[macro_use]
mod plain;

pub mod instruments;

pub use plain::{Plain, octets};
