//! Every table of this program: columns as wide as their widest cell, words to the left and numbers to the right.

/// The rows, the head first; `left` names the columns of words.
#[must_use]
pub fn columns<R: AsRef<[String]>>(rows: &[R], left: &[usize]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows.first().map_or(0, |head| head.as_ref().len()))
        .map(width)
        .collect();
    let mut text = String::new();
    for row in rows {
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
