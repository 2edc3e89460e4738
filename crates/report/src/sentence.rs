//! Sentences of a page's first screen: what was asked, what was found, what limits it.

use crate::number;
use mpps_record::{
    Claim, CurveLine, CurvePoint, Doubt, FixedLoads, ForwardingLimit, FrameCost, Interval,
    LimitedBy, Outcome, Place, PointLine, RateIs, ResultLine, Run, RunLine, Stability, Verdict,
};

/// What the run was to find, of which traffic, where.
#[must_use]
pub fn asked(begin: &RunLine) -> Vec<String> {
    let plan = &begin.plan;
    let purpose = match (begin.job.as_str(), &plan.fixed) {
        ("throughput", _) => {
            "The maximum forwarding rate, and the highest load without loss.".to_owned()
        }
        ("loss", _) => "The share of frames lost at each load, from the highest down.".to_owned(),
        (_, Some(fixed)) => fixed_loads(fixed),
        ("fib-scale", _) => {
            "The cost of a frame against the number of routes and destinations.".to_owned()
        }
        ("calibrate", _) => "A proof of the meter: does it find planted faults?".to_owned(),
        (job, _) => format!("The job is \"{job}\"."),
    };
    let traffic = &plan.traffic;
    let sizes: Vec<String> = plan.frames.iter().map(|size| number::frame(size)).collect();
    let ways = if traffic.bidirectional {
        "both directions"
    } else {
        "one direction"
    };
    let family = match traffic.family.as_str() {
        "ipv4" => "IPv4",
        "ipv6" => "IPv6",
        other => other,
    };
    let mut told = vec![
        purpose,
        format!(
            "Frames of {}, {} of {} over {family}, {ways}.",
            sizes.join(", "),
            number::plural(traffic.flows as usize, "flow"),
            traffic.l4.to_uppercase(),
        ),
    ];
    if let Some(rule) = plan
        .search
        .as_ref()
        .and_then(|search| search.pass_rule.as_ref())
    {
        told.push(format!("A load passes by this rule: {rule}."));
    }
    told.push(place(&begin.bed));
    told
}

fn fixed_loads(fixed: &FixedLoads) -> String {
    format!(
        "The loss at fixed loads ({} frames/s), {} of {} each.",
        fixed.loads.join(", "),
        number::plural(fixed.trials as usize, "trial"),
        number::time(fixed.time_ns as f64)
    )
}

fn place(bed: &Place) -> String {
    match bed {
        Place::Namespaces(_) => {
            "The router is this machine's kernel, in a network namespace between two virtual links."
                .to_owned()
        }
        Place::External(_) => "The router is a device between two ports of the tester.".to_owned(),
        Place::Simulated { pair } => {
            format!("Tester and router were simulated ({pair}): nothing was measured.")
        }
        Place::Other(_) => "This version does not know the bed.".to_owned(),
    }
}

/// `64 B`, `64 B, goal ndr`.
#[must_use]
pub fn subject(result: &ResultLine, goals: usize) -> String {
    let goal = result.goal.as_ref().filter(|_| goals > 1);
    let goal = goal.map_or(String::new(), |goal| format!(", goal {goal}"));
    number::frame(&result.frame) + &goal
}

/// The answer: what the router forwards, with and without loss.
#[must_use]
pub fn answer(result: &ResultLine) -> String {
    // A bound that the rate without loss exceeds says nothing more.
    let exceeded = result.overload.max_forwarding_fps.is_some_and(|found| {
        let passed = result.rate_is != Some(RateIs::Below);
        is_bound(result) && passed && result.rate_fps.is_some_and(|fps| fps >= found.low)
    });
    let maximum = maximum(result).filter(|_| !exceeded);
    let (passed, failed) = match without_loss(result) {
        Some(Ok(rate)) => (Some(rate), None),
        Some(Err(sentence)) => (None, Some(sentence)),
        None => (None, None),
    };
    let rates: Vec<String> = maximum.into_iter().chain(passed).collect();
    let forwards =
        (!rates.is_empty()).then(|| format!("The router forwards {}.", rates.join(", and ")));
    let told: Vec<String> = forwards.into_iter().chain(failed).collect();
    if told.is_empty() {
        return "No rate was found.".to_owned();
    }
    told.join(" ")
}

/// Whether the maximum forwarding rate is only a bound from below.
#[must_use]
pub fn is_bound(result: &ResultLine) -> bool {
    let overload = &result.overload;
    overload.max_forwarding_only_disturbed == Some(true)
        || matches!(
            overload.max_forwarding_limited_by,
            Some(ForwardingLimit::Tester | ForwardingLimit::Unknown)
        )
}

