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
