//! `mpps table load`.

use super::owner::FibOwner;
use super::reading;
use crate::args::LoadArgs;
use crate::exit::Exit;
use crate::plan::load_plan;
use crate::route_options::{choose_options, read_options};
use crate::terminal::bar::bar;
use crate::terminal::{self, RoutesLoaded};
use anyhow::{Result, ensure};
use mpps_lab::fib::{self, LoadPlan, Loaded};
use mpps_lab::interrupt;
use mpps_lab::surroundings::Surroundings;
use mpps_tables::{Source, Table, routes_to_load};

/// Runs the verb.
pub fn run(args: &LoadArgs) -> Result<Exit> {
    let plan = load_plan(&args.route);
    let owner = FibOwner::to_change(&args.fib)?;
    ensure!(
        matches!(owner, FibOwner::Bed(_)) || !plan.via.is_empty(),
        "no next hop given: give --via ADDRESS of a neighbour of this machine"
    );
    interrupt::install()?;
    let mut options = choose_options(&args.choose);
    owner.run(Surroundings::here)?.keep_clear(&mut options);
    let source = Source::from_argument(args.file.file.clone());
    let mut progress = reading(&source, args.quiet);
    let routes = routes_to_load(source, &read_options(&args.file), &options, &mut progress)?;
    drop(progress);
    let loaded = load(&owner, &routes.chosen.table, &plan, args.quiet)?;
    let told = RoutesLoaded {
        source: routes.from,
        place: owner.name(),
        clearing: owner.clearing(),
        distinct: routes.distinct,
        left_out: routes.chosen.left_out,
        plan,
        loaded,
    };
    terminal::out(&match args.json {
        true => terminal::loaded_json(&told),
        false => terminal::loaded(&told),
    });
    Ok(exit(&told.loaded))
}

fn load(owner: &FibOwner, table: &Table, plan: &LoadPlan, quiet: bool) -> Result<Loaded> {
    let total = u64::try_from(table.len()).ok();
    let bar = bar("loading", total, quiet);
    let progress = |done: u64| {
        bar.set_position(done);
        bar.set_message(format!("{} routes", terminal::grouped(done)));
    };
    Ok(match owner {
        FibOwner::Bed(bed) => fib::load_into(bed, table, plan, &progress)?,
        FibOwner::Host => fib::load_host(table, plan, &progress)?,
    })
}

/// Loaded is what was asked for; anything less is an expectation not met.
fn exit(loaded: &Loaded) -> Exit {
    match (loaded.is_whole(), loaded.counted()) {
        (true, _) => Exit::Measured,
        (false, 0) => Exit::Failed,
        (false, _) => Exit::NotMet,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_lab::fib::FamilyLoad;

    #[test]
    fn the_exit_code_says_whether_every_route_is_there() {
        let of = |counted| Loaded {
            v4: Some(FamilyLoad {
                asked: 3,
                counted,
                ..FamilyLoad::default()
            }),
            ..Loaded::default()
        };
        assert_eq!(exit(&of(3)), Exit::Measured);
        assert_eq!(exit(&of(2)), Exit::NotMet);
        assert_eq!(exit(&of(0)), Exit::Failed);
    }
}
