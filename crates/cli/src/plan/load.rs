//! How a table is loaded.

use crate::args::{PointingArg, RouteArgs, SpreadArg};
use mpps_lab::fib::{LoadPlan, Pointing, Spread};

/// What the arguments mean.
#[must_use]
pub fn load_plan(args: &RouteArgs) -> LoadPlan {
    LoadPlan {
        via: args.via.clone(),
        spread: match args.spread {
            SpreadArg::RoundRobin => Spread::RoundRobin,
            SpreadArg::Hash => Spread::Hash,
        },
        pointing: match args.next_hops {
            PointingArg::Auto => Pointing::Best,
            PointingArg::Objects => Pointing::Objects,
            PointingArg::Plain => Pointing::Plain,
        },
        table: args.route_table,
        metric: args.metric,
    }
}
