//! What mpps asks of the Linux kernel, as a safe API without policy and without defaults.
//!
//! Every function does one thing to one object and says in its error which operation failed on
//! which object and what the reader can do about it. Which namespaces, addresses, CPUs or
//! priorities are right is for the caller to know.
//!
//! The thread rule: a network namespace belongs to a *thread*. [`links`], [`routes`], [`napi`],
//! [`packet`], [`setting`] and [`ethtool`] act in the namespace of the calling thread; use [`netns::NetNs::run`] (one closure
//! in a thread of its own) or [`netns::NetNs::enter_thread`] (for good) to choose it.
//!
//! This crate holds all hand-written `unsafe` of the workspace beside the generated eBPF bindings.
#![allow(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::too_many_lines, clippy::print_stdout, clippy::print_stderr)
)]

pub mod bpf;
pub mod clock;
pub mod cpu;
pub mod error;
pub mod ethtool;
pub mod file;
pub mod hypervisor;
pub mod interrupt;
pub mod ipstat;
pub mod kernel;
pub mod links;
mod mapping;
pub mod napi;
mod netlink;
pub mod netns;
pub mod packet;
pub mod perf;
pub mod procstat;
pub mod routes;
pub mod setting;
mod socket_option;
pub mod spawn;
pub mod symbols;

mod sysfs;
pub mod task;
pub mod tc;
pub mod tcp;
pub mod xdp;

pub use error::{Error, Result};
