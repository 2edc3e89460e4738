//! Which routes to read, and which of them to use.

use crate::args::{ChooseArgs, RouteFileArgs};
use mpps_tables::{ChooseOptions, ReadOptions, Sample};

/// How to read a file of routes.
pub fn read_options(args: &RouteFileArgs) -> ReadOptions {
    ReadOptions {
        lenient: args.lenient,
        ..ReadOptions::default()
    }
}

/// What to leave out, as far as arguments say; what is local is for the machine to say.
pub fn choose_options(args: &ChooseArgs) -> ChooseOptions {
    let whole = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    ChooseOptions {
        v4: !args.ipv6_only,
        v6: !args.ipv4_only,
        keep_default_route: args.keep_default_route,
        keep_martians: args.keep_martians,
        exclude: args.exclude.clone(),
        sample: args.sample.map(|prefixes| Sample {
            prefixes: whole(prefixes),
            seed: args.seed,
        }),
        max: args.max.map(whole),
        ..ChooseOptions::default()
    }
}
