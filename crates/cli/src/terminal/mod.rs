//! What a person sees: results on stdout, progress and errors on stderr.

pub mod bar;
#[cfg(feature = "measure")]
mod beds;
mod campaign;
#[cfg(feature = "measure")]
mod campaign_ended;
mod columns;
mod described;
#[cfg(feature = "measure")]
mod doctor;
mod document;
pub mod doubts;
#[cfg(feature = "measure")]
mod fib;
mod limits;
mod modifiers;
#[cfg(feature = "measure")]
pub mod plan;
#[cfg(feature = "measure")]
pub mod progress;
mod records;
#[cfg(feature = "measure")]
mod recovery;
mod result;
mod routes;
#[cfg_attr(
    not(feature = "measure"),
    allow(dead_code, reason = "most colours are of progress")
)]
mod style;
mod suite;
#[cfg(feature = "measure")]
pub mod top;
mod tune;

pub use campaign::show_campaign;
#[cfg(feature = "measure")]
pub use campaign_ended::campaign_ended;
pub use document::document;
pub use limits::{limits, limits_json};
pub use mpps_report::number::spaced as grouped;
pub use mpps_report::{Row, machine_line};
pub use records::{file_name, file_size, records, records_json};
pub use result::show;
pub use routes::{prefixes, routes, routes_json};
#[cfg(feature = "measure")]
pub use tune::{
    cookbook, files_planned, layout, layout_json, persisted, reverted_json, script,
    setting_command, settings_applied, settings_planned, settings_reverted, survey, survey_json,
};
pub use tune::{setting, settings, settings_json};
#[cfg(feature = "measure")]
pub use {
    beds::{beds, beds_json},
    described::told,
    doctor::{doctor, doctor_json},
    fib::{
        RoutesLoaded, cleared, cleared_json, contents, contents_json, fib_stats, fib_stats_json,
        left_out, loaded, loaded_json,
    },
    recovery::recovery,
};

pub use crate::print::{error, fitted, keep_error, lost_output, note, out};

use crate::print::wrap;
use columns::{columns, headed};
use modifiers::compare_command;

#[cfg(all(test, feature = "measure"))]
#[path = "tests/fixture.rs"]
mod fixture;
