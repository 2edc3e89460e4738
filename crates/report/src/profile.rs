//! Profiles of `mpps explain`: in sentences, as a table, as flame graphs and folded stacks.

use crate::burn;
use crate::flame::{self, Frame, Stack};
use crate::number;
use crate::profile_change;
use crate::stage::is_beds;
use maud::{Markup, html};
use mpps_record::{
    CostModel, FoldedStack, FunctionCost, Interval, ProfileLine, ProfiledAgainst, ProfiledLoad,
    ProfiledWire, RUNS_ALIKE, Run,
};

/// Stacks are weighed in ns of so many frames, because other programs want whole numbers.
const FRAMES: f64 = 1_000.0;
const UNIT: &str = "ns of 1 000 frames";
/// Parts that the sentence names.
const PARTS: usize = 4;

/// The saturated load, if its cost is known by stage.
#[must_use]
pub fn saturated(line: &ProfileLine) -> Option<&ProfiledLoad> {
    line.loads.first().filter(|load| !load.stages.is_empty())
}

/// What a frame costs, its largest parts and what limits the router: where a wire tells it, of the router's part; else
/// of what lies outside virtual NIC and exit, of which a wire would take a part too.
#[must_use]
pub fn sentence(line: &ProfileLine) -> String {
    let frame = number::frame(&line.frame);
    let Some(load) = saturated(line) else {
        let why = line.why.as_deref().unwrap_or("there are no samples");
        return format!("{frame}: no cost by stage: {why}");
    };
    let mut own: Vec<(&str, &Interval<f64>)> = match &line.wire {
        Some(wire) => wire.stages.iter().map(|at| (&*at.part, &at.ns)).collect(),
        None => load.stages.iter().map(|at| (&*at.part, &at.ns)).collect(),
    };
    own.sort_by(|(_, one), (_, other)| other.median.total_cmp(&one.median));
    own.retain(|(part, _)| line.wire.is_some() || !is_beds(part));
    // A stage that costs more in a wire is no part of the router's cost that could be named.
    let costs = own.iter().take_while(|(_, ns)| ns.median >= 0.5).count();
    let (named, rest) = own.split_at(costs.min(PARTS));
    // Where a wire may take as much, it may be the bed that takes each of them.
    let is_told = line
        .wire
        .as_ref()
        .is_none_or(|wire| wire.router_ns.low > 0.0);
    let named = named.iter().filter(|_| is_told);
    let named = named.map(|(part, ns)| format!("{part} {:.0}", ns.median));
    let mut parts: Vec<String> = named.collect();
    let ns: f64 = rest.iter().map(|(_, ns)| ns.median).sum();
    parts.extend((is_told && ns.abs() >= 0.5).then(|| match ns < 0.0 {
        true => format!("the rest {ns:.0}, because a wire takes more there"),
        false => format!("the rest {ns:.0}"),
    }));
    let fps = load.forwarding_fps;
    let [low, fps, high] = [fps.low, fps.median, fps.high].map(number::rate);
    let ends = match load.has_few_trials() {
        true => String::new(),
        false => format!(" ({low} to {high})"),
    };
    let at = format!(" at saturation, {fps} frames/s{ends}");
    let of = match (&line.watched, &line.wire) {
        (Some(watched), _) if watched.foreign_packets > watched.frames / 2 => {
            ". No interface here counted most of these frames".to_owned()
        }
        (Some(_), _) => String::new(),
        (None, Some(wire)) if has_beds_stages(wire) => format!(
            "{at}. A wire in the router's place takes {:.0} ns of it. The router's part is {}",
            wire.load.frame_ns.median,
            routers(&wire.router_ns)
        ),
        (None, Some(wire)) => format!(
            "{at}. The bed's part is {}, the router's {}",
            beds(load.frame_ns.median, &wire.router_ns),
            routers(&wire.router_ns)
        ),
        (None, None) => format!(
            "{at}. {:.0} ns are outside virtual NIC and exit",
            load.router_ns
        ),
    };
    let parts = match parts.is_empty() {
        true => String::new(),
        false => format!(": {}", parts.join(", ")),
    };
    let mut told = format!("{frame}: a frame costs {}{of}{parts}", cost(load));
    let against = line.against.as_ref();
    let against = against.map(|other| profile_change::against(other));
    for more in line.limit_text.iter().chain(&against) {
        if !more.is_empty() {
            told += &format!(". {}", more.trim_end_matches('.'));
        }
    }
    told
}

