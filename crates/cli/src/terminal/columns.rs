//! Every table of this program: columns as wide as their widest cell, words to the left and numbers to the right.

use mpps_report::table::Table;

/// Names of columns, which semicolons part.
pub fn names(head: &str) -> Vec<String> {
    head.split(';').map(str::to_owned).collect()
}

/// Rows under this head, whose names semicolons part.
pub fn headed<const N: usize>(
    head: &str,
    rows: impl IntoIterator<Item = [String; N]>,
    left: &[usize],
) -> String {
    let head = names(head);
    debug_assert_eq!(head.len(), N, "{head:?}");
    let rows = rows.into_iter().map(Vec::from);
    columns(std::iter::once(head).chain(rows), left)
}

/// A table of a result, whose headings may take several lines.
pub fn shown(table: &Table) -> String {
    let lines = table.head.iter().map(|head| head.split('\n').count());
    let head = |line: usize| -> Vec<String> {
        let parts = table.head.iter().map(|head| head.split('\n').nth(line));
        parts
            .map(|part| part.unwrap_or_default().to_owned())
            .collect()
    };
    let heads = (0..lines.max().unwrap_or(0)).map(head);
    columns(heads.chain(table.rows.iter().cloned()), &table.left)
}

/// The rows, the head first; `left` names the columns of words.
pub fn columns<R: AsRef<[String]>>(rows: impl IntoIterator<Item = R>, left: &[usize]) -> String {
    let rows: Vec<R> = rows.into_iter().collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows.first().map_or(0, |head| head.as_ref().len()))
        .map(width)
        .collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.as_ref().iter().zip(&widths).enumerate();
        let line: Vec<String> = cells
            .map(|(column, (cell, &width))| {
                if left.contains(&column) {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        text += line.join("  ").trim_end();
        text.push('\n');
    }
    text
}
