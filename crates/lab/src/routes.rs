//! The routes of a measurement and the destinations of its frames. Both are read and drawn before the host is changed.
//! Then the routes are loaded into the DUT and counted back.

use crate::bed::Bed;
use crate::destinations::{Destinations, DrawPlan};
use crate::fib::{self, Loaded, ReplayedChanges};
use crate::search::JobError;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use mpps_method::destinations::TooFew;
use mpps_record::NETWORKS;
use mpps_tables::{
    Changes, ChangesError, ChooseOptions, Chosen, Histogram, LeftOut, Progress, ReadOptions,
    RoutesError, Source, Table, choose_prefix, read_changes, routes_to_load, synthesize,
};
use std::borrow::Cow;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::sync::Arc;

/// Networks of the range for benchmarks at most.
pub const NETWORKS_MAX: u16 = 8_192;
/// The upper half of the outgoing side's network: the bed has no address there.
const SPARE_V4: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(198, 19, 128, 0), 17);
/// The upper half of 2001:2::/48.
const SPARE_V6: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::new(0x2001, 2, 0, 0x8000, 0, 0, 0, 0), 49);

/// Where routes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of routes; `-` is standard input.
    File(PathBuf),
    /// One prefix.
    Prefix(IpNet),
    /// So many networks of the range for benchmarks (RFC 2544 section 12), 1 to [`NETWORKS_MAX`].
    Networks(u16),
    /// A table with the lengths of the Internet's prefixes.
    Synthetic {
        /// IPv4 prefixes.
        v4: u64,
        /// IPv6 prefixes.
        v6: u64,
        /// Decides which.
        seed: u64,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) if path.as_os_str() == "-" => f.write_str("standard input"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Prefix(prefix) => prefix.fmt(f),
            Self::Networks(count) => write!(f, "{count} {NETWORKS}"),
            Self::Synthetic { v4, v6, .. } => write!(f, "a synthetic table of {}", v4 + v6),
        }
    }
}

/// Routes of one family, to be loaded.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Where they come from, for people.
    pub from: String,
    /// Of one family.
    pub table: Table,
    /// What was left out.
    pub left_out: LeftOut,
}

impl Origin {
    /// Reads or makes the routes of one family; touches nothing.
    ///
    /// # Errors
    /// The file cannot be read; no route of the family is left.
    pub fn routes(
        &self,
        ipv6: bool,
        keep_martians: bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Routes, RoutesError> {
        let options = choosing(ipv6, keep_martians);
        let chosen = match self {
            // The user named this prefix, so it is used even if it is a martian.
            Self::Prefix(prefix) => choose_prefix(
                *prefix,
                &ChooseOptions {
                    keep_martians: true,
                    ..options
                },
            )?,
            Self::Networks(count) => Chosen {
                table: networks(*count, ipv6),
                ..Chosen::default()
            },
            Self::Synthetic { v4, v6, seed } => Chosen {
                table: synthesize(&Histogram::internet(), *v4, *v6, *seed)?,
                ..Chosen::default()
            },
            Self::File(path) => {
                let source = Source::from_argument(path.clone());
                routes_to_load(source, &ReadOptions::default(), &options, progress)?.chosen
            }
        };
        Ok(Routes {
            from: self.to_string(),
            table: chosen.table,
            left_out: chosen.left_out,
        })
    }
}

/// Networks of equal length in the part of the range for benchmarks that the bed itself does not use (`NEVER_V4` and
/// `NEVER_V6` of `destinations`). Of IPv4 they have 128 addresses each, or fewer where there are more than 256.
fn networks(count: u16, ipv6: bool) -> Table {
    let bits = u16::BITS - count.saturating_sub(1).leading_zeros();
    let v4_length = (SPARE_V4.prefix_len() + bits as u8).max(25);
    let network = |place: u16| -> IpNet {
        if ipv6 {
            let address = u128::from(SPARE_V6.addr()) | u128::from(place) << 64;
            Ipv6Net::new_assert(address.into(), 64).into()
        } else {
            let address = u32::from(SPARE_V4.addr()) | u32::from(place) << (32 - v4_length);
            Ipv4Net::new_assert(address.into(), v4_length).into()
        }
    };
    Table::from_prefixes((0..count).map(network))
}

/// What a measurement leaves out of a file of routes.
fn choosing(ipv6: bool, keep_martians: bool) -> ChooseOptions {
    ChooseOptions {
        v4: !ipv6,
        v6: ipv6,
        keep_martians,
        local: fib::bed_networks(),
        ..ChooseOptions::default()
    }
}

/// Reads route changes of one family; touches nothing.
///
/// # Errors
/// The file cannot be read; no change of the family is left.
pub fn route_changes(
    file: PathBuf,
    ipv6: bool,
    keep_martians: bool,
) -> Result<Changes, ChangesError> {
    read_changes(Source::File(file), &choosing(ipv6, keep_martians))
}

/// The prefixes that none of these changes withdraws. A frame to a withdrawn one would be lost, however fast the router is.
#[must_use]
pub fn lasting<'t>(table: &'t Table, changes: &[Arc<ReplayedChanges>]) -> Cow<'t, Table> {
    changes.iter().fold(Cow::Borrowed(table), |table, one| {
        Cow::Owned(one.changes.lasting(&table))
    })
}

