//! Reads `drops.bpf.c`: why and where frames are dropped.

skeleton!("drops");

plain! {
    dropped_key: 16 { location, ifindex, reason }
}

/// Where frames of one interface were dropped for one reason.
pub use types::dropped_key as DroppedKey;
