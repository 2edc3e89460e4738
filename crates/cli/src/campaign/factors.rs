//! Factors of a comparison: its variants are all combinations of their levels.

use super::file::{Cell, Text, Variant};
use super::{Wrong, cpus_here, is_plain, lacks_cpus};
use crate::plan::VARIANT_NAME_MAX;
use mpps_record::{self as record, Factors};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

/// A factor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Factor {
    name: Text,
    levels: Vec<Level>,
}

/// A level of a factor: the first one is what the others are compared with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Level {
    name: Text,
    flags: Option<Text>,
    setup: Option<Text>,
    #[serde(default)]
    settings: BTreeMap<Text, Text>,
    needs_cpus: Option<usize>,
}

impl Level {
    fn fits(&self, cpus: usize) -> bool {
        self.needs_cpus.is_none_or(|needs| needs <= cpus)
    }
}

impl Factor {
    fn check(&self) -> Result<(), Wrong> {
        is_plain(&self.name, "._-")?;
        let mut names = BTreeSet::new();
        for Level { name, .. } in &self.levels {
            is_plain(name, "._-")?;
            if !names.insert(name.get_ref()) {
                let why = format!("two levels are called \"{name}\": give another name");
                return Err(Wrong::new(name, why));
            }
        }
        match names.len() {
            0 | 1 => Err(Wrong::new(&self.name, "a factor needs two levels or more")),
            _ => Ok(()),
        }
    }
}

impl Cell {
    /// Makes its variants: the levels of the first factor change first. Levels that need more CPUs than there are are left
    /// out, but a first level: the whole cell needs its CPUs.
    pub(super) fn combine_levels(&mut self, cpus: usize) -> Result<(), Wrong> {
        let Some(first) = self.factors.first() else {
            return Ok(());
        };
        if let Some(variant) = self.variants.first() {
            let why = "variants beside factors: give one of them";
            return Err(Wrong::new(&variant.name, why));
        }
        if self.factors.len() < 2 {
            let why = "one factor alone: give its levels as variants";
            return Err(Wrong::new(&first.name, why));
        }
        self.factors.iter().try_for_each(Factor::check)?;
        let firsts = self.factors.iter().flat_map(|factor| factor.levels.first());
        let needs = firsts.filter_map(|level| level.needs_cpus);
        self.needs_cpus = needs.chain(self.needs_cpus).max();
        let has = cpus.max(self.needs_cpus.unwrap_or(0));
        let sizes: Vec<usize> = self.factors.iter().map(|one| one.levels.len()).collect();
        for place in Factors::combinations(&sizes) {
            let levels = self.factors.iter().zip(place);
            let levels: Vec<&Level> = levels.map(|(factor, at)| &factor.levels[at]).collect();
            let variants = match levels.iter().all(|level| level.fits(has)) {
                true => &mut self.variants,
                false => &mut self.left_out,
            };
            variants.push(combined(&levels)?);
        }
        Ok(())
    }

    /// Its factors as a record has them.
    pub fn recorded_factors(&self) -> Vec<record::Factor> {
        let has = cpus_here();
        let level = |level: &Level| record::Level {
            name: level.name.get_ref().clone(),
            not_run: (level.needs_cpus.filter(|_| !level.fits(has)))
                .map(|needs| lacks_cpus(needs, has)),
        };
        let factor = |factor: &Factor| record::Factor {
            name: factor.name.get_ref().clone(),
            levels: factor.levels.iter().map(level).collect(),
        };
        self.factors.iter().map(factor).collect()
    }
}

/// The variant of some levels.
fn combined(levels: &[&Level]) -> Result<Variant, Wrong> {
    let names: Vec<&str> = levels
        .iter()
        .map(|level| level.name.get_ref().as_str())
        .collect();
    let name = names.join(&Factors::BETWEEN.to_string());
    let at = levels.first().map_or(0..0, |level| level.name.span());
    if name.len() > VARIANT_NAME_MAX {
        let why = format!("\"{name}\" is longer than {VARIANT_NAME_MAX} letters: shorten levels");
        return Err(Wrong::from_span(at, why));
    }
    let joined = |of: fn(&Level) -> Option<&Text>, between: &str| {
        let texts = levels.iter().filter_map(|level| of(level));
        let (spans, texts): (Vec<_>, Vec<_>) = texts
            .map(|text| (text.span(), text.get_ref().as_str()))
            .unzip();
        let at = spans.into_iter().next()?;
        Some(Spanned::new(at, texts.join(between)))
    };
    let mut settings = BTreeMap::new();
    for (id, value) in levels.iter().flat_map(|level| &level.settings) {
        if settings.insert(id.clone(), value.clone()).is_some() {
            let why = format!("{} is of two factors: give it to one", id.get_ref());
            return Err(Wrong::new(id, why));
        }
    }
    Ok(Variant {
        name: Spanned::new(at, name),
        flags: joined(|level| level.flags.as_ref(), " "),
        setup: joined(|level| level.setup.as_ref(), "\n"),
        settings,
    })
}
