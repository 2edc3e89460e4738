//! The cost of a frame by stage that others published, beside this machine's.

use crate::number;
use crate::profile::{is_far, is_unsure, saturated};
use crate::table::Table;
use maud::{Markup, html};
use mpps_record::{ProfileLine, SweepLine, SweepPoint};
use std::ops::Range;

/// Cycles of a frame: Raumer et al., Performance Exploration of Software-based Packet Processing Systems, 2015. Stages and
/// their sum are of tables II and IV, functions of tables III and V. The sum is as printed there, where stages are rounded.
const CYCLES: &str = include_str!("published.csv");
/// Rows of it.
const STAGES: Range<usize> = 0..9;
const LOCKS: Range<usize> = 9..14;
const LOOK_UP: Range<usize> = 14..17;
/// The row of the sum.
const SUM: &str = "sum";
/// Clock of the CPU on which they were measured, cycles a nanosecond.
const GHZ: f64 = 3.3;
/// Stages in which a NIC's driver works there.
const DRIVERS: [&str; 4] = ["RX", "allocation", "free", "TX"];

/// A scenario of theirs: octets of a frame; flows, which are as many routes and destinations; the highest rate in Mpps and
/// the CPU's load there, where they are printed.
pub const SCENARIOS: [(u32, u64, Option<f64>, Option<u32>); 7] = [
    (64, 1, Some(1.67), Some(100)),
    (512, 1, Some(1.67), Some(100)),
    (1024, 1, Some(1.20), Some(75)),
    (1500, 1, Some(0.82), Some(55)),
    (64, 256, None, Some(100)),
    (64, 16_384, None, Some(100)),
    (64, 1_048_576, Some(1.39), Some(100)),
];
/// Scenarios that differ in the frame's size; in flows.
const SIZES: &[usize] = &[0, 1, 2, 3];
const FLOWS: &[usize] = &[0, 4, 5, 6];

/// A table of theirs with this machine's figures beside it.
pub struct PaperTable {
    /// Its number and what it is of.
    pub title: &'static str,
    /// Its cells.
    pub table: Table,
    /// How to read it; empty where it is read as the one before of its kind.
    pub note: &'static str,
}

/// Tables I to V, if the points are their scenarios; else none.
#[must_use]
pub fn paper_tables(line: &SweepLine) -> Vec<PaperTable> {
    if !line.is_paper() {
        return Vec::new();
    }
    let table = |title, (rows, scenarios), note| PaperTable {
        title,
        table: beside(line, rows, scenarios),
        note,
    };
    vec![
        PaperTable {
            title: "I: rates at overload, predicted and measured, Mpps",
            table: rates(line),
            note: "^ is a prediction. \"theirs\" is published, and its prediction is their CPU's load and clock by their \
                   cycles of a frame. Their rate is the wire's at 1024 and 1500 B. All else is of this machine. \"turns\" \
                   is the rate while an overload takes turns with lower loads, and predicted from these. \"all\" is the \
                   rate while the tester offers all that it can, and predicted from a frame's cost at saturation. ~: \
                   measured only in another state of the machine than most. ?: over 10 % off, or its trials do not \
                   agree on the error.",
        },
        table(
            "II: ns of a frame by stage, over frame sizes, 1 flow",
            (STAGES, SIZES),
            "*: a 10GbE driver works there, and a veth pair has no such work: these cannot be compared. **: the bed's \
             own, in place of a NIC.",
        ),
        table(
            "III: ns of a frame in locks and addresses, 64 B, over flows",
            (LOCKS, &[0]),
            "\"Here\" has all functions whose names contain that one, or for do_raw_spin_lock spin_lock. \"-\" here: \
             below 0.5 ns, or the compiler made it part of its caller.",
        ),
        table(
            "IV: ns of a frame by stage, 64 B, over flows",
            (STAGES, FLOWS),
            "",
        ),
        table(
            "V: ns of a frame in functions of the look-up, 64 B, over flows",
            (LOOK_UP, &[0, 4, 6]),
            "",
        ),
    ]
}

/// Rows of theirs: a name, and ns in each scenario.
fn published(rows: Range<usize>) -> impl Iterator<Item = (&'static str, Vec<Option<f64>>)> {
    let lines = CYCLES.lines().skip(1 + rows.start).take(rows.len());
    lines.map(|line| {
        let mut cells = line.split(',');
        let name = cells.next().unwrap_or_default();
        let ns = cells.map(|cycles| Some(cycles.parse::<f64>().ok()? / GHZ));
        (name, ns.collect())
    })
}

/// What was measured here in the scenario, in the common state of the machine if it ever was.
fn here(line: &SweepLine, scenario: usize) -> Option<&SweepPoint> {
    let (octets, flows, ..) = SCENARIOS[scenario];
    let is_it =
        |point: &&SweepPoint| point.frame == octets.to_string() && point.value == flows as f64;
    line.along().into_iter().find(is_it)
}

/// Marks what only another state of the machine tells.
fn mark(point: Option<&SweepPoint>) -> &'static str {
    match point {
        Some(point) if point.other_state => " ~",
        _ => "",
    }
}

