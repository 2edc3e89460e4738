//! The profiles of `mpps explain`: a sentence for each frame size, then its time by stage and by cause.

use super::columns;
use super::doubts::Doubted;
use super::explained_against::explained_against;
use super::watched::page;
use super::wrap::wrap;
use crate::exit::Exit;
use crate::outcome::{Outcome, worst};
use mpps_record::{
    CostModel, Evidence, FunctionCost, Interval, PartCost, ProfileLine, ProfiledLoad, Run,
};
use mpps_report::{number, profile};
use std::fmt::Write;

/// Parts named in the first sentence.
const NAMED: usize = 4;
/// Functions named for a part, and columns for them.
const TOP: usize = 2;
const TOP_WIDTH: usize = 30;
/// Columns of prose.
pub(super) const WIDTH: usize = 80;
/// Of a bed's own stages, which are not the router's.
const OF_BED: [&str; 2] = ["virtual NIC", "exit"];

impl Outcome for Vec<ProfileLine> {
    /// All frame sizes, under the machine they were measured on, then the doubts.
    fn text(&self, machine: &str, verbose: bool) -> String {
        let mut text = format!("Where the time of a frame goes\n\n{machine}\n");
        for size in self {
            text += &of_size(size, verbose);
        }
        text + &Doubted::new(self).lines(verbose)
    }

    /// A size without a load has nothing to show.
    fn exit(&self, _: &Run) -> Exit {
        let exit = |size: &ProfileLine| match size.loads.is_empty() {
            true => Exit::Disturbed,
            false => Exit::Measured,
        };
        worst(self.iter().map(exit))
    }
}

fn of_size(size: &ProfileLine, verbose: bool) -> String {
    if let Some(watched) = &size.watched {
        return page(size, watched, verbose);
    }
    let name = number::frame(&size.frame);
    let limit = size.limit_text.as_deref().unwrap_or_default();
    let mut text = match (size.loads.first(), &size.against) {
        (Some(saturated), Some(against)) => {
            explained_against(size, saturated, against, verbose)
                + &wrap(&format!("\n{limit}.\n"), WIDTH)
        }
        (Some(saturated), None) => {
            let sentence = format!("\n{name}: {}.\n{limit}.\n", sentence(saturated));
            wrap(&sentence, WIDTH) + &tables(saturated, verbose)
        }
        (None, _) => format!("\n{name}: not measured.\n"),
    };
    if size.loads.len() > 1 {
        text += &loads(&size.loads);
    }
    text += &size.evidence.as_ref().map_or(String::new(), evidence);
    for line in remarks(size) {
        text += &wrap(&format!("\n{line}\n"), WIDTH);
    }
    text
}

/// What a frame costs, and its largest parts.
fn sentence(load: &ProfiledLoad) -> String {
    let mut stages: Vec<&PartCost> = load.stages.iter().collect();
    stages.sort_by(|one, other| other.ns.median.total_cmp(&one.ns.median));
    let named = stages.iter().take(NAMED);
    let named: Vec<String> = named
        .map(|stage| format!("{:.0} {}", stage.ns.median, stage.part))
        .collect();
    let rest: f64 = stages.iter().skip(NAMED).map(|stage| stage.ns.median).sum();
    format!(
        "a frame costs {:.0} ns at saturation ({} frames/s): {}, {rest:.0} elsewhere; {:.0} ns are outside virtual NIC and exit",
        load.frame_ns.median,
        number::rate(load.forwarding_fps.median),
        named.join(", "),
        load.router_ns
    )
}

/// By stage, then by cause.
pub(super) fn tables(load: &ProfiledLoad, verbose: bool) -> String {
    let head =
        |part: &str| [part, "ns", "95 % interval", "share", "most of it in"].map(str::to_owned);
    let mut text = String::new();
    for (name, parts) in [("stage", &load.stages), ("cause", &load.causes)] {
        let whole = load.frame_ns.median;
        let shown = parts.iter().filter(|part| verbose || part.samples > 0);
        let mut rows = vec![head(name)];
        rows.extend(shown.map(|part| row(part, whole)));
        if name == "stage" {
            let sum = format!("{whole:.0}");
            rows.push([
                "sum".to_owned(),
                sum,
                span(load.frame_ns),
                String::new(),
                String::new(),
            ]);
        }
        let _ = write!(text, "\n{}", columns(&rows, &[0, 4]));
    }
    text
}

fn row(part: &PartCost, whole: f64) -> [String; 5] {
    let bed = if OF_BED.contains(&part.part.as_str()) {
        " *"
    } else {
        ""
    };
    [
        format!("{}{bed}", part.part),
        format!("{:.0}", part.ns.median),
        span(part.ns),
        number::percent(part.ns.median / whole),
        top(&part.top),
    ]
}

