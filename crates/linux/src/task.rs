//! Tasks (processes, threads, kernel threads) as /proc shows them, and signals to them.

mod signal;

pub use nix::sys::signal::Signal;
pub use signal::{kill, kill_exact, on_signal_do_nothing, tgkill};

use crate::error::{Error, Result};
use std::fs::File;
use std::io::Write as _;

/// Flag of a kernel thread in the flags field of /proc/PID/stat (`PF_KTHREAD`, `linux/sched.h`).
const PF_KTHREAD: u64 = 0x0020_0000;

/// Roots of the hierarchies that a service manager uses: version 2 alone, and beside version 1.
const CONTROL_GROUPS: [&str; 3] = [
    "/sys/fs/cgroup",
    "/sys/fs/cgroup/unified",
    "/sys/fs/cgroup/systemd",
];

/// What a thread of this program returned.
///
/// # Errors
/// It panicked; its message is on stderr.
pub fn joined<T>(ended: std::thread::Result<T>, thread: &str) -> Result<T> {
    ended.map_err(|_| {
        Error::from_text("join", thread, "it ended by a fault of mpps itself")
            .with_remedy("please report the message above")
    })
}

/// How long a task ran and waited (`/proc/TID/schedstat`; `Documentation/scheduler/sched-stats`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Time on a CPU, nanoseconds.
    pub run_ns: u64,
    /// Time runnable but waiting for a CPU, nanoseconds.
    pub wait_ns: u64,
    /// How many times it was put on a CPU.
    pub slices: u64,
}

/// Reads a task's run and wait time.
///
/// The kernel updates the run time of a running task only at scheduler ticks and switches. So it may be one tick (1 to
/// 10 ms) behind.
///
/// # Errors
/// No such task (ENOENT or ESRCH), or a kernel without CONFIG_SCHED_INFO.
pub fn schedstat(tid: i32) -> Result<SchedStat> {
    let path = format!("/proc/{tid}/schedstat");
    let text =
        std::fs::read_to_string(&path).map_err(|e| Error::from_io("read run time", &*path, &e))?;
    parse_schedstat(&text)
        .ok_or_else(|| Error::from_text("parse run time", path, format!("`{}`", text.trim())))
}

fn parse_schedstat(text: &str) -> Option<SchedStat> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    Some(SchedStat {
        run_ns: next()?,
        wait_ns: next()?,
        slices: next()?,
    })
}

/// All kernel threads whose name the closure accepts, as (task id, name), by rising id.
///
/// Inside a container with its own process ids kernel threads are invisible: the answer is then
/// empty.
///
/// # Errors
/// /proc cannot be read.
pub fn find_kthreads(accept: impl Fn(&str) -> bool) -> Result<Vec<(i32, String)>> {
    let mut found = Vec::new();
    for pid in all_pids()? {
        // Tasks come and go while we look; one that is gone is not an answer.
        let Ok(name) = comm(pid) else { continue };
        if accept(&name) && is_kthread(pid) {
            found.push((pid, name));
        }
    }
    Ok(found)
}

fn is_kthread(pid: i32) -> bool {
    stat_field(pid, 9).is_ok_and(|flags| flags & PF_KTHREAD != 0)
}

/// The task's name (`/proc/TID/comm`); at most 15 octets, for kernel threads since Linux 5.17
/// their whole name.
///
/// # Errors
/// No such task (ENOENT or ESRCH).
pub fn comm(tid: i32) -> Result<String> {
    let path = format!("/proc/{tid}/comm");
    let bytes = std::fs::read(&path).map_err(|e| Error::from_io("read name of task", path, &e))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// When the task started: clock ticks since boot. Together with the id (and the boot) it names a
/// task for ever, where the id alone is used again.
///
/// # Errors
/// No such task (ENOENT or ESRCH).
pub fn start_time(tid: i32) -> Result<u64> {
    stat_field(tid, 22)
}

/// Whether a task of this id exists (a zombie too).
#[must_use]
pub fn exists(tid: i32) -> bool {
    tid > 0 && std::path::Path::new(&format!("/proc/{tid}")).exists()
}

/// Whether the task of this id is the one that started at this time and has not ended: a zombie
/// has ended.
#[must_use]
pub fn lives(tid: i32, started: u64) -> bool {
    let Ok(text) = stat_text(tid) else {
        return false;
    };
    let ended = matches!(field_of(&text, 3), Some("Z" | "X"));
    !ended && field_of(&text, 22).and_then(|f| f.parse().ok()) == Some(started)
}

/// Thread id of the calling thread.
#[must_use]
pub fn current_tid() -> i32 {
    nix::unistd::gettid().as_raw()
}

/// Makes this process the first of a session of its own: a terminal that closes does not end it.
///
/// # Errors
/// It leads a process group (EPERM).
pub fn begin_session() -> Result<()> {
    let begun = nix::unistd::setsid().map(drop);
    begun.map_err(|e| Error::from_errno("begin", "a session of its own", e as i32))
}

/// Moves this process to the root's control group: a service manager that ends all processes of a login or a unit does not
/// end it then. Where that is not allowed, it stays where it is.
pub fn leave_control_groups() {
    for root in CONTROL_GROUPS {
        // With version 1, /sys/fs/cgroup is a tmpfs without this file; it must not be created.
        let group = File::options()
            .write(true)
            .open(format!("{root}/cgroup.procs"));
        let _not_allowed = group.and_then(|mut group| group.write_all(b"0"));
    }
}

/// Process id of this process.
#[must_use]
pub fn current_pid() -> i32 {
    nix::unistd::getpid().as_raw()
}

/// Time that a process and its threads have run, clock ticks (user and system; `proc_pid_stat(5)`).
///
/// # Errors
/// No such task (ENOENT or ESRCH).
pub fn run_ticks(pid: i32) -> Result<u64> {
    Ok(stat_field(pid, 14)? + stat_field(pid, 15)?)
}

/// All process ids, rising.
///
/// # Errors
/// /proc cannot be read.
pub fn all_pids() -> Result<Vec<i32>> {
    let fail = |e: std::io::Error| Error::from_io("list", "/proc", &e);
    let mut pids = Vec::new();
    for entry in std::fs::read_dir("/proc").map_err(fail)? {
        let name = entry.map_err(fail)?.file_name();
        pids.extend(name.to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    pids.sort_unstable();
    Ok(pids)
}

fn stat_text(tid: i32) -> Result<String> {
    let path = format!("/proc/{tid}/stat");
    let bytes = std::fs::read(&path).map_err(|e| Error::from_io("read state of task", path, &e))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn stat_field(tid: i32, field: usize) -> Result<u64> {
    let text = stat_text(tid)?;
    field_of(&text, field)
        .and_then(|f| f.parse().ok())
        .ok_or_else(|| {
            Error::from_text(
                "parse state of task",
                format!("/proc/{tid}/stat"),
                format!("no number in field {field}"),
            )
        })
}

/// A field of /proc/PID/stat by its number in `proc_pid_stat(5)`, from 3. The name (field 2) may
/// hold blanks and parentheses, so we count from the last parenthesis.
fn field_of(text: &str, field: usize) -> Option<&str> {
    let (_, after_name) = text.rsplit_once(')')?;
    after_name
        .split_ascii_whitespace()
        .nth(field.checked_sub(3)?)
}

#[cfg(test)]
mod tests;
