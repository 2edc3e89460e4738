//! What a frame's time gained or lost: between two profiles of `mpps explain`, or between two set-ups that took turns.

use crate::number;
use crate::stage::is_beds;
use mpps_record::{Interval, PartChange, ProfileChange, ProfiledAgainst, SettingEffect};

/// `conntrack against none: +211 ns a frame for the router (190 to 230). By stage: prerouting +150 (120 to 180), rest no
/// difference seen (each within 9 ns). By cause: ... From 20 pairs; 21.3 % fewer frames/s (20.1 to 22.9).`
#[must_use]
pub fn against(line: &ProfiledAgainst) -> String {
    let names = format!("{} against {}", line.explained, line.name);
    let Some(change) = &line.change else {
        return format!("{names}: not compared, because too few pairs of trials count");
    };
    let rate = line.rate_change.map_or(String::new(), |rate| {
        let percent = |share: f64| format!("{:+.1}", share * 100.0);
        let [low, median, high] = [rate.low, rate.median, rate.high].map(percent);
        format!("; {median} % frames/s ({low} to {high})")
    });
    let pairs = number::plural(line.pairs.counted as usize, "pair");
    let told = format!("{names}: {}. From {pairs}{rate}", words(change));
    told + locked(line, change).unwrap_or_default()
}

/// A slower router waits for another time for the tester's CPU, which takes the buffers back.
fn locked(line: &ProfiledAgainst, change: &ProfileChange) -> Option<&'static str> {
    let free = change.stages.iter().find(|stage| stage.part == "free")?;
    let differ = line
        .rate_change
        .is_some_and(|rate| rate.low > 0.0 || rate.high < 0.0);
    (free.seen && differ).then_some(
        ". The stage free contains the wait for the lock of the sender's page pool, which changes with the rate",
    )
}

/// `+211 ns a frame for the router (190 to 230). By stage: prerouting +150 (120 to 180), rest no difference seen (each
/// within 9 ns). By cause: ...`
#[must_use]
pub fn words(change: &ProfileChange) -> String {
    let Interval { low, median, high } = change.router.ns.rounded();
    let router = match change.router.seen {
        true => format!("{median:+.0} ns a frame for the router ({low:.0} to {high:.0})"),
        false => format!(
            "no difference seen for the router (within {:.0} ns a frame)",
            within(&change.router)
        ),
    };
    format!("{router}. {}", by_part(change))
}

/// `By stage: prerouting +150 (120 to 180), rest no difference seen (each within 9 ns). By cause: ...`
#[must_use]
pub fn by_part(change: &ProfileChange) -> String {
    let (stages, causes) = (told(&change.stages), told(&change.causes));
    format!("By stage: {stages}. By cause: {causes}")
}

/// The same of a setting that was profiled, or why nobody can tell.
#[must_use]
pub fn of_setting(effect: &SettingEffect) -> Option<String> {
    let untold = effect.not_by_stage.as_ref();
    let untold = untold.map(|why| format!("By stage: cannot tell: {why}"));
    effect.by_stage.as_ref().map(by_part).or(untold)
}

/// How large a difference may be that was not seen.
fn within(part: &PartChange) -> f64 {
    part.ns.low.abs().max(part.ns.high.abs()).ceil()
}

/// The parts whose change was seen, the largest first, and within what the others did not.
fn told(parts: &[PartChange]) -> String {
    let (mut seen, rest): (Vec<&PartChange>, Vec<_>) = parts.iter().partition(|part| part.seen);
    seen.sort_by(|one, other| other.ns.median.abs().total_cmp(&one.ns.median.abs()));
    let one = |change: &&PartChange| {
        let (part, ns) = (&change.part, change.ns.rounded());
        let bed = if is_beds(part) { " of the bed" } else { "" };
        format!(
            "{part}{bed} {:+.0} ({:.0} to {:.0})",
            ns.median, ns.low, ns.high
        )
    };
    let mut words: Vec<String> = seen.iter().map(one).collect();
    if !rest.is_empty() {
        let rest_of = if seen.is_empty() { "" } else { "rest " };
        let within = rest.iter().map(|part| within(part)).fold(0.0, f64::max);
        words.push(format!(
            "{rest_of}no difference seen (each within {within:.0} ns)"
        ));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_free_tells_of_the_pools_lock() {
        let told = |seen, rate: [f64; 3]| {
            against(&ProfiledAgainst {
                rate_change: Some(rate.into()),
                change: Some(ProfileChange {
                    stages: vec![PartChange::new("free", [30.0, 43.0, 56.0], seen)],
                    ..ProfileChange::default()
                }),
                ..ProfiledAgainst::default()
            })
        };
        let lock = "the lock of the sender's page pool, which changes with the rate";
        assert!(told(true, [-0.4, -0.3, -0.2]).ends_with(lock));
        assert!(told(true, [0.1, 0.2, 0.3]).ends_with(lock));
        assert!(!told(true, [-0.1, 0.0, 0.1]).contains("lock"));
        assert!(!told(false, [-0.4, -0.3, -0.2]).contains("lock"));
    }
}
