//! The routes of a measurement and the destinations of its frames. Both are read and drawn before the host is changed.
//! Then the routes are loaded into the DUT and counted back.

use crate::bed::Bed;
use crate::destinations::{Destinations, DrawPlan};
use crate::fib::{self, Loaded};
use crate::search::JobError;
use ipnet::IpNet;
use mpps_method::destinations::TooFew;
use mpps_tables::{
    Changes, ChangesError, ChooseOptions, Chosen, Histogram, LeftOut, Progress, ReadOptions,
    RoutesError, Source, Table, choose_prefix, read_changes, routes_to_load, synthesize,
};
use std::fmt;
use std::path::PathBuf;

/// Where routes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of routes; `-` is standard input.
    File(PathBuf),
    /// One prefix.
    Prefix(IpNet),
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
            Self::Synthetic { .. } => f.write_str("a synthetic table"),
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
