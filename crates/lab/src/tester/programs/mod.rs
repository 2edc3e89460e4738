//! eBPF programs and their maps: loaded, attached, read and written.

pub mod drops;
pub mod maps;

use crate::tester::error::TesterError;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, OpenObject};
use mpps_linux::bpf::{self, LinkKind};
use mpps_linux::netns::NetNs;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

/// Opens a skeleton; `what` says what is tried. A skeleton keeps borrowing the place it was opened in: these few octets
/// a load are given away.
pub fn open<B: SkelBuilder<'static>>(
    builder: B,
    what: &'static str,
) -> Result<B::Output, TesterError> {
    let storage: &'static mut MaybeUninit<OpenObject> = Box::leak(Box::new(MaybeUninit::uninit()));
    (builder.open(storage)).map_err(|e| TesterError::bpf(what, &e))
}

/// Loads what was opened.
pub fn load<O: OpenSkel<'static>>(opened: O, what: &'static str) -> Result<O::Output, TesterError> {
    opened.load().map_err(|e| TesterError::bpf(what, &e))
}

/// The constants of an opened skeleton, which are written before it is loaded.
pub fn constants<'a, T>(
    mapped: &'a mut Option<&'static mut T>,
    what: &'static str,
) -> Result<&'a mut T, TesterError> {
    mapped.as_deref_mut().ok_or(TesterError::Layout(what))
}

pub fn map_options() -> libbpf_rs::libbpf_sys::bpf_map_create_opts {
    libbpf_rs::libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as _,
        ..Default::default()
    }
}

pub fn attach_in(
    netns: &NetNs,
    program: BorrowedFd<'_>,
    ifindex: u32,
    kind: LinkKind,
) -> Result<OwnedFd, TesterError> {
    Ok(netns.run(|| bpf::attach(program, ifindex, kind))??)
}

/// Attaches a program to the tracepoint that it names.
pub fn trace(program: &libbpf_rs::ProgramMut<'_>, what: &'static str) -> Result<Link, TesterError> {
    (program.attach_trace()).map_err(|e| TesterError::bpf(what, &e))
}
