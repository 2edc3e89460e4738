//! The few calls of bpf(2) that a loader does not cover. One sends live frames, one tells how long programs run. Others
//! make links and map entries inside another network namespace: by file descriptor, from a thread that is there.

use crate::error::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const BPF_MAP_UPDATE_ELEM: libc::c_long = 2;
const BPF_PROG_TEST_RUN: libc::c_long = 10;
const BPF_PROG_GET_FD_BY_ID: libc::c_long = 13;
const BPF_OBJ_GET_INFO_BY_FD: libc::c_long = 15;
const BPF_PROG_QUERY: libc::c_long = 16;
const BPF_LINK_CREATE: libc::c_long = 28;
const BPF_LINK_UPDATE: libc::c_long = 29;
const BPF_ENABLE_STATS: libc::c_long = 32;
/// `BPF_STATS_RUN_TIME`, the only kind there is.
const RUN_TIME: u32 = 0;
/// `BPF_F_TEST_XDP_LIVE_FRAMES` (Linux 5.18): verdicts are carried out instead of returned.
const LIVE_FRAMES: u32 = 1 << 1;
const XDP_FLAGS_DRV_MODE: u32 = 1 << 2;
/// `BPF_F_REPLACE`: only where the program is that which is named.
const REPLACE: u32 = 1 << 2;
/// `BPF_F_BEFORE`: with no other program named, before all there are.
const BEFORE: u32 = 1 << 3;

/// `enum bpf_attach_type` of the links we make (include/uapi/linux/bpf.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LinkKind {
    /// Native XDP on an interface of the calling thread's namespace.
    Xdp = 37,
    /// A perf event (target is its file descriptor).
    PerfEvent = 41,
    /// Traffic control, ingress, behind the programs that are there (Linux 6.6).
    TcxIngress = 46,
    /// Traffic control, egress, behind the programs that are there (Linux 6.6).
    TcxEgress = 47,
}

/// Attaches a program for traffic control before all that are there; otherwise as [`attach`].
///
/// # Errors
/// As [`attach`].
pub fn attach_first(program: BorrowedFd<'_>, target: u32, kind: LinkKind) -> Result<OwnedFd> {
    attach_with(program, target, kind, BEFORE)
}

/// The members of `union bpf_attr` for BPF_PROG_TEST_RUN.
#[repr(C)]
#[derive(Default)]
struct TestRunAttr {
    prog_fd: u32,
    retval: u32,
    data_size_in: u32,
    data_size_out: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    ctx_size_in: u32,
    ctx_size_out: u32,
    ctx_in: u64,
    ctx_out: u64,
    flags: u32,
    cpu: u32,
    batch_size: u32,
    reserved: u32,
}
const _: () = assert!(size_of::<TestRunAttr>() == 80);

/// The members of `union bpf_attr` for BPF_LINK_CREATE, padded over the per-kind part.
#[repr(C)]
#[derive(Default)]
struct LinkCreateAttr {
    prog_fd: u32,
    target: u32,
    attach_type: u32,
    flags: u32,
    per_kind: [u64; 4],
}
const _: () = assert!(size_of::<LinkCreateAttr>() == 48);

/// The members of `union bpf_attr` for BPF_LINK_UPDATE.
#[repr(C)]
#[derive(Default)]
struct LinkUpdateAttr {
    link_fd: u32,
    new_prog_fd: u32,
    flags: u32,
    old_prog_fd: u32,
}
const _: () = assert!(size_of::<LinkUpdateAttr>() == 16);

/// The members of `union bpf_attr` for BPF_MAP_UPDATE_ELEM.
#[repr(C)]
#[derive(Default)]
struct MapElementAttr {
    map_fd: u32,
    pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}
const _: () = assert!(size_of::<MapElementAttr>() == 32);

