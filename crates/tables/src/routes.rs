//! The routes of a file that are to be used. Where none is left, the error says why.

use super::{
    ChooseOptions, Chosen, Class, Counts, Families, LeftOut, Progress, ReadError, ReadOptions,
    Source, SynthesizeError, Table, choose, read,
};
use ipnet::IpNet;
use thiserror::Error;

/// The routes of a file, and which of them are to be used.
#[derive(Clone, Debug)]
pub struct Routes {
    /// The file's name.
    pub from: String,
    /// What reading counted.
    pub counts: Counts,
    /// Distinct prefixes in the file.
    pub distinct: Families,
    /// The prefixes to use, and what was left out.
    pub chosen: Chosen,
}

/// No route can be loaded.
#[derive(Debug, Error)]
pub enum RoutesError {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No table could be synthesized.
    #[error(transparent)]
    Synthesize(#[from] SynthesizeError),
    /// The file has routes, and all of them were left out.
    #[error("{from}: no {family} prefix is left to load ({why})", why = why_none(.family, .left_out))]
    NoneLeft {
        /// The file's name.
        from: String,
        /// "IPv4", "IPv6", or both.
        family: &'static str,
        /// What was left out, by class.
        left_out: Box<LeftOut>,
    },
    /// A single prefix was left out.
    #[error("{prefix}: no prefix is left to load ({why})", why = why_left_out(.class))]
    LeftOut {
        /// The prefix.
        prefix: IpNet,
        /// Why.
        class: Class,
    },
}

/// Reads a file and chooses from its routes. There may be none left.
///
/// # Errors
/// As [`read()`].
pub fn read_routes(
    source: Source,
    reading: &ReadOptions,
    choosing: &ChooseOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Routes, ReadError> {
    let from = source.to_string();
    let read = read(source, reading, progress)?;
    Ok(Routes {
        from,
        counts: read.counts,
        distinct: Families::from_table(&read.table),
        chosen: choose(read.table, choosing),
    })
}

/// As [`read_routes`]; at least one prefix is left.
///
/// # Errors
/// As [`read()`]; no prefix is left.
pub fn routes_to_load(
    source: Source,
    reading: &ReadOptions,
    choosing: &ChooseOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Routes, RoutesError> {
    some_left(read_routes(source, reading, choosing, progress)?, choosing)
}

fn some_left(routes: Routes, choosing: &ChooseOptions) -> Result<Routes, RoutesError> {
    if routes.chosen.table.is_empty() {
        return Err(RoutesError::NoneLeft {
            from: routes.from,
            family: match (choosing.v4, choosing.v6) {
                (true, false) => "IPv4",
                (false, true) => "IPv6",
                _ => "IPv4 or IPv6",
            },
            left_out: Box::new(routes.chosen.left_out),
        });
    }
    Ok(routes)
}

/// The same for a single prefix instead of a file.
///
/// # Errors
/// The prefix is left out.
pub fn choose_prefix(prefix: IpNet, choosing: &ChooseOptions) -> Result<Chosen, RoutesError> {
    let chosen = choose(Table::from_prefixes([prefix]), choosing);
    let left_out = chosen.left_out.iter().next();
    match left_out {
        Some((class, _)) => Err(RoutesError::LeftOut { prefix, class }),
        None => Ok(chosen),
    }
}

fn why_none(family: &str, left_out: &LeftOut) -> String {
    let all = left_out.total().total();
    if left_out.count(Class::Family).total() == all {
        let change = if family == "IPv6" { "omit" } else { "give" };
        return format!("all are of the other family: {change} -6, or name another table");
    }
    let classes: Vec<String> = left_out
        .iter()
        .map(|(class, count)| format!("{} {}", count.total(), class.name()))
        .collect();
    format!(
        "left out: {}; see `mpps table read`; --keep-martians keeps private and reserved ones",
        classes.join(", ")
    )
}

fn why_left_out(class: &Class) -> &'static str {
    match class {
        Class::Local => "it lies in the bed's own networks: give another --dst-prefix",
        Class::DefaultRoute => "it is the default route: give a longer --dst-prefix",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::net;

    fn error(prefixes: &[&str], choosing: &ChooseOptions) -> String {
        let table = Table::from_prefixes(prefixes.iter().map(|prefix| net(prefix)));
        let routes = Routes {
            from: "rib.bz2".to_owned(),
            counts: Counts::default(),
            distinct: Families::from_table(&table),
            chosen: choose(table, choosing),
        };
        some_left(routes, choosing)
            .expect_err("none left")
            .to_string()
    }

    #[test]
    fn no_route_left_names_file_family_and_why() {
        let v6 = ChooseOptions {
            v4: false,
            ..ChooseOptions::default()
        };
        assert_eq!(
            error(&["20.0.0.0/8", "0.0.0.0/0"], &v6),
            "rib.bz2: no IPv6 prefix is left to load (all are of the other family: omit -6, or name another table)"
        );
        assert_eq!(
            error(
                &["10.0.0.0/8", "192.168.0.0/16", "0.0.0.0/0"],
                &ChooseOptions::default()
            ),
            "rib.bz2: no IPv4 or IPv6 prefix is left to load (left out: 1 default route, 2 martian; see `mpps table \
             read`; --keep-martians keeps private and reserved ones)"
        );
    }

    #[test]
    fn a_prefix_left_out_says_why() {
        let options = ChooseOptions {
            local: vec![net("198.18.0.0/15")],
            keep_martians: true,
            ..ChooseOptions::default()
        };
        for (prefix, why) in [
            ("198.18.0.0/24", "bed's own networks"),
            ("0.0.0.0/0", "give a longer --dst-prefix"),
        ] {
            let error = choose_prefix(net(prefix), &options).expect_err(prefix);
            let error = error.to_string();
            assert!(error.starts_with(prefix) && error.contains(why), "{error}");
        }
        let chosen = choose_prefix(net("20.0.0.0/8"), &options).expect("chosen");
        assert_eq!(chosen.table.len(), 1);
    }
}
