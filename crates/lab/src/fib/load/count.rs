//! Counting back: every prefix that was not refused has to come out of a dump, with our protocol, in the
//! table and with the metric it was given.

use super::{FamilyLoad, FibError, Job, Loaded};
use crate::fib::{Family, PROTOCOL};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use mpps_linux::routes::{Filter, Route, dump};
use mpps_tables::Table;
use std::collections::BTreeSet;

/// Fills in what was counted and what is missing.
pub(super) fn count_back(
    jobs: &[Job<'_>],
    table: &Table,
    loaded: &mut Loaded,
) -> Result<(), FibError> {
    for job in jobs {
        match (job.family, &mut loaded.v4, &mut loaded.v6) {
            (Family::V4, Some(load), _) => {
                let (found, next_hops) = found(job, |prefix| match prefix {
                    IpNet::V4(v4) => Some(v4),
                    IpNet::V6(_) => None,
                })?;
                load.next_hops = next_hops;
                compare::<Ipv4Net>(&table.v4, &found, load);
            }
            (Family::V6, _, Some(load)) => {
                let (found, next_hops) = found(job, |prefix| match prefix {
                    IpNet::V6(v6) => Some(v6),
                    IpNet::V4(_) => None,
                })?;
                load.next_hops = next_hops;
                compare::<Ipv6Net>(&table.v6, &found, load);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Our routes in the job's table with its metric, sorted, and how many different next hops they have.
fn found<N: Ord>(
    job: &Job<'_>,
    network: impl Fn(IpNet) -> Option<N>,
) -> Result<(Vec<N>, u64), FibError> {
    let filter = Filter {
        table: Some(job.stamp.table),
        protocol: Some(PROTOCOL),
    };
    let found = std::cell::RefCell::new((Vec::new(), BTreeSet::new()));
    let again = || *found.borrow_mut() = (Vec::new(), BTreeSet::new());
    dump(job.family, &filter, again, |route: &Route| {
        if route.metric == job.metric() {
            let mut found = found.borrow_mut();
            found.0.extend(network(route.prefix));
            found
                .1
                .insert((route.gateway, route.interface, route.nexthop));
        }
    })?;
    let (mut found, next_hops) = found.into_inner();
    found.sort();
    Ok((found, next_hops.len() as u64))
}

/// Walks both lists at once; the table's is sorted too.
fn compare<N: Ord + Copy + Into<IpNet>>(asked: &[N], found: &[N], load: &mut FamilyLoad) {
    let refused: std::collections::HashSet<IpNet> =
        load.refused.iter().map(|(prefix, _)| *prefix).collect();
    let mut found = found.iter().peekable();
    for prefix in asked {
        while found.next_if(|there| *there < prefix).is_some() {}
        let there = found.peek().is_some_and(|there| *there == prefix);
        // A refused one may be there all the same: of an earlier load, by another next hop.
        let is_refused = !refused.is_empty() && refused.contains(&(*prefix).into());
        match (there, is_refused) {
            (_, true) => {}
            (true, false) => load.counted += 1,
            (false, false) => load.missing.push((*prefix).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nets(texts: &[&str]) -> Vec<Ipv4Net> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn only_what_is_there_and_was_not_refused_counts() {
        let asked = nets(&["9.0.0.0/8", "10.0.0.0/8", "10.0.0.0/16", "11.0.0.0/8"]);
        // 10/8 came with an earlier load, 11/8 got lost, 12/8 is of another load.
        let found = nets(&["9.0.0.0/8", "10.0.0.0/8", "10.0.0.0/16", "12.0.0.0/8"]);
        let mut load = FamilyLoad {
            refused: vec![(IpNet::V4(asked[1]), 0)],
            ..FamilyLoad::default()
        };
        compare(&asked, &found, &mut load);
        assert_eq!(load.counted, 2);
        assert_eq!(load.missing, [IpNet::V4(asked[3])]);
    }
}