/// A number, or a dash.
fn cell(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.digits$}"))
}

/// Rates, each prediction beside its measurement.
fn rates(line: &SweepLine) -> Table {
    let sums: Vec<Option<f64>> = published(STAGES)
        .last()
        .map_or(Vec::new(), |(_, sums)| sums);
    let row = |(at, sum): (usize, &Option<f64>)| {
        let (octets, flows, rate, load) = SCENARIOS[at];
        let theirs = sum.zip(load).map(|(ns, load)| 10.0 * f64::from(load) / ns);
        let point = here(line, at);
        let model = point.and_then(|point| point.model.as_ref());
        // A flow has one CPU, however many there are.
        let cpus = |point: &SweepPoint| f64::from(point.cores).min(point.value);
        let whole = point.map(|point| cpus(point) * 1e3 / point.load.frame_ns.median);
        let mpps = |fps: Option<f64>| fps.map(|fps| fps / 1e6);
        let turns = mpps(model.map(|model| model.measured_fps));
        let all = mpps(point.and_then(|point| point.overload_fps));
        let off = |predicted: Option<f64>, measured: Option<f64>| {
            let off = predicted
                .zip(measured)
                .map(|(one, other)| one / other - 1.0);
            off.map_or_else(|| "-".to_owned(), |off| format!("{:+.1} %", off * 100.0))
        };
        let predicted = mpps(model.map(|model| model.predicted_fps));
        let sure = |rate: Option<f64>, is_doubted| match rate {
            Some(_) if is_doubted => cell(rate, 2) + " ?",
            _ => cell(rate, 2),
        };
        let is_other = whole
            .zip(all)
            .is_some_and(|(one, other)| is_far(one / other - 1.0));
        vec![
            format!("{octets} B, {}{}", number::spaced(flows), mark(point)),
            cell(theirs, 2),
            cell(rate, 2),
            sure(
                predicted,
                model.is_some_and(|model| is_unsure(model) || is_far(model.error_ratio)),
            ),
            cell(turns, 2),
            off(predicted, turns),
            sure(whole, is_other),
            cell(all, 2),
            off(whole, all),
        ]
    };
    let head = "frame, flows;theirs^;theirs;turns^;turns;off;all^;all;off";
    Table::new(head, sums.iter().enumerate().map(row))
}

/// ns of a frame here in a stage of theirs, or in functions of this name.
fn measured(point: &SweepPoint, name: &str, is_stage: bool) -> Option<f64> {
    let load = &point.load;
    if name == SUM {
        return Some(load.frame_ns.median);
    }
    if is_stage {
        let stage = load.stages.iter().find(|part| part.part == name)?;
        return Some(stage.ns.median);
    }
    let name = name.trim_start_matches("do_raw_");
    let name = name.trim_start_matches("arch_");
    let found = point.functions.iter();
    let found = found.filter(|one| one.function.contains(name));
    let ns: f64 = found.map(|one| one.ns).sum();
    (ns > 0.0).then_some(ns)
}

/// Their figures in some scenarios, each with this machine's to the right.
fn beside(line: &SweepLine, rows: Range<usize>, scenarios: &[usize]) -> Table {
    let is_stage = rows == STAGES;
    let mut rows: Vec<_> = published(rows).collect();
    if is_stage {
        let beds = ["virtual NIC", "exit"].map(|stage| (stage, Vec::new()));
        rows.splice(rows.len() - 1..rows.len() - 1, beds);
    }
    let row = |(name, ns): (&str, Vec<Option<f64>>)| {
        let mark = match ns.is_empty() {
            true => " **",
            false if DRIVERS.contains(&name) => " *",
            false => "",
        };
        let both = scenarios.iter().flat_map(|&at| {
            let here = here(line, at).and_then(|point| measured(point, name, is_stage));
            [ns.get(at).copied().flatten(), here]
        });
        let first = std::iter::once(format!("{name}{mark}"));
        first.chain(both.map(|ns| cell(ns, 0))).collect()
    };
    let first = if is_stage { "stage" } else { "function" };
    let mut head = vec![first.to_owned()];
    for &at in scenarios {
        let (octets, flows, ..) = SCENARIOS[at];
        let name = match scenarios == SIZES {
            true => format!("{octets} B"),
            false => number::spaced(flows),
        };
        head.extend([name, format!("here{}", mark(here(line, at)))]);
    }
    Table {
        head,
        rows: rows.into_iter().map(row).collect(),
        ..Table::default()
    }
}

