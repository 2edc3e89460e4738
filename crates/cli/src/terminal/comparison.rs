//! A comparison: a sentence for each variant against the first one, then what each forwards and costs.

use super::columns::columns;
use super::doubts::Doubted;
use super::wrap::prose;
use super::{headed, percent, route_changes};
use crate::exit::Exit;
use crate::outcome::{Outcome, View, machine, worst};
use anyhow::Result;
use mpps_record::{ComparisonLine, Difference, Finding, Interval, Run, ToldBy, Variant};
use mpps_report::factorial::{self, Contrast, Grid};
use mpps_report::number::{self, Known};
use serde_json::{Value, json};
use std::fmt::Write;

/// What was compared: `Compared with none, in turns on one machine: 64 B`.
pub fn comparison_title(line: &ComparisonLine) -> String {
    let base = line
        .variants
        .first()
        .map_or("", |first| first.name.as_str());
    let frame = number::frame(&line.frame);
    format!("Compared with {base}, in turns on one machine: {frame}")
}

/// `conntrack: 231 ns more a frame for the router (206 to 255, 8 pairs): 31 % fewer frames/s`.
pub fn compared_in_words(name: &str, difference: &Difference) -> String {
    format!("{name}: {difference}")
}

/// Rates by the levels of factors, as lines that begin so.
pub fn in_rows(grid: &Grid, begin: &str) -> String {
    let rows = std::iter::once(&grid.table.head).chain(&grid.table.rows);
    let table = columns(rows.cloned(), &[0]);
    let lines = std::iter::once(grid.title.as_str()).chain(table.lines());
    lines.map(|line| format!("{begin}{line}\n")).collect()
}

/// What each change of a factorial comparison does, and what changes do together.
pub fn contrasts_json(line: &ComparisonLine, run: &Run) -> Option<Value> {
    let found = factorial::contrasts(line, run)?.ok()?;
    let one = |found: &Contrast<'_>| {
        json!({
            "changes": found.changes,
            "against": found.against,
            "rate_change": found.rate_change,
            "rounds": found.rounds,
            "finding": found.finding,
            "text": found.in_words(),
        })
    };
    Some(found.iter().map(one).collect())
}

/// Sentences, table, what was left out and what to doubt.
pub fn comparison(line: &ComparisonLine, verbose: bool) -> String {
    let mut text = String::new();
    let others = line.variants.iter().skip(1);
    let compared = others.filter_map(|variant| Some((variant, variant.difference.as_ref()?)));
    for (variant, difference) in compared.clone() {
        let _ = writeln!(text, "{}", compared_in_words(&variant.name, difference));
    }
    let fixed = number::short_count(line.fixed_fps);
    let head = format!("variant;frames/s;ns a frame;at {fixed};turns");
    let rows = line.variants.iter().map(|variant| row(variant, verbose));
    let _ = writeln!(text, "\n{}", headed(&head, rows, &[0]).trim_end());
    let _ = writeln!(
        text,
        "ns a frame: CPU time at overload, and at the fixed load of {fixed} frames/s. The table has medians of all turns, \
         a sentence compares pairs of turns"
    );
    for (variant, difference) in compared {
        let remarks = remarks(line, difference);
        text.extend(
            remarks
                .iter()
                .map(|remark| format!("{}: {remark}\n", variant.name)),
        );
    }
    text.extend(line.variants.iter().filter_map(|variant| {
        let made = route_changes(variant.route_changes.as_ref()?, variant.replayed.as_ref());
        Some(format!("{}: {made}", variant.name))
    }));
    text.extend(line.why.as_ref().map(|why| format!("cut short: {why}\n")));
    let doubted = Doubted {
        named_max: 1,
        ..Doubted::new("comparisons", [line])
    };
    text + &doubted.lines(verbose)
}

fn row(variant: &Variant, verbose: bool) -> [String; 5] {
    let cell = |found: Option<Interval<f64>>, shown: fn(Known) -> String| {
        found.map_or_else(
            || "-".to_owned(),
            |Interval { low, median, high }| {
                let known = Known::new(median, high - low);
                let [low, middle, high] = [low, median, high].map(|end| shown(known.with(end)));
                if verbose {
                    format!("{middle} ({low} to {high})")
                } else {
                    middle
                }
            },
        )
    };
    [
        variant.name.clone(),
        cell(variant.forwarding_fps.map(Into::into), Known::short),
        cell(variant.ns_per_frame, Known::plain),
        cell(variant.fixed_ns_per_frame, Known::plain),
        variant.overload_trials.len().to_string(),
    ]
}