/// `570 ns (565 to 576)`, or what few trials tell.
fn cost(load: &ProfiledLoad) -> String {
    match load.trials.len() {
        1 => format!("{:.0} ns (1 trial, so no interval)", load.frame_ns.median),
        _ if load.has_few_trials() => format!(
            "{:.0} ns ({:.0} and {:.0} in 2 trials)",
            load.frame_ns.median, load.frame_ns.low, load.frame_ns.high
        ),
        _ => span(&load.frame_ns),
    }
}

/// What is not the router's.
fn beds(all: f64, router: &Interval<f64>) -> String {
    match router.low > 0.0 {
        true => format!("{:.0} ns", all - router.median),
        false => format!("at least {:.0} ns", (all - router.high).max(0.0).floor()),
    }
}

/// The router's part; a bound where it cannot be told from the bed's.
fn routers(ns: &Interval<f64>) -> String {
    match ns.low > 0.0 {
        true => span(ns),
        false => format!(
            "less than {:.0} ns, so its stages cannot be told from the bed's",
            ns.high.max(1.0).ceil()
        ),
    }
}

/// `259 ns (249 to 269)`; without the ends where they are the same.
fn span(ns: &Interval<f64>) -> String {
    let [low, median, high] = [ns.low, ns.median, ns.high].map(|ns| format!("{ns:.0}"));
    match low == high {
        true => format!("{median} ns"),
        false => format!("{median} ns ({low} to {high})"),
    }
}

/// What is in each cost beside the work for frames.
#[must_use]
pub fn interrupted(line: &ProfileLine) -> Option<String> {
    let share = line.interrupted_share?;
    Some(format!(
        "Interrupts and the hypervisor took {} of the router's CPU before the trials, under the watch and the sampler. \
         That share is in each cost.",
        number::percent(share)
    ))
}

/// What the cost stands on, and what it predicts.
#[must_use]
pub fn evidence(line: &ProfileLine) -> Vec<String> {
    let mut told: Vec<String> = line.wire.as_deref().map(of_wire).into_iter().collect();
    told.extend(line.no_wire.as_ref().map(|why| {
        format!(
            "The bed's part of each stage is not known: {}.",
            why.trim_end_matches('.')
        )
    }));
    let by_cycles = line.clock.as_deref() == Some("cycles");
    told.extend(saturated(line).map(|load| samples(load, by_cycles)));
    told.extend(burn::told(line));
    let unplaced = line.loads.first().map(|load| &load.unplaced);
    let unplaced = unplaced.filter(|functions| !functions.is_empty());
    told.extend(
        unplaced.map(|functions| format!("Placed by no rule: {}.", named(functions, usize::MAX))),
    );
    told.extend(interrupted(line));
    told.extend(line.model.as_ref().map(model));
    told.extend(
        line.no_model
            .as_ref()
            .map(|why| format!("Nothing is predicted: {}.", why.trim_end_matches('.'))),
    );
    told.extend(line.looking.as_ref().map(|looking| {
        let [low, median, high] =
            [looking.ratio.low, looking.ratio.median, looking.ratio.high].map(number::percent);
        let ends = match looking.pairs {
            1 => "1 pair".to_owned(),
            pairs => format!("{low} to {high}, {pairs} pairs"),
        };
        format!(
            "With the sampler the router forwarded {median} of what it forwards without ({ends})."
        )
    }));
    told
}

