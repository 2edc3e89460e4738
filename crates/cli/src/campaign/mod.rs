//! Plans of campaigns: a file becomes cells, and each cell is checked as its own verb checks it, before anything runs.

mod bed;
mod check;
mod factors;
mod file;
mod resume;
mod script;
pub mod words;

pub use bed::{CellBed, OVERLOAD};
pub use check::{Ready, check};
pub use file::Cell;
pub use resume::{Begun, begun};
pub use words::Checked;

use crate::args::CELLS;
use anyhow::{Context, Error, Result, bail, ensure};
use file::{File, Text};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;

/// A plan of the folder `campaigns` by its name.
macro_rules! shipped {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../../campaigns/", $name, ".toml")),
        )
    };
}

/// The plans that are part of the program.
pub const SHIPPED: &[(&str, &str)] = &[
    shipped!("brouer-2009"),
    shipped!("intel-2016"),
    shipped!("smoke"),
    shipped!("thesis-2015"),
    shipped!("tum-2015"),
    shipped!("xdp-paper-2018"),
];

/// Something wrong in a plan, and where.
#[derive(Debug)]
pub struct Wrong {
    at: Range<usize>,
    why: String,
}

impl Wrong {
    fn from_span(at: Range<usize>, why: impl Display) -> Self {
        let why = format!("{why:#}");
        Self { at, why }
    }

    fn new<T>(place: &Spanned<T>, why: impl Display) -> Self {
        Self::from_span(place.span(), why)
    }
}

/// A plan: cells in their order.
#[derive(Debug)]
pub struct Campaign {
    /// Its file, or its name where it is part of the program.
    pub from: String,
    /// Its text.
    pub text: String,
    /// Its name.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// The published work that it repeats.
    pub source: Option<String>,
    /// Its cells.
    pub cells: Vec<Cell>,
}

impl Campaign {
    /// The plan of this name, or in this file.
    ///
    /// # Errors
    /// It cannot be read, or something is wrong in it.
    pub fn find(named: &str, quick: bool) -> Result<Self> {
        if let Some((name, text)) = SHIPPED.iter().find(|(name, _)| *name == named) {
            return Self::read(name, text, quick);
        }
        let shipped = SHIPPED.iter().map(|(name, _)| *name);
        let shipped: Vec<&str> = shipped.collect();
        ensure!(
            Path::new(named).exists(),
            "no plan {named}: give a file, or one of {} (mpps campaign list)",
            shipped.join(", ")
        );
        let text = std::fs::read_to_string(named).with_context(|| format!("read {named}"))?;
        Self::read(named, &text, quick)
    }

    /// The plan that a text says.
    ///
    /// # Errors
    /// Something is wrong in it.
    pub fn read(from: &str, text: &str, quick: bool) -> Result<Self> {
        let file: File = toml::from_str(text).map_err(|error| {
            let at = error.span().unwrap_or_default();
            let why = error.message();
            let remedy = match why.starts_with("missing field") {
                true => ": add it (docs/campaign.md has the keys)",
                false => "",
            };
            wrong(from, text, Wrong::from_span(at, format!("{why}{remedy}")))
        })?;
        Self::from_file(from, text, file, quick).map_err(|error| wrong(from, text, error))
    }

