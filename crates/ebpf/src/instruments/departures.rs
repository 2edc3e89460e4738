//! Reads `departures.bpf.c`: what left a port and when.

skeleton!("departures");

plain! {
    departures: 9376 { frames, first_ns, last_ns, bulks, gaps }
}

/// What left since the counters were last cleared; `gaps` has the buckets of `mpps_method::histogram`.
pub use types::departures as Departed;