/// The member of `union bpf_attr` for BPF_ENABLE_STATS, padded.
#[repr(C)]
#[derive(Default)]
struct EnableStatsAttr {
    kind: u32,
    pad: u32,
}
const _: () = assert!(size_of::<EnableStatsAttr>() == 8);

/// The members of `union bpf_attr` for BPF_PROG_QUERY. The kernel writes to the last whatever size it is given.
#[repr(C)]
#[derive(Default)]
struct QueryAttr {
    target: u32,
    attach_type: u32,
    query_flags: u32,
    attach_flags: u32,
    prog_ids: u64,
    count: u32,
    pad: u32,
    prog_attach_flags: u64,
    link_ids: u64,
    link_attach_flags: u64,
    revision: u64,
}
const _: () = assert!(size_of::<QueryAttr>() == 64);

/// The members of `union bpf_attr` for BPF_PROG_GET_FD_BY_ID.
#[repr(C)]
#[derive(Default)]
struct IdAttr {
    id: u32,
    next_id: u32,
    open_flags: u32,
}
const _: () = assert!(size_of::<IdAttr>() == 12);

/// The members of `union bpf_attr` for BPF_OBJ_GET_INFO_BY_FD.
#[repr(C)]
#[derive(Default)]
struct InfoAttr {
    fd: u32,
    length: u32,
    info: u64,
}
const _: () = assert!(size_of::<InfoAttr>() == 16);

/// The first members of `struct bpf_prog_info`.
#[repr(C)]
#[derive(Default)]
struct ProgramInfo {
    before_name: [u64; 8],
    name: [u8; 16],
}
const _: () = assert!(size_of::<ProgramInfo>() == 80);

fn bpf<T>(
    command: libc::c_long,
    attr: &mut T,
) -> std::result::Result<libc::c_long, std::io::Error> {
    // SAFETY: attr is a live, initialised repr(C) prefix of union bpf_attr, its size is passed along, and
    // every pointer in it was made from a slice that the caller borrows for longer than the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_mut(attr),
            size_of::<T>(),
        )
    };
    if result < 0 {
        Err(std::io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// How a live-frames call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveEnd {
    /// A signal came (the way to end a call).
    Interrupted,
    /// All repetitions are done.
    Exhausted,
}

/// Octets that a page has room for on every kernel, whatever it keeps beside the frame.
const CERTAIN_ROOM: usize = 3072;

/// Runs the XDP program over live frames until a signal comes to the calling thread (or 2^32 - 1 turns
/// have passed): `frame` is the first content of each page, `batch` the pages handed on at once (1 to 256).
/// Redirects are looked up in the calling thread's network namespace. Needs Linux 5.18, CAP_NET_ADMIN and CAP_BPF.
///
/// # Errors
/// What bpf(2) said: EINVAL for a frame over a page's room or a kernel without live frames.
pub fn run_live_frames(program: BorrowedFd<'_>, frame: &[u8], batch: u32) -> Result<LiveEnd> {
    let mut attr = TestRunAttr {
        prog_fd: program.as_raw_fd().cast_unsigned(),
        data_size_in: u32::try_from(frame.len()).unwrap_or(u32::MAX),
        data_in: frame.as_ptr() as u64,
        repeat: u32::MAX,
        flags: LIVE_FRAMES,
        batch_size: batch,
        ..TestRunAttr::default()
    };
    match bpf(BPF_PROG_TEST_RUN, &mut attr) {
        Ok(_) => Ok(LiveEnd::Exhausted),
        Err(error) if error.raw_os_error() == Some(libc::EINTR) => Ok(LiveEnd::Interrupted),
        Err(error) => Err(Error::from_io(
            "run live frames",
            format!("of {} octets, batch {batch}", frame.len()),
            &error,
        )
        .with_remedy(if frame.len() > CERTAIN_ROOM {
            "pages of this kernel may have less room: take smaller frames, or packet sockets"
        } else {
            "needs Linux 5.18 or newer and root"
        })),
    }
}

/// Attaches a program to an interface index of the calling thread's namespace, or to a perf event's
/// descriptor. The program stays attached while the returned descriptor is open.
///
/// # Errors
/// What bpf(2) said, with the place.
pub fn attach(program: BorrowedFd<'_>, target: u32, kind: LinkKind) -> Result<OwnedFd> {
    let flags = if kind == LinkKind::Xdp {
        XDP_FLAGS_DRV_MODE
    } else {
        0
    };
    attach_with(program, target, kind, flags)
}

fn attach_with(
    program: BorrowedFd<'_>,
    target: u32,
    kind: LinkKind,
    flags: u32,
) -> Result<OwnedFd> {
    let mut attr = LinkCreateAttr {
        prog_fd: program.as_raw_fd().cast_unsigned(),
        target,
        attach_type: kind as u32,
        flags,
        ..LinkCreateAttr::default()
    };
    match bpf(BPF_LINK_CREATE, &mut attr) {
        // SAFETY: on success the kernel returned a new descriptor that nobody else owns.
        Ok(fd) => Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) }),
        Err(error) => {
            Err(
                Error::from_io("attach program", format!("{kind:?} to {target}"), &error)
                    .with_remedy(remedy(kind)),
            )
        }
    }
}

