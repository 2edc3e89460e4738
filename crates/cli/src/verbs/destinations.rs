//! Routes and destinations of a measurement: read and drawn before anything is touched, then loaded into the
//! DUT and counted back, cleared from a bed that stays.

use super::table::reading;
use crate::args::{OutputArgs, RouteChangesArg};
use crate::plan::{BedChoice, DESTINATIONS, DestinationPlan};
use crate::record;
use crate::recorder::Recorder;
use crate::terminal::bar::bar;
use crate::terminal::{grouped, left_out};
use anyhow::{Context, Result, ensure};
use mpps_lab::bed::Bed;
use mpps_lab::destinations::{Destinations, DrawPlan};
use mpps_lab::fib::ReplayedChanges;
use mpps_lab::line;
use mpps_lab::routes::{self, Origin, Routes, draw_up_to};
use mpps_lab::traffic::Traffic;
use mpps_method::ChangeSpeed;
use mpps_tables::Table;
use std::sync::Arc;

/// Routes of one family, and what was drawn from them.
pub struct Prepared {
    /// To be loaded.
    routes: Routes,
    /// Drawn.
    destinations: Destinations,
    /// To be replayed.
    changes: Option<Arc<ReplayedChanges>>,
}

/// Reads the routes and draws the traffic's destinations, where the plan wants any; touches nothing.
///
/// # Errors
/// One line that names file and place, or how many destinations there are.
pub fn prepare(
    plan: Option<&DestinationPlan>,
    traffic: &mut Traffic,
    quiet: bool,
) -> Result<Option<Prepared>> {
    Ok(prepare_alike([(plan, traffic)], quiet)?.pop().flatten())
}

/// The same of set-ups that are compared. All of them draw from the prefixes that no changes of any of them withdraw,
/// so that those with the same table and seed have the same destinations.
///
/// # Errors
/// One line that names file and place, or how many destinations there are.
pub fn prepare_alike<'a>(
    set_ups: impl IntoIterator<Item = (Option<&'a DestinationPlan>, &'a mut Traffic)>,
    quiet: bool,
) -> Result<Vec<Option<Prepared>>> {
    let mut all_read = Vec::new();
    for (plan, traffic) in set_ups {
        let routes = plan
            .map(|plan| read(plan, traffic.ipv6, quiet))
            .transpose()?;
        if let Some((_, changes)) = &routes {
            traffic.route_changes.clone_from(changes);
        }
        all_read.push((plan.zip(routes), traffic));
    }
    let all_changes = all_read
        .iter()
        .filter_map(|(_, traffic)| traffic.route_changes.clone());
    let all_changes: Vec<Arc<ReplayedChanges>> = all_changes.collect();
    let drawn = all_read.into_iter().map(|(routes, traffic)| {
        let draw = |(plan, routes)| draw(plan, routes, traffic, &all_changes);
        routes.map(draw).transpose()
    });
    drawn.collect()
}

/// Routes of one family, and changes of them.
type RoutesRead = (Routes, Option<Arc<ReplayedChanges>>);

/// Reads or makes the routes of one family, and shows how far it is.
///
/// # Errors
/// One line that names the flag, the file and the place in it.
fn read_routes(plan: &DestinationPlan, ipv6: bool, quiet: bool) -> Result<Routes> {
    let origin = &plan.origin;
    let routes = origin.routes(ipv6, plan.keep_martians, &mut reading(origin, quiet));
    Ok(match origin {
        Origin::File(_) => routes.context("--table")?,
        _ => routes?,
    })
}

/// Reads or makes the largest table of a job whose points have parts of it. A dry run reads a file, as any run would, but
/// makes up no table.
///
/// # Errors
/// As [`read_routes`].
pub fn read_table(
    plan: &DestinationPlan,
    ipv6: bool,
    output: &OutputArgs,
) -> Result<Option<Table>> {
    if output.dry_run && matches!(plan.origin, Origin::Synthetic { .. }) {
        return Ok(None);
    }
    let routes = read_routes(plan, ipv6, output.quiet)?;
    Ok(Some(routes.table))
}

