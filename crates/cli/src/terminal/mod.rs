//! What a person sees: results on stdout, progress and errors on stderr.

mod beds;
mod calibration;
mod columns;
mod comparison;
mod details;
mod doctor;
mod document;
mod doubts;
mod fib;
mod fib_scale;
mod fixed_load;
mod limits;
mod loss;
pub mod plan;
pub mod progress;
mod recovery;
mod report;
mod routes;
mod style;
mod table;
mod wrap;

pub use beds::{beds, beds_json};
pub use calibration::calibration;
pub use comparison::{compared_in_words, comparison, comparison_title};
pub use doctor::{doctor, doctor_json};
pub use fib::{
    RoutesLoaded, cleared, cleared_json, contents, contents_json, fib_stats, fib_stats_json,
    left_out, loaded, loaded_json,
};
pub use fib_scale::{ScaleRow, bed_line, fib_scale, scale_doubts, scale_title};
pub use fixed_load::{fixed_load, fixed_load_plan, in_words};
pub use limits::{limits, limits_json};
pub use loss::{loss, loss_title};
pub use mpps_report::number::{percent_or_under as percent, spaced as grouped};
pub use mpps_report::{Reading, Row, machine_line};
pub use recovery::recovery;
pub use report::{Report, comparability};
pub use routes::{prefixes, routes, routes_json};
pub use wrap::fitted;

pub use crate::print::{error, lost_output, note, out};

use columns::columns;
use table::table;

#[cfg(test)]
mod fixture;
