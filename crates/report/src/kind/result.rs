//! Results of a search.

mod details;

use super::described::{About, Answered, Described, Subjects};
use super::{dash, if_known};
use crate::chart::Chart;
use crate::column::{self, On, TableRow, columns};
use crate::expectation::{all_unmet, is_open, unmet};
use crate::gauges::{
    BUSY, DOUBTS, Gauges, Labels, MAXIMUM, TRIAL_LATENCY, costs, reads, seconds, with,
};
use crate::headline::{
    at_least_forwarded, forwarding_range, headline, is_bound, is_least_cost, median,
    short_router_part, short_without_loss,
};
use crate::row::{Reading, Row};
use crate::told::Told;
use crate::{number, plots};
use details::{details, notes};
use mpps_record::doubts::{SIMULATED, TESTER_NEAR_CEILING, UNSTABLE};
use mpps_record::{
    ForwardingLimit, Interval, LimitedBy, ResultLine, Run, RunBed, RunLine, TrialLine,
};
use serde_json::{Value, json};
use std::slice::from_ref;

/// The sentences of a page stand apart, by frame size and goal.
impl Described for ResultLine {
    const PURPOSE: &'static str = "The maximum forwarding rate, and the highest load without loss.";
    const NOUN: &'static str = "results";

    /// Alone they need none: a suite has several tables.
    fn heading(_: &[Self], run: &Run) -> String {
        let parts = run.begin.iter().flat_map(|begin| &begin.plan.parts).count();
        let title = "Throughput (RFC 2544 section 26.1)";
        if parts > 0 { title } else { "" }.to_owned()
    }

    fn about(&self) -> About<'_> {
        let is_early = matches!(
            self.limited_by,
            Some(LimitedBy::Trials | LimitedBy::Disturbed)
        );
        let early = is_early.then_some("the search ended early");
        let why = self.why.as_deref().or(early);
        (vec![("frame", &self.frame)], why)
    }

    fn sentences(_: &[Self]) -> Vec<String> {
        Vec::new()
    }

    fn rows(&self, on: On) -> Vec<TableRow> {
        Self::all_rows(from_ref(self), on)
    }

    fn all_rows(lines: &[Self], on: On) -> Vec<TableRow> {
        Row::each(lines)
            .iter()
            .map(|found| row(found, on))
            .collect()
    }

    /// One table of all lines. What is seen of nothing is left out.
    fn told(lines: &[Self], run: &Run, verbose: bool) -> Vec<Told> {
        let rows = Row::each(lines);
        let begin = run.begin.as_ref();
        let on = On::terminal(verbose);
        let table = column::table(&Self::all_rows(lines, on), on);
        let table = Some(table).filter(|table| table.head.len() > 1);
        let remarks = |remarks| Told {
            remarks,
            ..Told::default()
        };
        let mut told = vec![
            Told {
                sentences: head(&rows, begin),
                tables: table
                    .map(|table| (String::new(), table))
                    .into_iter()
                    .collect(),
                ..Told::default()
            },
            remarks(notes(&rows, begin)),
        ];
        if verbose {
            told.push(remarks(details(&rows, begin)));
        }
        told.retain(|told| !told.sentences.is_empty() || !told.remarks.is_empty());
        told
    }

    fn subjects(lines: &[Self]) -> Subjects<'_> {
        let rows = Row::each(lines).into_iter().zip(lines);
        let known = rows.filter(|(_, line)| line.trials > 0 || !line.doubts.is_empty());
        known
            .map(|(row, line)| (row.subject.into(), line.doubts.iter().collect()))
            .collect()
    }

    fn said(lines: &[Self]) -> Vec<&'static str> {
        let by_tester =
            |line: &Self| line.overload.max_forwarding_limited_by == Some(ForwardingLimit::Tester);
        let near = lines.iter().all(by_tester).then_some(TESTER_NEAR_CEILING);
        [SIMULATED, UNSTABLE].into_iter().chain(near).collect()
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, run: &Run) {
        let goal = self.goal.as_deref().unwrap_or("");
        one_result(gauges, &with(labels, &[("goal", goal)]), self, &run.trials);
    }

    fn charts(_: &[Self], run: &Run) -> Vec<Option<Chart>> {
        vec![plots::rates(run), plots::cost(run)]
    }

    /// Another try may measure what was not measured; what was measured and falls short stays so.
    fn all_answered(lines: &[Self], run: &Run) -> Answered {
        let rows = Row::each(lines);
        let all = rows.iter().map(|row| answered(row, run.begin.as_ref()));
        all.max().unwrap_or(Answered::Measured)
    }

    fn document(lines: &[Self], run: &Run) -> Value {
        let plan = run.begin.as_ref().map(|begin| &begin.plan);
        let search = plan.and_then(|plan| plan.search.as_ref());
        json!({
            "simulated": lines.iter().any(|line| line.simulated),
            "pass_rule": search.and_then(|search| search.pass_rule.as_deref()),
            "link_bits_per_s": search.map(|search| search.link_bits_per_s),
            "link_source": search.map(|search| &search.link_source),
            "expected_min_fps": plan.and_then(|plan| plan.expected_min_fps),
            "expectation_unmet": all_unmet(run.begin.as_ref(), &Row::each(lines)),
            "results": lines,
        })
    }

    /// Another try is no advice after an error that ended the run.
    fn complaints(lines: &[Self], run: &Run) -> Vec<String> {
        let rows = Row::each(lines);
        let unmet = all_unmet(run.begin.as_ref(), &rows);
        let is_ended = run.end.as_ref().is_some_and(|end| end.error.is_some());
        let is_open_yet = Self::all_answered(lines, run) == Answered::Undecided;
        if !unmet.is_empty() || is_ended || !is_open_yet {
            return unmet;
        }
        let named = |what: &str, is: fn(&Row<'_>) -> bool| {
            let rows = rows.iter().filter(|row| is(row));
            let names: Vec<&str> = rows.map(|row| row.subject.as_str()).collect();
            let told = || {
                format!(
                    "{what}: {} (run again when the machine is quieter)",
                    names.join(", ")
                )
            };
            (!names.is_empty()).then(told)
        };
        let missing = named("not measured", |row| row.reading() == Reading::Nothing);
        let open = named("no load of the search passed", is_open);
        missing.into_iter().chain(open).collect()
    }
}

