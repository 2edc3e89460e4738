//! The file of a plan: TOML to cells. A grid becomes a cell for each combination of its axes.

use super::factors::Factor;
use super::{Wrong, cpus_here};
use mpps_method::FrameSpec;
use mpps_method::stage::{Cause, Stage};
use mpps_method::tune::CATALOGUE;
use mpps_record::{Check, Looked, Statement};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use toml::Spanned;

/// A text with its place in the file.
pub type Text = Spanned<String>;

/// Cells of a plan at most.
const CELLS_MAX: usize = 1000;

/// Reads what a claim looks at.
type Look = fn(&Looks) -> Result<Looked, String>;

/// What a claim can look at, and which verb tells it; none: any.
const LOOKED: [(&str, &str, Look); 9] = [
    ("rate_change", "compare", |_| Ok(Looked::RateChange)),
    ("interaction", "compare", |_| Ok(Looked::Interaction)),
    ("rate_evenness", "throughput", |_| Ok(Looked::RateEvenness)),
    ("stage_growth", "explain", |looks| {
        named(looks, &Stage::ALL).map(Looked::StageGrowth)
    }),
    ("stages_growth", "explain", |looks| {
        named(looks, &Stage::ALL).map(Looked::StagesGrowth)
    }),
    ("cause_share", "explain", |looks| {
        named(looks, &Cause::ALL).map(Looked::CauseShare)
    }),
    ("fib_octets_per_route", "", |_| {
        Ok(Looked::FibOctetsPerRoute)
    }),
    ("overload_share", "loss", |_| Ok(Looked::OverloadShare)),
    ("setting_change", "tune measure", |looks| {
        let name = looks.name.clone();
        let name = name.filter(|name| CATALOGUE.iter().any(|row| row.id == name));
        let name = name.ok_or("name = the id of a setting (mpps tune list has them)")?;
        Ok(Looked::SettingChange(name))
    }),
];

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) name: Text,
    pub(super) title: String,
    pub(super) source: Option<String>,
    verb: Option<Text>,
    #[serde(default)]
    verbs: BTreeMap<Text, VerbFlags>,
    #[serde(default)]
    cell: Vec<Spanned<Cell>>,
    #[serde(default)]
    grid: Vec<Spanned<Cell>>,
}

/// Flags of all cells of a verb.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerbFlags {
    #[serde(default)]
    flags: String,
    #[serde(default)]
    quick: String,
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Its id, of which there is one in the plan.
    pub id: Text,
    /// What it is, in words.
    pub title: Text,
    pub(super) verb: Option<Text>,
    pub(super) flags: Option<Text>,
    quick: Option<Text>,
    /// Flags before its own.
    #[serde(skip)]
    pub(super) before: String,
    /// Flags behind its own.
    #[serde(skip)]
    pub(super) behind: String,
    pub(super) setup: Option<Text>,
    #[serde(default)]
    pub(super) settings: BTreeMap<Text, Text>,
    #[serde(default)]
    pub(super) variants: Vec<Variant>,
    #[serde(default)]
    pub(super) factors: Vec<Factor>,
    /// Variants of its factors that need more CPUs than there are.
    #[serde(skip)]
    pub(super) left_out: Vec<Variant>,
    #[serde(default)]
    published: Vec<Figure>,
    pub(super) needs_cpus: Option<usize>,
    #[serde(default)]
    pub(super) needs: Vec<Text>,
    pub(super) cannot: Option<String>,
    claim: Option<Spanned<Claim>>,
    #[serde(default)]
    axes: BTreeMap<Text, Vec<Text>>,
}

/// A variant of a comparison.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub(super) name: Text,
    pub(super) flags: Option<Text>,
    pub(super) setup: Option<Text>,
    #[serde(default)]
    pub(super) settings: BTreeMap<Text, Text>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    frame: Text,
    frames_per_s: Spanned<f64>,
    told: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    id: String,
    statement: String,
    published: String,
    of: Option<String>,
    name: Option<String>,
    levels: Option<[String; 2]>,
    least: Option<f64>,
    most: Option<f64>,
    bed_of: Option<Text>,
    #[serde(default)]
    also: Vec<Looks>,
    not_tested: Option<String>,
    by_construction: Option<String>,
}

