//! Doubts about the routing table: a rate with a table and few destinations is no measurement of the table.

use super::{Doubt, TableMet, Weight};

/// More destinations cost no more: a look-up's cost was seen to rise from 1 destination to 65 536, and to stay.
const DESTINATIONS_ENOUGH: u64 = 65_536;
/// Fewer routes than this lie in the caches whatever is sent; what a router has by itself is far below.
const TABLE: u64 = 1_000;

pub(crate) fn doubts(table: Option<TableMet>) -> Vec<Doubt> {
    let rules = [few_destinations, half_meets_table, part_of_destinations];
    let rules = rules.iter().filter_map(|rule| rule(table?));
    rules.collect()
}

fn few_destinations(table: TableMet) -> Option<Doubt> {
    let (routes, met) = (table.routes, table.destinations);
    (routes > TABLE && met < routes.min(DESTINATIONS_ENOUGH)).then(|| Doubt {
        name: "few-destinations",
        weight: Weight::Another(4),
        seen: format!(
            "the DUT holds {routes} routes and frames go to {met} destination{}",
            if met == 1 { "" } else { "s" }
        ),
        why: "The routes of few destinations stay in the CPU's caches. The rate does not show the cost of the table.",
        next: "Compare it with a result of more destinations (--table FILE --destinations 1M).",
    })
}

/// Where frames go both ways, those of the second direction have one destination.
fn half_meets_table(table: TableMet) -> Option<Doubt> {
    let routes = table.routes;
    (routes > TABLE && table.both_ways).then(|| Doubt {
        name: "half-meets-table",
        weight: Weight::Another(5),
        seen: format!(
            "the DUT holds {routes} routes, and frames of the second direction all go to one destination"
        ),
        why: "Half of the look-ups stay in the CPU's caches. The rate does not show the cost of the table.",
        next: "Run the same without --bidirectional.",
    })
}

fn part_of_destinations(table: TableMet) -> Option<Doubt> {
    let (sent, period) = (table.passed_frames, table.period_frames);
    (sent < period).then(|| Doubt {
        name: "part-of-destinations",
        weight: Weight::Another(6),
        seen: format!("{sent} frames were sent; {period} are needed to reach all destinations"),
        why: "The other destinations were never looked up. The rate belongs to fewer destinations than it names.",
        next: "Use a longer --time, or fewer --destinations.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(routes: u64, destinations: u64, sent: u64) -> Vec<&'static str> {
        let table = TableMet {
            routes,
            destinations,
            period_frames: destinations,
            both_ways: false,
            passed_frames: sent,
        };
        let doubts = doubts(Some(table));
        doubts.iter().map(|doubt| doubt.name).collect()
    }

    #[test]
    fn one_destination_is_no_destinations() {
        let table = |destinations| TableMet {
            routes: 1_000_000,
            destinations,
            period_frames: 1,
            both_ways: false,
            passed_frames: 1,
        };
        for (met, wanted) in [(1, "go to 1 destination"), (2, "go to 2 destinations")] {
            let doubt = few_destinations(table(met)).expect("a doubt");
            assert!(doubt.seen.ends_with(wanted), "{}", doubt.seen);
        }
    }

    #[test]
    fn the_advice_fits_a_point_of_fib_scale_too() {
        let doubts = doubts(Some(TableMet {
            routes: 1_000_000,
            destinations: 1,
            period_frames: 1,
            both_ways: false,
            passed_frames: 1,
        }));
        assert!(!doubts[0].next.contains("mpps fib-scale"));
        assert!(doubts[0].next.contains("more destinations"));
    }

    #[test]
    fn few_or_a_part_of_destinations_are_doubted() {
        let nothing: [&str; 0] = [];
        assert_eq!(names(1_000_000, 1, 500_000), ["few-destinations"]);
        assert_eq!(names(1_000_000, 65_535, 500_000), ["few-destinations"]);
        assert_eq!(names(1_000_000, 65_536, 500_000), nothing);
        // As many destinations as routes are not few, and a handful of routes is no table.
        assert_eq!(names(10_000, 10_000, 500_000), nothing);
        assert_eq!(names(1_000, 1, 500_000), nothing);
        let short = names(1_000_000, 1_000_000, 999_999);
        assert_eq!(short, ["part-of-destinations"]);
        assert_eq!(names(1_000_000, 1_000_000, 1_000_000), nothing);
        assert!(doubts(None).is_empty());
        let both_ways = TableMet {
            routes: 1_001,
            destinations: 1_001,
            period_frames: 1,
            passed_frames: 1,
            both_ways: true,
        };
        assert_eq!(doubts(Some(both_ways))[0].name, "half-meets-table");
    }
}
