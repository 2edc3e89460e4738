//! What `mpps compare` is to measure: a bed and its traffic for each variant.

use super::sending::Sending;
use super::{BedWish, DestinationPlan};
use crate::args::{CompareArgs, WITHIN, WithSetUps};
use anyhow::{Context, Error, Result, bail, ensure};
use mpps_lab::bed::BedPlan;
use mpps_lab::jobs::compare;
use mpps_lab::tester::ReceiverPlace;
use mpps_lab::traffic::Traffic;
use mpps_record::{ComparisonLine, Factors};
use mpps_report::number::percent_given;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Variants at most: each has a bed that stands all the time.
const VARIANTS_MAX: usize = 9;
/// Longest name of a variant: it stands in tables.
pub const NAME_MAX: usize = 40;
/// The set-up that is none.
const NONE: &str = "none";

/// All variants, and how to compare them.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    /// In the order given; the others are compared with the first one.
    pub variants: Vec<VariantPlan>,
    /// How.
    pub how: compare::ComparePlan,
    /// A variant slower by more than this share fails.
    pub fail_if_slower: Option<f64>,
}

/// One variant.
#[derive(Clone, Debug)]
pub struct VariantPlan {
    /// Its name.
    pub name: String,
    /// Its own flags as typed.
    pub flags: Vec<String>,
    /// Its bed.
    pub bed: BedWish,
    /// What is sent to it.
    pub traffic: Traffic,
    /// Routes to load into it, and destinations to draw from them.
    pub destinations: Option<DestinationPlan>,
    /// The build of mpps that measures it, where that is another one.
    pub binary: Option<BinaryPlan>,
    /// Where frames are received, where the user named it.
    receiver: Option<ReceiverPlace>,
}

/// Another build of mpps.
#[derive(Clone, Debug)]
pub struct BinaryPlan {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is to send, and on which bed, as flags.
    pub flags: Vec<OsString>,
}

impl ComparePlan {
    /// What the arguments mean. `typed` are all words behind the program's name, from which each variant is read again
    /// with its own flags behind them.
    pub fn new(args: &CompareArgs, typed: &[OsString]) -> Result<Self> {
        let none = NONE.to_owned();
        let binaries = [&args.a_binary, &args.b_binary].map(Option::as_deref);
        let [a, b] = [&args.a, &args.b].map(Option::as_ref);
        let [a, b] = [(a, binaries[0]), (b, binaries[1])]
            .map(|(set_up, binary)| set_up.or_else(|| binary.map(|_| &none)));
        let set_ups = a.into_iter().chain(b).chain(&args.c);
        let flags = ["--a", "--b"].into_iter().chain(std::iter::repeat("--c"));
        let binaries = binaries.into_iter().chain(std::iter::repeat(None));
        let variants = set_ups.zip(flags).zip(binaries);
        let variants = variants.map(|((set_up, flag), binary)| {
            let variant = VariantPlan::new(set_up, binary, typed);
            variant.with_context(|| format!("{flag} \"{set_up}\""))
        });
        let mut variants: Vec<VariantPlan> = variants.collect::<Result<_>>()?;
        ensure!(
            variants.len() <= VARIANTS_MAX,
            "--c: {VARIANTS_MAX} variants at most, because all beds stand at once"
        );
        name_apart(&mut variants)?;
        let [first, others @ ..] = &variants[..] else {
            bail!("--a and --b: give two set-ups, or two records");
        };
        for other in others {
            let alike = |what: &str, same: bool| {
                ensure!(
                    same,
                    "{}: {what} of all variants have to be the same: give them once, outside the quotes",
                    other.name
                );
                Ok(())
            };
            alike("frames", other.traffic.frames == first.traffic.frames)?;
            alike("receivers", other.receiver == first.receiver)?;
            let [one, other] = [first, other].map(|variant| &variant.bed);
            alike("CPUs of the tester", other.tester_cpus == one.tester_cpus)?;
            // Which CPUs test follows from those of the router where nobody names them.
            ensure!(
                one.tester_cpus.is_some() || other.dut_cpus == one.dut_cpus,
                "--dut-cpus: where variants differ in it, give --tester-cpus too, outside the quotes"
            );
        }
        let names: Vec<&str> = variants.iter().map(|one| one.name.as_str()).collect();
        let has_routes = variants.iter().any(|one| one.destinations.is_some());
        let alike = compare::alike(has_routes);
        let within = args.finished.within.unwrap_or(WITHIN.max(alike));
        let fail_if_slower = args.finished.fail_if_slower;
        check_share("--within", within, alike)?;
        check_share("--fail-if-slower", fail_if_slower.unwrap_or(alike), alike)?;
        Ok(Self {
            how: compare::ComparePlan {
                within,
                budget: args.budget,
                receiver: first.receiver,
                whole_rounds: Factors::from_names(&names).is_some(),
            },
            fail_if_slower,
            variants,
        })
    }
}

/// Refuses a share of which no smaller difference counts.
///
/// # Errors
/// It is below.
pub(super) fn check_share(flag: &str, share: f64, alike: f64) -> Result<()> {
    let [given, least] = [share, alike].map(percent_given);
    ensure!(
        share >= alike,
        "{flag} {given}: differences up to {least} count as none here, because equal set-ups differ by that; give {least} or more"
    );
    Ok(())
}