/// More programs than this are not listed.
const LISTED: usize = 64;

/// Names of the programs that tcx has at an interface of the calling thread's namespace (64 at most), in their order. None
/// for a kernel without tcx.
///
/// # Errors
/// What bpf(2) said, with the place. No such interface: ENODEV.
pub fn attached(target: u32, kind: LinkKind) -> Result<Vec<String>> {
    let mut ids = [0_u32; LISTED];
    let mut attr = QueryAttr {
        target,
        attach_type: kind as u32,
        prog_ids: ids.as_mut_ptr() as u64,
        count: LISTED as u32,
        ..QueryAttr::default()
    };
    match bpf(BPF_PROG_QUERY, &mut attr) {
        Ok(_) => {}
        // None was ever there; a kernel without tcx; more than there is room for.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINVAL)) => {
            return Ok(Vec::new());
        }
        Err(error) if error.raw_os_error() == Some(libc::ENOSPC) => {}
        Err(error) => {
            let place = format!("{kind:?} of {target}");
            return Err(Error::from_io("list programs at", place, &error));
        }
    }
    let there = ids.into_iter().take_while(|&id| id != 0);
    Ok(there.map(|id| name(id).unwrap_or_default()).collect())
}

/// The name of the program with this id. `None`: it is gone.
fn name(id: u32) -> Option<String> {
    let mut attr = IdAttr {
        id,
        ..IdAttr::default()
    };
    let fd = bpf(BPF_PROG_GET_FD_BY_ID, &mut attr).ok()?;
    // SAFETY: on success the kernel returned a new descriptor that nobody else owns.
    let program = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    let mut info = ProgramInfo::default();
    let mut attr = InfoAttr {
        fd: program.as_raw_fd().cast_unsigned(),
        length: size_of::<ProgramInfo>() as u32,
        info: std::ptr::from_mut(&mut info) as u64,
    };
    bpf(BPF_OBJ_GET_INFO_BY_FD, &mut attr).ok()?;
    let octets = info.name.split(|&octet| octet == 0).next()?;
    Some(String::from_utf8_lossy(octets).into_owned())
}

/// Lets one program of a link take the place of the other, in one step.
///
/// # Errors
/// What bpf(2) said: EPERM if the link's program is another.
pub fn replace(link: BorrowedFd<'_>, [old, new]: [BorrowedFd<'_>; 2]) -> Result<()> {
    let mut attr = LinkUpdateAttr {
        link_fd: link.as_raw_fd().cast_unsigned(),
        new_prog_fd: new.as_raw_fd().cast_unsigned(),
        flags: REPLACE,
        old_prog_fd: old.as_raw_fd().cast_unsigned(),
    };
    bpf(BPF_LINK_UPDATE, &mut attr).map(drop).map_err(|error| {
        let object = "of a link, whose program may be another by now";
        Error::from_io("replace the program", object, &error)
    })
}