/// A check of a claim.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Looks {
    of: Option<String>,
    name: Option<String>,
    levels: Option<[String; 2]>,
    least: Option<f64>,
    most: Option<f64>,
    bed_of: Option<Text>,
}

impl File {
    /// The cells in the order of the file.
    pub(super) fn cells(self, quick: bool) -> Result<Vec<Cell>, Wrong> {
        let mut all = Vec::new();
        let grids = self.grid.into_iter().map(|grid| (true, grid));
        let mut entries: Vec<(bool, Spanned<Cell>)> = grids.collect();
        entries.extend(self.cell.into_iter().map(|cell| (false, cell)));
        entries.sort_by_key(|(_, entry)| entry.span().start);
        for (is_grid, entry) in entries {
            let at = entry.span();
            let mut cell = entry.into_inner();
            cell.verb = cell.verb.or_else(|| self.verb.clone());
            let Some(verb) = &cell.verb else {
                return Err(Wrong::from_span(at, "no verb: give verb = \"throughput\""));
            };
            let flags = self.verbs.get(verb.get_ref().as_str());
            let VerbFlags {
                flags,
                quick: short,
            } = flags.cloned().unwrap_or_default();
            cell.before = flags;
            let own = cell.quick.as_ref().map_or("", |own| own.get_ref());
            cell.behind = match quick {
                true => format!("{short} {own}"),
                false => String::new(),
            };
            cell.combine_levels(cpus_here())?;
            match (is_grid, cell.axes.keys().next()) {
                (false, Some(axis)) => {
                    let why = "axes are of a [[grid]]: write [[grid]] in place of [[cell]]";
                    return Err(Wrong::new(axis, why));
                }
                (false, None) => all.push(cell),
                (true, None) => {
                    return Err(Wrong::from_span(at, "a grid needs axes = { x = [\"1\"] }"));
                }
                (true, Some(_)) => all.extend(combined(&cell)?),
            }
            if all.len() > CELLS_MAX {
                let why = format!("more than {CELLS_MAX} cells: shorten the axes");
                return Err(Wrong::from_span(at, why));
            }
        }
        Ok(all)
    }

    /// Verbs that have flags.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &Text> {
        self.verbs.keys().chain(&self.verb)
    }
}

/// A cell for each combination of a grid's axes; the last axis in the file changes first.
fn combined(grid: &Cell) -> Result<Vec<Cell>, Wrong> {
    let mut axes: Vec<(&Text, &Vec<Text>)> = grid.axes.iter().collect();
    axes.sort_by_key(|(axis, _)| axis.span().start);
    let mut cells = vec![Cell {
        axes: BTreeMap::new(),
        ..grid.clone()
    }];
    let open = |axis: &Text| format!("{{{}}}", axis.get_ref());
    let copied = grid.claim.as_ref().map(Spanned::span);
    let copied = copied.or_else(|| (!grid.published.is_empty()).then(|| grid.id.span()));
    if let Some(at) = copied {
        let why = "each cell would have this grid's claim or published figures: write a [[cell]] for them";
        return Err(Wrong::from_span(at, why));
    }
    for (axis, values) in &axes {
        let open = open(axis);
        let mut seen = BTreeSet::new();
        if let Some(twice) = values.iter().find(|value| !seen.insert(value.get_ref())) {
            let why = format!("axis {} has the value \"{twice}\" twice", axis.get_ref());
            return Err(Wrong::new(twice, why));
        }
        if values.is_empty() {
            return Err(Wrong::new(axis, "an axis without values: give some"));
        }
        if cells.len() * values.len() > CELLS_MAX {
            let why = format!("more than {CELLS_MAX} cells: shorten the axes");
            return Err(Wrong::new(axis, why));
        }
        let with = |cell: &Cell, value: &Text| {
            let mut cell = cell.clone();
            for text in cell.texts_mut() {
                *text.get_mut() = text.get_ref().replace(&open, value.get_ref());
            }
            cell
        };
        let each = cells
            .iter()
            .flat_map(|cell| values.iter().map(move |value| with(cell, value)));
        cells = each.collect();
    }
    for cell in &mut cells {
        if let Some((text, open)) = cell.texts_mut().into_iter().find_map(still_open) {
            let why = format!("no axis {open}: give it values, or write a space within the braces");
            return Err(Wrong::new(text, why));
        }
    }
    // Last, because an id with a typo in its braces lacks the axis too.
    let id = grid.id.get_ref();
    if let Some((axis, _)) = axes.iter().find(|(axis, _)| !id.contains(&open(axis))) {
        let open = open(axis);
        let why = format!("cells would have one id: write {open} in the id too");
        return Err(Wrong::new(axis, why));
    }
    Ok(cells)
}

