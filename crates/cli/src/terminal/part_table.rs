//! The time of a frame by its parts: stages, or causes.

use super::columns;
use super::columns::names;
use mpps_record::{FunctionCost, Interval, PartCost, ProfiledLoad};
use mpps_report::interval::of_trials;
use mpps_report::number;
use mpps_report::stage::is_beds;

/// Functions named for a part, and columns for them.
const TOP: usize = 2;
const TOP_WIDTH: usize = 30;

/// By stage, then by cause, with what of each a wire takes, and with cycles where a frame's are known.
pub(super) fn tables(
    load: &ProfiledLoad,
    wire: Option<&ProfiledLoad>,
    cycles: Option<f64>,
    verbose: bool,
) -> String {
    let table = |causes| format!("\n{}", part_table(load, (wire, cycles), causes, verbose));
    [false, true].map(table).concat()
}

pub(super) fn part_table(
    load: &ProfiledLoad,
    (wire, cycles): (Option<&ProfiledLoad>, Option<f64>),
    causes: bool,
    verbose: bool,
) -> String {
    let name = if causes { "cause" } else { "stage" };
    let parts = |load: &'_ ProfiledLoad| {
        if causes {
            load.causes.clone()
        } else {
            load.stages.clone()
        }
    };
    let whole = load.frame_ns.median;
    let of_wire = wire.map_or(Vec::new(), parts);
    let through = |part: &PartCost| {
        let same = of_wire.iter().find(|wire| wire.part == part.part);
        same.map_or(0.0, |wire| wire.ns.median)
    };
    // A host that is watched has no trials.
    let interval = match load.has_few_trials() || load.trials.is_empty() {
        true => "of samples",
        false => "95 % interval",
    };
    let of_frame = |share: f64| cycles.map_or(String::new(), |all| format!("{:.0}", all * share));
    let head = format!("{name};ns;{interval};cycles;wire;share;most of it in");
    let mut rows = vec![names(&head)];
    let parts = parts(load).into_iter();
    let shown = parts.filter(|part| verbose || part.samples > 0 || through(part) >= 0.5);
    rows.extend(shown.flat_map(|part| {
        let star = if wire.is_none() && is_beds(&part.part) {
            " *"
        } else {
            ""
        };
        let cells = [
            format!("{}{star}", part.part),
            format!("{:.0}", part.ns.median),
            span(part.ns),
            of_frame(part.ns.median / whole),
            format!("{:.0}", through(&part)),
            number::percent(part.ns.median / whole),
        ];
        let tops = match verbose {
            true if !part.top.is_empty() => part.top.iter().map(named).collect(),
            _ => vec![top(&part.top)],
        };
        let row = |(at, top): (usize, String)| {
            let cells = cells
                .clone()
                .map(|cell| if at == 0 { cell } else { String::new() });
            [&cells[..], &[top]].concat()
        };
        tops.into_iter().enumerate().map(row).collect::<Vec<_>>()
    }));
    if !causes {
        let through = wire.map_or(0.0, |wire| wire.frame_ns.median);
        let sum = [
            "sum".to_owned(),
            format!("{whole:.0}"),
            of_trials(span(load.frame_ns), load.trials.len()),
            of_frame(1.0),
            format!("{through:.0}"),
        ];
        rows.push([&sum[..], &[String::new(), String::new()]].concat());
    }
    for (column, is_known) in [("wire", wire.is_some()), ("cycles", cycles.is_some())] {
        let place = rows[0].iter().position(|head| head == column);
        if let Some(place) = place.filter(|_| !is_known) {
            rows.iter_mut().for_each(|row| drop(row.remove(place)));
        }
    }
    columns(&rows, &[0, rows[0].len() - 1])
}

fn span(ns: Interval<f64>) -> String {
    if ns.low == ns.high && ns.low > 0.0 {
        return "counted".to_owned();
    }
    format!("{:.0} to {:.0}", ns.low, ns.high)
}

/// A function by its whole name, with its ns.
fn named(one: &FunctionCost) -> String {
    format!("{} {:.0}", short(&one.function), one.ns)
}

/// The first functions, as many as fit.
fn top(functions: &[FunctionCost]) -> String {
    let mut text = String::new();
    for one in functions.iter().take(TOP) {
        let ns = format!("{:.0}", one.ns);
        let name: String = short(&one.function)
            .chars()
            .take(TOP_WIDTH - 1 - ns.len())
            .collect();
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

    #[test]
    fn verbose_names_every_function_in_full() {
        let table = |verbose| part_table(&load(vec![1, 2, 3]), (None, None), false, verbose);
        assert!(!table(false).contains("name_is_long_0"));
        let table = table(true);
        for number in 0..8 {
            let ended = format!("a_function_whose_name_is_long_{number} {}\n", 20 - number);
            assert!(table.contains(&ended), "{table}");
        }
        assert_eq!(table.matches("RX").count(), 1, "{table}");
    }

    #[test]
    fn a_host_without_trials_has_intervals_of_samples() {
        let head = |trials| {
            let table = part_table(&load(trials), (None, None), false, false);
            table.lines().next().unwrap_or_default().to_owned()
        };
        assert!(head(Vec::new()).contains("of samples"));
        assert!(head(vec![1, 2]).contains("of samples"));
        assert!(head(vec![1, 2, 3]).contains("95 % interval"));
    }
}
