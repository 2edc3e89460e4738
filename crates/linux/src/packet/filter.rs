//! Classic BPF filters: they run on every kernel, without the right to load eBPF.

use std::os::fd::{AsRawFd, OwnedFd};

use crate::error::{Error, Result};

/// `BPF_RET | BPF_K` (`include/uapi/linux/bpf_common.h`).
const RETURN: u16 = 0x06;
/// `BPF_LD | BPF_H | BPF_ABS`.
const LOAD_HALF: u16 = 0x28;
/// `BPF_LD | BPF_B | BPF_ABS`.
const LOAD_OCTET: u16 = 0x30;
/// `BPF_JMP | BPF_JEQ | BPF_K`.
const JUMP_EQUAL: u16 = 0x15;

/// One instruction of classic BPF; jumps count instructions to skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// Loads two octets of the frame at this offset.
    LoadHalf(u32),
    /// Loads one octet of the frame at this offset.
    LoadOctet(u32),
    /// If the loaded value is the first number, skips as many instructions as the second says; else as the third says.
    SkipIfEqual(u32, u8, u8),
    /// Ends, and keeps this number of octets of the frame; 0 refuses the frame.
    Keep(u32),
}

/// A program that decides for each frame how many octets of it a socket gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter(Vec<Instruction>);

impl Filter {
    /// These instructions, in order. The kernel refuses a program that does not end.
    #[must_use]
    pub fn new(program: Vec<Instruction>) -> Self {
        Self(program)
    }

    /// Every frame, but only its first octets.
    #[must_use]
    pub fn first_octets(octets: u32) -> Self {
        Self(vec![Instruction::Keep(octets)])
    }

    pub(super) fn attach(&self, socket: &OwnedFd) -> Result<()> {
        let mut program: Vec<libc::sock_filter> = self.0.iter().map(encode).collect();
        let too_long = |_| Error::from_text("attach filter", "of a packet socket", "too long");
        let program = libc::sock_fprog {
            len: u16::try_from(program.len()).map_err(too_long)?,
            filter: program.as_mut_ptr(),
        };
        // SAFETY: `program` points to `len` instructions that outlive the call; the kernel copies them.
        let result = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_ATTACH_FILTER,
                (&raw const program).cast(),
                size_of::<libc::sock_fprog>() as libc::socklen_t,
            )
        };
        if result == 0 {
            return Ok(());
        }
        Err(Error::last("attach filter", "to a packet socket"))
    }
}

fn encode(instruction: &Instruction) -> libc::sock_filter {
    let (code, jt, jf, k) = match *instruction {
        Instruction::LoadHalf(at) => (LOAD_HALF, 0, 0, at),
        Instruction::LoadOctet(at) => (LOAD_OCTET, 0, 0, at),
        Instruction::SkipIfEqual(value, equal, other) => (JUMP_EQUAL, equal, other, value),
        Instruction::Keep(octets) => (RETURN, 0, 0, octets),
    };
    libc::sock_filter { code, jt, jf, k }
}