/// A table of the stages: here, and in each published scenario. Nothing where the profile has no stages.
#[must_use]
pub fn section(line: &ProfileLine) -> Markup {
    let Some(load) = saturated(line) else {
        return html! {};
    };
    let row = |(stage, ns): (&str, Vec<Option<f64>>)| {
        let here = load.stages.iter().find(|at| at.part == stage);
        let comparable = match DRIVERS.contains(&stage) {
            true => "no: a driver's work",
            false => "yes",
        };
        let figures = std::iter::once(here.map(|at| at.ns.median)).chain(ns);
        let mut cells = vec![stage.to_owned()];
        cells.extend(figures.map(|ns| cell(ns, 0)));
        cells.push(comparable.to_owned());
        cells
    };
    let scenarios = CYCLES.lines().next().unwrap_or_default();
    let scenarios: Vec<&str> = scenarios.split(',').skip(1).collect();
    let head = format!("stage;here;{};comparable", scenarios.join(";"));
    let stages = published(STAGES).filter(|(name, _)| *name != SUM);
    html! {
        details {
            summary { "Beside published figures" }
            p.note {
                "ns of a frame. Published: Raumer et al., Performance Exploration of Software-based Packet Processing \
                 Systems, 2015. Their router is one core of a Xeon E3-1230 v2 at 3.3 GHz, 82599 10GbE, Linux 3.7, \
                 ixgbe 3.14.5. In RX, allocation, TX and free a 10GbE driver works there: a veth pair has no such \
                 work, so these cannot be compared."
            }
            (Table::new(&head, stages.map(row)).markup(None))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::CostModel;

    #[test]
    fn cycles_of_the_stages_are_those_of_the_sum() {
        let mut rows: Vec<_> = published(STAGES).collect();
        let (name, sums) = rows.pop().expect("rows");
        assert_eq!((name, rows.len(), sums.len()), (SUM, 8, SCENARIOS.len()));
        for (at, sum) in sums.into_iter().enumerate() {
            let stages: f64 = rows.iter().filter_map(|(_, ns)| ns[at]).sum();
            let sum = sum.expect("a sum");
            assert!((stages - sum).abs() * GHZ < 5.0, "{at}: {stages} {sum}");
            // Table I: a CPU's load and its cycles give its rate, which 2 digits are printed of.
            let (.., rate, load) = SCENARIOS[at];
            let told = rate.map_or(0.0, |rate| {
                rate * 0.1 * sum / f64::from(load.expect("a load"))
            });
            assert!(rate.is_none() || (told - 1.0).abs() < 0.02, "{at}: {told}");
        }
    }

    #[test]
    fn a_point_that_counts_comes_before_another_state() {
        let point = |octets: &str, ns, other_state| {
            let mut point = SweepPoint {
                value: 1.0,
                frame: octets.to_owned(),
                cores: 2,
                other_state,
                ..SweepPoint::default()
            };
            point.load.frame_ns.median = ns;
            point
        };
        let line = SweepLine {
            axis: SweepLine::PAPER.to_owned(),
            points: vec![
                point("64", 900.0, true),
                point("512", 800.0, true),
                point("64", 500.0, false),
            ],
            ..SweepLine::default()
        };
        assert!(here(&line, 0).is_some_and(|point| point.load.frame_ns.median == 500.0));
        let stages = beside(&line, STAGES, &[0, 1]);
        assert_eq!(stages.head[2..], ["here", "1", "here ~"]);
        let rates = rates(&line).rows;
        assert_eq!((&*rates[0][0], &*rates[1][0]), ("64 B, 1", "512 B, 1 ~"));
        // One flow has one of the two CPUs.
        assert_eq!(rates[0][6], "2.00");
    }

    #[test]
    fn predictions_not_to_be_trusted_are_marked() {
        let cells = |error_ratio, half, overload_fps| {
            let mut point = SweepPoint {
                value: 1.0,
                frame: "64".to_owned(),
                cores: 1,
                overload_fps: Some(overload_fps),
                model: Some(CostModel {
                    predicted_fps: 1e6 * (1.0 + error_ratio),
                    measured_fps: 1e6,
                    error_ratio,
                    error_range: Some([error_ratio - half, error_ratio, error_ratio + half].into()),
                    ..CostModel::default()
                }),
                ..SweepPoint::default()
            };
            point.load.frame_ns.median = 500.0;
            let line = SweepLine {
                axis: SweepLine::PAPER.to_owned(),
                points: vec![point],
                ..SweepLine::default()
            };
            let row = rates(&line).rows.swap_remove(0);
            [row[3].clone(), row[6].clone()]
        };
        assert_eq!(cells(0.09, 0.05, 1.9e6), ["1.09", "2.00"]);
        assert_eq!(cells(0.09, 0.2, 1.9e6), ["1.09 ?", "2.00"]);
        assert_eq!(cells(-0.11, 0.05, 1.7e6), ["0.89 ?", "2.00 ?"]);
    }

    #[test]
    fn functions_are_found_by_parts_of_their_names() {
        let one = |function: &str, ns| mpps_record::FunctionCost {
            function: function.to_owned(),
            ns,
        };
        let point = SweepPoint {
            functions: vec![one("_raw_spin_lock", 3.0), one("_raw_spin_unlock", 2.0)],
            ..SweepPoint::default()
        };
        assert_eq!(measured(&point, "do_raw_spin_lock", false), Some(3.0));
        assert_eq!(measured(&point, "spin_unlock", false), Some(2.0));
        assert_eq!(measured(&point, "__phys_addr", false), None);
        assert_eq!(measured(&point, "free", true), None);
    }
}