/// A placeholder that no axis filled: a word in braces, which is no variable of a shell.
fn still_open(text: &mut Text) -> Option<(&Text, String)> {
    let mut before = "";
    for (place, part) in text.get_ref().split('{').enumerate() {
        let word = part.split_once('}').map_or("", |(word, _)| word);
        let is_word = word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        if place > 0 && is_word && !word.is_empty() && !before.ends_with('$') {
            let open = format!("{{{word}}}");
            return Some((text, open));
        }
        before = part;
    }
    None
}

impl Cell {
    /// The texts in which a grid fills in its values.
    fn texts_mut(&mut self) -> Vec<&mut Text> {
        let own = [&mut self.id, &mut self.title].into_iter();
        let own = own.chain([&mut self.flags, &mut self.setup].into_iter().flatten());
        let variants = self.variants.iter_mut().flat_map(|variant| {
            let texts = [&mut variant.flags, &mut variant.setup]
                .into_iter()
                .flatten();
            let texts = texts.chain(std::iter::once(&mut variant.name));
            texts.chain(variant.settings.values_mut())
        });
        let all = own.chain(self.settings.values_mut()).chain(variants);
        all.collect()
    }

    /// Its verb.
    pub fn verb(&self) -> &str {
        self.verb.as_ref().map_or("", |verb| verb.get_ref())
    }

    /// Published figures of it.
    pub fn published(&self) -> Vec<mpps_record::Published> {
        let figures = self.published.iter();
        let figures = figures.map(|figure| mpps_record::Published {
            frame: figure.frame.get_ref().clone(),
            frames_per_s: *figure.frames_per_s.get_ref(),
            told: figure.told.clone(),
        });
        figures.collect()
    }

    /// Refuses published figures that are no rate, or of a size that it does not measure, where its sizes are known.
    ///
    /// # Errors
    /// The first of them.
    pub(super) fn check_published(&self, measured: Option<&[FrameSpec]>) -> Result<(), Wrong> {
        for Figure {
            frame,
            frames_per_s,
            ..
        } in &self.published
        {
            let fps = *frames_per_s.get_ref();
            if !(fps > 0.0 && fps.is_finite()) {
                let why = format!("frames_per_s = {fps}: give frames/s above 0");
                return Err(Wrong::new(frames_per_s, why));
            }
            let wrong =
                |why: &dyn Display| Wrong::new(frame, format!("frame = \"{frame}\": {why}"));
            let sizes = FrameSpec::parse_list(frame.get_ref()).map_err(|why| wrong(&why))?;
            // A record has a size as its plan writes it, and a figure stands beside the size of the same words.
            let known: Vec<String> = measured
                .unwrap_or(&sizes)
                .iter()
                .map(FrameSpec::to_string)
                .collect();
            if !known.contains(frame.get_ref()) {
                let known = known.join(" or ");
                return Err(wrong(&format!(
                    "the cell measures {known}: give one of these"
                )));
            }
        }
        Ok(())
    }

