//! The kernel threads that poll a port. A thread's name (napi/mD-7) does not say in which namespace mD is:
//! the kernel is asked, or where it does not tell, what each thread was made for is looked at.

use crate::bed::Port;
use crate::tester::error::TesterError;
use crate::tester::kernel_interfaces::NapiList;
use crate::tester::programs;
use libbpf_rs::Iter;
use mpps_ebpf::Plain;
use mpps_ebpf::instruments::napi::{NapiSkelBuilder, NapiThread};
use std::io::Read;

/// The threads of this port's NAPI, in the order of its queues.
pub fn threads(port: &Port, list: NapiList) -> Result<Vec<i32>, TesterError> {
    let netns = &port.netns;
    match list {
        NapiList::Netlink => {
            let listed = netns.run(|| mpps_linux::napi::list(&port.name))??;
            Ok(listed.into_iter().filter_map(|napi| napi.thread).collect())
        }
        NapiList::Tasks => {
            let mut all = all_threads()?;
            all.retain(|thread| {
                thread.ifindex == port.ifindex && u64::from(thread.netns) == netns.inode()
            });
            all.sort_by_key(|thread| thread.napi_id);
            Ok(all.into_iter().map(|thread| thread.tid).collect())
        }
    }
}

/// Every NAPI thread of the machine (see `napi.bpf.c`).
fn all_threads() -> Result<Vec<NapiThread>, TesterError> {
    let open = programs::open(NapiSkelBuilder::default(), "open the list of NAPI threads")?;
    let skel = programs::load(open, "load the list of NAPI threads")?;
    let mut iterator = skel
        .progs
        .napi_threads
        .attach()
        .and_then(|link| Iter::new(&link))
        .map_err(|e| TesterError::bpf("list NAPI threads", &e))?;
    let mut written = Vec::new();
    iterator
        .read_to_end(&mut written)
        .map_err(|e| mpps_linux::Error::from_io("read", "the list of NAPI threads", &e))?;
    let threads = written.chunks(size_of::<NapiThread>());
    let threads: Option<Vec<NapiThread>> = threads.map(NapiThread::from_octets).collect();
    threads.ok_or(TesterError::Layout("list NAPI threads"))
}
