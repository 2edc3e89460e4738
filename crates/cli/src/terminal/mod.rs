//! What a person sees: results on stdout, progress and errors on stderr.

pub mod bar;
mod beds;
mod calibration;
mod doctor;
mod doubts;
mod fib;
mod fib_scale;
mod limits;
pub mod plan;
pub mod progress;
mod recovery;
mod routes;
mod search;
mod table;
mod wrap;

pub use beds::{beds, beds_json};
pub use calibration::calibration;
pub use doctor::{doctor, doctor_json};
pub use doubts::doubts;
pub use fib::{
    RoutesLoaded, cleared, cleared_json, contents, contents_json, fib_stats, fib_stats_json,
    left_out, loaded, loaded_json,
};
#[cfg(test)]
pub(crate) use fib_scale::tests::rows as scale_rows_for_tests;
pub use fib_scale::{
    ScaleRow, bed_line, fib_scale, machine_line, scale_doubts, scale_title, three_digits,
};
pub use limits::{limits, limits_json};
pub use recovery::recovery;
pub use routes::{RoutesRead, prefixes, routes, routes_json};
pub use search::{closeness, rule};
pub use table::{Place, comparability, table};
pub use wrap::fitted;

use std::io::{self, Write};

/// Writes a result. A reader who has gone (`| head`) is no fault of the measurement.
pub fn out(text: &str) {
    let _ = io::stdout().lock().write_all(text.as_bytes());
}

/// Writes an error: one line, whatever it was made of.
pub fn error(text: &str) {
    note(&format!(
        "mpps: {}",
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    ));
}

/// Writes a line beside the result.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

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
