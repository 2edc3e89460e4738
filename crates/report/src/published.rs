//! The cost of a frame by stage that others published, beside a profile's.

use crate::number;
use crate::profile::saturated;
use maud::{Markup, html};
use mpps_record::{ProfileLine, SweepLine, SweepPoint};

/// Cycles of a frame: Raumer et al., Performance Exploration of Software-based Packet Processing Systems, 2015, tables I,
/// II and IV.
const CYCLES: &str = include_str!("published.csv");
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
/// A function: its name there, parts of its names here, its cycles.
type Function = (&'static str, &'static [&'static str], [Option<f64>; 3]);
/// Functions of tables III and V: what they are called there, parts of their names here, cycles at 1, 256 and 1 048 576
/// flows.
const FUNCTIONS: [Function; 8] = [
    (
        "do_raw_spin_lock",
        &["spin_lock"],
        [Some(194.0), None, None],
    ),
    (
        "arch_local_irq_restore",
        &["local_irq_restore"],
        [Some(43.0), None, None],
    ),
    (
        "arch_local_irq_save",
        &["local_irq_save"],
        [Some(21.0), None, None],
    ),
    ("__phys_addr", &["__phys_addr"], [Some(20.0), None, None]),
    ("spin_unlock", &["spin_unlock"], [Some(15.0), None, None]),
    (
        "fib_table_lookup",
        &["fib_table_lookup"],
        [Some(116.0), Some(238.0), Some(423.0)],
    ),
    (
        "check_leaf",
        &["check_leaf"],
        [Some(45.0), Some(89.0), Some(361.0)],
    ),
    (
        "skb_release_data",
        &["skb_release_data"],
        [Some(133.0), Some(37.0), Some(35.0)],
    ),
];
/// The first functions are of table III, the others of table V.
const LOCKS: usize = 5;

/// A table of theirs with this machine's figures beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaperTable {
    /// Its number and what it is of.
    pub title: String,
    /// Its columns.
    pub head: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// How to read it.
    pub note: String,
}

/// Tables I to V, if the points are their scenarios; else none.
#[must_use]
pub fn paper_tables(line: &SweepLine) -> Vec<PaperTable> {
    if !line.is_paper() {
        return Vec::new();
    }
    let sizes: Vec<usize> = (0..4).collect();
    let flows = [0, 4, 5, 6];
    let by_size = |at: usize| format!("{} B", SCENARIOS[at].0);
    let by_flows = |at: usize| number::plural(SCENARIOS[at].1 as usize, "flow");
    vec![
        rates(line),
        stages(
            line,
            "II: ns of a frame by stage, over frame sizes",
            &sizes,
            by_size,
        ),
        functions(
            line,
            "III: ns of a frame in locks and addresses, 64 B, 1 flow",
            &FUNCTIONS[..LOCKS],
            &[0],
        ),
        stages(
            line,
            "IV: ns of a frame by stage, over flows, 64 B",
            &flows,
            by_flows,
        ),
        functions(
            line,
            "V: ns of a frame in functions of the look-up, 64 B",
            &FUNCTIONS[LOCKS..],
            &[0, 4, 6],
        ),
    ]
}

/// What was measured here in the scenario.
fn here(line: &SweepLine, scenario: usize) -> Option<&SweepPoint> {
    let (octets, flows, ..) = SCENARIOS[scenario];
    let is_it =
        |point: &&SweepPoint| point.frame == octets.to_string() && point.value == flows as f64;
    line.points.iter().find(is_it)
}

fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "-".to_owned())
}

/// What is predicted for the peak and for overload, each beside its measurement.
fn rates(line: &SweepLine) -> PaperTable {
    let short = |fps: f64| format!("{:.2}", fps / 1e6);
    let off =
        |predicted: f64, measured: f64| format!("{:+.1} %", (predicted / measured - 1.0) * 100.0);
    let row = |at: usize| {
        let (octets, flows, published, load) = SCENARIOS[at];
        let point = here(line, at);
        let model = point.and_then(|point| point.model.as_ref());
        let overload = point.and_then(|point| {
            let predicted = f64::from(point.cores) * 1e9 / point.load.frame_ns.median;
            Some((predicted, point.overload_fps?))
        });
        vec![
            format!("{octets} B, {}", number::plural(flows as usize, "flow")),
            or_dash(published.map(|mpps| format!("{mpps:.2}"))),
            or_dash(load.map(|percent| format!("{percent} %"))),
            or_dash(model.map(|model| short(model.predicted_fps))),
            or_dash(point.map(|point| short(point.load.forwarding_fps.median))),
            or_dash(model.map(|model| off(model.predicted_fps, model.measured_fps))),
            or_dash(overload.map(|(predicted, _)| short(predicted))),
            or_dash(overload.map(|(_, measured)| short(measured))),
            or_dash(overload.map(|(predicted, measured)| off(predicted, measured))),
        ]
    };
    let head = [
        "scenario", "Mpps", "load", "peak^", "peak", "off", "over^", "over", "off",
    ];
    PaperTable {
        title: "I: the highest rate, predicted and measured".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: (0..SCENARIOS.len()).map(row).collect(),
        note: "Mpps and load are published; all else is measured here, in Mpps. ^ is a prediction. That of the peak \
               stands on loads below saturation (cost by wake-ups a frame). That of overload is the time of a CPU by a \
               frame's cost at the peak."
            .to_owned(),
    }
}

