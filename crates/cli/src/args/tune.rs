//! `mpps tune`.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use mpps_method::tune::{GROUPS, Scope};
#[cfg(feature = "measure")]
use {
    super::choice::one_of,
    super::{ApplyArgs, GuardArgs, MeasureSettingsArgs, RevertSettingsArgs, SiteArgs},
    mpps_method::tune::Profile,
    std::path::PathBuf,
};

/// The profile that advice is for.
#[cfg(feature = "measure")]
pub(super) const PROFILES: &[(&str, &str, Profile)] = &[
    ("router", "A machine that forwards", Profile::Router),
    (
        "endpoint",
        "A machine whose programs send and receive",
        Profile::Endpoint,
    ),
];

/// Arguments of `mpps tune`.
#[derive(Args, Debug)]
pub struct TuneArgs {
    /// What to do with settings.
    #[command(subcommand)]
    pub verb: TuneVerb,
}

/// What can be done with settings.
#[derive(Debug, Subcommand)]
pub enum TuneVerb {
    /// List the settings that bear on packet rates, or show all of one
    List(ListSettingsArgs),
    /// Show each setting of this machine beside the advice for it
    ///
    /// Nothing is changed. Without root most settings are read as well.
    #[cfg(feature = "measure")]
    Show(ShowSettingsArgs),
    /// Show which CPU should serve which queue of each NIC, as a picture in text
    ///
    /// Each queue gets a physical core of the NIC's memory node. `apply` sets interrupts and transmit queues (XPS) so.
    #[cfg(feature = "measure")]
    Layout(LayoutArgs),
    /// Write the advice for this machine as a page in Markdown
    ///
    /// Firmware, kernel configuration, boot line, and the settings of the running kernel in the order in which to apply
    /// them, each as it is here.
    #[cfg(feature = "measure")]
    Cookbook(CookbookArgs),
    /// Set what is other than advised, so that it can be put back
    ///
    /// Settings are changed in the order of the catalogue, each written down before and read back after. mpps
    /// prints what cannot be changed and goes on with the rest. In a namespace given by --netns, settings of the whole machine are
    /// left out. Settings that stop something while they change need --include-risky or --only. Exit code 1: the kernel
    /// refused a change.
    #[cfg(feature = "measure")]
    Apply(ApplyArgs),
    /// Keep applied settings until `mpps tune revert`
    #[cfg(feature = "measure")]
    Confirm(SiteArgs),
    /// Put applied settings back, the last first
    ///
    /// A setting that another program changed meanwhile keeps its value, and mpps prints it.
    #[cfg(feature = "measure")]
    Revert(RevertSettingsArgs),
    /// The helper of `apply`
    #[cfg(feature = "measure")]
    #[command(hide = true)]
    Guard(GuardArgs),
    /// Measure what each setting changes on a bed
    ///
    /// Each setting takes turns between two levels in the router's network namespace, at overload. The machine's own
    /// settings stay as they are. A setting that cannot act on the bed is "inert here". One that cannot act anywhere, the
    /// placebo, takes turns too. Settings on two beds have a placebo of their own. If a placebo seems to act, mpps prints
    /// no effect on as many beds.
    #[cfg(feature = "measure")]
    Measure(Box<MeasureSettingsArgs>),
}

/// Arguments of `mpps tune list`.
#[derive(Args, Debug)]
pub struct ListSettingsArgs {
    /// A setting, by its id or a place such as nf_conntrack_max, to show all that is known of it
    #[arg(value_name = "ID", conflicts_with_all = ["group", "scope"])]
    pub id: Option<String>,
    /// Only settings of this group
    #[arg(long, value_name = "GROUP", hide_possible_values = true, value_parser = names(&GROUPS))]
    pub group: Option<String>,
    /// Only settings that hold for one of these
    #[arg(long, value_name = "SCOPE", value_parser = Scope::NAMES)]
    pub scope: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `mpps tune show`.
#[cfg(feature = "measure")]
#[derive(Args, Debug)]
pub struct ShowSettingsArgs {
    /// The profile that the advice is for
    #[arg(long, value_name = "PROFILE", default_value = "router", value_parser = one_of(PROFILES))]
    pub profile: Profile,
    /// An interface to look at; may be given several times [default: all that have a device]
    #[arg(long, value_name = "IF")]
    pub interface: Vec<String>,
    /// Print the result as JSON, with every place of each setting
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `mpps tune layout`.
#[cfg(feature = "measure")]
#[derive(Args, Debug)]
pub struct LayoutArgs {
    /// An interface to look at; may be given several times [default: all that have a device]
    #[arg(long, value_name = "IF")]
    pub interface: Vec<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `mpps tune cookbook`.
#[cfg(feature = "measure")]
#[derive(Args, Debug)]
pub struct CookbookArgs {
    /// The profile that the advice is for
    #[arg(long, value_name = "PROFILE", value_parser = one_of(PROFILES))]
    pub profile: Profile,
    /// An interface to look at; may be given several times [default: all that have a device]
    #[arg(long, value_name = "IF")]
    pub interface: Vec<String>,
    /// Record of `mpps tune measure`: its effects stand beside the settings
    #[arg(long, value_name = "RECORD")]
    pub measured: Option<PathBuf>,
    /// File to write to; one that is there is overwritten [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The first words of a table.
pub(super) fn names<T>(table: &[(&'static str, T)]) -> PossibleValuesParser {
    table
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .into()
}
