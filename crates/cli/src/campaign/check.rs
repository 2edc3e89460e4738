//! A cell as its verb reads it: its flags, its plan, and about how long it takes.

use super::bed::CellBed;
use super::file::{Cell, Text};
use super::script::SetUp;
use super::{Wrong, cpus_here, is_plain, lacks_cpus};
use crate::args::{Cli, TuneArgs, TuneVerb, Verb, one_line, typed_flags};
use crate::plan::BedChoice;
use crate::scratch::Scratch;
use anyhow::{Context, Error, Result, bail, ensure};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Command, CommandFactory, FromArgMatches};
use mpps_lab::tune::measurable::{OF_MACHINE, machine_meets};
use mpps_method::Span;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

/// What a cell plans, by its name, its flags and all its words: its beds, what is sent there, and about how long it takes.
pub type Planner = fn(&str, &Verb, &[OsString]) -> Result<(Vec<CellBed>, Span)>;

/// Flags that only the campaign gives.
const OWN: [&str; 6] = ["record", "json", "quiet", "verbose", "dry_run", "records"];
/// A bed stands and goes in so long, about.
const AROUND: Span = Span::from_millis(3_000);

/// A cell that can run.
#[derive(Debug)]
pub struct Ready {
    /// Verb and flags.
    pub arguments: Vec<String>,
    /// About how long it takes.
    pub about: Span,
    /// What it measures on; of a comparison that of the first variant.
    pub first: Option<CellBed>,
    /// Whether it needs a bed, and so root.
    pub on_bed: bool,
    /// What the set-up scripts do: name and text.
    pub scripts: Vec<Script>,
    /// Names of its variants.
    pub variants: Vec<String>,
}

/// Checks a cell as its verb does, and writes its set-up scripts. `Ok(Err(why))`: it cannot run here, or it would change the
/// machine without that permission.
///
/// # Errors
/// Something is wrong with it.
pub fn check(
    cell: &Cell,
    scratch: &Scratch,
    allow_system_changes: bool,
    planned: Planner,
) -> Result<Result<Ready, String>, Wrong> {
    cell.claim()?;
    cell.check_published(None)?;
    let lacking = lacking(cell)?;
    let set_ups = cell.set_ups();
    set_ups.iter().try_for_each(|set_up| set_up.check())?;
    check_variants(cell)?;
    let wrong = |why: Error| Wrong::new(cell.flags.as_ref().unwrap_or(&cell.id), why);
    let as_typed = |cell: &Cell| {
        let without = vec![None; cell.set_ups().len()];
        let typed = typed(cell, &without).and_then(|typed| read(cell, &typed));
        typed.map_err(wrong)
    };
    if !cell.left_out.is_empty() {
        let mut all = cell.clone();
        all.variants.extend(cell.left_out.clone());
        let (verb, words) = as_typed(&all)?;
        planned(cell.verb(), &verb, &words).map_err(wrong)?;
    }
    let (verb, words) = as_typed(cell)?;
    if let Some(why) = cell.cannot.clone().or(lacking) {
        return Ok(Err(why));
    }
    if let Verb::Tune(TuneArgs {
        verb: TuneVerb::Measure(args),
    }) = &verb
        && args.allow_system_changes
        && !allow_system_changes
    {
        let why = "it changes settings of the whole machine: run the campaign with --allow-system-changes";
        return Ok(Err(why.to_owned()));
    }
    let has = cpus_here();
    if let Some(needs) = cell.needs_cpus.filter(|needs| *needs > has) {
        // What refuses the flags here may be the missing CPUs.
        let (beds, _) = planned(cell.verb(), &verb, &words).unwrap_or_default();
        for (set_up, on) in set_ups.iter().zip(beds) {
            // At least one is the tester's.
            set_up.script(&on.with_cpus(needs.saturating_sub(1).max(1)))?;
        }
        return Ok(Err(lacks_cpus(needs, has)));
    }
    let (beds, _) = planned(cell.verb(), &verb, &words).map_err(wrong)?;
    let scripts = write_scripts(cell, &beds, scratch)?;
    let paths = scripts.iter();
    let paths = paths.map(|script| script.as_ref().map(|(file, _)| file.clone()));
    let paths: Vec<Option<PathBuf>> = paths.collect();
    let (verb, words) = typed(cell, &paths)
        .and_then(|typed| read(cell, &typed))
        .map_err(wrong)?;
    let (beds, about) = planned(cell.verb(), &verb, &words).map_err(wrong)?;
    for on in &beds {
        on.check().map_err(wrong)?;
    }
    cell.check_published(beds.first().map(|on| &*on.sizes))?;
    let arguments = words.iter().map(|word| word.to_string_lossy().into_owned());
    let variants = cell
        .variants
        .iter()
        .map(|variant| variant.name.get_ref().clone());
    Ok(Ok(Ready {
        arguments: arguments.collect(),
        about: about.plus(AROUND),
        on_bed: !beds
            .iter()
            .all(|on| matches!(on.bed, BedChoice::Simulated(_))),
        first: beds.into_iter().next(),
        scripts: scripts.into_iter().flatten().collect(),
        variants: variants.collect(),
    }))
}