/// Draws as many destinations as there are, up to the count of the plan.
///
/// # Errors
/// There is none.
pub fn draw_up_to(table: &Table, from: &str, plan: &DrawPlan) -> Result<Destinations, TooFew> {
    match Destinations::draw(table, from, plan) {
        Err(few) if few.there > 0 => {
            let count = u64::try_from(few.there).unwrap_or(u64::MAX);
            Destinations::draw(table, from, &DrawPlan { count, ..*plan })
        }
        drawn => drawn,
    }
}

/// Loads a table into the DUT and counts it back; `progress` hears now and then how many routes there are.
///
/// # Errors
/// The kernel refused a route, or the DUT does not have all of them afterwards: those that it has are cleared again.
pub fn load(
    bed: &Bed,
    table: &Table,
    next_hops: u16,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Loaded, JobError> {
    let loaded = fib::load_by(bed, table, next_hops, progress)?;
    if !loaded.is_whole() {
        clear(bed)?;
        return Err(JobError::NotLoaded {
            counted: loaded.counted(),
            asked: table.len(),
        });
    }
    Ok(loaded)
}

/// Clears from the DUT what [`load`] loaded. A bed that is lowered needs none.
///
/// # Errors
/// Some are left.
pub fn clear(bed: &Bed) -> Result<(), JobError> {
    fib::clear_from(bed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::destinations::Draw;

    fn routes(prefix: &str, ipv6: bool) -> Result<Routes, RoutesError> {
        let prefix = prefix.parse().expect("a prefix");
        Origin::Prefix(prefix).routes(ipv6, false, &mut |_| ())
    }

    #[test]
    fn a_prefix_is_taken_unless_nothing_can_go_there() {
        assert_eq!(routes("10.0.0.0/8", false).expect("routes").table.len(), 1);
        for (prefix, remedy) in [
            ("198.18.7.0/24", "another --dst-prefix"),
            ("0.0.0.0/0", "a longer --dst-prefix"),
        ] {
            let error = routes(prefix, false).expect_err(prefix).to_string();
            assert!(error.contains("no prefix is left"), "{error}");
            assert!(error.contains(remedy), "{error}");
        }
    }

    #[test]
    fn networks_lie_beside_the_bed_and_are_drawn_from() {
        for (count, ipv6) in [
            (1, false),
            (256, false),
            (NETWORKS_MAX, false),
            (256, true),
            (NETWORKS_MAX, true),
        ] {
            let routes = Origin::Networks(count).routes(ipv6, false, &mut |_| ());
            let table = routes.expect("routes").table;
            assert_eq!(table.len(), usize::from(count));
            let spare = if ipv6 {
                IpNet::V6(SPARE_V6)
            } else {
                SPARE_V4.into()
            };
            assert!(table.iter().all(|network| spare.contains(&network)));
            let plan = DrawPlan {
                draw: Draw::PerAddress,
                count: 1_000_000,
                ipv6,
                flows: 1,
                seed: 1,
            };
            let drawn = draw_up_to(&table, "networks", &plan).expect("some");
            assert!(
                drawn.distinct >= 2 * u64::from(count).min(65_536),
                "{drawn:?}"
            );
        }
    }

    #[test]
    fn destinations_are_as_many_as_there_are() {
        let table = Table::from_prefixes(["20.0.0.0/30".parse().expect("a prefix")]);
        let plan = DrawPlan {
            draw: Draw::Sequential,
            count: 1_000,
            ipv6: false,
            flows: 1,
            seed: 1,
        };
        let drawn = draw_up_to(&table, "20.0.0.0/30", &plan).expect("some");
        assert!((1..=4).contains(&drawn.distinct), "{drawn:?}");
        let none = draw_up_to(&Table::default(), "nothing", &plan);
        assert_eq!(none.expect_err("none").there, 0);
    }
}