    fn from_file(from: &str, text: &str, file: File, quick: bool) -> Result<Self, Wrong> {
        is_plain(&file.name, "-")?;
        for verb in file.verbs() {
            is_verb(verb)?;
        }
        let name = file.name.get_ref().clone();
        let (title, source) = (file.title.clone(), file.source.clone());
        let whole = file.name.span();
        let cells = file.cells(quick)?;
        if cells.is_empty() {
            return Err(Wrong::from_span(
                whole,
                "the plan has no cell: add [[cell]]",
            ));
        }
        let mut seen: BTreeMap<&str, &Text> = BTreeMap::new();
        for cell in &cells {
            is_plain(&cell.id, "._-")?;
            cell.verb.iter().try_for_each(is_verb)?;
            if let Some(other) = seen.insert(cell.id.get_ref(), &cell.id) {
                let (line, _) = place(text, other.span().start);
                let why = format!("id \"{}\" stands in line {line} too: give another", cell.id);
                return Err(Wrong::new(&cell.id, why));
            }
        }
        let timed = |id: &Text| {
            let mut cells = cells.iter();
            cells.any(|cell| cell.id.get_ref() == id.get_ref() && cell.verb() == "throughput")
        };
        if let Some(id) = cells.iter().flat_map(Cell::beds_of).find(|id| !timed(id)) {
            let why = format!("bed_of = \"{id}\": give the id of a cell of throughput");
            return Err(Wrong::new(id, why));
        }
        Ok(Self {
            from: from.to_owned(),
            text: text.to_owned(),
            name,
            title,
            source,
            cells,
        })
    }

    /// Refuses a claim with the bed's share of a cell that sends other frames; of cells that can run.
    ///
    /// # Errors
    /// The first of them.
    pub fn check_shares(&self, checked: &[Checked<'_>]) -> Result<(), Wrong> {
        let bed = |id: &str| {
            let mut all = checked.iter();
            let (_, ready) = all.find(|(cell, _)| cell.id.get_ref() == id)?;
            ready.as_ref().ok()?.first.as_ref()
        };
        for cell in &self.cells {
            for id in cell.beds_of() {
                if let (Some(other), Some(own)) = (bed(id.get_ref()), bed(cell.id.get_ref())) {
                    let wrong = |why| Wrong::new(id, format!("bed_of = \"{id}\": {why}"));
                    other.check_share_of(own).map_err(wrong)?;
                }
            }
        }
        Ok(())
    }

    /// Something wrong in it, with file, line and column.
    pub fn wrong(&self, wrong: Wrong) -> Error {
        self::wrong(&self.from, &self.text, wrong)
    }

    /// Refuses ids that no cell has.
    ///
    /// # Errors
    /// The first of them, with near ones.
    pub fn check_ids(&self, only: &[String]) -> Result<()> {
        let ids = || self.cells.iter().map(|cell| cell.id.get_ref().as_str());
        let unknown = only.iter().find(|id| ids().all(|known| known != **id));
        if let Some(id) = unknown {
            let near = |known: &&str| {
                known.contains(id.as_str()) || strsim::osa_distance(known, id) <= 1 + id.len() / 4
            };
            let near: Vec<&str> = ids().filter(near).take(5).collect();
            let near = match near[..] {
                [] => String::new(),
                _ => format!("; near: {}", near.join(", ")),
            };
            bail!(
                "--only: no cell \"{id}\" in {}{near} (--dry-run shows all)",
                self.name
            );
        }
        Ok(())
    }
}

/// CPUs that this process may use.
fn cpus_here() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Why a machine of so many CPUs cannot run what needs more.
fn lacks_cpus(needs: usize, has: usize) -> String {
    format!("needs {needs} CPUs, the tester's included; this machine has {has}")
}

fn is_verb(verb: &Text) -> Result<(), Wrong> {
    if CELLS.contains(&verb.get_ref().as_str()) {
        return Ok(());
    }
    let why = format!(
        "no verb \"{verb}\" for a cell: give one of {}",
        CELLS.join(", ")
    );
    Err(Wrong::new(verb, why))
}

fn is_plain(text: &Text, others: &str) -> Result<(), Wrong> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
    if !text.get_ref().is_empty() && text.get_ref().chars().all(is_plain) {
        return Ok(());
    }
    let why = format!("\"{text}\": give letters, digits and any of {others}");
    Err(Wrong::new(text, why))
}

/// Line and column of an octet, from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

fn wrong(from: &str, text: &str, Wrong { at, why }: Wrong) -> Error {
    let (line, column) = place(text, at.start);
    anyhow::anyhow!("{from}:{line}:{column}: {why}")
}
