//! What a change of frames/s is of the router's part of a frame's cost alone. The bed's part is the same at both levels, so
//! it makes each change smaller.

use crate::cell::MeasuredCell;
use crate::state::{self, State};
use mpps_record::{FrameCost, Interval};

/// A number without the bed's part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone {
    /// The bed's share of a frame's cost.
    pub share: Interval<f64>,
    /// The number that a router without that share would have.
    pub value: Interval<f64>,
}

impl Alone {
    /// Of a change of frames/s, as a share of the first level's, by the costs that a cell of the campaign has of this size.
    /// The first level was measured in this state of the machine. `Ok(None)`: the cell has none.
    ///
    /// # Errors
    /// The costs are of another state, or the change is greater than all of the router's part.
    pub fn of_change(
        change: Interval<f64>,
        cell: Option<&str>,
        (frame, at): (&str, State),
        all: &[MeasuredCell<'_>],
    ) -> Result<Option<Self>, String> {
        let cell = all.iter().find(|one| Some(&*one.line.cell) == cell);
        let run = cell.and_then(|cell| cell.run.filter(|_| cell.failure().is_none()));
        let mut results = run.iter().flat_map(|run| &run.results);
        let result = results.find(|line| line.frame == frame);
        let overload = result.map(|line| &line.overload);
        let Some((overload, cost)) = overload.and_then(|of| Some((of, of.cost?))) else {
            return Ok(None);
        };
        let (_, distance_ns, work_ns) = overload.at_overload();
        state::check("bed's share", [at, (distance_ns, work_ns)])?;
        let share = share(cost);
        let without = |change: f64, share: f64| {
            let left = 1.0 / (1.0 + change) - share;
            (left > 0.0).then(|| (1.0 - share) / left - 1.0)
        };
        let ends = |change| Some([without(change, share.low)?, without(change, share.high)?]);
        let value = ends(change.low)
            .zip(ends(change.high))
            .and_then(|(low, high)| {
                Some(Interval {
                    low: low[0].min(low[1]),
                    median: without(change.median, share.median)?,
                    high: high[0].max(high[1]),
                })
            });
        let value = value.ok_or("the change is greater than all of the router's part")?;
        Ok(Some(Self { share, value }))
    }
}

/// The bed's share of a frame's cost.
pub fn share(
    FrameCost {
        bed_ns, router_ns, ..
    }: FrameCost,
) -> Interval<f64> {
    let of = |bed: f64, router: f64| bed / (bed + router);
    Interval {
        low: of(bed_ns.low, router_ns.high),
        median: of(bed_ns.median, router_ns.median),
        high: of(bed_ns.high, router_ns.low),
    }
}
