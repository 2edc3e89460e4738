//! All eBPF programs of mpps, as triplets `NAME.{bpf.c,h,rs}`, and what user space must know to read
//! their maps. Knows nothing of beds, trials or searches; attaches nothing.
//!
//! Counters cross the border as plain `u64` words: the C structs have no other members, and each
//! triplet's Rust file names the words in the C struct's order.
#![allow(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::too_many_lines, clippy::print_stdout, clippy::print_stderr)
)]

pub mod instruments;
mod words;

pub use words::{sum_words, to_words};