/// A set-up script: its file and its text.
type Script = (PathBuf, String);

/// Writes the set-up scripts of a cell: one, or one for each variant; none where nothing is set up.
fn write_scripts(
    cell: &Cell,
    beds: &[CellBed],
    scratch: &Scratch,
) -> Result<Vec<Option<Script>>, Wrong> {
    let set_ups = cell.set_ups().into_iter().zip(beds).zip('a'..);
    let scripts = set_ups.map(|((set_up, on), number)| {
        if set_up.is_empty() {
            return Ok(None);
        }
        let text = set_up.script(on)?;
        let file = scratch.path(&format!("{}.{number}.sh", cell.id));
        write(&file, &text).map_err(|why| Wrong::new(&cell.id, why))?;
        Ok(Some((file, text)))
    });
    scripts.collect()
}

impl Cell {
    /// What the router, or that of each variant, is set up with: `router: rp_filter=1; conntrack=tracked`.
    pub fn set_up_in_words(&self) -> Vec<String> {
        let variants = self.variants.iter();
        let names = variants.map(|variant| variant.name.get_ref().as_str());
        let names = match self.variants[..] {
            [] => vec!["router"],
            _ => names.collect(),
        };
        let all = names.into_iter().zip(self.set_ups());
        let all = all.filter(|(_, set_up)| !set_up.is_empty());
        all.map(|(name, set_up)| format!("{name}: {}", set_up.in_words()))
            .collect()
    }

    /// Its own, or those of its variants.
    fn set_ups(&self) -> Vec<SetUp<'_>> {
        let cell = self.id.get_ref().as_str();
        let own = SetUp {
            cell,
            settings: &self.settings,
            lines: self.setup.as_ref(),
        };
        let variants = self.variants.iter().map(|variant| SetUp {
            cell,
            settings: &variant.settings,
            lines: variant.setup.as_ref(),
        });
        match self.variants[..] {
            [] => vec![own],
            _ => variants.collect(),
        }
    }
}

/// The first of its needs that this machine does not meet.
fn lacking(cell: &Cell) -> Result<Option<String>, Wrong> {
    let mut lacking = None;
    for need in &cell.needs {
        let is_met = machine_meets(need.get_ref()).ok_or_else(|| {
            let known = OF_MACHINE
                .map(|(words, _)| format!("\"{words}\""))
                .join(", ");
            Wrong::new(
                need,
                format!("needs \"{need}\" is not known. Known needs: {known}"),
            )
        })?;
        if !is_met {
            lacking.get_or_insert_with(|| format!("needs {need}"));
        }
    }
    Ok(lacking)
}

/// Refuses variants of other verbs, and a comparison without them.
fn check_variants(cell: &Cell) -> Result<(), Wrong> {
    let place = |text: &Option<Text>| text.as_ref().map_or(cell.id.span(), Text::span);
    let mut names = BTreeSet::new();
    for variant in &cell.variants {
        is_plain(&variant.name, "._-+")?;
        if !names.insert(variant.name.get_ref()) {
            let why = format!(
                "two variants are called \"{}\": give another name",
                variant.name
            );
            return Err(Wrong::new(&variant.name, why));
        }
    }
    match (cell.verb(), &cell.variants[..]) {
        ("compare", [_, _, ..]) => {
            if let Some(setting) = cell.settings.keys().next().or(cell.setup.as_ref()) {
                return Err(Wrong::new(
                    setting,
                    "give settings and setup to the variants",
                ));
            }
            Ok(())
        }
        ("compare", []) if cell.cannot.is_some() => Ok(()),
        ("compare", _) => Err(Wrong::new(
            &cell.id,
            "compare needs variants, at least two of them",
        )),
        (_, []) => Ok(()),
        (_, [..]) => Err(Wrong::from_span(
            place(&cell.verb),
            "variants are of verb = \"compare\"",
        )),
    }
}

