//! Curves of `mpps loss`.

use super::{Shown, dash, share};
use crate::chart::Chart;
use crate::gauges::{BUSY, Gauges, Labels, with};
use crate::table::Table;
use crate::{number, plots, sentence};
use mpps_record::{CurveLine, CurvePoint, Plan, Run, Verdict};

const COLUMNS: &str = "frame;verdict;load;offered, frames/s;forwarded, frames/s;lost;loss;DUT busy";

impl Shown for Vec<CurveLine> {
    fn purpose(&self, plan: &Plan) -> Option<String> {
        let whole = "The share of frames lost at each load, from the highest down.";
        sentence::lasting(plan).is_none().then(|| whole.to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        self.iter().map(sentence::curve).collect()
    }

    fn table(&self) -> Table {
        let loads = self
            .iter()
            .flat_map(|curve| curve.loads.iter().map(move |load| (curve, load)));
        Table::new(COLUMNS, loads.map(row))
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for curve in self {
            for load in &curve.loads {
                let share = load.load_share.to_string();
                let labels = with(labels, &[("frame", &curve.frame), ("load_ratio", &share)]);
                let at = load.measured.as_ref();
                let judged = matches!(load.verdict, Verdict::Lossless | Verdict::Lossy);
                let at = at.filter(|_| judged);
                let fps = |fps: u64| fps as f64;
                gauges.add(
                    "mpps_loss_ratio",
                    "Frames lost of those that reached the DUT.",
                    &labels,
                    at.map(|at| at.loss_ratio),
                );
                gauges.add(
                    "mpps_offered_load_frames_per_second",
                    "Load really sent.",
                    &labels,
                    at.map(|at| fps(at.offered_fps)),
                );
                gauges.add(
                    "mpps_forwarding_rate_frames_per_second",
                    "Forwarding rate of the DUT at a load.",
                    &labels,
                    at.map(|at| fps(at.forwarding_fps)),
                );
                gauges.add(
                    BUSY.0,
                    BUSY.1,
                    &labels,
                    at.and_then(|at| at.dut_busiest_cpu_share),
                );
            }
        }
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        plots::curves(self).into()
    }
}

fn row((curve, load): (&CurveLine, &CurvePoint)) -> Vec<String> {
    let at = load.measured.as_ref();
    let count = |value: Option<u64>| value.map_or_else(dash, number::grouped);
    vec![
        number::frame(&curve.frame),
        if at.is_some() {
            load.verdict.to_string()
        } else {
            load.verdict_text.clone()
        },
        number::percent(load.load_share),
        count(at.map(|at| at.offered_fps)),
        count(at.map(|at| at.forwarding_fps)),
        count(at.map(|at| at.lost_frames)),
        at.map_or_else(dash, |at| number::percent(at.loss_ratio)),
        share(at.and_then(|at| at.dut_busiest_cpu_share)),
    ]
}
