//! The table of a fixed load: everything counted, the router's beside the wire's.

use super::Tried;
use crate::terminal::{columns, grouped};
use mpps_method::Span;
use mpps_record::{LoadLine, LoadTrial};
use mpps_report::number::busy;

/// What is counted or told of a trial, with its name.
type Cell = (&'static str, fn(Tried<'_>) -> String);
/// A place of loss, and what was lost there.
type Place = (&'static str, fn(&LoadTrial) -> u64);

/// Shown for every trial, places of loss aside.
const ROWS: [Cell; 15] = [
    ("intended, frames", |t| {
        grouped(t.sum(|way| way.intended_frames))
    }),
    ("offered", |t| grouped(t.sum(|way| way.sent_frames))),
    ("forwarded", |t| grouped(t.found.forwarded_frames)),
    (LOST, |t| grouped(t.found.lost_frames)),
    ("duplicated", |t| {
        grouped(t.sum(|way| way.duplicated_frames))
    }),
    ("reordered", |t| grouped(t.sum(|way| way.reordered_frames))),
    ("busy, busiest CPU", |t| {
        t.found.busiest_share.map_or("-".to_owned(), busy)
    }),
    ("CPU time a frame", |t| {
        let ns = t.found.ns_per_frame;
        ns.map_or("-".to_owned(), |ns| format!("{ns:.0} ns"))
    }),
    ("latency, 50 %", |t| span(t.line.latency.p50_ns)),
    ("latency, 99 %", |t| span(t.line.latency.p99_ns)),
    ("latency, 99.9 %", |t| span(t.line.latency.p999_ns)),
    ("latency, most", |t| span(t.line.latency.max_ns)),
    ("sent late, median", |t| span(t.line.lateness.p50_ns)),
    ("sent late, worst", |t| span(t.line.lateness.max_ns)),
    ("stolen of a CPU", |t| {
        format!("{:.1} %", 100.0 * t.found.stolen_share)
    }),
];
/// The row below which places of loss stand.
const LOST: &str = "lost";

/// Where frames were lost, in the order they meet it.
pub(super) const PLACES: [Place; 4] = [
    ("before the router's NIC", |t| t.lost_before_nic_frames),
    ("in the router's receive ring", |t| t.lost_nic_ring_frames),
    ("inside the router", |t| t.lost_inside_frames),
    ("in the receiver's ring", |t| t.lost_receiver_ring_frames),
];

/// A row for what is counted, and one for each place of loss.
pub(super) fn table(load: &LoadLine, tried: Tried<'_>, wire: Option<Tried<'_>>) -> String {
    let head = wire.map_or("", |_| "a wire instead");
    let received = load.receiver.as_ref();
    let mut rows = vec![[
        received.map_or(String::new(), |place| format!("received at the {place}")),
        "the router".to_owned(),
        head.to_owned(),
    ]];
    for (what, cell) in &ROWS {
        let of_wire = wire.map_or(String::new(), cell);
        rows.push([(*what).to_owned(), cell(tried), of_wire]);
        for (place, lost) in PLACES.iter().filter(|_| *what == LOST) {
            let (router, wire) = (lost(tried.found), wire.map(|wire| lost(wire.found)));
            if router + wire.unwrap_or(0) > 0 {
                let of_wire = wire.map_or(String::new(), grouped);
                rows.push([format!("  {place}"), grouped(router), of_wire]);
            }
        }
    }
    columns(&rows, &[0])
}

/// Three digits, for histograms know no more.
pub(super) fn span(ns: Option<u64>) -> String {
    let Some(ns) = ns else {
        return "-".to_owned();
    };
    let digits = ns.checked_ilog10().unwrap_or(0);
    let unit = 10_u64.pow(digits.saturating_sub(2));
    Span::from_nanos(ns.div_ceil(unit) * unit).to_string()
}
