//! What a person sees: results on stdout, progress and errors on stderr.

mod beds;
mod calibration;
mod columns;
mod details;
mod digits;
mod doctor;
mod doubts;
mod fib;
mod fib_scale;
mod fixed_load;
mod headline;
mod limits;
mod loss;
pub mod plan;
pub mod progress;
mod recovery;
mod report;
mod routes;
mod row;
mod style;
mod table;
mod wrap;

pub use beds::{beds, beds_json};
pub use calibration::calibration;
pub use doctor::{doctor, doctor_json};
pub use fib::{
    RoutesLoaded, cleared, cleared_json, contents, contents_json, fib_stats, fib_stats_json,
    left_out, loaded, loaded_json,
};
#[cfg(test)]
pub(crate) use fib_scale::tests::points as scale_points_for_tests;
pub use fib_scale::{
    ScaleRow, bed_line, fib_scale, machine_line, scale_doubts, scale_title, three_digits,
};
pub use fixed_load::{fixed_load, fixed_load_plan, in_words};
pub use limits::{limits, limits_json};
pub use loss::{loss, loss_title};
pub use recovery::recovery;
pub use report::{Report, comparability};
pub use routes::{prefixes, routes, routes_json};
pub use row::Row;
pub use wrap::fitted;

pub use crate::print::{error, lost_output, note, out};

use columns::columns;
use table::table;

/// A count with its thousands apart: `1 550 000`.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1 000"),
            (1_550_000, "1 550 000"),
        ] {
            assert_eq!(grouped(count), text);
        }
    }
}
