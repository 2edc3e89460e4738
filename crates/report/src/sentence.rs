//! Sentences of a page's first screen: what was asked, what was found, what limits it.

mod conditions;
mod lines;
mod overload;
mod timed;

pub use crate::headline::is_bound;
pub use conditions::{measured_with, queries_and_changes, route_changes};
pub use lines::{comparison, load};
pub(crate) use overload::OVERLOADED;
pub use overload::{overload, spread};
pub use timed::{burst, instead, latency, recovery, reset};

use crate::headline::{least_router_ns, median, router_part};
use crate::number;
use mpps_record::{
    FixedLoads, FrameCost, Interval, LimitedBy, Part, Plan, PointLine, ResultLine, RunBed, RunLine,
    Search, Stability,
};

/// What the run was to find, of which traffic, where.
#[must_use]
pub fn asked(begin: &RunLine, purpose: String) -> Vec<String> {
    let plan = &begin.plan;
    if matches!(begin.bed, RunBed::Host { .. }) {
        return vec![purpose, place(&begin.bed)];
    }
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
    told.extend(measured_with(begin));
    told
}

/// `latency (26.2): 100 %, 4 s each through router and wire, all CPUs kept awake; RFC 2544 asks for 20 streams of 120 s`.
#[must_use]
pub fn part(part: &Part) -> String {
    let Part {
        verb,
        section,
        rule,
        shortened_from,
    } = part;
    let asked = shortened_from.as_ref();
    let asked = asked.map_or(String::new(), |asked| {
        format!("; RFC 2544 asks for {asked}")
    });
    format!("{verb} ({section}): {rule}{asked}")
}

/// What a lasting overload is to find; `None` of any other plan. A series of steps has ten loads or more.
#[must_use]
pub fn lasting(plan: &Plan) -> Option<String> {
    let fixed = plan.fixed.as_ref()?;
    let [load] = &fixed.loads[..] else {
        return None;
    };
    Some(format!(
        "Whether the router holds its rate under a lasting overload ({} of {load}), and its management path answers.",
        number::time(fixed.time_ns as f64)
    ))
}

/// What given loads are to find.
#[must_use]
pub fn fixed_loads(fixed: &FixedLoads) -> String {
    format!(
        "The loss at fixed loads ({}), {} of {} each.",
        fixed.loads.join(", "),
        number::plural(fixed.trials as usize, "trial"),
        number::time(fixed.time_ns as f64)
    )
}

fn place(bed: &RunBed) -> String {
    match bed {
        RunBed::Namespaces(_) => {
            "The router is this machine's kernel, in a network namespace between two virtual links."
                .to_owned()
        }
        RunBed::External(_) => "The router is a device between two ports of the tester.".to_owned(),
        RunBed::Host { .. } => {
            "The router is a host at its work; all traffic is of others, and mpps only looked."
                .to_owned()
        }
        RunBed::Simulated { pair } => {
            format!("Tester and router were simulated ({pair}): nothing was measured.")
        }
        RunBed::Other(_) => "This version does not know the bed.".to_owned(),
    }
}

/// What the answer stands on: how busy the router was, what ended the search, and what a frame costs.
#[must_use]
pub fn limited(result: &ResultLine) -> Vec<String> {
    let overload = &result.overload;
    let busy = overload.max_forwarding_busy_share;
    let busy = busy.map(|busy| {
        let busy = number::busy(busy);
        format!("At its maximum forwarding rate the router's CPU was {busy} busy.")
    });
    let ended = result.limited_by.as_ref().map(limit);
    let ended = ended.map(|by| format!("The search without loss was ended by {by}."));
    let cost = overload
        .cost
        .as_ref()
        .map(|cost| cost_of_a_frame(result, cost));
    let unstable = (result.stability == Stability::Unstable).then(|| {
        let how = result.unstable.as_deref();
        let how = how.unwrap_or("the record does not say how");
        format!("The router loses frames at low loads too: {how}.")
    });
    [busy, ended, cost, unstable]
        .into_iter()
        .flatten()
        .collect()
}

/// What limits a search or a series.
#[must_use]
pub fn limit(limit: &LimitedBy) -> &str {
    match limit {
        LimitedBy::Dut => "the router",
        LimitedBy::SharedCpu => "the CPU that router and tester share",
        LimitedBy::Pause => "moments at which the router lost frames while its CPU had time left",
        LimitedBy::Tester => "the tester's own ceiling",
        LimitedBy::Link => "the link's line rate",
        LimitedBy::MaxRate => "--max-rate",
        LimitedBy::Disturbed => "the machine, which was too disturbed",
        LimitedBy::Trials => "its trials or its time, which were used up",
        LimitedBy::Other(word) => word,
    }
}

/// With the ends of its parts' intervals.
fn cost_of_a_frame(result: &ResultLine, cost: &FrameCost) -> String {
    let ends = |part: &Interval<f64>| {
        let known = median(part);
        let [low, high] = [part.low, part.high].map(|end| known.with(end).plain());
        format!("{low} to {high} ns")
    };
    format!(
        "A frame costs the router {}, and the bed {} (intervals over pairs of trials).",
        match least_router_ns(result, cost) {
            Some(_) => router_part(result, cost),
            None => ends(&cost.router_ns),
        },
        ends(&cost.bed_ns)
    )
}

/// The load that all points of a frame size have: `197k frames/s`; of several sizes each.
#[must_use]
pub fn at_loads<'a>(points: impl IntoIterator<Item = &'a PointLine>) -> String {
    let mut loads = Vec::new();
    for load in points
        .into_iter()
        .filter_map(|point| point.at_load.as_ref())
    {
        let load = number::short_count(load.load_fps) + " frames/s";
        if !loads.contains(&load) {
            loads.push(load);
        }
    }
    loads.join(" or ")
}

/// `1 000 routes, 256 destinations`.
#[must_use]
pub fn table_size(point: &PointLine) -> String {
    let counted = |count: u64, noun: &str| {
        let s = if count == 1 { "" } else { "s" };
        format!("{} {noun}{s}", number::spaced(count))
    };
    let routes = point.routes.as_ref();
    let routes = routes.map_or(point.asked_routes, |routes| routes.routes);
    let destinations = point.traffic.destinations.as_ref();
    let destinations = destinations.map_or(1, |drawn| drawn.distinct);
    let (routes, destinations) = (
        counted(routes, "route"),
        counted(destinations, "destination"),
    );
    format!("{routes}, {destinations}")
}

/// How closely a search is to find a rate.
#[must_use]
pub fn closeness(search: &Search) -> String {
    if let Some(step) = search.step_fps {
        return format!("steps of {} frames/s", number::rate(step));
    }
    let widths = search.goals.iter().map(|goal| goal.width_share);
    let shares = widths.chain(search.resolution_share);
    let each = shares.map(|share| format!("{} of the rate", number::percent_given(share)));
    each.collect::<Vec<_>>().join(", ")
}