fn stages(
    line: &SweepLine,
    title: &str,
    scenarios: &[usize],
    name: impl Fn(usize) -> String,
) -> PaperTable {
    let mut lines = CYCLES
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap_or_default();
    let published: Vec<Vec<&str>> = lines.collect();
    let cells = |ns: &dyn Fn(usize) -> [Option<f64>; 2]| -> Vec<String> {
        let both = scenarios.iter().flat_map(|&at| ns(at));
        both.map(|ns| or_dash(ns.map(|ns| format!("{ns:.0}"))))
            .collect()
    };
    let measured = |at: usize, stage: &str| {
        let stages = &here(line, at)?.load.stages;
        Some(stages.iter().find(|part| part.part == stage)?.ns.median)
    };
    let theirs = |at: usize, column: usize| {
        let cycles = published.get(at)?.get(column)?.parse::<f64>().ok()?;
        Some(cycles / GHZ)
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (column, stage) in names.iter().enumerate().skip(1) {
        let marked = if DRIVERS.contains(stage) { " *" } else { "" };
        let mut row = vec![format!("{stage}{marked}")];
        row.extend(cells(&|at| [theirs(at, column), measured(at, stage)]));
        rows.push(row);
    }
    for stage in ["virtual NIC", "exit"] {
        let mut row = vec![format!("{stage} **")];
        row.extend(cells(&|at| [None, measured(at, stage)]));
        rows.push(row);
    }
    let sum = |at: usize| {
        (1..names.len())
            .filter_map(|column| theirs(at, column))
            .sum::<f64>()
    };
    let mut row = vec!["sum".to_owned()];
    row.extend(cells(&|at| {
        [
            Some(sum(at)),
            here(line, at).map(|point| point.load.frame_ns.median),
        ]
    }));
    rows.push(row);
    let mut head = vec!["stage".to_owned()];
    head.extend(
        scenarios
            .iter()
            .flat_map(|&at| [name(at), "here".to_owned()]),
    );
    PaperTable {
        title: title.to_owned(),
        head,
        rows,
        note: "*: a 10GbE driver works there, and a veth pair has no such work: these cannot be compared. **: the bed's \
               own, in place of a NIC."
            .to_owned(),
    }
}

fn functions(
    line: &SweepLine,
    title: &str,
    functions: &[Function],
    scenarios: &[usize],
) -> PaperTable {
    let measured = |at: usize, parts: &[&str]| {
        let all = &here(line, at)?.functions;
        let is_it = |name: &str| parts.iter().any(|part| name.contains(part));
        let found: Vec<f64> = all
            .iter()
            .filter(|one| is_it(&one.function))
            .map(|one| one.ns)
            .collect();
        (!found.is_empty()).then(|| found.iter().sum::<f64>())
    };
    let row = |(name, parts, cycles): &Function| {
        let mut row = vec![(*name).to_owned()];
        for (&at, cycles) in scenarios.iter().zip(cycles) {
            let both = [cycles.map(|cycles| cycles / GHZ), measured(at, parts)];
            row.extend(both.map(|ns| or_dash(ns.map(|ns| format!("{ns:.0}")))));
        }
        row
    };
    let named = |&at: &usize| number::plural(SCENARIOS[at].1 as usize, "flow");
    let mut head = vec!["function".to_owned()];
    head.extend(
        scenarios
            .iter()
            .flat_map(|at| [named(at), "here".to_owned()]),
    );
    PaperTable {
        title: title.to_owned(),
        head,
        rows: functions.iter().map(row).collect(),
        note: "Here: all functions whose names contain that one, or for do_raw_spin_lock spin_lock. \"-\" here: below 0.5 ns, or \
               the compiler made it part of its caller."
            .to_owned(),
    }
}

/// A table of the stages: here, and in each published scenario. Nothing where the profile has no stages.
#[must_use]
pub fn section(line: &ProfileLine) -> Markup {
    let Some(load) = saturated(line) else {
        return html! {};
    };
    let mut lines = CYCLES
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let stages = lines.next().unwrap_or_default();
    let scenarios: Vec<Vec<&str>> = lines.collect();
    let ns = |cycles: Option<&&str>| {
        let cycles = cycles.and_then(|cycles| cycles.parse::<f64>().ok());
        cycles.map_or("-".to_owned(), |cycles| format!("{:.0}", cycles / GHZ))
    };
    let here = |stage: &str| {
        let known = load.stages.iter().find(|at| at.part == stage);
        known.map_or("-".to_owned(), |at| format!("{:.0}", at.ns.median))
    };
    html! {
        details {
            summary { "Beside published figures" }
            p.note {
                "ns of a frame. Published: Raumer et al., Performance Exploration of Software-based Packet Processing \
                 Systems, 2015: one core of a Xeon E3-1230 v2 at 3.3 GHz, 82599 10GbE, Linux 3.7, ixgbe 3.14.5. In RX, \
                 allocation, TX and free a 10GbE driver works there: a veth pair has no such work, so these cannot be \
                 compared."
            }
            div.wide { table {
                thead { tr {
                    th { "stage" } th { "here" }
                    @for scenario in &scenarios { th { (scenario.first().unwrap_or(&"")) } }
                    th { "comparable" }
                } }
                tbody {
                    @for (column, stage) in stages.iter().enumerate().skip(1) {
                        tr {
                            td { (stage) } td { (here(stage)) }
                            @for scenario in &scenarios { td { (ns(scenario.get(column))) } }
                            td { (if DRIVERS.contains(stage) { "no: a driver's work" } else { "yes" }) }
                        }
                    }
                }
            } }
        }
    }
}