fn maximum(result: &ResultLine) -> Option<String> {
    let found = result.overload.max_forwarding_fps?;
    if is_bound(result) {
        let low = number::rate_passed(found.low as f64);
        return Some(format!("at least {low} frames/s at overload"));
    }
    let rates = [found.median, found.low, found.high].map(|fps| number::rate(fps as f64));
    let range = if rates[1] == rates[2] {
        String::new()
    } else {
        format!(" ({} to {})", rates[1], rates[2])
    };
    Some(format!("{} frames/s{range} at overload", rates[0]))
}

/// A rate, or a sentence that says why there is none.
fn without_loss(result: &ResultLine) -> Option<Result<String, String>> {
    let allowed = result.goal_loss_ratio.unwrap_or(0.0);
    let within = if allowed > 0.0 {
        format!("with at most {} loss", number::percent(allowed))
    } else {
        "without loss".to_owned()
    };
    let is_disturbed = |doubt: &Doubt| doubt.name == "lost-disturbed";
    let outside = if result.doubts.iter().any(is_disturbed) {
        " outside disturbances"
    } else {
        ""
    };
    let within = format!("{within}{outside}{}", passes(result));
    let rate = result.rate_fps.map(|fps| number::rate_passed(fps as f64));
    let claim = match (&result.claim, &result.rate_is) {
        (Some(Claim::Throughput), Some(RateIs::Equal)) => " (an RFC 2544 throughput)",
        (Some(Claim::Estimate), Some(RateIs::Equal)) => " (an estimate)",
        _ => "",
    };
    match (&result.outcome, rate, &result.rate_is) {
        (Outcome::NotMeasured, ..) => {
            let why = result.why.as_deref();
            let why = why.unwrap_or("the record does not say why");
            Some(Err(format!("The rate {within} was not measured: {why}.")))
        }
        (Outcome::NoneLossless, rate, _) | (_, rate @ Some(_), Some(RateIs::Below)) => {
            let down = rate.map_or(String::new(), |rate| format!(" down to {rate} frames/s"));
            Some(Err(format!("No load{down} passed {within}.")))
        }
        (_, Some(rate), Some(RateIs::AtLeast)) => {
            Some(Ok(format!("at least {rate} frames/s {within}{claim}")))
        }
        (_, Some(rate), _) => Some(Ok(format!("{rate} frames/s {within}{claim}"))),
        (_, None, _) => None,
    }
}

/// ` in 2 of 3 trials`, where not all passed.
fn passes(result: &ResultLine) -> String {
    match (result.lossless_trials, result.judged_trials) {
        (Some(passed @ 1..), Some(judged)) if passed < judged => {
            format!(" in {passed} of {judged} trials")
        }
        _ => String::new(),
    }
}

/// What limits the two rates, and what a frame costs.
#[must_use]
pub fn limited(result: &ResultLine) -> Vec<String> {
    let mut told = Vec::new();
    let overload = &result.overload;
    if let Some(limit) = &overload.max_forwarding_limited_by {
        let busy = overload.max_forwarding_busy_share;
        let busy = busy.map_or(String::new(), |busy| {
            format!(" The router's CPU was {} busy.", number::percent(busy))
        });
        told.push(format!("{}{busy}", at_overload(limit)));
    }
    told.extend(result.limited_by.as_ref().map(search_ended));
    if let Some(cost) = &overload.cost {
        told.push(cost_of_a_frame(cost));
    }
    if result.stability == Stability::Unstable {
        let how = result
            .unstable
            .as_deref()
            .unwrap_or("the record does not say how");
        told.push(format!("The router loses frames at low loads too: {how}."));
    }
    told
}

fn at_overload(limit: &ForwardingLimit) -> String {
    let words = match limit {
        ForwardingLimit::RouterCpu => "At overload the router's CPU is the limit.",
        ForwardingLimit::SharedCpu => {
            "At overload the CPU that router and tester share is the limit."
        }
        ForwardingLimit::Router => {
            "At overload the router is the limit, although its CPU had time left."
        }
        ForwardingLimit::Tester => "The tester is the limit: it could offer no more.",
        ForwardingLimit::Unknown => "The limit at overload is unknown.",
        ForwardingLimit::Other(word) => return format!("The limit at overload is \"{word}\"."),
    };
    words.to_owned()
}