fn read(plan: &DestinationPlan, ipv6: bool, quiet: bool) -> Result<RoutesRead> {
    let routes = read_routes(plan, ipv6, quiet)?;
    let changes = plan.route_changes.as_ref();
    let changes = changes.map(|asked| read_changes(asked, ipv6, plan.keep_martians));
    Ok((routes, changes.transpose()?.map(Arc::new)))
}

fn draw(
    plan: &DestinationPlan,
    (routes, changes): RoutesRead,
    traffic: &mut Traffic,
    all_changes: &[Arc<ReplayedChanges>],
) -> Result<Prepared> {
    let table = &routes::lasting(&routes.table, all_changes);
    let from = &routes.from;
    let wish = DrawPlan {
        draw: plan.draw,
        count: plan.count.unwrap_or(DESTINATIONS),
        ipv6: traffic.ipv6,
        flows: traffic.flows,
        seed: traffic.seed,
    };
    let drawn = match plan.count {
        Some(_) => Destinations::draw(table, from, &wish),
        // Who asked for no number gets what there is.
        None => draw_up_to(table, from, &wish),
    };
    let destinations = drawn.map_err(|few| anyhow::anyhow!("{from}: {few}"))?;
    traffic.destinations = Some(destinations.clone());
    Ok(Prepared {
        routes,
        destinations,
        changes,
    })
}

/// Reads and hashes a file of route changes.
///
/// # Errors
/// One line that names the file.
pub fn read_changes(
    asked: &RouteChangesArg,
    ipv6: bool,
    martians: bool,
) -> Result<ReplayedChanges> {
    let changes = routes::route_changes(asked.file.clone(), ipv6, martians)?;
    let from = asked.file.display().to_string();
    ensure!(
        changes.timed || !matches!(asked.speed, ChangeSpeed::Times(_)),
        "--route-changes {from},speed={}: the file has no times: give changes a second, such as speed={}/s, or max",
        asked.speed,
        changes.list.len().div_ceil(DAY_S)
    );
    let octets = std::fs::read(&asked.file).with_context(|| format!("read {from}"))?;
    let hash = record::sha256(&octets);
    Ok(ReplayedChanges::new(from, hash, asked.speed, changes))
}

/// Seconds of a day.
const DAY_S: usize = 86_400;

/// Loads the routes into the DUT and says how that went.
///
/// # Errors
/// The kernel refused a route, or has not all of them afterwards: no frame is sent then.
pub fn load(
    prepared: &Prepared,
    bed: &Bed,
    recorder: &mut Recorder,
    quiet: bool,
) -> Result<mpps_record::Routes> {
    let table = &prepared.routes.table;
    let total = table.len() as u64;
    let bar = bar("routes", Some(total), quiet);
    let progress = |done: u64| {
        bar.set_position(done);
        bar.set_message(format!("{} loaded", grouped(done)));
    };
    let loaded = routes::load(bed, table, 1, &progress)?;
    drop(bar);
    let left_out = left_out(&prepared.routes.left_out);
    let entry = line::routes(&prepared.destinations, left_out, &loaded);
    recorder.step(&format!(
        "routes: {} of {}, loaded and counted back in {:.1} s{}",
        grouped(loaded.counted()),
        prepared.destinations.from,
        (loaded.loading_ns + loaded.counting_ns) as f64 / 1e9,
        entry
            .left_out
            .as_ref()
            .map_or(String::new(), |words| format!("; left out: {words}"))
    ));
    let destinations = &prepared.destinations;
    recorder.step(&format!(
        "destinations: {}, {}",
        grouped(destinations.distinct),
        destinations.draw
    ));
    if let Some(changes) = &prepared.changes {
        changes.begin(bed, table)?;
        let replayed = &changes.changes;
        recorder.step(&format!(
            "route changes: {} of {} prefixes of {}, at {} during each trial; {} changes left out. Frames go to the \
            {} prefixes of the table that none withdraws",
            grouped(replayed.list.len() as u64),
            grouped(replayed.prefixes.len() as u64),
            changes.from,
            changes.speed,
            grouped(replayed.changes_left_out),
            grouped(destinations.prefixes as u64),
        ));
    }
    Ok(entry)
}

