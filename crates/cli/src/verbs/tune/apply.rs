//! `mpps tune apply`, `confirm` and `revert`.

use crate::args::{ApplyArgs, GuardArgs, SiteArgs};
use crate::exit::Exit;
use crate::terminal;
use anyhow::{Context, Result, bail};
use mpps_lab::facts::Lack;
use mpps_lab::tune::{self, Applied, Applying, Choice, Plan, Site, TuneError};
use mpps_lab::{effective_uid, interrupt};
use mpps_method::Span;
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
    let changes = !(args.dry_run || args.script);
    let may = args.allow_system_changes || (site.name().is_some() && !site.is_host);
    if changes && !may {
        bail!(
            "this would change the machine's own settings: give --allow-system-changes, or --netns NAME for a network \
             namespace"
        );
    }
    if changes {
        need_root()?;
        interrupt::install()?;
        site.check_free()?;
    }
    let done = site.run(|root| -> Result<(Plan, Option<Applied>)> {
        let machine = site.machine(root, &args.interface)?;
        let choice = Choice {
            only: args.only.clone(),
            except: args.except.clone(),
        };
        let standings = machine.standings(args.profile);
        let plan = Plan::new(&standings, args.profile, &choice, site.is_host);
        if !changes || plan.changes.is_empty() {
            return Ok((plan, None));
        }
        let mut applying = Applying::begin(&site, &machine)?;
        let keeps = site.name().is_some() || args.no_confirm;
        if !keeps {
            applying = applying.guard(helper(&site, args.confirm_within)?)?;
        }
        let applied = applying.make(&plan, keeps)?;
        Ok((plan, Some(applied)))
    });
    let (plan, applied) = match done? {
        Err(error) => return ended(error),
        Ok(done) => done,
    };
    let netns = site.name();
    Ok(match applied {
        _ if args.script => {
            terminal::out(&terminal::script(args.profile, netns, &plan.changes));
            Exit::Measured
        }
        _ if args.dry_run => {
            terminal::out(&terminal::settings_planned(&plan, netns));
            Exit::Measured
        }
        applied => {
            let is_changed = applied.is_some();
            let applied = applied.unwrap_or_default();
            terminal::out(&terminal::settings_applied(&plan, &applied));
            terminal::note(&next(args, &site, is_changed));
            if applied.refused.is_empty() {
                Exit::Measured
            } else {
                Exit::NotMet
            }
        }
    })
}

fn next(args: &ApplyArgs, site: &Site, is_changed: bool) -> String {
    let site_argument = site.argument();
    if !is_changed {
        return "nothing to change".to_owned();
    }
    let mut text = format!("mpps tune revert{site_argument} puts all of it back");
    if site.name().is_none() && !args.no_confirm {
        text = format!(
            "mpps tune confirm keeps it; without that it is put back in {}",
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

/// Puts applied settings back.
///
/// # Errors
/// The journal could not be read.
pub fn revert(args: &SiteArgs) -> Result<Exit> {
    need_root()?;
    let site = site(args)?;
    match tune::revert(&site) {
        Ok(None) => terminal::out("nothing to put back\n"),
        Ok(Some(reverted)) => terminal::out(&terminal::settings_reverted(&reverted)),
        Err(error) => return ended(error.into()),
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
