//! What a person sees: results on stdout, progress and errors on stderr.

mod beds;
mod calibration;
mod columns;
mod details;
mod digits;
mod doctor;
mod document;
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
mod search;
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
pub use loss::{loss, loss_title, percent};
pub use recovery::recovery;
pub use report::{Report, comparability};
pub use routes::{prefixes, routes, routes_json};
pub use row::Row;
use search::closeness;
pub use search::rule;
pub use wrap::fitted;

use columns::columns;
use std::io::{self, Write};
use std::sync::OnceLock;
use table::table;

/// The first error of standard output. It is kept here and not returned, so that no verb can forget it.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes a result. The program asks [`lost_output`] at its end whether all of it was written.
pub fn out(text: &str) {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes());
    keep_error(written.and_then(|()| stdout.flush()));
}

/// Keeps the error of a write to standard output. A reader who has gone (`| head`) is no error.
pub fn keep_error(written: io::Result<()>) {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => drop(LOST.set(error)),
        _ => {}
    }
}

/// Why a part of the result is not on standard output, if so.
#[must_use]
pub fn lost_output() -> Option<&'static io::Error> {
    LOST.get()
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
