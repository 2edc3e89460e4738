//! eBPF programs and their maps: loaded, attached, read and written.

pub mod drops;
mod loader_log;
pub mod maps;

use crate::tester::error::TesterError;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{ErrorExt, Link, OpenObject};
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

/// Loads what was opened. An error has the reason that the loader or the verifier gave.
pub fn load<O: OpenSkel<'static>>(opened: O, what: &'static str) -> Result<O::Output, TesterError> {
    let (loaded, reason) = loader_log::with_reason(|| opened.load());
    loaded.map_err(|error| match reason {
        Some(reason) => TesterError::bpf(what, &error.context(reason)),
        None => TesterError::bpf(what, &error),
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_ebpf::instruments::sender::SenderSkelBuilder;

    #[test]
    fn a_refused_program_is_told_with_the_loaders_reason() {
        if mpps_linux::kernel::effective_uid() != 0 {
            println!("SKIP: needs root to load programs");
            return;
        }
        let mut opened = open(SenderSkelBuilder::default(), "open the sender").expect("it opens");
        (opened.maps.counts.set_max_entries(0)).expect("not loaded yet");
        let refused = load(opened, "load the sender")
            .err()
            .expect("no map has no entries");
        let told = refused.to_string();
        assert!(
            told.starts_with("load the sender: map 'counts': failed to create"),
            "{told}"
        );
    }
}
