//! The maximum forwarding rate that lower loads predict.

use mpps_method::cost_model::{Batching, CostModel, Point, prediction_error};
use mpps_method::{LimitedBy, Rate};
use mpps_record::{self as record, ProfiledLoad};

/// Fits the loads below the first, which is the saturated one, and predicts that. Else why not.
pub(super) fn fit(
    loads: &[ProfiledLoad],
    threads: u32,
    limited_by: LimitedBy,
) -> Result<record::CostModel, String> {
    let (saturated, lower) = loads.split_first().ok_or("nothing was measured")?;
    if limited_by != LimitedBy::Dut {
        return Err(
            "the router's CPU was not the limit, so there is no rate of it to predict".to_owned(),
        );
    }
    let points: Vec<Point> = lower.iter().filter_map(point).collect();
    let model = CostModel::fit(&points).map_err(|why| why.to_string())?;
    let batching = point(saturated).ok_or("nobody counted wake-ups")?.batching;
    let predicted = model.max_rate(batching, threads);
    let predicted = predicted.ok_or("a frame would cost nothing")?;
    let measured = Rate::from_fps(saturated.forwarding_fps.median);
    Ok(record::CostModel {
        frame_ns: model.per_frame_ns,
        wake_up_ns: model.per_wake_ns,
        poll_ns: model.per_poll_ns,
        off_ns: model.off_ns,
        loads: points.len() as u32,
        predicted_fps: predicted.fps(),
        measured_fps: measured.fps(),
        error_ratio: prediction_error(predicted, measured).ok_or("nothing was forwarded")?,
    })
}

fn point(load: &ProfiledLoad) -> Option<Point> {
    Some(Point {
        batching: Batching {
            wakes: load.wake_ups_per_frame?,
            polls: load.polls_per_frame.unwrap_or(0.0),
        },
        cost_ns: load.frame_ns.median,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::Interval;

    /// A load whose frames cost 500 ns, and 2 us a wake-up.
    fn load(fps: f64, wakes: f64) -> ProfiledLoad {
        let exact = |median| Interval {
            low: median,
            median,
            high: median,
        };
        ProfiledLoad {
            forwarding_fps: exact(fps),
            frame_ns: exact(500.0 + 2_000.0 * wakes),
            wake_ups_per_frame: Some(wakes),
            ..ProfiledLoad::default()
        }
    }

    #[test]
    fn lower_loads_predict_the_saturated_one() {
        let loads = [
            (1.6e6, 0.0),
            (1e6, 0.01),
            (7e5, 0.1),
            (4e5, 0.3),
            (1e5, 0.6),
        ];
        let loads = loads.map(|(fps, wakes)| load(fps, wakes));
        let model = fit(&loads, 1, LimitedBy::Dut).expect("a model");
        assert_eq!(model.loads, 4);
        assert!((model.predicted_fps - 2e6).abs() < 1.0, "{model:?}");
        assert!((model.error_ratio - 0.25).abs() < 1e-6, "{model:?}");
        // Two threads have twice the time.
        let two = fit(&loads, 2, LimitedBy::Dut).expect("a model");
        assert!((two.predicted_fps - 4e6).abs() < 1.0, "{two:?}");
    }

    #[test]
    fn a_model_that_cannot_be_says_why() {
        let few = [load(1.6e6, 0.0), load(1e6, 0.1)];
        let why = |loads: &[ProfiledLoad], limit| fit(loads, 1, limit).expect_err("no model");
        assert!(why(&few, LimitedBy::Dut).contains("needs 4"));
        assert!(why(&few, LimitedBy::Tester).contains("not the limit"));
        assert!(why(&[], LimitedBy::Dut).contains("nothing"));
    }
}