impl ComparePlan {
    /// Two set-ups of these names and flags, with the flags that the words behind the program's name gave another verb.
    pub fn from_two(names: [&str; 2], flags: [&str; 2], typed: &[OsString]) -> Result<Self> {
        let words = CompareArgs::words_of(flags, typed).map_err(Error::msg)?;
        let args = CompareArgs::with_flags(&words, &[]).map_err(Error::msg)?;
        let mut plan = Self::new(&args, &words)?;
        for (variant, name) in plan.variants.iter_mut().zip(names) {
            name.clone_into(&mut variant.name);
        }
        Ok(plan)
    }

    /// The bed of each variant on this machine.
    ///
    /// # Errors
    /// What the machine lacks.
    pub fn on_this_machine(&self) -> Result<Vec<BedPlan>> {
        let beds = self.variants.iter().map(|variant| {
            let bed = variant.bed.on_this_machine();
            bed.with_context(|| variant.name.clone())
        });
        beds.collect()
    }

    /// The line of what came of all variants, with what only this plan says.
    pub fn line_of(&self, outcome: &compare::Outcome) -> ComparisonLine {
        let mut line = outcome.line(&self.variants[0].traffic.frames, &self.how);
        line.fail_if_slower_share = self.fail_if_slower;
        for (variant, planned) in line.variants.iter_mut().zip(&self.variants) {
            variant.flags.clone_from(&planned.flags);
        }
        line
    }
}

impl VariantPlan {
    fn new(typed_set_up: &str, binary: Option<&Path>, typed: &[OsString]) -> Result<Self> {
        let SetUp { name, flags, named } = SetUp::read(typed_set_up)?;
        let args = CompareArgs::with_flags(typed, &flags).map_err(Error::msg)?;
        let (frame_typed, sending) = (
            args.run.sent.traffic.frame.is_some(),
            Sending::new(&args.run.sent, &args.run.place, None)?,
        );
        let bed = sending.bed.own_router().context(
            "--bed and --external: compare raises a bed for each variant, so their flags belong to --a and --b",
        )?;
        ensure!(
            !frame_typed || sending.sizes.len() == 1,
            "--frame: compare measures one frame size or one mix: give one"
        );
        let file = binary.and_then(Path::file_name);
        let file = file.map(|file| file.to_string_lossy().into_owned());
        let name = name.or(file).unwrap_or(named);
        let binary = binary.map(|path| -> Result<BinaryPlan> {
            let mut flags = CompareArgs::flags_of_one(typed, &flags).map_err(Error::msg)?;
            if !frame_typed {
                flags.push(format!("--frame={}", sending.traffic.frames).into());
            }
            let path = std::path::absolute(path).context("find the folder of a build")?;
            Ok(BinaryPlan { path, flags })
        });
        Ok(Self {
            binary: binary.transpose()?,
            name: short(&name),
            flags,
            bed: bed.clone(),
            traffic: sending.traffic,
            destinations: sending.destinations,
            receiver: sending.receiver,
        })
    }
}

/// A set-up as typed.
pub struct SetUp {
    /// Its name, where it was given one.
    name: Option<String>,
    /// Its flags; none of `none`.
    pub flags: Vec<String>,
    /// What it is called without a name.
    named: String,
}

impl SetUp {
    /// Nothing, a script or flags, perhaps with a name before it.
    pub fn read(typed: &str) -> Result<Self> {
        let (name, set_up) = match typed.split_once('=') {
            Some((name, set_up)) if is_name(name) && !Path::new(typed).exists() => {
                (Some(name.to_owned()), set_up)
            }
            _ => (None, typed),
        };
        let (flags, named) = match set_up.trim() {
            "" | NONE => (Vec::new(), NONE.to_owned()),
            flags if flags.starts_with('-') => (split(flags)?, flags.to_owned()),
            script => {
                let path = Path::new(script);
                ensure!(
                    path.exists(),
                    "there is no file {script}: give none, a program that sets up the router, or flags that begin with --"
                );
                let flags = vec!["--dut-setup".to_owned(), script.to_owned()];
                (flags, stem(path))
            }
        };
        Ok(Self { name, flags, named })
    }

    /// What it is called.
    pub fn name(self) -> String {
        short(&self.name.unwrap_or(self.named))
    }
}

/// What a program that sets up the router is called.
pub fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}

fn short(name: &str) -> String {
    name.chars().take(NAME_MAX).collect()
}

/// Whether the text before `=` is a name: it begins with a letter or digit and has neither path nor space.
fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    text.starts_with(char::is_alphanumeric) && text.chars().all(plain)
}

fn split(flags: &str) -> Result<Vec<String>> {
    shlex::split(flags).context("a quote has no end")
}

/// Gives each variant a name of its own: of two equal ones the second gets its letter behind it.
fn name_apart(variants: &mut [VariantPlan]) -> Result<()> {
    for place in 1..variants.len() {
        let (before, from) = variants.split_at_mut(place);
        let is_taken = |name: &str| before.iter().any(|other| other.name == name);
        if is_taken(&from[0].name) {
            let letter = char::from(b'a' + u8::try_from(place)?);
            from[0].name += &format!(" ({letter})");
        }
        let name = &from[0].name;
        ensure!(
            !is_taken(name),
            "two variants have the name {name}: give NAME=SETUP"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
