//! A point of `mpps fib-scale` as a row.

use crate::terminal::Row;
use mpps_record::{Doubt, Interval, PointLine};
use mpps_report::sentence;

/// One row: a point and a frame size; where several goals were searched for, one a goal.
#[derive(Clone, Debug)]
pub struct ScaleRow<'a> {
    /// What was measured.
    pub point: &'a PointLine,
    /// What the search found; `None` without a search.
    pub result: Option<Row<'a>>,
}

impl<'a> ScaleRow<'a> {
    /// The rows of what was measured.
    pub fn each(points: &'a [PointLine]) -> Vec<Self> {
        let rows = |point: &'a PointLine| {
            let results: Vec<_> = Row::each(&point.results).into_iter().map(Some).collect();
            let results = if results.is_empty() {
                vec![None]
            } else {
                results
            };
            let row = move |result| Self { point, result };
            results.into_iter().map(row)
        };
        points.iter().flat_map(rows).collect()
    }

    /// The point, where a line is about it: `1 000 routes, 256 destinations`.
    pub fn place(&self) -> String {
        sentence::table_size(self.point)
    }

    /// The frame sizes, and the goal where there are several.
    pub(super) fn subject(&self) -> &str {
        let searched = self.result.as_ref().map(|row| row.subject.as_str());
        searched.or(self.point.frame.as_deref()).unwrap_or("-")
    }

    /// Routes counted in the DUT's FIB.
    pub fn routes(&self) -> u64 {
        self.point.routes.as_ref().map_or(0, |all| all.routes)
    }

    /// Different destinations, as drawn; without any there is one, the tester's own address.
    pub fn destinations(&self) -> u64 {
        let drawn = self.point.traffic.destinations.as_ref();
        drawn.map_or(1, |destinations| destinations.distinct)
    }

    /// What to doubt: of the search, and of what came before it.
    pub(super) fn doubts(&self) -> Vec<Doubt> {
        let searched = self.result.as_ref();
        let mut doubts = searched.map_or_else(Vec::new, |row| row.doubts.clone());
        for doubt in &self.point.doubts {
            if doubts.iter().all(|known| known.name != doubt.name) {
                doubts.push(doubt.clone());
            }
        }
        doubts
    }

    /// What a frame costs the router, ns.
    pub fn router_ns(&self) -> Option<Interval<f64>> {
        self.point.cost.map(|cost| cost.router_ns)
    }

    /// Busy share of the DUT's busiest CPU there.
    pub(super) fn busy(&self) -> Option<f64> {
        self.point.load_of_maximum()?.dut_busiest_cpu_share
    }

    /// Whether nothing is known of the point.
    pub fn is_empty(&self) -> bool {
        let costs = [self.point.cost, self.point.cost_at_load()];
        costs.iter().all(Option::is_none) && self.point.max_forwarding_fps.is_none()
    }

    /// What limits the maximum forwarding rate.
    pub fn limited_by(&self) -> &str {
        self.point.limited_by.as_deref().unwrap_or("-")
    }
}
