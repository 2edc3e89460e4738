//! Two results of different runs compared, where they can be.

use crate::bed::RunBed;
use crate::comparability::Comparability;
use crate::comparison::Difference;
use crate::point::PointLine;
use crate::profile::ProfileLine;
use crate::result::{FrameCost, Interval, ResultLine};
use crate::run::RunLine;
use crate::words::{Finding, ForwardingLimit, LimitedBy, ReceiverPlace, ToldBy};

/// CPU distances up to this factor apart are the same.
const SAME_DISTANCE: f64 = 2.0;
/// A piece of work that takes up to this factor longer was done at the same speed.
const SAME_SPEED: f64 = 1.2;

/// Whether two round trips of a cache line, ns, are of CPUs at the same distance.
#[must_use]
pub fn is_same_distance(one: f64, other: f64) -> bool {
    one.max(other) <= SAME_DISTANCE * one.min(other)
}

/// Whether two times for the piece of work, ns, are of one speed of a CPU.
#[must_use]
pub fn is_same_speed(one: f64, other: f64) -> bool {
    one.max(other) <= SAME_SPEED * one.min(other)
}

/// Two runs of one set-up differ by up to this share: in 9 of 10 pairs in a row on a shared machine, less on a quiet one.
/// A run's own intervals do not show it; those of rates do, from a version of the method on.
pub const RUNS_ALIKE: f64 = 0.05;
/// From this version of the method on the interval of a maximum forwarding rate has what runs differ by.
const METHOD_OF_RUNS: u32 = 9;
/// Two beds of one set-up differ by up to this share.
const BEDS_ALIKE: f64 = 0.01;

/// By what two results are compared.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// A difference smaller than this share needs not be found.
    pub within: f64,
    /// Differences up to this share are none.
    pub alike: f64,
    /// Members of `comparability` that may differ, because they are compared: `dut_setup`.
    pub may_differ: &'a [&'a str],
}

/// Why two results cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Names of the members in which they differ.
    #[error("they differ in {}", .0.join(", "))]
    Differ(Vec<String>),
    /// What neither or one of them has.
    #[error("one of them has no {0}")]
    Lacks(&'static str),
}

/// What is compared of a result or a point.
struct Side<'a> {
    comparability: &'a Comparability,
    frame: &'a str,
    receiver: Option<&'a ReceiverPlace>,
    simulated: bool,
    forwarding: Option<Interval<u64>>,
    only_disturbed: bool,
    distance_ns: Option<f64>,
    work_ns: Option<f64>,
    cost: Option<FrameCost>,
    ends_first: bool,
    limit_unknown: bool,
}

/// The second result against the first. Each comes with the first line of its run.
///
/// # Errors
/// They cannot be compared.
pub fn compare_results(
    one: (&RunLine, &ResultLine),
    other: (&RunLine, &ResultLine),
    terms: Terms<'_>,
) -> Result<Difference, Refusal> {
    fn side<'a>((run, result): (&'a RunLine, &'a ResultLine)) -> Side<'a> {
        let overload = &result.overload;
        // One search has enough lossy trials for a higher maximum, the next one has not.
        let (forwarding, distance_ns, work_ns) = overload.at_overload();
        Side {
            comparability: &run.comparability,
            frame: &result.frame,
            receiver: result.receiver.as_ref(),
            simulated: result.simulated,
            forwarding,
            only_disturbed: overload.max_forwarding_only_disturbed == Some(true),
            distance_ns,
            work_ns,
            cost: overload.cost,
            ends_first: overload.max_forwarding_limited_by == Some(ForwardingLimit::Tester),
            limit_unknown: overload.max_forwarding_limited_by == Some(ForwardingLimit::Unknown),
        }
    }
    compare(&side(one), &side(other), terms)
}

/// The same of two points of `mpps fib-scale`.
///
/// # Errors
/// They cannot be compared.
pub fn compare_points(
    one: (&RunLine, &PointLine),
    other: (&RunLine, &PointLine),
    terms: Terms<'_>,
) -> Result<Difference, Refusal> {
    fn side<'a>((run, point): (&'a RunLine, &'a PointLine)) -> Side<'a> {
        let maximum = point.load_of_maximum();
        Side {
            comparability: &run.comparability,
            frame: point.frame.as_deref().unwrap_or_default(),
            receiver: None,
            simulated: matches!(run.bed, RunBed::Simulated { .. }),
            forwarding: point.max_forwarding_fps,
            only_disturbed: point.loads().any(|load| load.only_disturbed == Some(true)),
            distance_ns: maximum.and_then(|load| load.cpu_distance_ns),
            work_ns: maximum.and_then(|load| load.work_ns),
            cost: point.cost,
            ends_first: point.limited_by.as_deref() == Some("tester"),
            limit_unknown: point.limited_by.as_deref() == Some("disturbed"),
        }
    }
    compare(&side(one), &side(other), terms)
}

