//! `mpps tune apply`, `confirm` and `revert`.

use super::choice::one_of;
use super::quantity::span;
use super::tune::PROFILES;
use clap::Args;
use mpps_method::Span;
use mpps_method::tune::Profile;
use std::path::PathBuf;

/// The times that a confirmation may take.
const CONFIRM_MIN: Span = Span::from_millis(1_000);
const CONFIRM_MAX: Span = Span::from_millis(86_400_000);

fn waiting(text: &str) -> Result<Span, String> {
    let given = span(text).filter(|span| (CONFIRM_MIN..=CONFIRM_MAX).contains(span));
    given.ok_or_else(|| format!("give seconds or a unit (30s, 2m), {CONFIRM_MIN} to {CONFIRM_MAX}"))
}

/// In which network namespace.
#[derive(Args, Debug)]
pub struct SiteArgs {
    /// The network namespace of this name [default: the one mpps runs in]
    #[arg(long, value_name = "NAME")]
    pub netns: Option<String>,
}

/// Arguments of `mpps tune revert`.
#[derive(Args, Debug)]
pub struct RevertSettingsArgs {
    /// Where.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Remove the files that `apply --persist` wrote, and leave settings as they are until the next boot
    #[arg(long, conflicts_with = "netns")]
    pub persisted: bool,
    /// Remove the files below DIR
    #[arg(long, value_name = "DIR", default_value = "/", requires = "persisted")]
    pub root: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `mpps tune apply`.
#[derive(Args, Debug)]
pub struct ApplyArgs {
    /// The profile that the advice is for
    #[arg(long, value_name = "PROFILE", value_parser = one_of(PROFILES))]
    pub profile: Profile,
    /// An interface to set; may be given several times [default: all that have a device; with --netns all but lo]
    #[arg(long, value_name = "IF")]
    pub interface: Vec<String>,
    /// Only these settings
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// All settings but these
    #[arg(
        long,
        value_name = "IDS",
        value_delimiter = ',',
        conflicts_with = "only"
    )]
    pub except: Vec<String>,
    /// Also those that stop something while they change, such as CPUs or a link
    #[arg(long, conflicts_with = "only")]
    pub include_risky: bool,
    /// Print the commands that would do it, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print a shell script that does it and undoes it, and change nothing
    #[arg(long, conflicts_with = "dry_run")]
    pub script: bool,
    /// Where.
    #[command(flatten)]
    pub site: SiteArgs,
    /// Change the network namespace mpps runs in; where that is the machine's own, the whole machine
    #[arg(long, conflicts_with = "netns")]
    pub allow_system_changes: bool,
    /// Put settings back after this time without `mpps tune confirm` (30s, 2m)
    #[arg(long, value_name = "TIME", value_parser = waiting, default_value = "60", conflicts_with = "netns")]
    pub confirm_within: Span,
    /// Keep settings without `mpps tune confirm`
    #[arg(long, conflicts_with_all = ["netns", "confirm_within"])]
    pub no_confirm: bool,
    /// Write files that make the same changes at each boot, once settings are confirmed
    #[arg(long, conflicts_with_all = ["netns", "script"])]
    pub persist: bool,
    /// Write these files below DIR [default: /]
    #[arg(long, value_name = "DIR", requires = "persist")]
    pub root: Option<PathBuf>,
}

/// Arguments of the helper.
#[derive(Args, Debug)]
pub struct GuardArgs {
    /// Name of the journal
    pub journal: String,
    /// Milliseconds until settings are put back
    pub within_ms: u64,
}
