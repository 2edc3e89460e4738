//! `mpps tune apply`, `confirm` and `revert`.

use crate::args::{ApplyArgs, GuardArgs, RevertSettingsArgs, SiteArgs};
use crate::exit::Exit;
use crate::terminal;
use anyhow::{Context, Result, bail};
use mpps_lab::facts::{Lack, Root};
use mpps_lab::tune::persist::{self, File};
use mpps_lab::tune::{self, Applied, Applying, Choice, Plan, Planned, Site, TuneError};
use mpps_lab::{effective_uid, interrupt};
use mpps_method::Span;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Applies a profile, or shows what that would be.
///
/// # Errors
/// Nothing was changed then, or all of it is put back.
pub fn apply(args: &ApplyArgs) -> Result<Exit> {
    for id in args.only.iter().chain(&args.except) {
        super::known(id)?;
    }
    let site = site(&args.site)?;
    check(args, &site)?;
    let (plan, applied) = match site.run(|root| plan_and_make(args, &site, root))? {
        Err(error) => return ended(error),
        Ok(done) => done,
    };
    let netns = site.name();
    if args.script {
        terminal::out(&terminal::script(args.profile, netns, &plan.changes));
    } else if args.dry_run {
        let count = plan.changes.len();
        terminal::out(&terminal::settings_planned(&plan, netns));
        terminal::out(&terminal::files_planned(&plan, &applied.files));
        terminal::out(&match count {
            // Those that stay are told above, with the reason.
            0 if !plan.left_out.is_empty() => "\nThere is nothing to change here.\n".to_owned(),
            0 => "\nAll settings are as advised: there is nothing to change.\n".to_owned(),
            _ => format!("\nNothing was changed: {count} settings would be.\n"),
        });
    } else {
        terminal::out(&terminal::settings_applied(&plan, &applied));
        terminal::note(&next(args, &site, !plan.changes.is_empty()));
    }
    if lacks_ethtool(&applied.files) {
        terminal::note("the script for each boot needs ethtool, which is not installed here");
    }
    Ok(if applied.refused.is_empty() {
        Exit::Measured
    } else {
        Exit::NotMet
    })
}

/// Whether a script has a command of ethtool, and this machine has no such program.
fn lacks_ethtool(files: &[File]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    files.iter().any(|file| file.text.contains("\nethtool "))
        && !folders.any(|folder| folder.join("ethtool").is_file())
}

/// Refuses what may not be changed, or not now.
fn check(args: &ApplyArgs, site: &Site) -> Result<()> {
    if args.persist && !site.is_host && args.root.is_none() {
        bail!(
            "--persist writes files of the whole machine, and this network namespace is not the machine's own (--root DIR \
             writes them below DIR)"
        );
    }
    if args.dry_run || args.script {
        return Ok(());
    }
    if !(args.allow_system_changes || site.is_apart()) {
        bail!(
            "this would change the machine's own settings: give --allow-system-changes, or --netns NAME for a network \
             namespace"
        );
    }
    need_root()?;
    interrupt::install()?;
    Ok(site.check_free()?)
}

fn plan_and_make(args: &ApplyArgs, site: &Site, root: &Root) -> Result<(Plan, Applied)> {
    let machine = site.machine(root, &args.interface)?;
    let choice = Choice {
        only: args.only.clone(),
        except: args.except.clone(),
        include_risky: args.include_risky,
    };
    let standings = machine.standings(args.profile);
    let plan = Plan::new(&standings, args.profile, &choice, site.is_host);
    let files = |made: &[Planned]| -> Result<Vec<File>, TuneError> {
        if !args.persist {
            return Ok(Vec::new());
        }
        let folder = args.root.as_deref().unwrap_or(Path::new("/"));
        let written = persist::written(folder)?;
        let files = terminal::persisted(made, &plan.met, &written, &machine.layout).into_iter();
        files
            .map(|(name, body)| File::new(folder, name, &body))
            .collect()
    };
    // A file of somebody else's is told before anything is changed.
    let planned = Applied {
        files: files(&plan.changes)?,
        ..Applied::default()
    };
    if args.dry_run || args.script {
        return Ok((plan, planned));
    }
    if plan.changes.is_empty() {
        return Ok((plan, Applied::default()));
    }
    let mut applying = Applying::begin(site, &machine, &plan)?;
    let keeps = site.is_apart() || args.no_confirm;
    if !keeps {
        applying = applying.guard(helper(site, args.confirm_within)?)?;
    }
    let applied = applying.make(&plan, keeps, files)?;
    Ok((plan, applied))
}