fn search_ended(limit: &LimitedBy) -> String {
    let words = match limit {
        LimitedBy::Dut => "The search without loss ended at the router.",
        LimitedBy::SharedCpu => {
            "The search without loss ended at the CPU that router and tester share."
        }
        LimitedBy::Pause => {
            "The search without loss ended at pauses: the router lost frames while its CPU had time left."
        }
        LimitedBy::Tester => "The search without loss ended at the tester's own ceiling.",
        LimitedBy::Link => "The search without loss ended at the link's line rate.",
        LimitedBy::MaxRate => "The search without loss ended at --max-rate.",
        LimitedBy::Disturbed => {
            "The search without loss ended because the machine was too disturbed."
        }
        LimitedBy::Trials => {
            "The search without loss ended because its trials or its time were used up."
        }
        LimitedBy::Other(word) => return format!("The search without loss ended at \"{word}\"."),
    };
    words.to_owned()
}

/// `The bed is 400 ns of it, ...`.
fn cost_of_a_frame(cost: &FrameCost) -> String {
    let part = |part: &Interval<f64>| {
        let ends = [part.median, part.low, part.high].map(number::cost);
        format!("{} ({} to {})", ends[0], ends[1], ends[2])
    };
    let router = if cost.router_ns.low > 0.0 {
        part(&cost.router_ns)
    } else {
        format!("less than {}", number::cost(cost.router_ns.high.max(1.0)))
    };
    format!(
        "A frame costs the router {router}, and the bed {}.",
        part(&cost.bed_ns)
    )
}

/// The answer of a run without results: its points, its faults, its fixed loads, or why there is nothing.
#[must_use]
pub fn answer_without_results(run: &Run) -> String {
    if !run.points.is_empty() {
        return points(run);
    }
    if !run.calibrations.is_empty() {
        let all = run.calibrations.len();
        let found = run.calibrations.iter().filter(|line| line.holds).count();
        return format!("The meter found {found} of {all} planted faults within their tolerance.");
    }
    if !run.curves.is_empty() {
        return run.curves.iter().map(curve).collect::<Vec<_>>().join(" ");
    }
    let trials = number::plural(run.trials.len(), "trial");
    let fixed = run
        .begin
        .as_ref()
        .is_some_and(|begin| begin.plan.fixed.is_some());
    match &run.end {
        Some(end) => match &end.error {
            Some(error) => format!("There is no result: {error}. The run has {trials}."),
            None if fixed => format!("The run has {trials} at the loads below."),
            None => format!("There is no result. The run has {trials}."),
        },
        None => format!(
            "There is no result: the record ends after {trials}, because the run was killed or is under way."
        ),
    }
}

/// The highest load up to which nothing was lost.
fn curve(curve: &CurveLine) -> String {
    let lossless = |load: &&CurvePoint| load.verdict == Verdict::Lossless;
    let frame = number::frame(&curve.frame);
    let simulated = if curve.simulated { "Simulated: " } else { "" };
    let passed = curve.loads.iter().rev().take_while(lossless).last();
    match passed.and_then(|load| Some((load, load.measured.as_ref()?))) {
        Some((load, found)) => format!(
            "{simulated}{frame}: nothing was lost up to {} frames/s ({} of the highest load).",
            number::rate_passed(found.offered_fps as f64),
            number::percent(load.load_share)
        ),
        None => format!("{simulated}{frame}: no load was found up to which nothing is lost."),
    }
}

fn points(run: &Run) -> String {
    let mut costs: Vec<(f64, &PointLine)> = run
        .points
        .iter()
        .filter_map(|point| Some((point.cost?.router_ns.median, point)))
        .collect();
    costs.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let points = number::plural(run.points.len(), "point");
    let (Some((low, cheap)), Some((high, dear))) = (costs.first(), costs.last()) else {
        return format!("The cost of a frame is known at none of {points}.");
    };
    format!(
        "A frame costs the router from {} ({}) to {} ({}), by {points}.",
        number::cost(*low),
        table_size(cheap),
        number::cost(*high),
        table_size(dear)
    )
}

/// `1.10 million routes, 1 destination`.
fn table_size(point: &PointLine) -> String {
    let counted = |count: u64, noun: &str| {
        let s = if count == 1 { "" } else { "s" };
        format!("{} {noun}{s}", number::rate(count as f64))
    };
    let routes = point
        .routes
        .as_ref()
        .map_or(point.asked_routes, |routes| routes.routes);
    let drawn = point.traffic.destinations.as_ref();
    let destinations = drawn.map_or(1, |drawn| drawn.distinct);
    format!(
        "{}, {}",
        counted(routes, "route"),
        counted(destinations, "destination")
    )
}
