//! Routes of a measurement, and the destinations of its frames: read and drawn before anything is touched, then loaded
//! into the DUT and counted back.

use crate::bed::Bed;
use crate::destinations::{Destinations, DrawPlan};
use crate::search::JobError;
use crate::tables::fib::Loaded;
use crate::tables::{
    self, ChooseOptions, Class, Histogram, LeftOut, Progress, ReadError, ReadOptions, Source,
    SynthesizeError, Table, choose, synthesize,
};
use ipnet::IpNet;
use mpps_method::destinations::TooFew;
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
    MadeUp {
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
            Self::MadeUp { .. } => f.write_str("a made-up table"),
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

/// There are no routes.
#[derive(Debug, thiserror::Error)]
pub enum RoutesError {
    /// The file.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The made-up table.
    #[error(transparent)]
    Synthesize(#[from] SynthesizeError),
    /// All were left out.
    #[error("{from}: no {family} prefix is left to load{why}")]
    NoneLeft {
        /// Where they come from.
        from: String,
        /// IPv4 or IPv6.
        family: &'static str,
        /// Why, and what to do.
        why: &'static str,
    },
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
        let (table, is_file) = match self {
            Self::Prefix(prefix) => (Table::of([*prefix]), false),
            Self::MadeUp { v4, v6, seed } => {
                return Ok(Routes {
                    from: self.to_string(),
                    table: synthesize(&Histogram::internet(), *v4, *v6, *seed)?,
                    left_out: LeftOut::default(),
                });
            }
            Self::File(path) => {
                let source = Source::from_argument(path.clone());
                let read = tables::read(source, &ReadOptions::default(), progress)?;
                (read.table, true)
            }
        };
        let options = ChooseOptions {
            v4: !ipv6,
            v6: ipv6,
            // The user means the one prefix, whatever it is.
            keep_martians: keep_martians || !is_file,
            local: tables::bed_networks(),
            ..ChooseOptions::default()
        };
        let chosen = choose(table, &options);
        if chosen.table.is_empty() {
            return Err(RoutesError::NoneLeft {
                from: self.to_string(),
                family: if ipv6 { "IPv6" } else { "IPv4" },
                why: self.why_none(&chosen.left_out),
            });
        }
        Ok(Routes {
            from: self.to_string(),
            table: chosen.table,
            left_out: chosen.left_out,
        })
    }

    /// Why nothing is left, and what to do.
    fn why_none(&self, left_out: &LeftOut) -> &'static str {
        let all = left_out.total().total();
        match self {
            Self::Prefix(_) if left_out.count(Class::Local).total() > 0 => {
                " (it lies in the bed's own networks: give another --dst-prefix)"
            }
            Self::Prefix(_) => " (it is the default route: give a longer --dst-prefix)",
            Self::File(_) if all > 0 && left_out.count(Class::Family).total() == all => {
                " (its prefixes are of the other family: change -6, or name another table)"
            }
            Self::File(_) if all > 0 => {
                " (see what is left out: `mpps table read`; --keep-martians keeps private ones)"
            }
            Self::File(_) | Self::MadeUp { .. } => "",
        }
    }
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
    let loaded = tables::load_by(bed, table, next_hops, progress)?;
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
    Ok(tables::clear_on(bed)?)
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
            assert!(error.contains("no IPv4 prefix is left"), "{error}");
            assert!(error.contains(remedy), "{error}");
        }
    }

    #[test]
    fn destinations_are_as_many_as_there_are() {
        let table = Table::of(["20.0.0.0/30".parse().expect("a prefix")]);
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
