//! One sentence a frame size: what the router forwards, what limits it, and what a frame costs.

use crate::number::{self, Known};
use crate::row::{Reading, Row};
use mpps_record::doubts::{BUSY_UNCOUNTED, DISTANCE_CHANGED, EXIT_UNTIMED, NOT_ROUTED};
use mpps_record::{
    BUSY, Claim, Doubt, ForwardingLimit, FrameCost, Interval, LimitedBy, Overload, ResultLine,
};

/// Width of a rate's interval, as a share, where a load that failed does not give it: three digits.
const UNBOUNDED: f64 = 0.02;
/// A rate without loss this near to what was forwarded at overload says the same.
const SAME: f64 = 0.97;

/// The sentence: `64 B: forwards 1.52 million frames/s (1.46 to 1.57), limited by the router's CPU; 1.38 million
/// without loss. A frame costs the router 225 ns (219 to 230), the bed 430.`
#[must_use]
pub fn headline(row: &Row<'_>) -> String {
    let cost = row.overload.cost.as_ref().map(|cost| {
        let (router, bed) = (router_part(row, cost), median(&cost.bed_ns).plain());
        match row.overload.at_overload {
            Some(_) => format!(" At overload a frame costs the router {router}, the bed {bed}."),
            None => format!(" A frame costs the router {router}, the bed {bed}."),
        }
    });
    format!("{}: {}{}", row.name, answer(row), cost.unwrap_or_default())
}

/// The same without its subject and what a frame costs.
#[must_use]
pub fn answer(row: &Row<'_>) -> String {
    let (others, lossless) = (in_other_states(&row.overload), without_loss(row));
    let clauses = match forwarding(row) {
        Some(forwarding) => [Some(forwarding), others, lossless, fell(row)],
        None => [lossless, others, fell(row), None],
    };
    let clauses: Vec<String> = clauses.into_iter().flatten().collect();
    let bypass = match has(row, NOT_ROUTED) {
        true => "frames bypassed routing, so this is no router's rate: ",
        false => "",
    };
    format!("{bypass}{}.", clauses.join("; "))
}

fn has(row: &Row<'_>, name: &str) -> bool {
    row.doubts.iter().any(|doubt| doubt.name == name)
}

/// An interval's median, to the digits that are known.
#[must_use]
pub fn median(interval: &Interval<f64>) -> Known {
    Known::new(interval.median, interval.high - interval.low)
}

/// The maximum forwarding rate and the ends of its interval, to the digits that are known: `1.52`, `1.46`, `1.57`. The
/// ends are the same where they have the same digits.
#[must_use]
pub fn forwarding_range(rates: Interval<u64>) -> (Known, String, String) {
    let rates = Interval::<f64>::from(rates);
    let known = median(&rates);
    let [low, high] = [rates.low, rates.high].map(|end| known.with(end).beside(known));
    (known, low, high)
}

/// What was forwarded of a confirmed load, if it is above all that was forwarded at overload. The maximum forwarding rate
/// is the highest at any load (RFC 2285 3.6.3), so it is at least this: the machine was slower at overload, or overload slows
/// the router down.
fn surpassed(row: &ResultLine) -> Option<u64> {
    let maximum = row.overload.max_forwarding_fps?;
    let rate = Reading::from_line(row).confirmed()?;
    let forwarded = forwarded(row, rate);
    (forwarded > maximum.high).then_some(forwarded)
}

/// What was forwarded of a load that passed.
fn forwarded(row: &ResultLine, rate: u64) -> u64 {
    (rate as f64 * (1.0 - row.loss_ratio.unwrap_or(0.0))) as u64
}

/// What was forwarded of a load that passed and is not confirmed, if it is above all that was forwarded at overload. One
/// trial raises a bound, and no other maximum.
fn unconfirmed(row: &ResultLine) -> Option<u64> {
    let maximum = row.overload.max_forwarding_fps?;
    match Reading::from_line(row) {
        Reading::Unconfirmed(rate) => {
            Some(forwarded(row, rate)).filter(|passed| *passed > maximum.high)
        }
        _ => None,
    }
}

