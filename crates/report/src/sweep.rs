//! Sweeps of `mpps explain --sweep`: in a sentence, as a table, and as a part of a page.

use crate::interval::of_trials;
use crate::number;
use crate::published::{self, PaperTable};
use maud::{Markup, html};
use mpps_record::{ProfiledLoad, SweepFit, SweepLine, SweepPoint};

/// Why a point has no prediction.
const WIDE: &str = "the interval would reach 0 or twice the cost";

/// The axis as a noun: `frame sizes`.
#[must_use]
pub fn noun(line: &SweepLine) -> &str {
    match line.axis.as_str() {
        "frame" => "frame sizes",
        axis => axis,
    }
}

/// What a point is to the fit.
#[must_use]
pub const fn role(point: &SweepPoint) -> &'static str {
    match (point.held_out, point.predicted_ns) {
        _ if point.other_state => "other state",
        (true, _) => "held out",
        (false, Some(_)) => "fitted",
        (false, None) => "measured",
    }
}

/// `destinations 1 to 1 000 000: a frame costs 602 to 811 ns; points that were held out are predicted within 4.1 %`.
#[must_use]
pub fn sentence(line: &SweepLine) -> String {
    let points = line.along();
    let costs = || points.iter().map(|point| point.load.frame_ns.median);
    let (low, high) = (
        costs().fold(f64::MAX, f64::min),
        costs().fold(0.0, f64::max),
    );
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        let why = line.why.as_deref().unwrap_or("nothing was measured");
        return format!("{}: no point: {why}", line.axis);
    };
    if line.is_paper() {
        let scenarios = number::plural(points.len(), "published scenario");
        return format!("{scenarios}: a frame costs {low:.0} to {high:.0} ns");
    }
    let ends = [first, last].map(|point| number::spaced(point.value as u64));
    let held = || {
        let held = points.iter().filter(|point| point.held_out);
        held.filter(|point| !point.other_state)
    };
    let predicted = held().filter(|point| point.prediction().is_some()).count();
    let doubted = match line.distrust.is_empty() {
        true => "",
        false => " (do not trust it)",
    };
    let told = match (&line.fit, &line.no_fit) {
        (Some(fit), _) if predicted > 0 => format!(
            "; the fit predicts {predicted} of {} within {} in the median{doubted}",
            number::plural(held().count(), "held-out point"),
            fit.held_out_error_ratio
                .map_or("-".to_owned(), number::percent)
        ),
        (Some(_), _) if held().count() > 0 => {
            format!("; the fit predicts no held-out point, because {WIDE}")
        }
        (None, Some(why)) => format!("; no fit: {why}"),
        _ => String::new(),
    };
    format!(
        "{}, {} to {}: a frame costs {low:.0} to {high:.0} ns{told}",
        noun(line),
        ends[0],
        ends[1]
    )
}

/// The ends of a cost's interval; few trials have only their range.
#[must_use]
pub fn interval(load: &ProfiledLoad) -> String {
    let range = format!("{:.0} to {:.0}", load.frame_ns.low, load.frame_ns.high);
    of_trials(range, load.trials.len())
}

/// What stands below the table.
#[must_use]
pub fn remarks(line: &SweepLine) -> Vec<String> {
    let mut lines: Vec<String> = line.fit.iter().map(|fit| fit_in_words(line, fit)).collect();
    let silent = line
        .points
        .iter()
        .any(|point| point.predicted_ns.is_some() && point.prediction().is_none());
    if silent {
        lines.push(format!(
            "\"-\": nothing is predicted there, because {WIDE}."
        ));
    }
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
    lines.extend(state(line));
    lines.extend(line.no_fit.as_ref().map(|why| format!("No fit: {why}.")));
    let distrust = line.distrust.iter();
    lines.extend(distrust.map(|told| format!("Do not trust the fit: {told}.")));
    lines.extend(line.why.as_ref().map(|why| format!("cut short: {why}")));
    lines
}

/// The state of the machine in which the points were measured that count, and how often it was another one.
fn state(line: &SweepLine) -> Option<String> {
    let count = line.points.iter().find(|point| !point.other_state)?;
    let (distance_ns, work_ns) = (count.load.cpu_distance_ns?, count.load.work_ns?);
    let others = line.points.iter().filter(|point| point.other_state).count();
    let left_out = match others {
        0 => String::new(),
        others => format!(
            " Not counted, because the machine was in another state: {}.",
            number::plural(others, "measurement")
        ),
    };
    Some(format!(
        "State of the machine: CPU distance {distance_ns:.0} ns, work {work_ns:.0} ns.{left_out}"
    ))
}

