//! A sweep of `mpps explain --sweep` as its line has it.

use super::result::doubt;
use super::words;
use mpps_lab::jobs::explain::sweep::Swept;
use mpps_record::SweepLine;

/// The line of all points.
#[must_use]
pub fn sweep_line(swept: &Swept) -> SweepLine {
    let mut line = SweepLine {
        receiver: swept.receiver.map(Into::into),
        doubts: swept.doubts.iter().map(doubt).collect(),
        ..swept.line.clone()
    };
    for (point, limit) in line.points.iter_mut().zip(&swept.limits) {
        point.limited_by = limit.map(words::limited_by);
    }
    line
}
