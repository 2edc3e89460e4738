//! Options of sockets as plain values of the kernel's structures.

use std::os::fd::{AsFd, AsRawFd};

/// Sets an option; the error number where the kernel refuses.
pub fn set<T: Copy>(
    socket: &impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> Result<(), i32> {
    // SAFETY: the kernel reads `size_of::<T>()` octets of a live value; memory that the value names is the caller's
    // to keep for as long as the option has it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(nix::errno::Errno::last_raw())
    }
}

/// Asks for an option that is a number; the error number where the kernel refuses.
pub fn number(
    socket: &impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
) -> Result<libc::c_int, i32> {
    get(socket, level, option).map(libc::c_int::from_ne_bytes)
}

/// Asks for an option of so many octets; the error number where the kernel refuses.
pub fn get<const N: usize>(
    socket: &impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
) -> Result<[u8; N], i32> {
    let mut octets = [0; N];
    let mut length = N as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` octets into a live array of that length.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            option,
            octets.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result == 0 {
        Ok(octets)
    } else {
        Err(nix::errno::Errno::last_raw())
    }
}