/// What the sentence does not say: what was left out, what the fixed load says, and whether it fails.
fn remarks(line: &ComparisonLine, difference: &Difference) -> Vec<String> {
    let mut remarks = Vec::new();
    let slower = difference.slower_share().zip(line.fail_if_slower_share);
    if let Some((slower, allowed)) = slower.filter(|(slower, allowed)| slower > allowed) {
        let what = match difference.told_by {
            ToldBy::Cost => "more CPU time a frame",
            ToldBy::Rate | ToldBy::Other(_) => "fewer frames/s",
        };
        let (slower, allowed) = (percent(slower), percent(allowed));
        remarks.push(format!(
            "FAILED: {slower} {what}, more than the {allowed} allowed"
        ));
    }
    let open = unanswered(difference, line.fail_if_slower_share);
    remarks.extend(open.map(|open| unanswered_in_words(open) + "; give more --budget"));
    if let Some(Interval { low, median, high }) = difference.fixed_cost_ns {
        let pairs = match difference.pairs.map_or(0, |pairs| pairs.fixed) {
            0 => String::new(),
            pairs => format!(", {pairs} pairs"),
        };
        remarks.push(format!(
            "at the fixed load {median:+.0} ns a frame ({low:+.0} to {high:+.0}{pairs})"
        ));
    }
    let untold = difference
        .pairs
        .filter(|_| difference.fixed_cost_ns.is_none());
    if let Some(pairs) = untold.filter(|_| difference.has_interval()) {
        // Older records do not have the number.
        let count = match pairs.fixed {
            0 => String::new(),
            fixed => format!(": pairs that count there are too few ({fixed})"),
        };
        remarks.push(format!("at the fixed load no cost is told{count}"));
    }
    // A run that was cut short says that instead.
    if !difference.has_interval() && line.why.is_none() {
        remarks.push("run again when the machine is quieter, or with more --budget".to_owned());
    }
    // A comparison that is not decided says it in its sentence.
    if let (Some(pairs), true) = (difference.pairs, difference.finding != Finding::NotDecided) {
        let reasons = [
            (pairs.disturbed, "the machine disturbed them"),
            (pairs.distance, "the machine was not in one state"),
            (pairs.not_overloaded, "a router forwarded all that was sent"),
        ];
        let left_out: u32 = reasons.iter().map(|(count, _)| count).sum();
        let reasons = reasons.iter().filter(|(count, _)| *count > 0);
        let reasons: Vec<String> = reasons
            .map(|(count, why)| format!("{count} because {why}"))
            .collect();
        if left_out > 0 {
            let (all, why) = (left_out + pairs.counted, reasons.join(", "));
            remarks.push(format!("{left_out} of {all} pairs left out: {why}"));
        }
    }
    remarks
}

impl Outcome for Vec<ComparisonLine> {
    fn document(&self, run: &Run, _: &View<'_>) -> Result<Value> {
        let comparisons = self.iter().map(|line| entry(line, run));
        let comparisons = comparisons.collect::<Result<Vec<_>>>()?;
        Ok(json!({ "comparisons": comparisons }))
    }

    fn shown(&self, run: &Run, view: &View<'_>) -> String {
        let begin = run.begin.as_ref();
        let machine = begin.map(machine).unwrap_or_default();
        let shared = begin.and_then(|run| run.comparability.cpus_shared) == Some(true);
        let shared = if shared {
            "\nTester and router share a CPU: a costlier frame also leaves the tester less of it\n"
        } else {
            ""
        };
        let each = self.iter().map(|line| {
            let title = comparison_title(line);
            let text = comparison(line, view.verbose);
            format!("{title}\n\n{text}{shared}\n{machine}\n")
        });
        let told = factorial::sentences(run);
        let told = told.iter().map(|told| prose(&format!("{told}\n")));
        let grids = factorial::grids(run);
        let grids = grids.iter().map(|grid| in_rows(grid, "") + "\n");
        let together: String = grids.chain(told).collect();
        let gap = if together.is_empty() { "" } else { "\n" };
        format!(
            "{together}{gap}{}{}",
            each.collect::<String>(),
            view.foot(begin)
        )
    }

    /// A variant of which nothing can be said was disturbed. One that was found to be slower than allowed falls short.
    fn exit(&self, _: &Run) -> Exit {
        let comparison = |line: &ComparisonLine| {
            let differences = line
                .variants
                .iter()
                .skip(1)
                .map(|variant| variant.difference.as_ref());
            let exit = |found| difference_exit(found, line.fail_if_slower_share);
            worst(differences.map(|found| found.map_or(Exit::Undecided, exit)))
        };
        worst(self.iter().map(comparison))
    }
}

/// One difference, of which so much is allowed.
pub fn difference_exit(found: &Difference, fail_if_slower: Option<f64>) -> Exit {
    let slower = found.slower_share().zip(fail_if_slower);
    if slower.is_some_and(|(slower, allowed)| slower > allowed) {
        return Exit::NotMet;
    }
    match !found.has_interval() || unanswered(found, fail_if_slower).is_some() {
        true => Exit::Undecided,
        false => Exit::Measured,
    }
}

/// By how much a variant may be slower and how much is allowed, where nothing shows whether it is more.
pub fn unanswered(found: &Difference, fail_if_slower: Option<f64>) -> Option<(f64, f64)> {
    let open = found.slower_at_most().zip(fail_if_slower);
    let open = open.filter(|(most, allowed)| most > allowed);
    open.filter(|_| found.slower_share().is_none())
}

/// The same in words.
pub fn unanswered_in_words((most, allowed): (f64, f64)) -> String {
    let (most, allowed) = (percent(most), percent(allowed));
    format!("NOT ANSWERED: it may be {most} slower, and {allowed} is allowed")
}

/// A comparison as its record has it, with the sentence of each variant.
fn entry(line: &ComparisonLine, run: &Run) -> Result<Value> {
    let mut entry = serde_json::to_value(line)?;
    if let Some(found) = contrasts_json(line, run) {
        entry["contrasts"] = found;
    }
    for (place, variant) in line.variants.iter().enumerate() {
        if let Some(difference) = &variant.difference {
            let words = compared_in_words(&variant.name, difference);
            entry["variants"][place]["text"] = words.into();
        }
    }
    Ok(entry)
}

#[cfg(test)]
mod tests;