/// How far a result answers what was asked.
pub fn answered(row: &Row<'_>, begin: Option<&RunLine>) -> Answered {
    match row.reading() {
        Reading::Nothing => Answered::Undecided,
        Reading::Below(_) if !is_open(row) => Answered::NotMet,
        reading => match unmet(begin, row) {
            Some(unmet) if unmet.may_be_met => Answered::Undecided,
            Some(_) => Answered::NotMet,
            None if matches!(reading, Reading::Below(_)) => Answered::Undecided,
            None => Answered::Measured,
        },
    }
}

/// What is to be read before anything else; no stops at the ends.
fn head(rows: &[Row<'_>], begin: Option<&RunLine>) -> Vec<String> {
    let unstable = rows.iter().filter_map(|row| {
        let found = row.unstable.as_ref()?;
        Some(format!("{}: UNSTABLE: {found}", row.name))
    });
    let mut told: Vec<String> = unstable.collect();
    // Two goals of one size.
    told.dedup();
    if !told.is_empty() {
        told.push("Chance decided the results below".to_owned());
    }
    let simulated = "SIMULATED, nothing was measured";
    match begin.map(|begin| &begin.bed) {
        Some(RunBed::Simulated { pair }) => told.push(format!("{simulated}: {pair}")),
        _ if rows.iter().any(|row| row.simulated) => told.push(simulated.to_owned()),
        _ => {}
    }
    let sentence = |row| headline(row).trim_end_matches('.').to_owned();
    told.extend(rows.iter().map(sentence));
    told
}

/// The maximum forwarding rate in a cell.
#[must_use]
pub fn max_forwarding(result: &ResultLine) -> String {
    let found = result.overload.max_forwarding_fps;
    found.map_or_else(dash, |found| match at_least_forwarded(result) {
        Some(least) => format!("≥ {}", number::grouped(least)),
        None => number::grouped(found.median),
    })
}

/// The rate without loss in a cell.
#[must_use]
pub fn without_loss(result: &ResultLine) -> String {
    let rate = Reading::from_line(result).in_cell(|fps| number::grouped(fps as u64));
    rate.unwrap_or_else(|| "not measured".to_owned())
}

fn row(result: &Row<'_>, on: On) -> TableRow {
    let maximum = result.overload.max_forwarding_fps;
    // A page has room for all digits.
    let (name, most, lossless) = match on {
        On::Page => (&result.name, max_forwarding(result), without_loss(result)),
        _ => (
            &result.subject,
            maximum.map_or_else(dash, |rates| forwarded(result, rates)),
            short_without_loss(result),
        ),
    };
    let cost = result.overload.cost.as_ref();
    let judged = result.judged_trials.filter(|judged| *judged > 0);
    let passed = result.lossless_trials.zip(judged);
    let unstable = result.unstable.as_ref().map_or("", |_| ", unstable");
    let own = columns! {
        words "frame\nsize" name.clone();
        words "max forwarding\nrate, frames/s" if_known(&most);
        text "without\nloss" if_known(&lossless);
        of "lossless\ntrials" passed.map(|(some, all)| (some.into(), all.into()));
        text "router\nns" cost.map(|cost| short_router_part(result, cost));
        text "bed\nns" cost.map(|cost| median(&cost.bed_ns).plain());
        busy "\nbusy" result.busy_share();
        words "limited\nby" if_known(result.limit()).map(|limit| limit + unstable);
    };
    TableRow::new(0.0, own)
}

/// `1.52M (1.46-1.57)`; where the router was not seen to be the limit, a bound.
fn forwarded(row: &ResultLine, rates: Interval<u64>) -> String {
    let (known, low, high) = forwarding_range(rates);
    match at_least_forwarded(row) {
        Some(least) => format!(">= {}", known.with(least as f64).floor().short()),
        None if low == high => known.short(),
        None => format!("{} ({low}-{high})", known.short()),
    }
}

fn one_result(gauges: &mut Gauges, labels: &Labels<'_>, result: &ResultLine, trials: &[TrialLine]) {
    let overload = &result.overload;
    gauges.add_interval(
        MAXIMUM,
        &with(labels, &[("reads", reads(is_bound(result)))]),
        overload.max_forwarding_fps.map(Interval::from),
        1.0,
    );
    costs(
        gauges,
        labels,
        (overload.cost, is_least_cost(&result.doubts)),
    );
    let is = result.rate_is.as_ref().map_or("", |is| is.as_str());
    let limit = result
        .limited_by
        .as_ref()
        .map_or("", |limit| limit.as_str());
    gauges.add(
        "mpps_rate_frames_per_second",
        "Highest load within the goal; the label reads says whether it is a bound.",
        &with(labels, &[("reads", is), ("limited_by", limit)]),
        result.rate_fps.map(|fps| fps as f64),
    );
    let ceiling = result.tester_ceiling_fps as f64;
    gauges.add(
        "mpps_tester_ceiling_frames_per_second",
        "Most that the tester could offer and receive.",
        labels,
        (ceiling > 0.0).then_some(ceiling),
    );
    gauges.add(BUSY.0, BUSY.1, labels, result.dut_busiest_cpu_share);
    gauges.add(DOUBTS.0, DOUBTS.1, labels, Some(result.doubts.len() as f64));
    let number = result.stands_on.stands_on_trial;
    if let Some(trial) = trials.iter().find(|trial| Some(trial.trial) == number) {
        let latency = &trial.latency;
        let known = [
            ("50", latency.p50_ns),
            ("90", latency.p90_ns),
            ("99", latency.p99_ns),
            ("99.9", latency.p999_ns),
            ("100", latency.max_ns),
        ];
        for (percentile, ns) in known {
            gauges.add(
                TRIAL_LATENCY.0,
                TRIAL_LATENCY.1,
                &with(labels, &[("percentile", percentile)]),
                seconds(ns),
            );
        }
    }
}
