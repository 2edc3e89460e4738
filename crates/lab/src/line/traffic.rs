//! What was sent, and through which routes, as records have it.

use crate::destinations::Destinations;
use crate::fib::{Loaded, ReplayedChanges};
use crate::traffic::Traffic;
use mpps_record as record;

/// The entry for this traffic.
#[must_use]
pub fn traffic(traffic: &Traffic) -> record::Traffic {
    record::Traffic {
        flows: traffic.flows,
        flow_length_frames: traffic.flow_length,
        l4: traffic.transport.name().to_owned(),
        destinations: traffic.destinations.as_ref().map(destinations),
        family: if traffic.ipv6 { "ipv6" } else { "ipv4" }.to_owned(),
        bidirectional: traffic.bidirectional,
        dscp: traffic.dscp,
        queries_per_s: traffic.queries_per_s,
        seed: traffic.seed,
        sender_batch_frames: traffic.batch,
        port: traffic.port.name().to_owned(),
        route_changes: traffic.route_changes.as_deref().map(replayed_file),
    }
}

/// A file of route changes.
pub(crate) fn replayed_file(replayed: &ReplayedChanges) -> record::ReplayedFile {
    let changes = &replayed.changes;
    record::ReplayedFile {
        from: replayed.from.clone(),
        sha256: replayed.sha256.clone(),
        changes: changes.list.len() as u64,
        prefixes: changes.prefixes.len() as u64,
        left_out_changes: changes.changes_left_out,
        speed: replayed.speed.to_string(),
    }
}

fn destinations(destinations: &Destinations) -> record::Destinations {
    record::Destinations {
        from: destinations.from.clone(),
        prefixes: destinations.prefixes as u64,
        draw: destinations.draw.to_string(),
        distinct: destinations.distinct,
        period_frames: destinations.places(),
    }
}

/// The entry for routes that are all there.
#[must_use]
pub fn routes(
    destinations: &Destinations,
    left_out: Option<String>,
    loaded: &Loaded,
) -> record::Routes {
    record::Routes {
        from: destinations.from.clone(),
        routes: loaded.counted(),
        next_hops: Some(loaded.next_hops()),
        nexthop_objects: loaded.objects,
        loading_ns: loaded.loading_ns,
        counting_ns: loaded.counting_ns,
        fib_octets: loaded.fib_octets,
        left_out,
    }
}
