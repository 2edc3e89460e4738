//! The time of a frame by its parts: stages, or causes. What one set-up takes more than another in each.

use crate::column::{self, Column, On, TableRow, columns, text, words};
use crate::interval::of_trials;
use crate::profile::named;
use crate::stage::is_beds;
use crate::table::Table;
use mpps_record::{FunctionCost, Interval, PartChange, PartCost, ProfiledAgainst, ProfiledLoad};

/// Functions named for a part; on a terminal in a column so wide.
const TOP: usize = 2;
const TOP_WIDTH: usize = 30;
/// The same on a page.
const NAMED: usize = 3;
/// Of the other set-up's name in a table's head.
const NAME: usize = 16;

/// What a load's parts stand beside: those of a wire, and a frame's cycles where samples come by cycles.
pub type Beside<'a> = (Option<&'a ProfiledLoad>, Option<f64>);

/// A row for each part; without all details of those that took time. The sum is that of the stages.
#[must_use]
pub fn rows(load: &ProfiledLoad, beside: Beside<'_>, causes: bool, on: On) -> Vec<TableRow> {
    let parts = |load: &'_ ProfiledLoad| match causes {
        true => load.causes.clone(),
        false => load.stages.clone(),
    };
    let by = if causes { "cause" } else { "stage" };
    let (wire, _) = beside;
    let of_wire = wire.map_or(Vec::new(), parts);
    let through = |part: &PartCost| {
        let same = of_wire.iter().find(|wire| wire.part == part.part);
        same.map_or(0.0, |wire| wire.ns.median)
    };
    let is_shown = |part: &PartCost| on != On::Screen || part.samples > 0 || through(part) >= 0.5;
    let parts = parts(load);
    let shown = parts.iter().filter(|part| is_shown(part));
    let sum = PartCost {
        part: "sum".to_owned(),
        ns: load.frame_ns,
        ..PartCost::default()
    };
    let of_wire = wire.map_or(0.0, |wire| wire.frame_ns.median);
    let sum = (!causes && on != On::Page).then(|| {
        let span = of_trials(span(load.frame_ns), load.trials.len());
        row((load, beside, on), by, &sum, (span, of_wire))
    });
    let rows = shown.map(|part| row((load, beside, on), by, part, (span(part.ns), through(part))));
    rows.chain(sum).collect()
}