fn span(ns: Interval<f64>) -> String {
    if ns.low == ns.high && ns.low > 0.0 {
        return "counted".to_owned();
    }
    format!("{:.0} to {:.0}", ns.low, ns.high)
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

/// How the cost changes with the load.
fn loads(loads: &[ProfiledLoad]) -> String {
    let head = [
        "frames/s",
        "busy",
        "ns a frame",
        "wake-ups a frame",
        "polls a frame",
        "samples tell of",
    ];
    let number = |of: Option<f64>| of.map_or("-".to_owned(), |of| format!("{of:.4}"));
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(loads.iter().map(|load| {
        [
            number::rate(load.forwarding_fps.median),
            number::percent(load.busy_share),
            format!("{:.0}", load.frame_ns.median),
            number(load.wake_ups_per_frame),
            number(load.polls_per_frame),
            load.seen_share.map_or("-".to_owned(), number::percent),
        ]
    }));
    format!("\n{}", columns(&rows, &[]))
}

/// What the router's CPUs did at saturation, what was dropped, and where locks are waited for.
fn evidence(found: &Evidence) -> String {
    let head = [
        "CPU",
        "interrupts/s",
        "polls/s",
        "frames a poll",
        "wake-ups/s",
        "busy",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(found.cpus.iter().map(|cpu| {
        [
            cpu.cpu.to_string(),
            format!("{:.0}", cpu.interrupts_per_s),
            format!("{:.0}", cpu.polls_per_s),
            cpu.frames_per_poll
                .map_or("-".to_owned(), |frames| format!("{frames:.2}")),
            format!("{:.0}", cpu.wake_ups_per_s),
            number::percent(cpu.busy_share),
        ]
    }));
    let mut text = format!("\n{}", columns(&rows, &[]));
    if !found.drops.is_empty() {
        let mut rows = vec![["dropped at", "reason", "frames", "of all"].map(str::to_owned)];
        rows.extend(found.drops.iter().map(|drops| {
            let reason = drops.reason.as_deref().unwrap_or("-").to_owned();
            let frames = number::spaced(drops.frames);
            [
                drops.place.clone(),
                reason,
                frames,
                number::percent_or_under(drops.share),
            ]
        }));
        let _ = write!(text, "\n{}", columns(&rows, &[0, 1]));
    }
    if let Some(locked) = &found.locks_in {
        let line = format!(
            "\nMost time in locks: {:.0} ns, in {}.\n",
            locked.ns.median, locked.part
        );
        text += &wrap(&line, WIDTH);
    }
    text
}

/// What the lower loads predict. A cost that they cannot tell from the others has no number.
fn model(model: &CostModel) -> String {
    let terms = [
        ("frame", "a frame", model.frame_ns),
        ("wake-up", "a wake-up", model.wake_up_ns),
        ("poll", "a poll", model.poll_ns),
        (
            "waiting",
            "a frame while the sender waits",
            model.waiting_ns,
        ),
    ];
    let is_mixed = |name: &str| model.mixed.iter().any(|mixed| mixed == name);
    let known = terms
        .iter()
        .filter(|(name, _, ns)| *ns > 0.0 && !is_mixed(name));
    let mut known: Vec<String> = known
        .map(|(_, of, ns)| format!("{ns:.0} ns {of}"))
        .collect();
    if !model.mixed.is_empty() {
        known.push(format!(
            "{}, which these loads do not tell apart",
            model.mixed.join(", ")
        ));
    }
    format!(
        "Model: {}; from {} trials below saturation. It predicts {} frames/s at saturation; measured {} ({:+.1} %).",
        known.join(" + "),
        model.loads,
        number::rate(model.predicted_fps),
        number::rate(model.measured_fps),
        model.error_ratio * 100.0
    )
}

/// What stands below the tables.
fn remarks(size: &ProfileLine) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(load) = size.loads.first() {
        lines.push(format!(
            "*: the bed's own, in place of a NIC. RX, allocation, TX and free serve a wire in the router's place too, so `mpps throughput` gives less as the router's part. {} samples; {} of the time came late, because interrupts were off; no rule places {}.",
            number::spaced(load.samples),
            number::percent(load.shadow_share),
            number::percent(load.unclassified_share)
        ));
    }
    if let Some(ns) = size.burnt_ns {
        lines.push(format!(
            "A planted program spun {ns} ns for each frame, in RX."
        ));
    }
    lines.extend(profile::interrupted(size));
    lines.extend(size.model.as_ref().map(model));
    if let Some(why) = &size.no_model {
        lines.push(format!("No prediction: {why}."));
    }
    if let Some(looking) = &size.looking {
        let percent = |ratio: f64| format!("{:.1}", (ratio - 1.0) * 100.0);
        lines.push(format!(
            "Cost of looking: {} % of the rate ({} to {}, {} pairs).",
            percent(looking.ratio.median),
            percent(looking.ratio.low),
            percent(looking.ratio.high),
            looking.pairs
        ));
    }
    lines.extend(size.why.as_ref().map(|why| format!("Cut short: {why}.")));
    lines
}