/// Its flags as typed, with these set-up scripts: one, or one for each variant.
fn typed(cell: &Cell, scripts: &[Option<PathBuf>]) -> Result<Vec<String>> {
    let own = cell.flags.as_ref().map_or("", |flags| flags.get_ref());
    let mut words = Vec::new();
    for flags in [&cell.before, own, &cell.behind] {
        words.extend(shlex::split(flags).with_context(|| format!("a quote has no end: {flags}"))?);
    }
    let script_of = |script: &Option<PathBuf>, flags: &str| {
        ensure!(
            script.is_none() || !flags.contains("--dut-setup"),
            "--dut-setup beside settings or setup: call the program in setup"
        );
        Ok(script
            .as_ref()
            .map(|file| file.to_string_lossy().into_owned()))
    };
    if cell.variants.is_empty() && cell.verb() == "compare" {
        // It cannot run, and the verb reads no flags without variants.
        words.extend(["--a=a=none", "--b=b=none"].map(str::to_owned));
        return Ok(words);
    }
    if cell.variants.is_empty() {
        let script = scripts.first().unwrap_or(&None);
        let script = script_of(script, &words.join(" "))?;
        words.extend(script.map(|script| format!("--dut-setup={script}")));
        return Ok(words);
    }
    let flags = ["--a", "--b"].into_iter().chain(std::iter::repeat("--c"));
    for ((variant, script), flag) in cell.variants.iter().zip(scripts).zip(flags) {
        let own = variant.flags.as_ref().map_or("", |flags| flags.get_ref());
        let set_up = match script_of(script, own)? {
            Some(script) => format!("{own} --dut-setup={}", shlex::try_quote(&script)?),
            None => own.to_owned(),
        };
        let set_up = match set_up.trim() {
            "" => "none",
            set_up => set_up,
        };
        words.push(format!("{flag}={}={set_up}", variant.name));
    }
    Ok(words)
}

/// The words as the verb reads them, each flag once.
fn read(cell: &Cell, typed: &[String]) -> Result<(Verb, Vec<OsString>)> {
    let names: Vec<&str> = cell.verb().split(' ').collect();
    let last_holds = |verb: Command| verb.args_override_self(true);
    let root = match names[..] {
        [group, verb] => {
            Cli::command().mut_subcommand(group, |group| group.mut_subcommand(verb, last_holds))
        }
        _ => Cli::command().mut_subcommand(cell.verb(), last_holds),
    };
    let words = ["mpps"].iter().chain(&names).copied();
    let words = words.chain(typed.iter().map(String::as_str));
    let matches = root.clone().try_get_matches_from(words).map_err(|error| {
        if error.kind() == ErrorKind::DisplayHelp {
            return Error::msg("--help is no flag of a cell");
        }
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Error::msg(one_line(&error, &names))
    })?;
    let verb = names
        .iter()
        .try_fold((&root, &matches), |(command, of), name| {
            command
                .find_subcommand(name)
                .zip(of.subcommand_matches(name))
        });
    let (command, of_verb) = verb.context("no such verb")?;
    let is_typed = |id: &&str| of_verb.value_source(id) == Some(ValueSource::CommandLine);
    let known = |id: &&str| command.get_arguments().any(|arg| arg.get_id() == *id);
    if known(&"resume") && is_typed(&"resume") {
        bail!("--resume is no flag of a cell: the campaign goes on itself; leave it out");
    }
    if let Some(own) = OWN.into_iter().filter(known).find(is_typed) {
        bail!(
            "--{}: the campaign gives it itself; leave it out",
            own.replace('_', "-")
        );
    }
    let mut words: Vec<OsString> = names.iter().map(OsString::from).collect();
    words.extend(typed_flags(command.get_arguments(), of_verb));
    Ok((Cli::from_arg_matches(&matches)?.verb, words))
}

/// Writes a set-up script.
fn write(file: &std::path::Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(file, text).with_context(|| format!("write {}", file.display()))?;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o700))?;
    Ok(())
}