/// Whether the difference of virtual NIC and exit is in the router's part, as before version 8 of the method.
fn has_beds_stages(wire: &ProfiledWire) -> bool {
    wire.stages.iter().any(|stage| is_beds(&stage.part))
}

/// What the router's part stands on.
fn of_wire(wire: &ProfiledWire) -> String {
    let unsampled = wire.unsampled_router_ns.as_ref();
    let unsampled = unsampled.map_or(String::new(), |ns| {
        format!(
            " Trials without samples, as those of `mpps throughput`, give {}.",
            span(ns)
        )
    });
    format!(
        "A wire in the router's place, in turns with it, takes {:.0} ns a frame. {} the router takes {} more, from {} of \
         neighbouring trials.{unsampled}",
        wire.load.frame_ns.median,
        match has_beds_stages(wire) {
            true => "In all,",
            false => "Without virtual NIC and exit, which are the bed's,",
        },
        span(&wire.router_ns),
        number::plural(wire.pairs as usize, "pair"),
    )
}

/// The most that the error of a prediction may be, or half of its interval.
const ERROR_MAX: f64 = 0.1;

/// Whether trials do not agree on the error of a prediction. How large that is says nothing of it.
pub(crate) fn is_unsure(model: &CostModel) -> bool {
    let half = |range: Interval<f64>| ((1.0 + range.high) / (1.0 + range.low)).ln() / 2.0;
    let range = model.error_range;
    range.map_or(model.is_unsure, |range| half(range) > ERROR_MAX)
}

/// Whether a prediction with this error is far off.
pub(crate) fn is_far(error_ratio: f64) -> bool {
    error_ratio.abs() > ERROR_MAX
}

/// Each cost has its range; in older records one that they cannot tell from the others has no number.
fn costs(model: &CostModel) -> String {
    let costs = [
        ("frame", "a frame", model.frame_ns),
        ("wake-up", "a wake-up", model.wake_up_ns),
        ("poll", "a poll", model.poll_ns),
    ];
    let is_mixed = |name: &str| model.mixed.iter().any(|mixed| mixed == name);
    let ranges = model.term_ranges_ns.iter().flatten().map(Some);
    let known = (costs.iter().zip(ranges.chain(std::iter::repeat(None)))).filter(
        |((name, _, ns), range)| range.map_or(*ns, |range| range.high) > 0.0 && !is_mixed(name),
    );
    let known: Vec<String> = known
        .map(|((_, of, ns), range)| {
            let range = range.map(|range| format!(" ({:.0} to {:.0})", range.low, range.high));
            format!("{ns:.0} ns {of}{}", range.unwrap_or_default())
        })
        .collect();
    let no_range = match model.term_ranges_ns {
        None if !known.is_empty() => ", without an interval",
        _ => "",
    };
    match known.as_slice() {
        [] => String::new(),
        known => known.join(", ") + no_range + ". It is ",
    }
}

/// What the lower loads predict.
fn model(model: &CostModel) -> String {
    let known = costs(model);
    let mixed = match model.mixed.as_slice() {
        [] => String::new(),
        mixed => format!(
            " These trials cannot separate these costs: {}.",
            mixed.join(", ")
        ),
    };
    let loads = number::plural(model.loads as usize, "trial");
    let windows = model
        .windows
        .map(|windows| number::plural(windows as usize, "window"));
    let (fitted, over) = match (model.trials_in_turns, windows) {
        (Some(trials), Some(windows)) => (
            format!(
                "{windows} below saturation in {} whose loads took turns",
                number::plural(trials as usize, "trial")
            ),
            "Saturated windows of the same trials",
        ),
        (_, windows) => (
            windows.map_or(String::new(), |windows| format!("{windows} of "))
                + &loads
                + " below saturation",
            "Saturated trials in the same state of the machine",
        ),
    };
    let range = model.error_range.map_or(String::new(), |range| {
        format!("; {:+.0} to {:+.0}", range.low * 100.0, range.high * 100.0)
    });
    let unsure = match model.error_range {
        _ if !is_unsure(model) => "",
        None => " Do not trust this prediction: its error has no interval.",
        Some(_) => " Do not trust this prediction: the trials do not agree on its error.",
    };
    let off = match is_far(model.error_ratio) {
        true => format!(
            " It was measured {:.1} % off.",
            model.error_ratio.abs() * 100.0
        ),
        false => String::new(),
    };
    format!(
        "Model: {known}fitted to {fitted} (within {:.0} ns).{mixed} It predicts {} frames/s at saturation.{unsure} {over} \
         forwarded {} ({:+.1} %{range}).{off}",
        model.off_ns,
        number::rate(model.predicted_fps),
        number::rate(model.measured_fps),
        model.error_ratio * 100.0
    )
}