fn compare(one: &Side<'_>, other: &Side<'_>, terms: Terms<'_>) -> Result<Difference, Refusal> {
    let distances = one.distance_ns.zip(other.distance_ns);
    let apart = distances.is_some_and(|(one, other)| !is_same_distance(one, other));
    let works = one.work_ns.zip(other.work_ns);
    let slower = works.is_some_and(|(one, other)| !is_same_speed(one, other));
    let more = [
        (one.frame != other.frame, "frame"),
        (one.receiver != other.receiver, "receiver"),
        (one.simulated != other.simulated, "simulated"),
        (apart, "max_forwarding_cpu_distance_ns"),
        (slower, "max_forwarding_work_ns"),
    ];
    check_alike(one.comparability, other.comparability, &more, terms)?;
    if one.only_disturbed || other.only_disturbed {
        return Err(Refusal::Lacks("forwarding rate from undisturbed windows"));
    }
    if one.limit_unknown || other.limit_unknown {
        // Its rate is a bound: the router's CPU had time left.
        return Err(Refusal::Lacks("known limit at overload"));
    }
    let lacks = Refusal::Lacks("maximum forwarding rate");
    let rates = one.forwarding.zip(other.forwarding).ok_or(lacks)?;
    let costs = one.cost.zip(other.cost);
    let told_by = if one.ends_first || other.ends_first {
        ToldBy::Cost
    } else {
        ToldBy::Rate
    };
    // What one CPU's lower speed may have done is no difference of the set-ups: rates go as the square of that speed.
    let slowness = works.map_or(1.0, |(one, other)| (other / one).powi(2));
    let rate_change = change(rates.0.into(), as_fast(rates.1.into(), slowness));
    let costs = costs.map(|(one, other)| {
        let [total_ns, router_ns] =
            [other.total_ns, other.router_ns].map(|cost| as_fast(cost, 1.0 / slowness));
        let other = FrameCost {
            total_ns,
            router_ns,
            ..other
        };
        (one, other)
    });
    let cost_change = costs.and_then(|(one, other)| change(one.total_ns, other.total_ns));
    let decides = match told_by {
        ToldBy::Cost => cost_change.ok_or(Refusal::Lacks("cost of a frame"))?,
        _ => rate_change.ok_or(Refusal::Lacks("maximum forwarding rate"))?,
    };
    let method = one.comparability.method_version;
    let is_of_runs =
        told_by == ToldBy::Rate && method.min(other.comparability.method_version) >= METHOD_OF_RUNS;
    let terms = match is_of_runs {
        true => Terms {
            alike: BEDS_ALIKE,
            ..terms
        },
        false => terms,
    };
    Ok(Difference {
        finding: finding(decides, terms),
        told_by,
        rate_change,
        cost_change,
        cost_ns: costs.map(|(one, other)| Interval {
            low: other.router_ns.low - one.router_ns.high,
            median: other.router_ns.median - one.router_ns.median,
            high: other.router_ns.high - one.router_ns.low,
        }),
        fixed_cost_ns: None,
        pairs: None,
    })
}

/// A value with what it would be at another speed of the CPU, this many times as large, in its interval.
fn as_fast(value: Interval<f64>, times: f64) -> Interval<f64> {
    Interval {
        low: value.low * times.min(1.0),
        high: value.high * times.max(1.0),
        ..value
    }
}

/// Whether two profiles can be compared by stage. Each comes with the first line of its run.
///
/// # Errors
/// They cannot.
pub fn check_profiles(
    (first, one): (&RunLine, &ProfileLine),
    (second, other): (&RunLine, &ProfileLine),
    terms: Terms<'_>,
) -> Result<(), Refusal> {
    let burnt = "burnt_ns";
    let burns = one.burnt_ns != other.burnt_ns && !terms.may_differ.contains(&burnt);
    let more = [
        (burns, burnt),
        (one.frame != other.frame, "frame"),
        (one.receiver != other.receiver, "receiver"),
        (one.clock != other.clock, "clock"),
        (one.limited_by != other.limited_by, "limited_by"),
    ];
    check_alike(&first.comparability, &second.comparability, &more, terms)?;
    // Below saturation a frame's cost depends on the load, and both offered what they could. Others' traffic is any load.
    if one.limited_by == Some(LimitedBy::Tester) || one.watched.is_some() || other.watched.is_some()
    {
        return Err(Refusal::Lacks("load that saturates the router"));
    }
    let has_stages = |line: &ProfileLine| {
        line.loads
            .first()
            .is_some_and(|load| !load.stages.is_empty())
    };
    if !(has_stages(one) && has_stages(other)) {
        return Err(Refusal::Lacks("cost by stage"));
    }
    let few =
        |line: &ProfileLine| (line.loads.first()).is_some_and(crate::ProfiledLoad::has_few_trials);
    if few(one) || few(other) {
        return Err(Refusal::Lacks(
            "interval over trials, which needs 3 saturated trials: mpps explain --against takes turns",
        ));
    }
    Ok(())
}

/// Refuses what differs in a member that is not compared, or in one of `more`.
fn check_alike(
    one: &Comparability,
    other: &Comparability,
    more: &[(bool, &str)],
    terms: Terms<'_>,
) -> Result<(), Refusal> {
    let mut differ = one.differences(other);
    // Only latencies depend on it, which are not compared here.
    differ.retain(|member| member != "cpus_awake" && !terms.may_differ.contains(&member.as_str()));
    let more = more.iter().filter(|(differ, _)| *differ);
    let more = more.map(|(_, member)| (*member).to_owned());
    // The receiver as it began is a member of both.
    let new: Vec<String> = more.filter(|member| !differ.contains(member)).collect();
    differ.extend(new);
    if differ.is_empty() {
        Ok(())
    } else {
        Err(Refusal::Differ(differ))
    }
}

/// The second one more than the first, as a share of it: at most as far as both intervals allow.
fn change(one: Interval<f64>, other: Interval<f64>) -> Option<Interval<f64>> {
    let found = Interval {
        low: other.low / one.high - 1.0,
        median: other.median / one.median - 1.0,
        high: other.high / one.low - 1.0,
    };
    let all = [found.low, found.median, found.high];
    all.into_iter().all(f64::is_finite).then_some(found)
}

fn finding(Interval { low, high, .. }: Interval<f64>, terms: Terms<'_>) -> Finding {
    if low > terms.alike || high < -terms.alike {
        Finding::Different
    } else if low >= -terms.within && high <= terms.within {
        Finding::NoDifference
    } else {
        Finding::NotDecided
    }
}
