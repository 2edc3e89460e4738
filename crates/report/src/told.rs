//! Text for a terminal, which breaks its lines.

use crate::table::Table;

/// A part of it.
#[derive(Default)]
pub struct Told {
    /// A line each.
    pub sentences: Vec<String>,
    /// Each below its lines, which an empty line parts from the sentences.
    pub tables: Vec<(String, Table)>,
    /// What the tables have to be read with, a line each.
    pub remarks: Vec<String>,
}