fn samples(load: &ProfiledLoad, by_cycles: bool) -> String {
    let lost = match load.lost_samples {
        0 => String::new(),
        lost => format!(", {} found no room", number::grouped(lost)),
    };
    let trials = match load.trials.len() {
        0 => String::new(),
        trials => format!(" in {}", number::plural(trials, "trial")),
    };
    // Cycles are not compared with the scheduler's time.
    let (are, of) = match by_cycles {
        true => ("are", "those due"),
        false => ("cover", "the busy time"),
    };
    let seen = load.seen_share.map_or(String::new(), |seen| {
        format!(" {are} {} of {of}", number::percent(seen))
    });
    format!(
        "{}{trials}{seen}{lost}. No rule places {} of the time. {} was sampled late, because interrupts were off: it is given to the function that turned them off.",
        number::plural(load.samples as usize, "sample"),
        number::percent_or_under(load.unclassified_share),
        number::percent_or_under(load.shadow_share),
    )
}

/// The first functions with their times.
#[must_use]
pub fn named(functions: &[FunctionCost], most: usize) -> String {
    let name = |at: &FunctionCost| format!("{} {:.0} ns", at.function, at.ns);
    let names: Vec<String> = functions.iter().take(most).map(name).collect();
    names.join(", ")
}

/// A profile's stacks. `root` stands below all of them, if it is not empty.
fn stacks<'a>(
    folded: &'a [FoldedStack],
    load: Option<&'a ProfiledLoad>,
    root: &'a str,
) -> Vec<Stack<'a>> {
    let stages = load.map_or(&[][..], |load| &load.stages);
    let stack = |folded: &'a FoldedStack| {
        let root = (!root.is_empty()).then_some(Frame {
            name: root,
            stage: "",
        });
        let frames = folded.frames.split(';').enumerate().map(|(at, name)| {
            let stage = folded
                .stages
                .get(at)
                .and_then(|stage| stages.get(usize::from(*stage)));
            Frame {
                name,
                stage: stage.map_or("", |stage| &stage.part),
            }
        });
        Stack {
            frames: root.into_iter().chain(frames).collect(),
            weight: (folded.ns * FRAMES).round() as u64,
        }
    };
    folded.iter().map(stack).collect()
}

/// Names of the stages, in the order of their colours.
fn stages(lines: &[ProfileLine]) -> Vec<&str> {
    let first = lines.iter().find_map(saturated);
    first.map_or(Vec::new(), |load| {
        load.stages.iter().map(|at| at.part.as_str()).collect()
    })
}

fn title(line: &ProfileLine) -> String {
    format!(
        "{}: where the time of a frame goes",
        number::frame(&line.frame)
    )
}

/// A profile's flame graph as a part of a page, and what else it stands on.
#[must_use]
pub fn section(line: &ProfileLine) -> Markup {
    let stacks = stacks(&line.stacks, line.loads.first(), "");
    html! {
        @for told in evidence(line) { p.note { (told) } }
        @if !stacks.is_empty() {
            div.wide { (flame::graph(&title(line), &stacks, &stages(std::slice::from_ref(line)), UNIT)) }
        }
        @if let Some(other) = &line.against {
            div.wide { (flame::difference(&change_title(line, other), &self::stacks(&other.stacks, Some(&other.load), ""), &stacks, UNIT, &by_chance_in_turns(other))) }
        }
    }
}