/// The line of the whole, and the stages that change most along the axis.
fn fit_in_words(line: &SweepLine, fit: &SweepFit) -> String {
    let constant: f64 = fit.stages.iter().map(|stage| stage.constant_ns).sum();
    let slope: f64 = fit.stages.iter().map(|stage| stage.slope_ns).sum();
    let over = match (fit.item_octets, line.axis.as_str()) {
        _ if slope == 0.0 => format!("nothing for more {}", noun(line)),
        (Some(octets), _) => {
            let times = format!("{slope:.1} times the latency of one memory access");
            format!(
                "{times} to {octets:.0} octets for each of the {}",
                noun(line)
            )
        }
        (None, "cores") => format!("{slope:.1} ns for each core beside the first"),
        (None, "frame") => format!("{slope:.3} ns for each octet"),
        (None, _) => format!("{slope:.0} ns up to the last place"),
    };
    let off = match (fit.item_octets, line.axis.as_str()) {
        (None, "flows" | "destinations" | "routes") => {
            ". No size of an item explains the costs, so they go from place to place along the logarithm. A place \
             differs from its neighbours' line"
        }
        _ => "; the points differ from the fit",
    };
    let mut stages: Vec<_> = fit.stages.iter().collect();
    stages.retain(|stage| stage.slope_ns > 0.0 && slope > 0.0);
    stages.sort_by(|one, other| other.slope_ns.total_cmp(&one.slope_ns));
    let named = stages.iter().take(3);
    let named =
        named.map(|stage| format!("{} {:.0} %", stage.part, stage.slope_ns / slope * 100.0));
    let grows = match named.collect::<Vec<_>>().join(", ") {
        named if named.is_empty() => named,
        named => format!(" Most of what grows: {named}."),
    };
    format!(
        "Fit to {} measurements: {constant:.0} ns + {over}{off} by {:.0} ns.{grows}",
        fit.points, fit.off_ns
    )
}

/// What stands below the plot of a page, and of the published scenarios the tables.
#[must_use]
pub fn section(line: &SweepLine) -> Markup {
    html! {
        @for told in remarks(line) { p.note { (told) } }
        @for PaperTable { title, table, note } in published::paper_tables(line) {
            h4 { (title) }
            (table.markup(None))
            p.note { (note) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::StageFit;

    #[test]
    fn a_fit_says_what_it_is_over() {
        let words = |axis: &str, item_octets| {
            let line = SweepLine {
                axis: axis.to_owned(),
                ..SweepLine::default()
            };
            let stage = StageFit {
                part: "routing".to_owned(),
                constant_ns: 340.0,
                slope_ns: 980.0,
            };
            let fit = SweepFit {
                item_octets,
                stages: vec![stage],
                off_ns: 71.0,
                points: 7,
                ..SweepFit::default()
            };
            fit_in_words(&line, &fit)
        };
        let memory = words("destinations", Some(64.0));
        assert!(
            memory.contains("memory access to 64 octets")
                && memory.contains("from the fit by 71 ns")
        );
        let between = words("destinations", None);
        assert!(
            between.contains("340 ns + 980 ns up to the last place. No size of an item"),
            "{between}"
        );
        assert!(between.contains("neighbours' line by 71 ns. Most of what grows: routing 100 %."));
        assert!(words("frame", None).contains("980.000 ns for each octet; the points"));
    }

    #[test]
    fn few_trials_have_no_interval() {
        let told = |trials: u32| {
            interval(&ProfiledLoad {
                trials: (1..=trials).collect(),
                ..ProfiledLoad::default()
            })
        };
        let all = [1, 2, 3].map(told);
        assert_eq!(all, ["1 trial", "0 to 0 in 2 trials", "0 to 0"]);
    }

    #[test]
    fn a_point_of_another_state_gives_way() {
        let point = |value: f64, median: f64, other_state| {
            let mut point = SweepPoint {
                value,
                other_state,
                held_out: true,
                ..SweepPoint::default()
            };
            point.load.frame_ns.median = median;
            (point.load.cpu_distance_ns, point.load.work_ns) = (Some(62.0), Some(200.0));
            point
        };
        let line = SweepLine {
            axis: "frame".to_owned(),
            points: vec![
                point(64.0, 900.0, true),
                point(512.0, 950.0, true),
                point(64.0, 500.0, false),
            ],
            ..SweepLine::default()
        };
        let shown: Vec<_> = line
            .along()
            .iter()
            .map(|point| (point.load.frame_ns.median, role(point)))
            .collect();
        assert_eq!(shown, [(500.0, "held out"), (950.0, "other state")]);
        let told = remarks(&line).join(" ");
        let state = "State of the machine: CPU distance 62 ns, work 200 ns. Not counted, because the machine was in another state: 2 measurements.";
        assert!(told.contains(state), "{told}");
    }
}