/// What the router forwarded at overload, where that is clearly less than at another load.
fn fell(row: &Row<'_>) -> Option<String> {
    if let Some((overload, maximum)) = slower_at_overload(&row.overload) {
        let is_less = (overload.high as f64) < SAME * maximum.median as f64;
        let (known, ..) = forwarding_range(overload);
        return is_less.then(|| format!("only {} at overload", known.in_words()));
    }
    let (passed, overload) = (surpassed(row)?, row.overload.max_forwarding_fps?);
    let is_routers = matches!(
        row.overload.max_forwarding_limited_by,
        Some(ForwardingLimit::RouterCpu | ForwardingLimit::SharedCpu | ForwardingLimit::Router)
    ) && row.overload.max_forwarding_only_disturbed != Some(true);
    // In another state the machine may be why.
    let is_less = (overload.high as f64) < SAME * passed as f64 && !has_moved(row);
    let (known, ..) = forwarding_range(overload);
    (is_routers && is_less).then(|| format!("only {} at overload", known.in_words()))
}

/// What the router forwarded at overload, and the maximum, where that is of the search's trials.
fn slower_at_overload(overload: &Overload) -> Option<(Interval<u64>, Interval<u64>)> {
    let at = overload.at_overload.as_ref()?;
    Some((at.forwarding_fps, overload.max_forwarding_fps?))
}

/// Whether overload and the load that passed were measured in two states of the machine.
fn has_moved(row: &Row<'_>) -> bool {
    has(row, DISTANCE_CHANGED)
}

/// The least that the maximum forwarding rate can be, where that is a bound.
#[must_use]
pub fn at_least_forwarded(row: &ResultLine) -> Option<u64> {
    let low = row.overload.max_forwarding_fps?.low;
    is_bound(row).then(|| surpassed(row).or(unconfirmed(row)).unwrap_or(low))
}

/// Whether the maximum forwarding rate is a bound: the router was not seen to be the limit at overload, or was faster later.
#[must_use]
pub fn is_bound(row: &ResultLine) -> bool {
    row.overload.max_forwarding_only_disturbed == Some(true)
        || surpassed(row).is_some()
        || matches!(
            row.overload.max_forwarding_limited_by,
            Some(ForwardingLimit::Tester | ForwardingLimit::Unknown)
        )
}

/// A rate that passed, rounded down: to the digits that the load which failed leaves, or as a bound to three.
#[must_use]
pub fn passed(row: &Row<'_>, fps: u64) -> Known {
    let rate = fps as f64;
    let narrowest = rate * UNBOUNDED / 4.0;
    let width = match (row.reading(), row.lossy_fps) {
        (Reading::Is(_), Some(fails)) => (fails as f64 - rate).max(narrowest),
        _ => rate * UNBOUNDED,
    };
    Known::new(rate, width).floor()
}

/// `1.38M`, `>= 1.19M`; not confirmed: `1.38M?`.
#[must_use]
pub fn short_without_loss(row: &Row<'_>) -> String {
    match row.reading() {
        Reading::Is(rate) => passed(row, rate).short(),
        Reading::AtLeast(rate) => format!(">= {}", passed(row, rate).short()),
        Reading::Unconfirmed(rate) => format!("{}?", passed(row, rate).short()),
        Reading::Below(rate) => format!("< {}", Known::three(rate as f64).ceil().short()),
        Reading::Nothing => "-".to_owned(),
    }
}

/// Whether a load as high as overload, or higher, passed: then one number says both.
fn same(row: &Row<'_>) -> bool {
    if surpassed(row).is_some() {
        return true;
    }
    let maximum = row.overload.max_forwarding_fps;
    let (Reading::AtLeast(rate), Some(maximum)) = (row.reading(), maximum) else {
        return false;
    };
    is_bound(row) && rate as f64 >= SAME * maximum.low as f64
}

