//! What a run was measured with, besides its frames: filters, queries, networks, routes, changes of them, a script.

use crate::number::grouped;
use mpps_record::{EndLine, NETWORKS, RunLine};

/// One sentence. `None` without a condition, and for a comparison: its variants have their own.
#[must_use]
pub fn measured_with(begin: &RunLine) -> Option<String> {
    if begin.job == "compare" {
        return None;
    }
    let modifiers = begin.modifiers().into_iter();
    let mut with: Vec<String> = modifiers.map(|modifier| modifier.words).collect();
    let routes = begin.routes.as_ref();
    let routes = routes.filter(|routes| !routes.from.ends_with(NETWORKS));
    with.extend(routes.map(|routes| {
        let (count, from) = (grouped(routes.routes), &routes.from);
        format!("{count} routes of {from}")
    }));
    let changes = begin.plan.traffic.route_changes.as_ref();
    with.extend(changes.map(|changes| {
        let (from, speed) = (&changes.from, &changes.speed);
        format!("the route changes of {from} ({speed})")
    }));
    let script = begin.bed.bed().and_then(|bed| bed.dut_setup.as_ref());
    with.extend(script.map(|path| format!("the set-up script {path}")));
    let last = with.pop()?;
    Some(match &with[..] {
        [] => format!("Measured with {last}."),
        others => format!("Measured with {} and {last}.", others.join(", ")),
    })
}

/// How many management queries the router answered, where they were asked beside the frames. What was asked of a router at
/// lasting overload is in its own sentence.
#[must_use]
pub fn answered(begin: &RunLine, end: &EndLine) -> Option<String> {
    begin.plan.traffic.queries_per_s?;
    let queries = end.queries?;
    let [answered, asked] = [queries.answered, queries.asked].map(grouped);
    Some(format!(
        "The router answered {answered} of {asked} management queries."
    ))
}

/// How many queries were answered and how fast routes changed, a sentence each. A comparison says them of each variant.
#[must_use]
pub fn queries_and_changes(begin: Option<&RunLine>, end: &EndLine) -> Vec<String> {
    if begin.is_none_or(|begin| begin.job == "compare") {
        return Vec::new();
    }
    let queries = begin.and_then(|begin| answered(begin, end));
    let asked = begin.and_then(|begin| begin.plan.traffic.route_changes.as_ref());
    // As fast as they can be made, those are due that were made.
    let has_pace = asked.is_some_and(|asked| asked.speed != "max");
    let changes = end.route_changes.map(|changes| {
        let made = grouped(changes.applied_per_s().round() as u64);
        let due = grouped(changes.due_per_s().round() as u64);
        let due = has_pace.then(|| format!(", of {due} due"));
        let due = due.unwrap_or_default();
        format!("Routes changed {made} times a second{due}.")
    });
    queries.into_iter().chain(changes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{Queries, ReplayedFile, RouteChanges, Routes};

    fn begin() -> RunLine {
        let bed = include_bytes!("../../../record/tests/golden/bed.jsonl");
        let mut runs = mpps_record::read(&bed[..]).expect("a record").runs;
        let begin = runs.remove(0).begin;
        begin.expect("a run's first line")
    }

    #[test]
    fn conditions_are_one_sentence() {
        let mut begin = begin();
        assert_eq!(measured_with(&begin), None);
        begin.plan.traffic.queries_per_s = Some(10);
        let one = measured_with(&begin).expect("a condition");
        assert_eq!(
            one,
            "Measured with 10 management queries a second (RFC 2544 section 11.2)."
        );
        begin.routes = Some(Routes {
            from: "full.mrt".to_owned(),
            routes: 538_738,
            ..Routes::default()
        });
        begin.plan.traffic.route_changes = Some(ReplayedFile {
            from: "day.xz".to_owned(),
            speed: "1000/s".to_owned(),
            ..ReplayedFile::default()
        });
        let all = measured_with(&begin).expect("conditions");
        let expected =
            ", 538\u{202f}738 routes of full.mrt and the route changes of day.xz (1000/s).";
        assert!(all.ends_with(expected), "{all}");
        begin.job = "compare".to_owned();
        assert_eq!(measured_with(&begin), None);
    }

    #[test]
    fn queries_and_changes_are_counted() {
        let end = EndLine {
            ended_utc: String::new(),
            exit_code: 0,
            error: None,
            trials: 1,
            queries: Some(Queries {
                asked: 1_200,
                answered: 1_199,
            }),
            route_changes: Some(RouteChanges {
                added: 1_990,
                due: 2_000,
                time_ns: 2_000_000_000,
                ..RouteChanges::default()
            }),
            other: Default::default(),
        };
        let mut begin = begin();
        assert_eq!(answered(&begin, &end), None, "nobody asked for queries");
        begin.plan.traffic.queries_per_s = Some(10);
        let mut told = |speed: &str| {
            begin.plan.traffic.route_changes = Some(ReplayedFile {
                speed: speed.to_owned(),
                ..ReplayedFile::default()
            });
            queries_and_changes(Some(&begin), &end)
        };
        let expected = [
            "The router answered 1\u{202f}199 of 1\u{202f}200 management queries.",
            "Routes changed 995 times a second, of 1\u{202f}000 due.",
        ];
        assert_eq!(told("1000/s"), expected);
        assert_eq!(told("max")[1], "Routes changed 995 times a second.");
        begin.job = "compare".to_owned();
        assert_eq!(queries_and_changes(Some(&begin), &end), [""; 0]);
    }
}
