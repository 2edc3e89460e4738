//! `mpps loss --overload`: what the router forwards in each second of a lasting overload, and whether its management path
//! answers.

use super::frames::rate_axis;
use crate::chart::{Axis, Chart, Kind, Point, STYLES, Series};
use crate::number;
use crate::scale::Scale;
use mpps_record::{OverloadLine, OverloadSecond};

const ZERO: Scale = Scale::Linear { from_zero: true };

/// Forwarding rate and answered share by second, a line each frame size.
#[must_use]
pub fn overloads(lines: &[OverloadLine]) -> [Option<Chart>; 2] {
    let most = lines
        .iter()
        .map(|line| line.seconds.len())
        .max()
        .unwrap_or(0);
    let maximum = lines.iter().enumerate().filter_map(|(style, line)| {
        let fps = line.max_forwarding_fps? as f64;
        let ends = [0.0, most as f64].map(|at| Point::new(at, fps));
        let name = format!("{}: maximum before", number::frame(&line.frame));
        Some(Series::new(
            name,
            (style + 1) % STYLES,
            Kind::Rule,
            ends.into(),
        ))
    });
    let rates = series(lines, |second| Some(second.forwarding_fps as f64));
    let share =
        |second: &OverloadSecond| Some(second.answered? as f64 / second.asked?.max(1) as f64);
    let is_known = lines.iter().any(|line| line.management.is_some());
    let answers = if is_known {
        series(lines, share)
    } else {
        Vec::new()
    };
    let drawn = |title: &str, y, series| {
        let x = rate_axis("seconds of overload", ZERO);
        let note = "A hollow mark is a second that the machine disturbed.";
        Chart::new(title.to_owned(), note, x, y, series)
    };
    [
        drawn(
            "Forwarding rate under overload",
            rate_axis("forwarded, frames/s", ZERO),
            maximum.chain(rates).collect(),
        ),
        drawn(
            "Management path under overload",
            Axis::new("questions answered", ZERO, number::percent),
            answers,
        ),
    ]
}

fn series(lines: &[OverloadLine], value: impl Fn(&OverloadSecond) -> Option<f64>) -> Vec<Series> {
    let points = |line: &OverloadLine| {
        let mut passed_ns = 0;
        let point = |second: &OverloadSecond| {
            passed_ns += second.length_ns;
            let point = Point::new(passed_ns as f64 / 1e9, value(second)?);
            Some(
                point
                    .bounding(second.is_disturbed())
                    .told(words(line, second)),
            )
        };
        line.seconds.iter().filter_map(point).collect()
    };
    let line = |(style, line): (usize, &OverloadLine)| {
        Series::new(
            number::frame(&line.frame),
            style,
            Kind::Joined,
            points(line),
        )
    };
    lines.iter().enumerate().map(line).collect()
}

fn words(line: &OverloadLine, second: &OverloadSecond) -> String {
    let answers = second.answered.zip(second.asked);
    let answers = answers.map_or(String::new(), |(answered, asked)| {
        format!(", management {answered} of {asked} answered")
    });
    format!(
        "{}: {} frames/s forwarded of {} offered{answers}, {} of it disturbed",
        number::frame(&line.frame),
        number::grouped(second.forwarding_fps),
        number::grouped(second.offered_fps),
        number::percent(second.disturbed_share)
    )
}
