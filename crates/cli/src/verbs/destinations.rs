//! Routes and destinations of a measurement: read and drawn before anything is touched, then loaded into the
//! DUT and counted back, cleared from a bed that stays.

use super::table::reading;
use crate::plan::{BedChoice, DESTINATIONS, DestinationPlan};
use crate::record;
use crate::recorder::Recorder;
use crate::terminal::bar::bar;
use crate::terminal::{grouped, left_out};
use anyhow::Result;
use mpps_lab::bed::Bed;
use mpps_lab::destinations::{Destinations, DrawPlan};
use mpps_lab::routes::{self, Routes, draw_up_to};
use mpps_lab::traffic::Traffic;

/// Routes of one family, and what was drawn from them.
pub struct Prepared {
    /// To be loaded.
    routes: Routes,
    /// Drawn.
    destinations: Destinations,
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
    let Some(plan) = plan else {
        return Ok(None);
    };
    let mut progress = reading(&plan.origin, quiet);
    let routes = (plan.origin).routes(traffic.ipv6, plan.keep_martians, &mut progress)?;
    drop(progress);
    let (table, from) = (&routes.table, &routes.from);
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
    Ok(Some(Prepared {
        routes,
        destinations,
    }))
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
    let entry = record::routes(&prepared.destinations, left_out, &loaded);
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
        routes::clear(bed)?;
    }
    Ok(())
}
