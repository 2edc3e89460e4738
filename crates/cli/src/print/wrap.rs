//! Prose and tables within the terminal's width. A table that is wider goes on below, between two columns. Where stdout is
//! no terminal nothing is broken: there a fact is a line, for `grep` and `diff`.

use std::io::IsTerminal;

/// Longer lines are hard to read, however wide the terminal.
const WIDEST: usize = 120;
/// Columns of the prose between tables, also in a file.
const PROSE: usize = 80;
/// Columns a text must have to be broken in: with fewer it is the last column of a table.
const ROOM: usize = 30;
/// Where a line goes on that has neither column nor mark.
const NEXT_INDENT: usize = 4;

/// The text as stdout can show it.
pub fn fitted(text: &str) -> String {
    match width() {
        Some(width) => wrap(text, width.min(WIDEST)),
        None => text.to_owned(),
    }
}

/// Columns of the terminal: what COLUMNS says, else what it says itself; `None` where stdout is a file.
fn width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    let said = std::env::var("COLUMNS").ok();
    let said = said.and_then(|columns| columns.parse().ok());
    said.or_else(|| {
        terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
    })
}

/// Breaks the lines of prose between tables.
pub fn prose(text: &str) -> String {
    wrap(text, PROSE)
}

/// Breaks lines longer than `width` columns between words, and rows of tables between columns.
pub fn wrap(text: &str, width: usize) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let blocks = lines.chunk_by(|one, next| has_columns(one) && has_columns(next));
    let shown = blocks.flat_map(|block| match fold(block, width) {
        Some(cuts) => block.iter().map(|line| folded(line, &cuts)).collect(),
        None => block
            .iter()
            .map(|line| wrapped(line, width))
            .collect::<Vec<_>>(),
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Whether two spaces part words of the line.
fn has_columns(line: &str) -> bool {
    line.trim().contains("  ")
}

/// Where the rows of a table are to be parted: between the same two columns of all of them. `None` where they fit, or where
/// their last column can be broken.
fn fold(rows: &[&str], width: usize) -> Option<Vec<usize>> {
    let is_long = |row: &&str| row.chars().count() > width;
    let has_room = |row: &str| {
        let (start, next) = columns(row);
        start.max(next) + ROOM <= width
    };
    if rows.len() < 2 || !rows.iter().any(|row| is_long(row) && !has_room(row)) {
        return None;
    }
    let rows: Vec<Vec<char>> = rows.iter().map(|row| row.chars().collect()).collect();
    let is_gap = |at: usize| {
        let is_blank = |row: &Vec<char>, at: usize| row.get(at).is_none_or(|c| *c == ' ');
        rows.iter()
            .all(|row| is_blank(row, at - 2) && is_blank(row, at - 1))
    };
    let longest = rows.iter().map(Vec::len).max()?;
    let (mut from, mut room, mut cuts) = (0, width, Vec::new());
    while longest > from + room {
        from = (from + 2..=from + room).rev().find(|at| is_gap(*at))?;
        room = width - NEXT_INDENT;
        cuts.push(from);
    }
    Some(cuts)
}

/// One row in a line for each part of it.
fn folded(row: &str, cuts: &[usize]) -> String {
    let row: Vec<char> = row.chars().collect();
    let from = std::iter::once(&0).chain(cuts);
    let end = row.len();
    let to = cuts.iter().chain(std::iter::once(&end));
    let parts = from.zip(to).map(|(from, to)| {
        let part = row.get(*from..end.min(*to)).unwrap_or_default();
        part.iter().collect::<String>().trim_end().to_owned()
    });
    let parts = parts.filter(|part| !part.is_empty());
    let next = format!("\n{}", " ".repeat(NEXT_INDENT));
    parts.collect::<Vec<_>>().join(&next)
}

fn wrapped(line: &str, width: usize) -> String {
    let (start, next) = columns(line);
    if line.chars().count() <= width || start.max(next) + ROOM > width {
        return line.to_owned();
    }
    let head: String = line.chars().take(start).collect();
    let rest: String = line.chars().skip(start).collect();
    let (mut text, mut column) = (head, start);
    for (place, word) in unbroken(&rest).iter().enumerate() {
        let length = word.chars().count();
        if place > 0 {
            if column + 1 + length > width {
                text.push('\n');
                text.push_str(&" ".repeat(next));
                column = next;
            } else {
                text.push(' ');
                column += 1;
            }
        }
        text.push_str(word);
        column += length;
    }
    text
}

/// Where the text of a line begins, and where it goes on: below its last column, which two spaces set off, or behind
/// the mark of a list.
fn columns(line: &str) -> (usize, usize) {
    let chars: Vec<char> = line.chars().collect();
    let indent = chars.iter().take_while(|&&c| c == ' ').count();
    let gap = (indent + 1..chars.len().saturating_sub(1))
        .rev()
        .find(|&at| chars[at - 1] == ' ' && chars[at] == ' ');
    if let Some(at) = gap {
        return (at + 1, at + 1);
    }
    let mark = chars[indent..]
        .iter()
        .take_while(|&&c| c == '-' || c == '*')
        .count();
    let next = if mark > 0 { mark + 1 } else { NEXT_INDENT };
    (indent, indent + next)
}

/// Words, a number with what it counts: `1 204 096 frames` is one.
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut number = false;
    for word in text.split(' ') {
        match words.last_mut().filter(|_| number) {
            Some(before) => {
                before.push(' ');
                before.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
        number = is_number(word);
    }
    words
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['(', '+', '-']);
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '\u{202f}';
    !digits.is_empty() && digits.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_number_keeps_what_it_counts() {
        assert_eq!(
            unbroken("- by -0.2 % (+1 to -3 ns)"),
            ["-", "by", "-0.2 %", "(+1 to", "-3 ns)"]
        );
    }

    #[test]
    fn prose_breaks_between_words_and_keeps_its_indent() {
        let text = "Doubts\n\
            - CPU 1 took up to 38 % longer for the same work before and after 10 of 22 trials (1518)\n    \
            why:  its clock was lowered or its core shared, which no stolen time shows: rates fall\n\
            64: why it lost at 862.1 kfps: stall: nothing was taken for 436.135 us; 13 of 844504 frames\n";
        assert_eq!(
            wrap(text, 60),
            "Doubts\n\
             - CPU 1 took up to 38 % longer for the same work before and\n  \
               after 10 of 22 trials (1518)\n    \
                 why:  its clock was lowered or its core shared, which no\n          \
                       stolen time shows: rates fall\n\
             64: why it lost at 862.1 kfps: stall: nothing was taken for\n    \
                 436.135 us; 13 of 844504 frames\n"
        );
        assert_eq!(wrap(text, 200), text);
    }

    #[test]
    fn a_wide_table_goes_on_between_two_columns() {
        let table = "frame size  % of link*  Gbit/s**   frames/s  loss  limited by\n\
                     64                 2.0      0.81  1 204 096     0  DUT\n";
        assert_eq!(wrap(table, 80), table);
        assert_eq!(
            wrap(table, 40),
            "frame size  % of link*  Gbit/s**\n     \
                 frames/s  loss  limited by\n\
             64                 2.0      0.81\n    \
                 1 204 096     0  DUT\n"
        );
        let wide = ["x".repeat(30), "y".repeat(30), "z".repeat(30)].join("  ");
        let parted = wide.replace("  ", "\n    ");
        assert_eq!(
            wrap(&format!("{wide}\n{wide}"), 40),
            format!("{parted}\n{parted}")
        );
        let check = "  lacks    cycles          open perf event CPU cycles of this thread: ENOENT (no such counter)";
        assert_eq!(
            wrap(check, 70),
            "  lacks    cycles          open perf event CPU cycles of this thread:\n                           \
             ENOENT (no such counter)"
        );
    }

    #[test]
    fn numbers_keep_their_units_and_no_word_is_cut() {
        assert_eq!(
            wrap(
                "as many as there are, of all 1 204 096 frames that were sent",
                40
            ),
            "as many as there are, of all\n    1 204 096 frames that were sent"
        );
        let narrow = "from 250 ns with a route to as much as 1\u{202f}614 ns";
        assert!(wrap(narrow, 43).ends_with("\n    1\u{202f}614 ns"));
        let path = format!("record: /{}", "x".repeat(100));
        assert_eq!(wrap(&path, 40).replace("\n    ", " "), path);
        assert_eq!(wrap("", 40), "");
    }

    #[test]
    fn nothing_is_lost_at_any_width_and_no_line_is_longer() {
        let text = (0..200_usize)
            .map(|place| "x".repeat(1 + place * 7 % 12))
            .collect::<Vec<_>>()
            .join(" ");
        for width in NEXT_INDENT + ROOM..WIDEST {
            let broken = wrap(&text, width);
            assert_eq!(broken.replace("\n    ", " "), text);
            assert!(broken.lines().all(|line| line.len() <= width), "{broken}");
        }
    }
}
