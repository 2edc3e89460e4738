//! Another program that puts the host back by itself, such as another build of this one.

use crate::clock::{monotonic_ns, wait_until};
use mpps_linux::interrupt;
use mpps_linux::spawn::stop_with_parent;
use mpps_linux::task::{self, Signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};

/// Between two looks whether it has ended, ns.
const LOOK_NS: u64 = 20_000_000;

/// Runs a program to its end. When the user wishes to stop, it is asked to stop, once, and has the time that it needs. It
/// is also asked when this program is killed.
///
/// # Errors
/// It could not be started.
pub fn to_its_end(command: &mut Command) -> io::Result<ExitStatus> {
    stop_with_parent(command);
    // Ctrl-C at the terminal would reach it twice.
    let mut child = command.process_group(0).spawn()?;
    let mut is_asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupt::requested() && !is_asked {
            let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
            // SIGINT is ignored by a background job. One that has ended meanwhile is seen above.
            let _gone = task::kill(pid, Signal::SIGTERM);
            is_asked = true;
        }
        wait_until(monotonic_ns() + LOOK_NS);
    }
}