    /// The claim that it tests, as a record has it.
    ///
    /// # Errors
    /// It says nothing that can be looked at.
    pub fn claim(&self) -> Result<Option<Statement>, Wrong> {
        let Some(spanned) = &self.claim else {
            return Ok(None);
        };
        let claim = spanned.get_ref().clone();
        let wrong = |why: String| Wrong::new(spanned, why);
        let own = Looks {
            of: claim.of,
            name: claim.name,
            levels: claim.levels,
            least: claim.least,
            most: claim.most,
            bed_of: claim.bed_of,
        };
        let is_told = self.cannot.is_some() || claim.by_construction.is_some();
        let is_bare = claim.also.is_empty() && claim.not_tested.is_none();
        let check = match own {
            Looks {
                of: None,
                name: None,
                least: None,
                most: None,
                ..
            } if is_told && is_bare => None,
            own => Some(self.check(&own).map_err(wrong)?),
        };
        if check.is_some() && claim.by_construction.is_some() {
            return Err(wrong("of and by_construction: give one of them".to_owned()));
        }
        let also = claim.also.iter().map(|looks| self.check(looks));
        Ok(Some(Statement {
            id: claim.id,
            statement: claim.statement,
            published: claim.published,
            check,
            also: also.collect::<Result<_, _>>().map_err(wrong)?,
            not_tested: claim.not_tested,
            by_construction: claim.by_construction,
        }))
    }

    /// The cells from which its claim takes the bed's share.
    pub(super) fn beds_of(&self) -> impl Iterator<Item = &Text> {
        let claim = self.claim.iter().map(Spanned::get_ref);
        claim.flat_map(|claim| {
            let also = claim.also.iter().filter_map(|looks| looks.bed_of.as_ref());
            claim.bed_of.iter().chain(also)
        })
    }

    fn check(&self, looks: &Looks) -> Result<Check, String> {
        let words = LOOKED.map(|(word, ..)| word).join(", ");
        let of = looks.of.as_deref().ok_or_else(|| {
            format!("the claim needs of = one of {words}, or by_construction = \"why\"")
        })?;
        let known = LOOKED.iter().find(|(word, ..)| *word == of);
        let (_, verb, looked) =
            known.ok_or_else(|| format!("of = \"{of}\": give one of {words}"))?;
        if !verb.is_empty() && self.verb() != *verb {
            return Err(format!(
                "of = \"{of}\" needs verb = \"{verb}\": give the cell that verb"
            ));
        }
        let bounds = (looks.least, looks.most);
        match bounds {
            (None, None) => {
                return Err("the claim needs least or most: where the number has to lie".to_owned());
            }
            (Some(least), Some(most)) if least > most => {
                return Err(format!("least = {least} is more than most = {most}"));
            }
            _ => {}
        }
        let (of, (least, most)) = (looked(looks)?, bounds);
        if looks.bed_of.is_some() && !matches!(of, Looked::RateChange | Looked::SettingChange(_)) {
            return Err("bed_of is of rate_change or setting_change".to_owned());
        }
        let levels = looks.levels.clone();
        let variants = self.variants.iter().chain(&self.left_out);
        let mut names = variants.map(|variant| variant.name.get_ref());
        match (&of, &levels) {
            (_, None) | (Looked::SettingChange(_), _) => {}
            (Looked::RateChange, Some([first, other])) => {
                let is_first = names.next() == Some(first);
                if !is_first || !names.any(|name| name == other) {
                    return Err("levels are the first variant and another one".to_owned());
                }
            }
            _ => return Err("levels are of rate_change or setting_change".to_owned()),
        }
        let bed_of = looks.bed_of.as_ref().map(|cell| cell.get_ref().clone());
        Ok(Check {
            of,
            least,
            most,
            levels,
            bed_of,
        })
    }
}

/// The name that a claim looks at, which is one of these.
fn named<T: ToString>(looks: &Looks, known: &[T]) -> Result<String, String> {
    let known: Vec<String> = known.iter().map(T::to_string).collect();
    let name = looks.name.clone().filter(|name| known.contains(name));
    name.ok_or_else(|| format!("name = one of {}", known.join(", ")))
}