/// Compares the DUT's routes with the table and the changes that were made, where there were any.
///
/// # Errors
/// They differ.
pub fn count_back(prepared: Option<&Prepared>, bed: &Bed, recorder: &Recorder) -> Result<()> {
    let replayed = prepared.and_then(|prepared| Some((prepared, prepared.changes.as_ref()?)));
    let Some((prepared, changes)) = replayed else {
        return Ok(());
    };
    if let Some(counted) = changes.count_back(bed, &prepared.routes.table)? {
        recorder.show_counted_back(counted);
    }
    Ok(())
}

/// Clears a bed that stays; one of our own goes with all that is in it.
///
/// # Errors
/// The routes could not be cleared.
pub fn clear(prepared: Option<&Prepared>, bed: &Bed, choice: &BedChoice) -> Result<()> {
    if prepared.is_some() && matches!(choice, BedChoice::Kept(_)) {
        routes::clear(bed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Verb};
    use crate::plan::ComparePlan;
    use clap::Parser;
    use std::ffi::OsString;
    use std::path::Path;

    /// The destinations of the variants without changes and with them.
    fn drawn(folder: &Path, more: &str) -> Vec<Destinations> {
        let file = |name: &str| folder.join(name).display().to_string();
        let b = format!("--route-changes {},speed=1000/s", file("changes"));
        let table = file("table");
        let words = ["compare", "--a", "none", "--b", &b, "--table", &table];
        let words = words.into_iter().chain(more.split_whitespace());
        let typed: Vec<OsString> = words.map(OsString::from).collect();
        let all = std::iter::once(OsString::from("mpps")).chain(typed.clone());
        let verb = Cli::try_parse_from(all).expect("flags").verb;
        let Verb::Compare(args) = verb else {
            panic!("not compare: {verb:?}");
        };
        let mut plan = ComparePlan::new(&args, &typed).expect("a plan");
        let set_ups = plan.variants.iter_mut();
        let set_ups = set_ups.map(|one| (one.destinations.as_ref(), &mut one.traffic));
        let prepared = prepare_alike(set_ups, true).expect("destinations");
        let changed = plan
            .variants
            .iter()
            .map(|one| one.traffic.route_changes.is_some());
        assert!(changed.eq([false, true]));
        prepared
            .into_iter()
            .flatten()
            .map(|one| one.destinations)
            .collect()
    }

    #[test]
    fn variants_draw_from_what_no_changes_withdraw() {
        let folder = std::env::temp_dir().join(format!("mpps-alike-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let table = (0..64).map(|net| format!("20.{net}.0.0/16\n"));
        std::fs::write(folder.join("table"), table.collect::<String>()).expect("a table");
        let line = |net: u32, kind: &str, more: &str| {
            format!(
                "BGP4MP|{}|{kind}|10.0.0.1|1|20.{net}.0.0/16{more}\n",
                1_700_000_000 + net
            )
        };
        let changes = (0..16).map(|net| line(net, "W", "") + &line(net, "A", "|1 2|IGP"));
        std::fs::write(folder.join("changes"), changes.collect::<String>()).expect("changes");
        for more in ["", "--destinations 500 --draw sequential"] {
            let [a, b] = &drawn(&folder, more)[..] else {
                panic!("two variants");
            };
            assert_eq!((a.prefixes, b.prefixes), (48, 48), "{more}");
            let addresses = |all: &Destinations| {
                (0..all.places())
                    .map(|place| all.at(place, 1))
                    .collect::<Vec<u128>>()
            };
            assert!(!addresses(a).is_empty());
            assert_eq!(addresses(a), addresses(b), "{more}");
        }
        std::fs::remove_dir_all(folder).expect("tidy up");
    }
}
