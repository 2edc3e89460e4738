//! Records in words: the sentences, numbers and doubts that the terminal and the page share; and records to one HTML
//! page that needs nothing beside it (no network, no library, no font), to Markdown, CSV, OpenMetrics, or a plot in SVG.
//!
//! [`page`] takes what `mpps_record` has read and returns the page's text. Every text of a record passes through
//! `maud`, which escapes it. This crate knows no bed and no kernel, so it builds wherever Rust does. Of a terminal it knows
//! that lines are short.
#![cfg_attr(
    not(test),
    deny(clippy::too_many_lines, clippy::print_stdout, clippy::print_stderr)
)]
#![forbid(unsafe_code)]

mod answers;
mod burn;
pub mod campaign;
mod campaign_page;
pub mod cell;
mod chart;
pub mod column;
mod csv;
pub mod doubts;
mod drawn;
pub mod expectation;
pub mod factorial;
pub mod flame;
mod gauges;
pub mod headline;
pub mod interval;
mod kind;
mod machine;
mod markdown;
mod members;
mod metrics;
pub mod number;
mod page;
pub mod part_table;
mod parts;
mod plots;
pub mod profile;
pub mod profile_change;
pub mod published;
mod raw;
mod room;
mod row;
mod scale;
mod section;
pub mod sentence;
mod source;
pub mod stage;
mod state;
mod suite;
mod sweep;
pub mod table;
mod told;
mod trial;
pub mod verdict;
pub mod watched;

pub use csv::csv;
pub use kind::{Answered, Described, Shown, Subjects, if_slower, picture, unanswered};
pub use machine::{machine_line, quoted};
pub use markdown::markdown;
pub use metrics::openmetrics;
pub use page::page;
pub use raw::Raw;
pub use row::{Reading, Row};
pub use source::{Gathered, Source, missing_trials};
pub use suite::Suite;
pub use told::Told;
