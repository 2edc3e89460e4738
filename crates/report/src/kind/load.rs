//! Loads of `mpps trial`.

use super::{Shown, dash, share, whole};
use crate::number;
use crate::table::Table;
use mpps_record::{LoadLine, LoadTrial};

const COLUMNS: &str =
    "frame;load;trial;sent, frames/s;forwarded, frames/s;lost;DUT busy;CPU time a frame";

/// Their trials have plots and gauges.
impl Shown for Vec<LoadLine> {
    fn table(&self) -> Table {
        let tried = |load: &LoadLine| {
            let trials = load.trials.iter().map(|tried| row(load, "", tried));
            let wire = load.wire.iter().map(|tried| row(load, " (wire)", tried));
            trials.chain(wire).collect::<Vec<_>>()
        };
        Table::new(COLUMNS, self.iter().flat_map(tried))
    }
}

fn row(load: &LoadLine, who: &str, tried: &LoadTrial) -> Vec<String> {
    vec![
        number::frame(&load.frame),
        load.load.clone(),
        format!("{}{who}", tried.trial),
        whole(tried.sent_fps),
        whole(tried.forwarding_fps),
        number::grouped(tried.lost_frames),
        share(tried.busiest_share),
        tried.ns_per_frame.map_or_else(dash, number::cost),
    ]
}