/// Names of frame sizes to tell profiles apart; empty where there is only one.
fn roots(lines: &[ProfileLine]) -> Vec<String> {
    let name = |line: &ProfileLine| {
        if lines.len() > 1 {
            number::frame(&line.frame)
        } else {
            String::new()
        }
    };
    lines.iter().map(name).collect()
}

fn together<'a>(lines: &'a [ProfileLine], roots: &'a [String]) -> Vec<Stack<'a>> {
    let each = lines.iter().zip(roots);
    let stacks = |(line, root): (&'a ProfileLine, &'a String)| {
        stacks(&line.stacks, line.loads.first(), root)
    };
    each.flat_map(stacks).collect()
}

fn change_title(line: &ProfileLine, other: &ProfiledAgainst) -> String {
    let frame = number::frame(&line.frame);
    format!(
        "{frame}: what {} takes more than {}, by function",
        other.explained, other.name
    )
}

/// By how much chance changes a stage: half its interval, in the unit of stacks. Functions have no interval.
fn by_chance(intervals: &[Interval<f64>]) -> u64 {
    let half = intervals.iter().map(|ns| (ns.high - ns.low) / 2.0);
    (half.fold(0.0, f64::hypot) * FRAMES).round() as u64
}

/// Of set-ups that took turns the interval is that of their pairs. Without pairs enough no change is seen.
fn by_chance_in_turns(other: &ProfiledAgainst) -> impl Fn(&str) -> u64 {
    let change = other.change.as_ref();
    move |stage| {
        let mut stages = change.iter().flat_map(|change| &change.stages);
        let found = stages.find(|at| at.part == stage);
        found.map_or(u64::MAX, |at| by_chance(&[at.ns]))
    }
}

/// The flame graph of a run's profiles, one SVG; of a set-up that took turns with another what they differ in. `None`
/// without stacks.
#[must_use]
pub fn flame(lines: &[ProfileLine]) -> Option<String> {
    if let [line] = lines
        && let Some(other) = &line.against
    {
        let own = stacks(&line.stacks, line.loads.first(), "");
        let base = stacks(&other.stacks, Some(&other.load), "");
        let title = change_title(line, other);
        let by_chance = by_chance_in_turns(other);
        return (!own.is_empty())
            .then(|| flame::flame_difference(&title, &base, &own, UNIT, &by_chance));
    }
    let roots = roots(lines);
    let stacks = together(lines, &roots);
    let title = match lines {
        [line] => title(line),
        _ => "Where the time of a frame goes, by frame size".to_owned(),
    };
    (!stacks.is_empty()).then(|| flame::flame_graph(&title, &stacks, &stages(lines), UNIT))
}

/// By how much the second run's profiles differ from the first's, of the same frame sizes, one SVG. `None` where one of them
/// has no stacks.
#[must_use]
pub fn flame_change(before: &Run, after: &Run) -> Option<String> {
    let title = format!(
        "Changes of the time of a frame from {} to {}, by function",
        before.name, after.name
    );
    let [before, after] = [before, after].map(|run| &run.profiles[..]);
    let (first, second) = (roots(before), roots(after));
    let (one, other) = (together(before, &first), together(after, &second));
    let both = !one.is_empty() && !other.is_empty();
    let of = |line: &ProfileLine, stage: &str| {
        let stages = saturated(line).map_or(&[][..], |load| &load.stages);
        stages.iter().find(|at| at.part == stage).map(|at| at.ns)
    };
    let by_chance = |stage: &str| {
        let pairs = before.iter().zip(after);
        let each = pairs.map(|(one, other)| {
            let intervals = [of(one, stage), of(other, stage)].into_iter().flatten();
            let intervals: Vec<_> = intervals.collect();
            // Runs differ by more than their own intervals.
            let runs = intervals.iter().map(|ns| RUNS_ALIKE * ns.median * FRAMES);
            by_chance(&intervals).max(runs.fold(0.0, f64::max) as u64)
        });
        each.max().unwrap_or_default()
    };
    both.then(|| flame::flame_difference(&title, &one, &other, UNIT, &by_chance))
}