fn row(
    (load, (wire, cycles), on): (&ProfiledLoad, Beside<'_>, On),
    by: &'static str,
    part: &PartCost,
    (span, through): (String, f64),
) -> TableRow {
    let share = part.ns.median / load.frame_ns.median.max(f64::MIN_POSITIVE);
    let is_bed = is_beds(&part.part);
    let mark = if wire.is_none() && is_bed { " *" } else { "" };
    // A host that is watched has no trials.
    let interval = match load.has_few_trials() || load.trials.is_empty() {
        true => "of samples",
        false => "95 % interval",
    };
    let mut columns: Vec<Column> = columns! {
        words "by" format!("{by}{}", if is_bed { " of the bed" } else { "" }), page;
        words "part" part.part.clone(), page;
    };
    columns.push(words(by, format!("{}{mark}", part.part)).screen());
    columns.extend(columns! { whole "ns" part.ns.median; });
    columns.push(text(interval, span));
    columns.extend(columns! {
        whole "cycles" cycles.map(|all| all * share), screen;
        whole "wire" wire.map(|_| through);
        share "share" share;
        count "samples" part.samples, page;
        words "most of it in" named(&part.top, NAMED), page;
        words "most of it in" top(&part.top, on), screen;
    });
    TableRow::new(0.0, columns)
}

/// By stage, then by cause.
#[must_use]
pub fn tables(load: &ProfiledLoad, beside: Beside<'_>, on: On) -> Vec<Table> {
    let table = |causes| line_by_line(column::table(&rows(load, beside, causes, on), on));
    [false, true].map(table).into()
}

/// Each line of the last cells in a row of its own.
fn line_by_line(mut table: Table) -> Table {
    let lines = |row: Vec<String>| {
        let (last, cells) = row
            .split_last()
            .map_or(("", &[][..]), |(last, cells)| (last, cells));
        let line = |(at, line): (usize, &str)| {
            let cell = |cell: &String| if at == 0 { cell.clone() } else { String::new() };
            cells.iter().map(cell).chain([line.to_owned()]).collect()
        };
        last.split('\n').enumerate().map(line).collect::<Vec<_>>()
    };
    table.rows = table.rows.into_iter().flat_map(lines).collect();
    table
}

/// The time of a frame in both set-ups, by stage, then by cause.
#[must_use]
pub fn against(own: &ProfiledLoad, against: &ProfiledAgainst, on: On) -> Vec<Table> {
    let base = &against.load;
    let Some(change) = &against.change else {
        return Vec::new();
    };
    let name: String = against.name.chars().take(NAME).collect();
    let parts = [
        ("stage", &change.stages, [&own.stages, &base.stages]),
        ("cause", &change.causes, [&own.causes, &base.causes]),
    ];
    let tables = parts.map(|(head, changes, costs)| {
        let row = |change: &PartChange| {
            let [(own, samples), (base, base_samples)] = costs.map(|costs: &Vec<PartCost>| {
                let same = costs.iter().find(|cost| cost.part == change.part);
                same.map_or((0.0, 0), |cost| (cost.ns.median, cost.samples))
            });
            let bed = if is_beds(&change.part) { " *" } else { "" };
            let ns = change.ns.rounded();
            let cells = [
                format!("{}{bed}", change.part),
                format!("{own:.0}"),
                format!("{base:.0}"),
                format!("{:+.0}", ns.median),
                format!("{:.0} to {:.0}", ns.low, ns.high),
                if change.seen { "seen" } else { "" }.to_owned(),
            ];
            (on == On::Details || samples + base_samples > 0).then_some(cells.into())
        };
        Table {
            left: vec![0, 5],
            head: [head, "ns", &name, "more", "interval", ""]
                .map(str::to_owned)
                .into(),
            rows: changes.iter().filter_map(row).collect(),
        }
    });
    tables.into()
}

fn span(ns: Interval<f64>) -> String {
    if ns.low == ns.high && ns.low > 0.0 {
        return "counted".to_owned();
    }
    format!("{:.0} to {:.0}", ns.low, ns.high)
}

/// The first functions, as many as fit in a column of a terminal; with all details each of them by its whole name in a line.
fn top(functions: &[FunctionCost], on: On) -> String {
    if on == On::Details {
        let whole = |one: &FunctionCost| format!("{} {:.0}", short(&one.function), one.ns);
        return functions.iter().map(whole).collect::<Vec<_>>().join("\n");
    }
    let mut text = String::new();
    for one in functions.iter().take(TOP) {
        let ns = format!("{:.0}", one.ns);
        let room = TOP_WIDTH - 1 - ns.len();
        let name: String = short(&one.function).chars().take(room).collect();
        let name = format!("{name} {ns}");
        if text.is_empty() {
            text = name;
        } else if text.len() + 2 + name.len() <= TOP_WIDTH {
            text = format!("{text}, {name}");
        }
    }
    text
}

/// An eBPF program by its own name: `bpf_prog_6b9e8497a6c45ca5_leave` is `leave (eBPF)`.
fn short(function: &str) -> String {
    let program = function.strip_prefix("bpf_prog_");
    match program.and_then(|program| program.split_once('_')) {
        Some((_tag, name)) => format!("{name} (eBPF)"),
        None => function.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(trials: Vec<u32>) -> ProfiledLoad {
        let functions = (0..8).map(|number| FunctionCost {
            function: format!("a_function_whose_name_is_long_{number}"),
            ns: f64::from(20 - number),
        });
        ProfiledLoad {
            frame_ns: [500.0; 3].into(),
            trials,
            stages: vec![PartCost {
                part: "RX".to_owned(),
                ns: [190.0, 200.0, 210.0].into(),
                samples: 90,
                top: functions.collect(),
            }],
            ..ProfiledLoad::default()
        }
    }

    fn by_stage(trials: Vec<u32>, on: On) -> Table {
        tables(&load(trials), (None, None), on).remove(0)
    }

    #[test]
    fn all_details_name_every_function_in_full() {
        let last = |on| -> Vec<String> {
            let rows = by_stage(vec![1, 2, 3], on).rows;
            rows.into_iter()
                .filter_map(|row| row.last().cloned())
                .collect()
        };
        assert!(!last(On::Screen)[0].contains("name_is_long_0"));
        let all = last(On::Details);
        for (number, said) in all[..8].iter().enumerate() {
            let whole = format!("a_function_whose_name_is_long_{number} {}", 20 - number);
            assert_eq!(*said, whole);
        }
        let rows = by_stage(vec![1, 2, 3], On::Details).rows;
        assert_eq!((rows.len(), rows[1][0].as_str()), (9, ""), "{rows:?}");
    }

    #[test]
    fn a_host_without_trials_has_intervals_of_samples() {
        let head = |trials| by_stage(trials, On::Screen).head.join(";");
        assert!(head(Vec::new()).contains("of samples"));
        assert!(head(vec![1, 2]).contains("of samples"));
        assert!(head(vec![1, 2, 3]).contains("95 % interval"));
    }
}
