//! What was sent, and through which routes: part of a run's first line.

use mpps_lab::destinations::Destinations;
use mpps_lab::fib::Loaded;
use mpps_lab::traffic::Traffic;
use serde::Serialize;

#[derive(Serialize)]
pub struct TrafficEntry {
    flows: u32,
    /// Null: for ever.
    flow_length_frames: Option<u32>,
    /// `udp`, `tcp` or `tcp-stream`.
    l4: &'static str,
    /// Null: one, the tester's own address.
    destinations: Option<DestinationsEntry>,
    family: &'static str,
    bidirectional: bool,
    dscp: u8,
    seed: u64,
    sender_batch_frames: u32,
    port: &'static str,
}

/// Where frames went beyond the DUT.
#[derive(Serialize)]
struct DestinationsEntry {
    /// File or prefix they were drawn from.
    from: String,
    prefixes: usize,
    draw: String,
    /// Different destinations; a trial of fewer frames meets fewer of them.
    distinct: u64,
    /// Frames after which the order of destinations begins again.
    period_frames: u64,
}

/// Routes that were loaded into the DUT.
#[derive(Clone, Debug, Serialize)]
pub struct RoutesEntry {
    from: String,
    /// Counted back in the DUT's FIB.
    pub routes: u64,
    /// Different ones, as counted back with the routes.
    next_hops: u64,
    nexthop_objects: bool,
    loading_ns: u64,
    counting_ns: u64,
    /// What was not loaded, and why.
    pub left_out: Option<String>,
}

impl TrafficEntry {
    /// The entry for this traffic.
    pub fn of(traffic: &Traffic) -> Self {
        Self {
            flows: traffic.flows,
            flow_length_frames: traffic.flow_length,
            l4: traffic.transport.name(),
            destinations: traffic.destinations.as_ref().map(destinations),
            family: if traffic.ipv6 { "ipv6" } else { "ipv4" },
            bidirectional: traffic.bidirectional,
            dscp: traffic.dscp,
            seed: traffic.seed,
            sender_batch_frames: traffic.batch,
            port: traffic.port.name(),
        }
    }
}

fn destinations(of: &Destinations) -> DestinationsEntry {
    DestinationsEntry {
        from: of.from.clone(),
        prefixes: of.prefixes,
        draw: of.draw.to_string(),
        distinct: of.distinct,
        period_frames: of.places(),
    }
}

impl RoutesEntry {
    /// The entry for routes that are all there.
    #[must_use]
    pub fn of(destinations: &Destinations, left_out: Option<String>, loaded: &Loaded) -> Self {
        Self {
            from: destinations.from.clone(),
            routes: loaded.counted(),
            next_hops: loaded.next_hops(),
            nexthop_objects: loaded.objects,
            loading_ns: loaded.loading_ns,
            counting_ns: loaded.counting_ns,
            left_out,
        }
    }
}
