//! What mpps asks of the Linux kernel, as a safe API without policy and without defaults.
//!
//! Every function does one thing to one object. Its error names the operation, the object, and what the reader can do
//! about it. The caller knows which namespaces, addresses, CPUs or priorities are right.
//!
//! The thread rule: a network namespace belongs to a *thread*. [`links`], [`routes`], [`napi`], [`packet`], [`setting`]
//! and [`ethtool`] act in the namespace of the calling thread. [`netns::NetNs::run`] chooses it for one closure, in a
//! thread of its own; [`netns::NetNs::enter_thread`] chooses it for good.
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
pub mod netfilter;
mod netlink;
pub mod netns;
pub mod objects;
pub mod packet;
pub mod perf;
pub mod procstat;
pub mod queue_stats;
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
