//! Where frames go, as meant: from which routes, how many, how drawn.

use crate::args::quantity::count;
use crate::args::{DestinationArgs, RouteChangesArg};
use anyhow::{Result, anyhow, bail, ensure};
use ipnet::IpNet;
use mpps_lab::routes::Origin;
use mpps_lab::traffic::Traffic;
use mpps_method::destinations::{DESTINATIONS_MAX, Draw, LIST_MAX};
use mpps_method::flows::PORT_COUNT;
use std::path::Path;

/// Destinations when nobody says how many: more than caches hold.
pub const DESTINATIONS: u64 = 1_000_000;
/// Prefixes of a table that is made up where nobody says how many, IPv4 and IPv6: about today's Internet.
pub const INTERNET: [u64; 2] = [1_000_000, 250_000];
/// Begins a table that is made up and not read.
const SYNTHETIC: &str = "synthetic:";

/// Routes to load, and destinations to draw from them.
#[derive(Clone, Debug, PartialEq)]
pub struct DestinationPlan {
    /// Where the routes come from.
    pub origin: Origin,
    /// How many destinations; `None`: [`DESTINATIONS`], or all there are.
    pub count: Option<u64>,
    /// How they are drawn.
    pub draw: Draw,
    /// Keep martians in the table.
    pub keep_martians: bool,
    /// Route changes during each trial.
    pub route_changes: Option<RouteChangesArg>,
}

impl DestinationPlan {
    /// What the arguments mean with this traffic; `None`: one destination, the tester's own address.
    pub fn from_args(args: &DestinationArgs, traffic: &Traffic) -> Result<Option<Self>> {
        // Clap's `requires` would not see a table given once for all variants of a comparison.
        ensure!(
            args.route_changes.is_none() || args.table.is_some(),
            "--route-changes needs the routes that change: give --table FILE"
        );
        let origin = match (&args.table, args.dst_prefix, args.networks) {
            (Some(table), ..) => origin(table, traffic)?,
            (None, Some(prefix), _) => Origin::Prefix(prefix),
            (None, None, Some(count)) => Origin::Networks(count),
            (None, None, None) => {
                ensure!(
                    args.destinations.is_none() && args.draw.is_none(),
                    "--destinations and --draw need routes to draw from: give --table FILE, --dst-prefix PREFIX or --networks N"
                );
                return Ok(None);
            }
        };
        // RFC 2544 section 12 asks for a uniform distribution.
        let evenly = args.networks.map(|_| Draw::PerAddress);
        let plan = Self {
            origin,
            count: args.destinations,
            draw: args.draw.or(evenly).unwrap_or_default(),
            keep_martians: args.keep_martians,
            route_changes: args.route_changes.clone(),
        };
        plan.check(traffic)?;
        Ok(Some(plan))
    }

    fn check(&self, traffic: &Traffic) -> Result<()> {
        if let Some(count) = self.count {
            ensure!(
                (1..=DESTINATIONS_MAX).contains(&count),
                "--destinations {count}: give 1 to {DESTINATIONS_MAX}"
            );
        }
        if let Origin::Prefix(prefix) = self.origin {
            let ipv6 = matches!(prefix, IpNet::V6(_));
            if ipv6 != traffic.ipv6 {
                let (is, flag) = if ipv6 { ("IPv6", "-6") } else { ("IPv4", "-4") };
                bail!(
                    "--dst-prefix {prefix} is {is}: send {flag}, or give a prefix of the other family"
                );
            }
        }
        ensure!(
            self.route_changes.is_none() || self.draw != Draw::Missing,
            "--route-changes with --draw missing: a change may add the route that is to be missing; leave out one of them"
        );
        let flows = u64::from(traffic.flows);
        match self.draw {
            Draw::Missing => ensure!(
                !traffic.bidirectional,
                "--draw missing works in one direction only: the DUT drops every frame, and none comes back (leave out --bidirectional)"
            ),
            Draw::Zipf(_) => ensure!(
                flows <= LIST_MAX && self.count.unwrap_or(DESTINATIONS) <= LIST_MAX,
                "--draw zipf has {LIST_MAX} flows and destinations at most: give fewer, or another draw"
            ),
            _ => {}
        }
        ensure!(
            !traffic.bidirectional || flows <= u64::from(PORT_COUNT),
            "--flows {flows}: with destinations both ways give {PORT_COUNT} at most, because flows then differ by ports only"
        );
        Ok(())
    }
}

/// Where the routes of `--table` come from: `synthetic:N`, else a file.
fn origin(table: &Path, traffic: &Traffic) -> Result<Origin> {
    let Some(prefixes) = table.to_str().and_then(|text| text.strip_prefix(SYNTHETIC)) else {
        return Ok(Origin::File(table.to_owned()));
    };
    let prefixes = count(prefixes).map_err(|why| anyhow!("--table {}: {why}", table.display()))?;
    Ok(made_up(prefixes, traffic))
}

/// A table of so many prefixes that is made up for this traffic.
pub fn made_up(prefixes: u64, traffic: &Traffic) -> Origin {
    let (v4, v6) = match traffic.ipv6 {
        true => (0, prefixes),
        false => (prefixes, 0),
    };
    let seed = traffic.seed;
    Origin::Synthetic { v4, v6, seed }
}

#[cfg(test)]
mod tests;
