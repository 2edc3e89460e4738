//! A summary that a person pastes into an issue: the answer, its table, its doubts, the machine.

use crate::answers;
use crate::campaign::{self, CampaignRun};
use crate::doubts::Raised;
use crate::factorial::{Grid, grids};
use crate::headline::answer;
use crate::machine::{command, machine_line};
use crate::parts::parts;
use crate::row::Row;
use crate::section::{counted, title, unfinished};
use crate::sentence;
use crate::source::Gathered;
use crate::table::Table;
use mpps_record::Run;
use std::fmt::Write;

/// All runs as Markdown.
#[must_use]
pub fn markdown(all: &Gathered) -> String {
    let mut text = String::new();
    for problem in &all.problems {
        let _ = writeln!(text, "> {}\n", plain(problem));
    }
    let runs: Vec<&Run> = all.runs.iter().map(|(_, run)| run).collect();
    let campaigns = CampaignRun::each(&runs);
    for (file, run) in &all.runs {
        // Cells are rows of their campaign.
        if campaigns.iter().any(|campaign| campaign.has(run)) {
            continue;
        }
        let own = campaigns.iter().find(|own| std::ptr::eq(own.run, run));
        text += &own.map_or_else(|| summary(file, run), |own| campaign_summary(file, own));
    }
    text
}

/// What came of a campaign, its claims, its cells.
fn campaign_summary(file: &str, campaign: &CampaignRun<'_>) -> String {
    let counted = campaign.counted_claims().into_iter();
    let told = std::iter::once(campaign.answer());
    let told = told.chain(counted.map(|counted| counted + "."));
    let told = told.chain(unfinished(campaign.run));
    let told: String = told
        .map(|told| format!("**{}**\n\n", plain(&told)))
        .collect();
    let (heading, about) = (plain(&title(campaign.run)), plain(&campaign.line.title));
    let tables = [campaign.claims_table(), campaign.table()];
    let tables = tables.iter().filter(|table| !table.rows.is_empty());
    let tables: String = tables.map(|table| rows(table) + "\n\n").collect();
    let tables = tables + &in_grids(&campaign.grids());
    let (run, file) = (plain(&campaign.run.name), plain(file));
    format!(
        "## {heading}\n\n{about}.\n\n{told}{tables}Run {run} of {file}, schema {}.\n\n",
        campaign.run.schema
    )
}

/// Rates by the levels of factors.
fn in_grids(grids: &[Grid]) -> String {
    let each = grids.iter();
    let each = each.map(|grid| format!("{}\n\n{}\n\n", plain(&grid.title), rows(&grid.table)));
    each.collect()
}

/// A table.
fn rows(table: &Table) -> String {
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
        format!("| {} |", cells.join(" | "))
    };
    let rule = format!("| {} |", vec!["---"; table.head.len()].join(" | "));
    let rows = table.rows.iter().map(|cells| row(cells));
    let all: Vec<String> = [row(&table.head), rule].into_iter().chain(rows).collect();
    all.join("\n")
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
    for told in campaign::other_answers(run) {
        say(format!("**{}**", plain(&told)));
    }
    let begin = run.begin.as_ref();
    let with = begin.and_then(sentence::measured_with).into_iter();
    let told = with.chain(counted(run));
    let told = told.chain(unfinished(run));
    told.for_each(|line| say(plain(&line)));
    let parts = parts(run);
    for table in parts.iter().filter_map(|part| answers::table(&part.run)) {
        say(rows(&table));
    }
    let grids = in_grids(&grids(run));
    if !grids.is_empty() {
        say(grids.trim_end().to_owned());
    }
    let doubts = Raised::from_run(run);
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

/// One line in which nothing has a meaning, but plain words between backticks are code.
fn plain(text: &str) -> String {
    let text = one_line(text);
    let pieces: Vec<&str> = text.split('`').collect();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_./=:%,".contains(c);
    let is_code = |piece: &&str| !piece.is_empty() && piece.chars().all(is_plain);
    // An even number of backticks, and nothing odd between them.
    let code = pieces.iter().skip(1).step_by(2);
    if pieces.len().is_multiple_of(2) || !code.clone().all(is_code) {
        return escaped(&text);
    }
    let piece = |(at, piece): (usize, &&str)| match at.is_multiple_of(2) {
        true => escaped(piece),
        false => format!("`{piece}`"),
    };
    pieces.iter().enumerate().map(piece).collect()
}

fn escaped(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
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

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn words_of_code_are_not_escaped() {
        for (text, wanted) in [
            ("a doubt, `stalls_seen`", "a doubt, `stalls_seen`"),
            ("`a|b` and *c*", "\\`a\\|b\\` and \\*c\\*"),
            ("one ` alone_", "one \\` alone\\_"),
            ("``a` b`", "\\`\\`a\\` b\\`"),
            ("@name `@name`", "&#64;name \\`&#64;name\\`"),
        ] {
            assert_eq!(plain(text), wanted);
        }
    }
}