fn next(args: &ApplyArgs, site: &Site, is_changed: bool) -> String {
    let site_argument = site.argument();
    if !is_changed {
        return "nothing to change".to_owned();
    }
    let mut text = format!("mpps tune revert{site_argument} puts all of it back");
    if !(site.is_apart() || args.no_confirm) {
        text = format!(
            "mpps tune confirm{site_argument} keeps it; without that it is put back in {}",
            args.confirm_within
        );
    }
    text
}

/// Keeps applied settings.
///
/// # Errors
/// There are none.
pub fn confirm(args: &SiteArgs) -> Result<Exit> {
    need_root()?;
    let site = site(args)?;
    tune::confirm(&site)?;
    let text = format!(
        "the settings stay; mpps tune revert{} puts them back",
        site.argument()
    );
    terminal::note(&text);
    Ok(Exit::Measured)
}

/// Puts applied settings back, or removes the files that would apply them at boot.
///
/// # Errors
/// The journal could not be read, or a file not be removed.
pub fn revert(args: &RevertSettingsArgs) -> Result<Exit> {
    need_root()?;
    let site = site(&args.site)?;
    let reverted = if args.persisted {
        Some(persist::uninstall(&args.root)?)
    } else {
        match tune::revert(&site) {
            Err(error) => return ended(error.into()),
            Ok(reverted) => reverted,
        }
    };
    let is_bare =
        |reverted: &mpps_lab::journal::Reverted| reverted.files == 0 && reverted.foreign.is_empty();
    let has_none = args.persisted && reverted.as_ref().is_some_and(is_bare);
    terminal::out(&match reverted {
        reverted if args.json => terminal::reverted_json(&reverted.unwrap_or_default()),
        Some(_) if has_none => "mpps wrote no files for each boot: nothing to remove\n".to_owned(),
        Some(reverted) => terminal::settings_reverted(&reverted),
        None => "nothing to put back\n".to_owned(),
    });
    if has_none {
        return Ok(Exit::Measured);
    }
    if args.persisted {
        terminal::note("settings stay as they are until the next boot");
    } else if site.is_host && !persist::written(&args.root)?.is_empty() {
        terminal::note(
            "files change settings at each boot: mpps tune revert --persisted removes them",
        );
    }
    Ok(Exit::Measured)
}

/// The helper of `apply`.
///
/// # Errors
/// It was started by hand, or something could not be put back.
pub fn guard(args: &GuardArgs) -> Result<Exit> {
    tune::guard(&args.journal, Span::from_millis(args.within_ms))?;
    Ok(Exit::Measured)
}

fn helper(site: &Site, within: Span) -> Result<Command> {
    let own = std::env::current_exe().context("find the own program")?;
    let mut command = Command::new(own);
    let within_ms = within.as_nanos() / 1_000_000;
    command.args(["tune", "guard", &site.journal(), &within_ms.to_string()]);
    Ok(command)
}

fn site(args: &SiteArgs) -> Result<Site> {
    Ok(Site::new(args.netns.as_deref())?)
}

fn need_root() -> Result<()> {
    if effective_uid() != 0 {
        bail!(Lack::Root);
    }
    Ok(())
}

/// An error, with the exit code that it has.
fn ended(error: anyhow::Error) -> Result<Exit> {
    let exit = match error.downcast_ref::<TuneError>() {
        Some(TuneError::NotRestored(_)) => Exit::NotRestored,
        Some(TuneError::Interrupted) => Exit::Interrupted,
        _ => return Err(error),
    };
    terminal::error(&format!("{error:#}"));
    Ok(exit)
}
