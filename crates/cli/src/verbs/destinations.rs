//! Routes and destinations of a measurement: read and drawn before anything is touched, then loaded into the
//! DUT and counted back, cleared from a bed that stays.

use crate::plan::{BedChoice, DESTINATIONS, DestinationPlan, Origin};
use crate::record;
use crate::recorder::Recorder;
use crate::terminal::grouped;
use crate::terminal::progress::bar;
use anyhow::{Result, ensure};
use mpps_lab::bed::Bed;
use mpps_lab::destinations::{Destinations, DrawPlan};
use mpps_lab::fib;
use mpps_lab::traffic::Traffic;
use mpps_record::Routes;
use mpps_tables::{ChooseOptions, Chosen, Class, LeftOut, ReadOptions, Source, Table, choose};

/// Routes of one family, and what was drawn from them.
pub struct Prepared {
    /// To be loaded.
    table: Table,
    /// What was left out of the file, in words.
    left_out: Option<String>,
    /// Drawn.
    pub destinations: Destinations,
}

/// Reads the routes and draws destinations; touches nothing.
///
/// # Errors
/// One line that names file and place, or how many destinations there are.
pub fn prepare(plan: &DestinationPlan, traffic: &Traffic, quiet: bool) -> Result<Prepared> {
    let Chosen {
        table, left_out, ..
    } = routes(plan, traffic.ipv6, quiet)?;
    let from = plan.origin.to_string();
    let family = if traffic.ipv6 { "IPv6" } else { "IPv4" };
    ensure!(
        !table.is_empty(),
        "{from}: no {family} prefix is left to load{}",
        why_none(&plan.origin, &left_out)
    );
    let wish = DrawPlan {
        draw: plan.draw,
        count: plan.count.unwrap_or(DESTINATIONS),
        ipv6: traffic.ipv6,
        flows: traffic.flows,
        seed: traffic.seed,
    };
    let drawn = match Destinations::draw(&table, &from, &wish) {
        // Who asked for no number gets what there is.
        Err(few) if plan.count.is_none() && few.there > 0 => {
            let count = u64::try_from(few.there).unwrap_or(u64::MAX);
            Destinations::draw(&table, &from, &DrawPlan { count, ..wish })
        }
        drawn => drawn,
    };
    let words: Vec<String> = left_out
        .iter()
        .filter(|(_, count)| count.total() > 0)
        .map(|(class, count)| format!("{} {}", grouped(count.total()), class.name()))
        .collect();
    Ok(Prepared {
        destinations: drawn.map_err(|few| anyhow::anyhow!("{from}: {few}"))?,
        table,
        left_out: (!words.is_empty()).then(|| words.join(", ")),
    })
}

/// Why nothing is left of these routes, and what to do.
fn why_none(origin: &Origin, left_out: &LeftOut) -> &'static str {
    match origin {
        Origin::Prefix(_) if left_out.count(Class::Local).total() > 0 => {
            " (it lies in the bed's own networks: give another --dst-prefix)"
        }
        Origin::Prefix(_) => " (it is the default route: give a longer --dst-prefix)",
        Origin::File(_) if only_other_family(left_out) => {
            " (its prefixes are of the other family: change -6, or name another table)"
        }
        Origin::File(_) if left_out.total().total() > 0 => {
            " (see what is left out: `mpps table read`; --keep-martians keeps private ones)"
        }
        Origin::File(_) => "",
    }
}

fn only_other_family(left_out: &LeftOut) -> bool {
    let all = left_out.total().total();
    all > 0 && left_out.count(Class::Family).total() == all
}

fn routes(plan: &DestinationPlan, ipv6: bool, quiet: bool) -> Result<Chosen> {
    let table = match &plan.origin {
        Origin::Prefix(prefix) => Table::from_prefixes([*prefix]),
        Origin::File(path) => {
            let source = Source::from_argument(path.clone());
            super::table::read_with_progress(source, &ReadOptions::default(), quiet)?.table
        }
    };
    let options = ChooseOptions {
        v4: !ipv6,
        v6: ipv6,
        keep_martians: plan.keep_martians || matches!(plan.origin, Origin::Prefix(_)),
        local: fib::bed_networks(),
        ..ChooseOptions::default()
    };
    Ok(choose(table, &options))
}

/// Loads the routes into the DUT and says how that went.
///
/// # Errors
/// The kernel refused a route, or has not all of them afterwards: no frame is sent then.
pub fn load(
    prepared: &Prepared,
    bed: &Bed,
    recorder: &mut Recorder,
    quiet: bool,
) -> Result<Routes> {
    let total = prepared.table.len() as u64;
    let bar = bar("routes", Some(total), quiet);
    let progress = |done: u64| {
        bar.set_position(done);
        bar.set_message(format!("{} loaded", grouped(done)));
    };
    let loaded = fib::load_by(bed, &prepared.table, 1, &progress)?;
    drop(bar);
    ensure!(
        loaded.is_whole(),
        "routes: {} of {} are in the DUT's FIB after loading: look at them with `mpps bed shell`",
        grouped(loaded.counted()),
        grouped(total)
    );
    let entry = record::routes(&prepared.destinations, prepared.left_out.clone(), &loaded);
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
    Ok(entry)
}

/// Clears a bed that stays; one of our own goes with all that is in it.
///
/// # Errors
/// The routes could not be cleared.
pub fn clear(prepared: Option<&Prepared>, bed: &Bed, choice: &BedChoice) -> Result<()> {
    if prepared.is_some() && matches!(choice, BedChoice::Kept(_)) {
        fib::clear_from(bed)?;
    }
    Ok(())
}
