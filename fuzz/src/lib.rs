//! The laws that every file of routes obeys, shared with the tests of mutated files that run on a stable compiler.
#![forbid(unsafe_code)]

#[path = "../../crates/tables/tests/laws/mod.rs"]
pub mod laws;
