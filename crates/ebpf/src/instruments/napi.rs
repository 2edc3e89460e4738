//! Reads `napi.bpf.c`: the kernel threads that poll links.

skeleton!("napi");

plain! {
    napi_thread: 16 { tid, ifindex, netns, napi_id }
}

/// A kernel thread that polls one receive queue of a link.
pub use types::napi_thread as NapiThread;
