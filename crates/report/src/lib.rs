//! Records to one HTML page that needs nothing beside it: no network, no library, no font. Or to Markdown, CSV,
//! OpenMetrics, or a plot in SVG.
//!
//! [`page`] takes what `mpps_record` has read and returns the page's text. Every text of a record passes through
//! `maud`, which escapes it. This crate knows no bed, no kernel and no terminal, so it builds wherever Rust does.
#![cfg_attr(
    not(test),
    deny(clippy::too_many_lines, clippy::print_stdout, clippy::print_stderr)
)]
#![forbid(unsafe_code)]

mod chart;
mod csv;
mod machine;
mod markdown;
mod members;
mod metrics;
mod number;
mod page;
mod plots;
mod raw;
mod scale;
mod section;
mod sentence;
mod source;
mod table;
mod trial;

pub use csv::csv;
pub use machine::machine_line;
pub use markdown::markdown;
pub use metrics::openmetrics;
pub use page::page;
pub use plots::{loss_picture, scale_picture};
pub use raw::Raw;
pub use source::{Gathered, Source};
