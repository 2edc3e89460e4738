//! `mpps back-to-back`: each search, and the buffer that bursts imply.

use super::frames::rate_axis;
use crate::chart::{Axis, Chart, Kind, Point, STYLES, Series};
use crate::number;
use crate::scale::Scale;
use mpps_record::{BurstLine, BurstSum};

const ZERO: Scale = Scale::Linear { from_zero: true };

/// The longest burst of each search, and the buffer time by frame size.
#[must_use]
pub fn bursts(lines: &[BurstLine]) -> [Option<Chart>; 2] {
    [searches(lines), buffers(lines)]
}

fn searches(lines: &[BurstLine]) -> Option<Chart> {
    let most = lines.iter().map(|line| line.searches.len()).max()?;
    let rings = lines.iter().filter_map(|line| line.own_ring_frames).max();
    let rings = rings.map(|frames| {
        let ends = [1.0, most.max(1) as f64].map(|at| Point::new(at, f64::from(frames)));
        let name = format!("the bed's own rings: {frames} frames");
        Series::new(name, STYLES - 1, Kind::Rule, ends.into())
    });
    let searched = lines.iter().enumerate().map(|(style, line)| {
        let points = line.searches.iter().zip(1..).map(|(search, at)| {
            let (longest, lossy) = (search.longest_frames, search.lossy_frames);
            let words = format!(
                "{}, search {at}: {} frames without loss, {} with loss, at {} frames/s",
                number::frame(&line.frame),
                number::grouped(longest),
                number::grouped(lossy),
                number::grouped(search.burst_fps)
            );
            let point = Point::new(f64::from(at), longest as f64);
            point.between(longest as f64, lossy as f64).told(words)
        });
        let name = number::frame(&line.frame);
        Series::new(name, style, Kind::Marks, points.collect())
    });
    Chart::new(
        "Longest burst without loss".to_owned(),
        "Lines reach to the shortest burst that lost frames each time.",
        rate_axis("number of the search", Scale::Whole),
        rate_axis("frames back to back", Scale::Linear { from_zero: false }),
        rings.into_iter().chain(searched).collect(),
    )
}

fn buffers(lines: &[BurstLine]) -> Option<Chart> {
    let names = lines.iter().map(|line| number::frame(&line.frame));
    let names = Scale::Names(names.collect());
    let by_frame = |name: &str, style, value: fn(&BurstSum) -> Option<u64>| {
        let points = lines.iter().enumerate().filter_map(|(at, line)| {
            let ns = value(line.all.as_ref()?)?;
            Some(Point::new(at as f64, ns as f64))
        });
        Series::new(name, style, Kind::Joined, points.collect())
    };
    let series = vec![
        by_frame("implied", 4, |all| Some(all.implied_buffer_ns)),
        by_frame("corrected by what it forwards meanwhile", 1, |all| {
            all.corrected_buffer_ns
        }),
    ];
    Chart::new(
        "Buffer time by frame size".to_owned(),
        "The time follows RFC 9004 section 5.4, from the average of all searches.",
        Axis::new("frame size, FCS included", names, number::short),
        Axis::new("buffer time", ZERO, number::time),
        series,
    )
}
