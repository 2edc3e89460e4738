//! Comparisons of `mpps compare`: a sentence for each variant against the first one, then what each forwards and costs.

use super::TrialPlot;
use super::described::{About, Answered, Described};
use crate::chart::Chart;
use crate::column::{On, TableRow, columns};
use crate::factorial;
use crate::gauges::{Gauges, Labels, MAXIMUM, NS, with};
use crate::interval::interval_name;
use crate::number::{self, Known, percent_or_under as percent};
use crate::plots;
use crate::sentence::{self, route_changes};
use crate::told::Told;
use mpps_record::{ComparisonLine, Difference, Finding, Interval, Run, ToldBy, Variant};
use serde_json::{Value, json};

impl Described for ComparisonLine {
    const PURPOSE: &'static str = "By how much set-ups differ that take turns on one machine.";
    const NOUN: &'static str = "comparisons";
    const HIDDEN: &'static [TrialPlot] = &[TrialPlot::Search, TrialPlot::Latency];

    fn title(&self) -> String {
        let first = self.variants.first().map_or("", |first| &first.name);
        format!("Compared with {first}, in turns on one machine")
    }

    fn about(&self) -> About<'_> {
        (vec![("frame", &self.frame)], self.why.as_deref())
    }

    fn sentences(lines: &[Self]) -> Vec<String> {
        lines.iter().flat_map(sentence::comparison).collect()
    }

    fn rows(&self, on: On) -> Vec<TableRow> {
        let row = |variant| row(variant, on);
        self.variants.iter().map(row).collect()
    }

    fn remarks(&self) -> Vec<String> {
        let fixed = number::short_count(self.fixed_fps);
        let mut told = vec![format!(
            "ns a frame: CPU time at overload, and at the fixed load of {fixed} frames/s. The table has medians of all \
             turns, a sentence compares pairs of turns"
        )];
        for variant in self.variants.iter().skip(1) {
            let difference = variant.difference.iter();
            let remarks = difference.flat_map(|difference| remarks(self, difference));
            told.extend(remarks.map(|remark| format!("{}: {remark}", variant.name)));
        }
        told.extend(self.variants.iter().filter_map(|variant| {
            let made = variant.route_changes.as_ref()?;
            let made = route_changes(made, variant.replayed.as_ref());
            Some(format!("{}: {made}", variant.name))
        }));
        told
    }

    /// What changes do together stands before what each variant does.
    fn told(lines: &[Self], run: &Run, verbose: bool) -> Vec<Told> {
        let on = On::terminal(verbose);
        let grids = factorial::grids(run).into_iter();
        let grids = grids.map(|grid| (grid.title + "\n", grid.table));
        let together = Told {
            sentences: factorial::sentences(run),
            tables: grids.collect(),
            ..Told::default()
        };
        let begin = run.begin.as_ref();
        let shared = begin.and_then(|run| run.comparability.cpus_shared) == Some(true);
        let shared = shared.then(|| {
            "Tester and router share a CPU: a costlier frame also leaves the tester less of it"
                .to_owned()
        });
        let each = lines.iter().map(|line| {
            let rows = line.rows(on);
            let mut remarks = line.all_remarks(&rows, verbose);
            remarks.extend(shared.clone());
            Told {
                sentences: sentence::comparison(line),
                tables: line.tables(&rows, on),
                remarks,
            }
        });
        let together = Some(together).filter(|told| !told.sentences.is_empty());
        together.into_iter().chain(each).collect()
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        for variant in &self.variants {
            let labels = &with(labels, &[("variant", &variant.name)]);
            let rate = variant.forwarding_fps.map(Interval::from);
            gauges.add_interval(MAXIMUM, labels, rate, 1.0);
            let difference = variant.difference.as_ref();
            let rate = difference.and_then(Difference::told_rate_change);
            let cost = difference.and_then(|difference| difference.cost_ns);
            let change = (
                "mpps_rate_change_ratio",
                "Frames/s more than the first variant's, as a share of them.",
            );
            gauges.add_interval(change, labels, rate, 1.0);
            let change = (
                "mpps_frame_cost_change_seconds",
                "CPU time that a frame takes more than with the first variant.",
            );
            gauges.add_interval(change, labels, cost, NS);
        }
    }

    fn charts(lines: &[Self], _: &Run) -> Vec<Option<Chart>> {
        plots::comparisons(lines).into()
    }

    /// A variant of which nothing can be said was disturbed. One that was found to be slower than allowed falls short.
    fn answered(&self) -> Answered {
        let others = self.variants.iter().skip(1);
        let answered = others.map(|variant| {
            let found = variant.difference.as_ref();
            found.map_or(Answered::Undecided, |found| {
                if_slower(found, self.fail_if_slower_share)
            })
        });
        answered.max().unwrap_or(Answered::Measured)
    }

    /// With the sentence of each variant, and what changes do together.
    fn document(lines: &[Self], run: &Run) -> Value {
        let comparisons = lines.iter().map(|line| {
            let mut entry = json!(line);
            if let Some(found) = factorial::document(line, run) {
                entry["contrasts"] = found;
            }
            for (place, variant) in line.variants.iter().enumerate() {
                if let Some(difference) = &variant.difference {
                    let words = format!("{}: {difference}", variant.name);
                    entry["variants"][place]["text"] = words.into();
                }
            }
            entry
        });
        json!({ "comparisons": comparisons.collect::<Vec<_>>() })
    }
}

/// Medians; with their intervals on a page, and in all details.
fn row(variant: &Variant, on: On) -> TableRow {
    let cell = |found: Option<Interval<f64>>, shown: fn(Known) -> String| {
        found.map(|Interval { low, median, high }| {
            let known = Known::new(median, high - low);
            let [low, middle, high] = [low, median, high].map(|end| match on {
                On::Page => number::whole(end, number::grouped),
                On::Screen | On::Details => shown(known.with(end)),
            });
            match on {
                On::Screen => middle,
                On::Page | On::Details => format!("{middle} ({low} to {high})"),
            }
        })
    };
    let rate = variant.forwarding_fps.map(Into::into);
    let turns = variant.overload_trials.len();
    let difference = variant.difference.as_ref();
    let columns = columns! {
        words "variant" variant.name.clone();
        text "frames/s" cell(rate, Known::short);
        text "ns a frame" cell(variant.ns_per_frame, Known::plain);
        text "at the fixed load" cell(variant.fixed_ns_per_frame, Known::plain);
        count "turns" turns as u64;
        words "interval" interval_name([turns]), page;
        words "against the first" difference.map(ToString::to_string), page;
    };
    TableRow::new(0.0, columns)
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
    remarks.extend(open.map(|open| open + "; give more --budget"));
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

/// What a difference means where so much is allowed.
#[must_use]
pub fn if_slower(found: &Difference, allowed: Option<f64>) -> Answered {
    let slower = found.slower_share().zip(allowed);
    if slower.is_some_and(|(slower, allowed)| slower > allowed) {
        return Answered::NotMet;
    }
    Answered::if_measured(found.has_interval() && unanswered(found, allowed).is_none())
}

/// By how much a variant may be slower and how much is allowed, where nothing shows whether it is more.
#[must_use]
pub fn unanswered(found: &Difference, allowed: Option<f64>) -> Option<String> {
    let open = found.slower_at_most().zip(allowed);
    let (most, allowed) = open.filter(|(most, allowed)| most > allowed)?;
    let (most, allowed) = (percent(most), percent(allowed));
    let told = format!("NOT ANSWERED: it may be {most} slower, and {allowed} is allowed");
    found.slower_share().is_none().then_some(told)
}