/// Folded stacks of a run's profiles: a line each, with ns of 1 000 frames behind it. `None` without stacks.
#[must_use]
pub fn folded(lines: &[ProfileLine]) -> Option<String> {
    let roots = roots(lines);
    let stacks = together(lines, &roots);
    (!stacks.is_empty()).then(|| flame::folded(&stacks))
}

/// A run's profiles as samples of `perf script`, one for each ns of a frame. `None` without stacks.
#[must_use]
pub fn perf_script(lines: &[ProfileLine]) -> Option<String> {
    let roots = roots(lines);
    let stacks = together(lines, &roots);
    (!stacks.is_empty()).then(|| flame::perf_script(&stacks, FRAMES as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_say_nothing_of_the_busy_time() {
        let load = ProfiledLoad {
            seen_share: Some(0.97),
            ..ProfiledLoad::default()
        };
        let told = samples(&load, true);
        assert!(told.contains(" are 97 % of those due."), "{told}");
        assert!(samples(&load, false).contains(" cover 97 % of the busy time."));
    }

    #[test]
    fn each_cost_of_the_fit_has_its_range() {
        let mut fitted = CostModel {
            frame_ns: 558.4,
            wake_up_ns: 2_046.0,
            term_ranges_ns: Some(vec![
                [500.0, 558.4, 610.0].into(),
                [1_800.0, 2_046.0, 2_300.0].into(),
                [0.0, 0.0, 300.0].into(),
            ]),
            ..CostModel::default()
        };
        let ranges = "558 ns a frame (500 to 610), 2046 ns a wake-up (1800 to 2300), 0 ns a poll (0 to 300).";
        let told = model(&fitted);
        assert!(
            told.starts_with(&format!("Model: {ranges} It is fitted to ")),
            "{told}"
        );
        fitted.term_ranges_ns = None;
        let told = model(&fitted);
        let none = "558 ns a frame, 2046 ns a wake-up, without an interval. It is fitted to ";
        assert!(told.starts_with(&format!("Model: {none}")), "{told}");
        // A record of older versions.
        fitted.mixed = vec!["wake-up".to_owned()];
        let told = model(&fitted);
        assert!(told.starts_with("Model: 558 ns a frame, without"), "{told}");
        assert!(
            told.contains(" cannot separate these costs: wake-up."),
            "{told}"
        );
    }

    #[test]
    fn a_prediction_has_the_interval_of_its_error() {
        let mut fitted = CostModel {
            predicted_fps: 1.68e6,
            measured_fps: 1.60e6,
            error_ratio: 0.05,
            error_range: Some([-0.12, 0.05, 0.248].into()),
            ..CostModel::default()
        };
        let told = model(&fitted);
        assert!(
            told.ends_with(" forwarded 1.60 million (+5.0 %; -12 to +25)."),
            "{told}"
        );
        // Before the measurement only the interval tells whether to trust it.
        assert!(told.contains(
            "saturation. Do not trust this prediction: the trials do not agree on its error."
        ));
        fitted.error_range = Some([0.04, 0.11, 0.185].into());
        let told = model(&fitted);
        assert!(!told.contains("trust") && !told.contains("off."), "{told}");
        // Records of older method versions call it unsure for its error.
        (fitted.error_ratio, fitted.is_unsure) = (-0.113, true);
        let told = model(&fitted);
        assert!(!told.contains("trust"), "{told}");
        assert!(
            told.ends_with("(-11.3 %; +4 to +18). It was measured 11.3 % off."),
            "{told}"
        );
        fitted.error_range = None;
        assert!(
            model(&fitted)
                .contains("saturation. Do not trust this prediction: its error has no interval.")
        );
    }
}
