//! How fast routes changed while frames flowed.

use super::{grouped, percent};
use mpps_record::{ReplayedFile, RouteChanges};

/// `routes changed 12 400 times a second during each trial (asked 12500/s) ...`.
pub fn route_changes(made: &RouteChanges, asked: Option<&ReplayedFile>) -> String {
    let (speed, from) = asked.map_or(("unknown", "its file"), |asked| {
        (asked.speed.as_str(), asked.from.as_str())
    });
    let due = match speed {
        "max" => String::new(),
        _ => format!(", {} due", grouped(made.due_per_s().round() as u64)),
    };
    let [added, replaced, withdrawn, refused, late] = [
        made.added,
        made.replaced,
        made.withdrawn,
        made.refused,
        made.late,
    ]
    .map(grouped);
    format!(
        "routes changed {} times a second during each trial (asked {speed}{due}) by {from}. {added} were added, \
         {replaced} got another next hop, {withdrawn} were withdrawn, {refused} refused, {late} late. Asking for them \
         took {} of the tester's CPU {}. Frames went to prefixes that were never withdrawn.\n",
        grouped(made.applied_per_s().round() as u64),
        percent(made.cpu_share()),
        made.cpu,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
                "routes changed 12 400 times a second during each trial (asked 12500/s, 12 500 due) by day.xz. 400 \
                 were added, 24 000 got another next hop, 401 were withdrawn, 1 refused, 7 late."
            ),
            "{text}"
        );
        assert!(text.contains("took 3 % of the tester's CPU 0."), "{text}");
    }
}