/// Whether this kernel has tcx links (Linux 6.6). Asks for one on an interface that no namespace has: a
/// kernel that knows them looks for it (ENODEV), others do not get so far (EINVAL). `program` is any for
/// traffic control.
///
/// # Errors
/// Any other answer: it says nothing of tcx.
pub fn has_tcx(program: BorrowedFd<'_>) -> Result<bool> {
    const NOWHERE: u32 = u32::MAX >> 1;
    match attach(program, NOWHERE, LinkKind::TcxIngress) {
        Err(error) if error.errno() == Some(libc::ENODEV) => Ok(true),
        Err(error) if error.errno() == Some(libc::EINVAL) => Ok(false),
        Err(error) => Err(error),
        Ok(_link) => Err(Error::from_text(
            "look for tcx",
            format!("interface {NOWHERE}"),
            "it exists",
        )),
    }
}

fn remedy(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Xdp => {
            "needs root, native XDP on the interface (Linux 5.9), and no other XDP program there"
        }
        LinkKind::PerfEvent => "needs root and Linux 5.15",
        LinkKind::TcxIngress | LinkKind::TcxEgress => "needs root and Linux 6.6",
    }
}

/// Writes one map entry from the calling thread (a DEVMAP looks the interface up in its namespace).
///
/// # Errors
/// What bpf(2) said.
pub fn update_map(map: BorrowedFd<'_>, key: &[u8], value: &[u8]) -> Result<()> {
    let mut attr = MapElementAttr {
        map_fd: map.as_raw_fd().cast_unsigned(),
        key: key.as_ptr() as u64,
        value: value.as_ptr() as u64,
        ..MapElementAttr::default()
    };
    bpf(BPF_MAP_UPDATE_ELEM, &mut attr)
        .map(|_| ())
        .map_err(|error| Error::from_io("write map entry", format!("key {key:?}"), &error))
}

/// How often a program ran and for how long, since it was loaded, while runs were timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramRuns {
    /// Runs.
    pub runs: u64,
    /// Their time, ns: about one reading of the clock a run is in it, and whatever interrupted the program.
    pub ns: u64,
}

/// Times every run of every eBPF program of this machine while the returned descriptor is open (Linux 5.8).
/// Each run then reads the clock twice.
///
/// # Errors
/// What bpf(2) said.
pub fn time_runs() -> Result<OwnedFd> {
    let mut attr = EnableStatsAttr {
        kind: RUN_TIME,
        ..EnableStatsAttr::default()
    };
    match bpf(BPF_ENABLE_STATS, &mut attr) {
        // SAFETY: on success the kernel returned a new descriptor that nobody else owns.
        Ok(fd) => Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) }),
        Err(error) => {
            Err(
                Error::from_io("time the runs of eBPF programs", "of this machine", &error)
                    .with_remedy("needs root and Linux 5.8"),
            )
        }
    }
}

/// What was timed of a program so far.
///
/// # Errors
/// The kernel does not say it.
pub fn program_runs(program: BorrowedFd<'_>) -> Result<ProgramRuns> {
    let path = format!("/proc/self/fdinfo/{}", program.as_raw_fd());
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Error::from_io(
            "read the kernel's information about a program",
            &path,
            &error,
        )
    })?;
    let member = |name: &str| {
        let mut values = text.lines().filter_map(|line| line.strip_prefix(name));
        values.next()?.trim().parse().ok()
    };
    match (member("run_cnt:"), member("run_time_ns:")) {
        (Some(runs), Some(ns)) => Ok(ProgramRuns { runs, ns }),
        _ => Err(Error::from_text(
            "read the kernel's information about a program",
            path,
            "the kernel does not say how often it ran",
        )),
    }
}
