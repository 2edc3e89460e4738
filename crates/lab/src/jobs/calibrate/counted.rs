//! Faults that are counted by the frame: loss, duplicates, reordering.

use super::{Ruler, with_fault};
use crate::jobs::{JobError, Trials};
use crate::tester::{Fault, Tester};
use mpps_ebpf::instruments::fault::Planted;
use mpps_method::{Counts, Offer, Rate, Span};
use mpps_record::CalibrationLine;

/// Load of the counting rows: far from any limit.
const COUNT_FPS: f64 = 100_000.0;
const COUNT_TIME: Span = Span::from_millis(250);
const DROP_EVERY: u64 = 1_000;
const DUPLICATE_EVERY: u64 = 500;
const SWAP_EVERY: u64 = 700;

/// A fault that is counted by the frame, and who counts it.
pub(super) struct Counted {
    pub(super) ruler: Ruler,
    fault: Fault,
    planted: fn(&Planted) -> u64,
    found: fn(&Counts) -> u64,
}

/// Exact to the frame, as the two that follow.
pub(super) const LOSS: Counted = Counted {
    ruler: Ruler("1 in 1000 frames lost", 0.0, "frames"),
    fault: Fault {
        drop_every: DROP_EVERY,
        ..Fault::NONE
    },
    planted: |planted| planted.dropped,
    found: |counts| counts.lost,
};

pub(super) const DUPLICATES: Counted = Counted {
    ruler: Ruler("1 in 500 frames doubled", 0.0, "frames"),
    fault: Fault {
        duplicate_every: DUPLICATE_EVERY,
        ..Fault::NONE
    },
    planted: |planted| planted.duplicated,
    found: |counts| counts.duplicated,
};

pub(super) const REORDERING: Counted = Counted {
    ruler: Ruler("1 in 700 frames reordered", 0.0, "frames"),
    fault: Fault {
        swap_every: SWAP_EVERY,
        ..Fault::NONE
    },
    planted: |planted| planted.swapped,
    found: |counts| counts.reordered,
};

/// The row of a fault that is counted.
pub(super) fn count(
    tester: &mut Tester<'_>,
    counted: &Counted,
    trials: &mut Trials<'_>,
) -> Result<CalibrationLine, JobError> {
    let offer = Offer::new(Rate::from_fps(COUNT_FPS), COUNT_TIME);
    let (planted, trial) = with_fault(tester, counted.fault, offer, trials)?;
    let planted = (counted.planted)(&planted);
    let found = (counted.found)(&trial.counts());
    Ok(counted.ruler.row(planted as f64, found as f64))
}
