//! The sweeps of `mpps explain --sweep`: points beside their predictions; and tables I to V of Raumer et al. (2015).

use super::columns;
use super::doubts::Doubted;
use super::wrap::wrap;
use crate::exit::Exit;
use crate::outcome::{Outcome, worst};
use mpps_record::{Run, SweepFit, SweepLine, SweepPoint};
use mpps_report::published::paper_tables;
use mpps_report::{number, sweep};

/// Columns of prose.
const WIDTH: usize = 80;

impl Outcome for Vec<SweepLine> {
    fn text(&self, machine: &str, verbose: bool) -> String {
        let mut text = String::new();
        for line in self {
            let title = match line.is_paper() {
                true => {
                    "Tables I to V of Raumer, Emmerich and others (2015) on this machine".to_owned()
                }
                false => format!("What a frame costs over {}", sweep::noun(line)),
            };
            text += &format!("{title}\n\n{machine}\n\n");
            text += &wrap(&format!("{}.\n", sweep::sentence(line)), WIDTH);
            text += &match line.is_paper() {
                true => tables(line),
                false => points(line),
            };
            for remark in remarks(line) {
                text += &wrap(&format!("\n{remark}\n"), WIDTH);
            }
        }
        let doubted = Doubted {
            noun: "sweeps",
            ..Doubted::new(self)
        };
        text + &doubted.lines(verbose)
    }

    /// A sweep that was cut short, or has no point, may do better another time.
    fn exit(&self, _: &Run) -> Exit {
        let exit = |line: &SweepLine| match line.points.is_empty() || line.why.is_some() {
            true => Exit::Disturbed,
            false => Exit::Measured,
        };
        worst(self.iter().map(exit))
    }
}

fn points(line: &SweepLine) -> String {
    let head = [
        "",
        "ns",
        "95 % interval",
        "predicted",
        "95 % interval",
        "off",
        "",
        "frames/s",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    if let Some(name) = rows.first_mut() {
        name[0].clone_from(&line.axis);
    }
    rows.extend(sweep::along(line).into_iter().map(row));
    format!("\n{}", columns(&rows, &[6]))
}

fn row(point: &SweepPoint) -> [String; 8] {
    let ns = point.load.frame_ns;
    let predicted = point.predicted_ns;
    let known = |cell: Option<String>| cell.unwrap_or_else(|| "-".to_owned());
    [
        number::spaced(point.value as u64),
        format!("{:.0}", ns.median),
        format!("{:.0} to {:.0}", ns.low, ns.high),
        known(predicted.map(|ns| format!("{:.0}", ns.median))),
        known(predicted.map(|ns| format!("{:.0} to {:.0}", ns.low, ns.high))),
        known(
            point
                .error_ratio
                .map(|off| format!("{:+.1} %", off * 100.0)),
        ),
        sweep::role(point).to_owned(),
        number::rate(point.load.forwarding_fps.median),
    ]
}

fn tables(line: &SweepLine) -> String {
    let mut text = String::new();
    for table in paper_tables(line) {
        let mut rows = vec![table.head];
        rows.extend(table.rows);
        text += &format!("\n{}\n\n{}", table.title, columns(&rows, &[0]));
        text += &wrap(&format!("\n{}\n", table.note), WIDTH);
    }
    text
}

/// What stands below the table.
fn remarks(line: &SweepLine) -> Vec<String> {
    let mut lines: Vec<String> = line.fit.iter().map(|fit| fit_in_words(line, fit)).collect();
    if let ([first, ..], [.., last]) = (&line.memory[..], &line.memory[..]) {
        let size = |octets: u64| format!("{} KiB", number::spaced(octets >> 10));
        lines.push(format!(
            "One access to memory takes {:.1} ns within {} and {:.0} ns within {} (a chase of pointers on the tester's CPU).",
            first.ns, size(first.octets), last.ns, size(last.octets)
        ));
    }
    if let (Some(drift), Some(first)) = (line.drift_ratio, line.points.first()) {
        lines.push(format!(
            "Drift: the first point ({}) cost {:+.1} % at the end.",
            number::spaced(first.value as u64),
            drift * 100.0
        ));
    }
    lines.extend(line.no_fit.as_ref().map(|why| format!("No fit: {why}.")));
    lines.extend(
        line.distrust
            .iter()
            .map(|told| format!("Do not trust the fit: {told}.")),
    );
    lines.extend(line.why.as_ref().map(|why| format!("Cut short: {why}.")));
    lines
}

/// The line of the whole, and the stages that change most along the axis.
fn fit_in_words(line: &SweepLine, fit: &SweepFit) -> String {
    let constant: f64 = fit.stages.iter().map(|stage| stage.constant_ns).sum();
    let slope: f64 = fit.stages.iter().map(|stage| stage.slope_ns).sum();
    let over = match (fit.item_octets, line.axis.as_str()) {
        (Some(octets), axis) => {
            format!("{slope:.1} times the latency of {octets:.0} octets for each of the {axis}")
        }
        (None, "cores") => format!("{slope:.1} ns for each core beside the first"),
        (None, _) => format!("{slope:.3} ns for each octet"),
    };
    let mut stages: Vec<_> = fit
        .stages
        .iter()
        .filter(|stage| stage.slope_ns > 0.0)
        .collect();
    stages.sort_by(|one, other| other.slope_ns.total_cmp(&one.slope_ns));
    let named: Vec<String> = stages
        .iter()
        .take(3)
        .map(|stage| format!("{} {:.0} %", stage.part, stage.slope_ns / slope * 100.0))
        .collect();
    let grows = match named.is_empty() || slope <= 0.0 {
        true => String::new(),
        false => format!(" Most of what grows: {}.", named.join(", ")),
    };
    format!(
        "Fit to {} points: {constant:.0} ns + {over}; they lie {:.0} ns from it.{grows}",
        fit.points, fit.off_ns
    )
}
