//! A swap of a port's XDP program for another, as a data plane is upgraded: the link stays, the program changes.

use crate::tester::error::TesterError;
use mpps_linux::{Error, bpf};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Descriptors of its own, so that it can be done beside the sender.
#[derive(Debug)]
pub struct Swap {
    link: OwnedFd,
    programs: [OwnedFd; 2],
}

impl Swap {
    /// From the program that is there to the other.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new(link: BorrowedFd<'_>, programs: [BorrowedFd<'_>; 2]) -> Result<Self, TesterError> {
        let copy = |fd: BorrowedFd<'_>| {
            fd.try_clone_to_owned()
                .map_err(|error| Error::from_io("copy a descriptor", "of a program", &error))
        };
        let [old, new] = programs;
        Ok(Self {
            link: copy(link)?,
            programs: [copy(old)?, copy(new)?],
        })
    }

    /// Swaps them.
    ///
    /// # Errors
    /// What the kernel said; the program there is another.
    pub fn run(&self) -> Result<(), TesterError> {
        let [old, new] = &self.programs;
        Ok(bpf::replace(self.link.as_fd(), [old.as_fd(), new.as_fd()])?)
    }
}