/// What it forwards when more is offered than it can take; where the router was not seen to be the limit, a bound.
fn forwarding(row: &Row<'_>) -> Option<String> {
    if surpassed(row).is_some() {
        return None;
    }
    let forwarded = row.overload.max_forwarding_fps?;
    let (known, low, high) = forwarding_range(forwarded);
    let at_least = |why: &str| {
        let low = unconfirmed(row).unwrap_or(forwarded.low);
        let low = known.with(low as f64).floor().in_words();
        Some(format!("forwards at least {low} frames/s{why}"))
    };
    let who = match row.overload.max_forwarding_limited_by.as_ref()? {
        ForwardingLimit::Tester | ForwardingLimit::Unknown if same(row) => return None,
        ForwardingLimit::Tester => return at_least(&no_more(row)),
        ForwardingLimit::Unknown => {
            let busy = |busy: f64| format!(", its CPU {} busy", number::busy(busy));
            let share = row.overload.max_forwarding_busy_share;
            let busy = share.map_or(String::new(), busy);
            return at_least(&format!("{busy}: the limit is unknown"));
        }
        ForwardingLimit::RouterCpu => "the router's CPU",
        ForwardingLimit::SharedCpu => "the CPU that router and tester share",
        ForwardingLimit::Router => "the router",
        ForwardingLimit::Other(limit) => limit,
    };
    if is_bound(row) {
        return at_least(&format!(", limited by {who}"));
    }
    let number = known.in_words();
    let range = if low == high {
        String::new()
    } else {
        format!(" ({low} to {high})")
    };
    Some(format!(
        "forwards {number} frames/s{range}, limited by {who}"
    ))
}

/// What it forwarded in other states of the machine, where those took much of the time: the user meets them too.
fn in_other_states(overload: &Overload) -> Option<String> {
    let others = overload.other_states?;
    let (known, ..) = forwarding_range(overload.max_forwarding_fps?);
    let number = known.with(others.forwarding_fps as f64).in_words();
    let percent = 100.0 * others.share;
    let but = if others.share > 0.5 { "but " } else { "" };
    Some(format!(
        "{but}{number} at overload in other states of the machine ({percent:.0} % of the undisturbed time)"
    ))
}

/// The highest load that passed, and what ended the search where the router did not.
fn without_loss(row: &Row<'_>) -> Option<String> {
    let alone = same(row) || row.overload.max_forwarding_fps.is_none();
    let verb = if alone { "forwards " } else { "" };
    let frames = if alone { " frames/s" } else { "" };
    let mut outside = match row.is_disturbed() {
        true => " outside disturbances".to_owned(),
        false => String::new(),
    };
    if has_moved(row) {
        outside.push_str(", in another state of the machine");
    }
    let within = if row.loss_allowed() > 0.0 {
        let allowed = number::percent_given(row.loss_allowed());
        format!("with at most {allowed} loss{outside}")
    } else {
        format!("without loss{outside}")
    };
    let number = |rate: u64| passed(row, rate).in_words();
    Some(match row.reading() {
        Reading::Is(rate) => {
            let claim = match row.claim {
                Some(Claim::Throughput) => ", an RFC 2544 throughput",
                _ => "",
            };
            format!(
                "{verb}{}{frames} {within}{claim}{}",
                number(rate),
                trials(row)
            )
        }
        Reading::AtLeast(rate) => {
            let (rate, trials, ended) = (number(rate), trials(row), ended(row));
            format!("{verb}at least {rate}{frames} {within}{trials}{ended}")
        }
        Reading::Unconfirmed(rate) => {
            let fails = row.lossless_below_fps.map_or(String::new(), |fps| {
                format!(", less than {}", Known::three(fps as f64).ceil().in_words())
            });
            let disturbed = match row.limited_by {
                Some(LimitedBy::Disturbed) => " because of disturbances",
                _ => "",
            };
            let faster = match unconfirmed(row).is_some() && !alone && !is_bound(row) {
                true => ", which is more than at overload",
                false => "",
            };
            let (rate, count) = (number(rate), count(row));
            format!("{verb}{rate}{frames} {within}{count}, not confirmed{disturbed}{faster}{fails}")
        }
        Reading::Below(rate) => {
            let lowest = Known::three(rate as f64).ceil().in_words();
            let gate = row.gate_lossless_fps.map_or(String::new(), |rate| {
                format!(", but {} did in short trials", passed(row, rate).in_words())
            });
            match row.limited_by {
                Some(LimitedBy::Trials | LimitedBy::Disturbed) => format!(
                    "the search ended before a load passed {within}, the lowest judged at {lowest} frames/s{gate}"
                ),
                _ => format!("no load down to {lowest} frames/s passed {within}{gate}"),
            }
        }
        Reading::Nothing => {
            let why = row.why.as_deref().unwrap_or("the run ended before");
            let what = if alone {
                String::new()
            } else {
                format!("the rate {within} is ")
            };
            format!("{what}not measured: {why}")
        }
    })
}

