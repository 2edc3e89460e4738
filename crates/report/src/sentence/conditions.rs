//! What a run was measured with, besides its frames: filters, queries, networks, routes, changes of them, a script.

use crate::number::{grouped, percent_or_under as percent};
use mpps_record::{EndLine, NETWORKS, ReplayedFile, RouteChanges, RunLine};

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
fn answered(begin: &RunLine, end: &EndLine) -> Option<String> {
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
    let made = end.route_changes.as_ref();
    let changes = made.map(|made| route_changes(made, asked));
    queries.into_iter().chain(changes).collect()
}

/// `Routes changed 12 400 times a second during each trial (asked 12500/s, 12 500 due) by day.xz. ...`.
#[must_use]
pub fn route_changes(made: &RouteChanges, asked: Option<&ReplayedFile>) -> String {
    let (speed, from) = asked.map_or(("unknown", "its file"), |asked| {
        (asked.speed.as_str(), asked.from.as_str())
    });
    let per_s = |rate: f64| grouped(rate.round() as u64);
    // As fast as they can be made, those are due that were made.
    let due = match speed {
        "max" => String::new(),
        _ => format!(", {} due", per_s(made.due_per_s())),
    };
    let counts = [
        made.added,
        made.replaced,
        made.withdrawn,
        made.refused,
        made.late,
    ];
    let [added, replaced, withdrawn, refused, late] = counts.map(grouped);
    let (rate, share) = (per_s(made.applied_per_s()), percent(made.cpu_share()));
    format!(
        "Routes changed {rate} times a second during each trial (asked {speed}{due}) by {from}. {added} were added, \
         {replaced} got another next hop, {withdrawn} were withdrawn, {refused} refused, {late} late. Asking for them \
         took {share} of the tester's CPU {}. Frames went to prefixes that were never withdrawn.",
        made.cpu,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{Queries, Routes};

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
        let [queries, changes] = told("1000/s").try_into().expect("two sentences");
        let expected = "The router answered 1\u{202f}199 of 1\u{202f}200 management queries.";
        assert_eq!(queries, expected);
        let begins = "Routes changed 995 times a second during each trial (asked 1000/s, 1\u{202f}000 due) by ";
        assert!(changes.starts_with(begins), "{changes}");
        let begins = "Routes changed 995 times a second during each trial (asked max) by ";
        assert!(told("max")[1].starts_with(begins));
        begin.job = "compare".to_owned();
        assert_eq!(queries_and_changes(Some(&begin), &end), [""; 0]);
    }

    #[test]
    fn the_line_has_speeds_counts_and_cpu() {
        let made = RouteChanges {
            added: 400,
            replaced: 24_000,
            withdrawn: 401,
            refused: 1,
            late: 7,
            due: 25_000,
            time_ns: 2_000_000_000,
            cpu_ns: 60_000_000,
            cpu: 0,
        };
        let asked = ReplayedFile {
            from: "day.xz".to_owned(),
            speed: "12500/s".to_owned(),
            ..ReplayedFile::default()
        };
        let text = route_changes(&made, Some(&asked));
        assert!(
            text.starts_with(
                "Routes changed 12\u{202f}400 times a second during each trial (asked 12500/s, 12\u{202f}500 due) by day.xz. 400 \
                 were added, 24\u{202f}000 got another next hop, 401 were withdrawn, 1 refused, 7 late."
            ),
            "{text}"
        );
        assert!(text.contains("took 3 % of the tester's CPU 0."), "{text}");
    }
}
