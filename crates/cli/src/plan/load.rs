//! How a table is loaded.

use crate::args::RouteArgs;
use mpps_lab::fib::LoadPlan;

/// What the arguments mean.
pub fn load_plan(args: &RouteArgs) -> LoadPlan {
    LoadPlan {
        via: args.via.clone(),
        spread: args.spread,
        pointing: args.next_hops,
        table: args.route_table,
        metric: args.metric,
    }
}
