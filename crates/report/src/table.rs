//! The results of a run as one table, whatever its job found. A page has room for longer names of columns than the
//! terminal, and for more columns.

use crate::kind::kinds;
use maud::{Markup, html};
use mpps_record::Run;

/// Names of columns, and rows.
pub struct Table {
    /// Names of its columns.
    pub head: Vec<String>,
    /// As many cells a row.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// With rows of as many cells as it has columns. Semicolons part the names in the head.
    pub fn new(head: &str, rows: impl Iterator<Item = Vec<String>>) -> Self {
        Self {
            head: head.split(';').map(str::to_owned).collect(),
            rows: rows.collect(),
        }
    }

    /// As a page has it, of this class.
    #[must_use]
    pub fn markup(&self, class: Option<&str>) -> Markup {
        html! {
            div.wide { table class=[class] {
                thead { tr { @for cell in &self.head { th { (cell) } } } }
                tbody { @for row in &self.rows { tr { @for cell in row { td { (cell) } } } } }
            } }
        }
    }
}

/// The table of a run. `None` where there are no results.
#[must_use]
pub fn results(run: &Run) -> Option<Table> {
    let mut tables = kinds(run).into_iter().map(|lines| lines.table());
    tables.find(|table| !table.rows.is_empty())
}