/// Where the load found did not pass each time.
fn trials(row: &Row<'_>) -> String {
    match row.lossless_trials == row.judged_trials {
        true => String::new(),
        false => count(row),
    }
}

/// How often the load found passed.
fn count(row: &Row<'_>) -> String {
    let both = row.lossless_trials.zip(row.judged_trials);
    both.map_or(String::new(), |(lossless, judged)| {
        format!(
            " ({lossless} of {})",
            number::plural(judged as usize, "trial")
        )
    })
}

/// What ended the search, where that is not said already.
fn ended(row: &Row<'_>) -> String {
    let why = match row.limited_by {
        Some(LimitedBy::Tester) if same(row) || row.overload.max_forwarding_fps.is_none() => {
            return no_more(row);
        }
        Some(LimitedBy::Tester)
            if row.overload.max_forwarding_limited_by != Some(ForwardingLimit::Tester) =>
        {
            ", and the tester could offer no more"
        }
        Some(LimitedBy::Pause) => ", above it frames were lost at some moments only",
        Some(LimitedBy::Link) => ", which is all that the link carries",
        Some(LimitedBy::MaxRate) => ", the most that --max-rate allows",
        Some(LimitedBy::Disturbed) => ", the machine was too disturbed for more",
        Some(LimitedBy::Trials) => {
            ", and the search ended before it knew the lowest load that fails"
        }
        _ => "",
    };
    why.to_owned()
}

/// The tester ended first, by how little: a router that was as busy as one at its limit does hardly more.
fn no_more(row: &Row<'_>) -> String {
    let busy = row.busy_share().filter(|busy| *busy >= BUSY);
    let busy = busy.map(|busy| format!(", with the router's CPU {} busy", number::busy(busy)));
    format!("; the tester can offer no more{}", busy.unwrap_or_default())
}

/// Whether a frame may cost the router more than was found: the receiver's program could not be timed, or others than the threads
/// that forward were busy too.
#[must_use]
pub fn is_least_cost(doubts: &[Doubt]) -> bool {
    let mut names = doubts.iter().map(|doubt| doubt.name.as_str());
    names.any(|name| [EXIT_UNTIMED, BUSY_UNCOUNTED].contains(&name))
}

/// The least that the router's part of a frame's cost can be, if the cost found is only a bound.
#[must_use]
pub fn least_router_ns(row: &ResultLine, cost: &FrameCost) -> Option<f64> {
    is_least_cost(&row.doubts).then(|| cost.router_ns.low.max(0.0).floor())
}

/// The router's part of a frame's cost: `225 ns (219 to 230)`, `less than 22 ns`, `at least 36 ns`.
#[must_use]
pub fn router_part(row: &ResultLine, cost: &FrameCost) -> String {
    let router = &cost.router_ns;
    match least_router_ns(row, cost) {
        Some(least) if least > 0.0 => format!("at least {least:.0} ns"),
        Some(_) => "an unknown time".to_owned(),
        None if router.low > 0.0 => {
            let known = median(router);
            let [low, high] = [router.low, router.high].map(|end| known.with(end).plain());
            format!("{} ns ({low} to {high})", known.plain())
        }
        // A bound from above is rounded up.
        None => format!("less than {:.0} ns", router.high.max(1.0).ceil()),
    }
}

/// The same in few characters, for a table: `225`, `< 22`, `>= 36`, `?`.
#[must_use]
pub fn short_router_part(row: &ResultLine, cost: &FrameCost) -> String {
    let router = &cost.router_ns;
    match least_router_ns(row, cost) {
        Some(least) if least > 0.0 => format!(">= {least:.0}"),
        Some(_) => "?".to_owned(),
        None if router.low > 0.0 => median(router).plain(),
        None => format!("< {:.0}", router.high.max(1.0).ceil()),
    }
}

#[cfg(test)]
mod tests;
