//! A summary that a person pastes into an issue: the answer, its table, its doubts, the machine.

use crate::doubts::Raised;
use crate::headline::answer;
use crate::machine::{command, machine_line};
use crate::parts::parts;
use crate::row::Row;
use crate::section::{title, unfinished};
use crate::sentence;
use crate::source::Gathered;
use crate::table;
use mpps_record::Run;
use std::fmt::Write;

/// All runs as Markdown.
#[must_use]
pub fn markdown(all: &Gathered) -> String {
    let mut text = String::new();
    for problem in &all.problems {
        let _ = writeln!(text, "> {}\n", plain(problem));
    }
    for (file, run) in &all.runs {
        text += &summary(file, run);
    }
    text
}

fn summary(file: &str, run: &Run) -> String {
    let mut text = format!("## {}\n\n", plain(&title(run)));
    let mut say = |line: String| text.extend([line, "\n\n".to_owned()]);
    for row in &Row::each(&run.results) {
        let simulated = if row.simulated {
            "Simulated, not measured: "
        } else {
            ""
        };
        let subject = plain(&row.name);
        let (told, limited) = (answer(row), sentence::limited(row));
        let (told, limited) = (plain(&told), plain(&limited.join(" ")));
        say(format!("**{subject}: {simulated}{told}** {limited}"));
    }
    for told in sentence::other_answers(run) {
        say(format!("**{}**", plain(&told)));
    }
    let begin = run.begin.as_ref();
    unfinished(run)
        .into_iter()
        .for_each(|line| say(plain(&line)));
    let parts = parts(run);
    for table in parts.iter().filter_map(|(_, part)| table::results(part)) {
        let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let head = table
            .head
            .iter()
            .map(|name| plain(name))
            .collect::<Vec<_>>();
        let rule = head.iter().map(|_| "---".to_owned()).collect::<Vec<_>>();
        let rows = table.rows.iter().map(|cells| {
            let cells = cells.iter().map(|cell| plain(cell));
            row(&cells.collect::<Vec<_>>())
        });
        say([row(&head), row(&rule), rows.collect()]
            .concat()
            .trim_end()
            .to_owned());
    }
    let doubts = Raised::of_run(run);
    if !doubts.is_empty() {
        let line = |known: &Raised<'_>| {
            let (name, seen) = (plain(&known.doubt.name), plain(&known.told()));
            let next = plain(known.doubt.next.trim_end_matches('.'));
            format!("- **{name}**: {seen}. Next: {next}.\n")
        };
        let lines: String = doubts.iter().map(line).collect();
        say(format!("Doubts:\n\n{}", lines.trim_end()));
    }
    match begin {
        Some(begin) => {
            say(plain(&machine_line(begin)));
            // In a block of code nothing has a meaning.
            say(format!("    {}", one_line(&command(begin))));
        }
        None => say("The machine and the command are not in the record.".to_owned()),
    }
    let (run, file, schema) = (plain(&run.name), plain(file), run.schema);
    say(format!("Run {run} of {file}, schema {schema}."));
    text
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control() || c.is_whitespace() && c != '\u{202f}')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// One line in which nothing has a meaning.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in one_line(text).chars() {
        match c {
            '&' => plain += "&amp;",
            '<' => plain += "&lt;",
            // A name is not to call a person or to point to an issue.
            '@' => plain += "&#64;",
            '#' => plain += "&#35;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '>' | '!' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
    }
    plain
}
