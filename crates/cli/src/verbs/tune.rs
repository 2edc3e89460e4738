//! `mpps tune`: the catalogue of settings, and how this machine stands to it.

#[cfg(feature = "measure")]
mod apply;

use crate::args::{ListSettingsArgs, TuneArgs, TuneVerb, no_setting};
use crate::exit::Exit;
use crate::terminal;
use anyhow::Result;
use mpps_method::tune::{CATALOGUE, Row, named};
#[cfg(feature = "measure")]
use {
    super::contract::CellPlan,
    crate::args::{CookbookArgs, ShowSettingsArgs},
    anyhow::Context,
    mpps_lab::tune::survey,
    mpps_method::tune::Profile,
    mpps_record::Run,
    std::{ffi::OsString, path::Path},
};

/// Runs the verb.
///
/// # Errors
/// An unknown setting or interface, or a page that cannot be written.
pub fn run(args: &TuneArgs) -> Result<Exit> {
    match &args.verb {
        TuneVerb::List(args) => list(args)?,
        #[cfg(feature = "measure")]
        TuneVerb::Show(args) => show(args)?,
        #[cfg(feature = "measure")]
        TuneVerb::Layout(args) => {
            let survey = survey(Profile::Router, &args.interface)?;
            terminal::out(&match args.json {
                true => terminal::layout_json(&survey),
                false => terminal::fitted(&terminal::layout(&survey)),
            });
        }
        #[cfg(feature = "measure")]
        TuneVerb::Cookbook(args) => cookbook(args)?,
        #[cfg(feature = "measure")]
        TuneVerb::Apply(args) => return apply::apply(args),
        #[cfg(feature = "measure")]
        TuneVerb::Confirm(args) => return apply::confirm(args),
        #[cfg(feature = "measure")]
        TuneVerb::Revert(args) => return apply::revert(args),
        #[cfg(feature = "measure")]
        TuneVerb::Guard(args) => return apply::guard(args),
        #[cfg(feature = "measure")]
        TuneVerb::Measure(args) => return super::tune_measure::run(args),
    }
    Ok(Exit::Measured)
}

/// What a cell of a campaign does with these flags.
///
/// # Errors
/// It is not `measure`, or its plan is wrong.
#[cfg(feature = "measure")]
pub fn cell(args: &TuneArgs, typed: &[OsString]) -> Result<CellPlan> {
    match &args.verb {
        TuneVerb::Measure(args) => super::tune_measure::cell(args, typed),
        _ => anyhow::bail!("no verb of a cell"),
    }
}

fn list(args: &ListSettingsArgs) -> Result<()> {
    let is_wanted = |row: &&Row| {
        let wants =
            |wanted: &Option<String>, has: &str| wanted.as_ref().is_none_or(|one| one == has);
        wants(&args.group, row.group) && wants(&args.scope, row.scope_name())
    };
    let rows: Vec<&Row> = match &args.id {
        Some(id) => named(id),
        None => CATALOGUE.iter().filter(is_wanted).collect(),
    };
    if let (Some(id), []) = (&args.id, rows.as_slice()) {
        known(id)?;
    }
    terminal::out(&match (rows.as_slice(), &args.id) {
        (some, _) if args.json => terminal::settings_json(some),
        ([row], Some(_)) => terminal::fitted(&terminal::setting(row)),
        (some, _) => terminal::settings(some),
    });
    Ok(())
}

/// Refuses a setting that no row describes.
fn known(id: &str) -> Result<()> {
    if CATALOGUE.iter().any(|row| row.id == id) {
        return Ok(());
    }
    Err(no_setting(id))
}

#[cfg(feature = "measure")]
fn show(args: &ShowSettingsArgs) -> Result<()> {
    let survey = survey(args.profile, &args.interface)?;
    terminal::out(&match args.json {
        true => terminal::survey_json(&survey),
        false => terminal::fitted(&terminal::survey(&survey)),
    });
    Ok(())
}

/// The last run of a record that measured effects of settings.
#[cfg(feature = "measure")]
fn measured(path: &Path) -> Result<Run> {
    let shown = path.display();
    let read = mpps_record::read_file(path).with_context(|| format!("--measured {shown}"))?;
    let mut runs = read.runs.into_iter().rev();
    let run = runs.find(|run| !run.effects.is_empty());
    run.with_context(|| {
        format!("--measured {shown}: it has no effects of settings (mpps tune measure writes them)")
    })
}

#[cfg(feature = "measure")]
fn cookbook(args: &CookbookArgs) -> Result<()> {
    let measured = args.measured.as_deref().map(measured).transpose()?;
    let survey = survey(args.profile, &args.interface)?;
    let page = terminal::cookbook(&survey, measured.as_ref());
    let Some(output) = &args.output else {
        terminal::out(&page);
        return Ok(());
    };
    let shown = output.display();
    std::fs::write(output, page)
        .with_context(|| format!("write {shown} (name a file that can be written to: --output)"))?;
    terminal::note(&format!("wrote {shown}"));
    Ok(())
}
