//! The catalogue of settings: what bears on the rate of a router or an end host, as data.
//!
//! `tune/settings.toml` holds a block for each setting; docs/tune.md says what its lines mean. Nothing here reads or
//! changes a machine: that is for the lab.

pub mod layout;
mod named;
mod parse;

pub use named::named;
pub use parse::WrongRow;

use std::sync::LazyLock;

/// The blocks as committed.
const BLOCKS: &str = include_str!("tune/settings.toml");

static PARSED: LazyLock<Result<Vec<Row>, WrongRow>> = LazyLock::new(|| parse::rows(BLOCKS));

/// All settings, in the order of the file. It is empty if a block is wrong: [`fault`].
pub static CATALOGUE: LazyLock<&'static [Row]> =
    LazyLock::new(|| PARSED.as_deref().unwrap_or_default());

/// The first wrong block of the file, if there is one.
#[must_use]
pub fn fault() -> Option<&'static WrongRow> {
    PARSED.as_ref().err()
}

/// Groups of settings and what each is about.
pub const GROUPS: [(&str, &str); 14] = [
    ("steer", "which CPU receives and sends which frame"),
    ("napi", "how receive queues are polled"),
    ("nic", "queues, rings and interrupts of a NIC"),
    ("offload", "work that a NIC does, or the kernel merges"),
    ("ip", "forwarding, neighbours, routes"),
    ("netfilter", "rules, connection tracking, NAT"),
    ("qdisc", "queues before a port"),
    ("cpu", "clock, idle states and isolation of CPUs"),
    ("memory", "pages of programs"),
    ("kernel", "how the kernel was built"),
    ("system", "services, security, tracing"),
    ("tcp", "sockets of an end host"),
    ("virtual", "virtual interfaces"),
    ("dataplane", "ways past the kernel's own path"),
];

/// How a setting is read and, where it can be, written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A parameter below /proc/sys, by its dotted name.
    Sysctl,
    /// A file below /sys, by its path.
    Sysfs,
    /// A file below /proc, by its path.
    Procfs,
    /// A parameter of ethtool, as `rings/rx`.
    Ethtool,
    /// The CPUs of an interrupt.
    Irq,
    /// A word of the boot line, by its name.
    Boot,
    /// An option of the kernel's configuration.
    Config,
    /// A service, by the name of its process.
    Service,
    /// Anything else: the command that shows it.
    Command,
}

/// Where a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In one network namespace.
    Namespace,
    /// For one interface, or one of its queues.
    Interface,
    /// For one interrupt.
    Irq,
    /// For one CPU.
    Cpu,
    /// For the whole machine.
    Host,
    /// Until the next boot, or in another kernel.
    Boot,
}

/// Whom advice is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// A machine that forwards.
    Router,
    /// A machine whose programs send and receive.
    Endpoint,
}

/// A word of a small set.
type Word<T> = (&'static str, T);

impl Kind {
    /// Each kind by its name in the file.
    pub const ALL: [Word<Self>; 9] = [
        ("sysctl", Self::Sysctl),
        ("sysfs", Self::Sysfs),
        ("procfs", Self::Procfs),
        ("ethtool", Self::Ethtool),
        ("irq", Self::Irq),
        ("boot", Self::Boot),
        ("config", Self::Config),
        ("service", Self::Service),
        ("command", Self::Command),
    ];
}

impl Scope {
    /// Each scope by its name in the file.
    pub const ALL: [Word<Self>; 6] = [
        ("namespace", Self::Namespace),
        ("interface", Self::Interface),
        ("irq", Self::Irq),
        ("cpu", Self::Cpu),
        ("host", Self::Host),
        ("boot", Self::Boot),
    ];
}

impl Profile {
    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Router => "router",
            Self::Endpoint => "endpoint",
        }
    }
}

/// Advice for one profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// In words; `None` where there is none for this profile.
    pub words: Option<&'static str>,
    /// What each place should hold; empty where only words say it, or where several values would do. `>=4096` is a
    /// least value, `absent` means not given at boot.
    pub values: Vec<&'static str>,
    /// The same, or what would do: `8..64` is a range, `0|2` one of two.
    pub accepted: Vec<&'static str>,
}

/// One place of a setting. Words in braces stand for what a machine has: `{if}`, `{rxq}`, `{txq}`, `{cpu}`, `{idle}`,
/// `{irq}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// How it is reached.
    pub kind: Kind,
    /// Its name or path.
    pub text: &'static str,
}

/// One setting.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name on the command line.
    pub id: &'static str,
    /// Group of [`GROUPS`].
    pub group: &'static str,
    /// What it is, in a few words.
    pub name: &'static str,
    /// What it does, in sentences.
    pub what: &'static str,
    /// Where it lives.
    pub places: Vec<Template>,
    /// Where it holds.
    pub scope: Scope,
    /// Its value on an untouched machine.
    pub default: &'static str,
    /// Advice for a router.
    pub router: Advice,
    /// Advice for an end host.
    pub endpoint: Advice,
    /// Who says so.
    pub source: &'static str,
    /// What else changes with it.
    pub effects: &'static str,
    /// Place among all settings when they are applied, 0 to 99; reverted from the highest down.
    pub order: u8,
    /// Fronts of a bed that it acts on; empty where it cannot act on any.
    pub fronts: Vec<&'static str>,
    /// What else it needs to act; empty where nothing.
    pub needs: &'static str,
    /// Drivers that have it; empty where any may.
    pub drivers: Vec<&'static str>,
    /// What the firmware calls it; empty where it has nothing to do with it.
    pub firmware: &'static str,
    /// What it should be in the firmware.
    pub firmware_set: &'static str,
    /// Lines of the published cookbook that it covers.
    pub cookbook: Vec<&'static str>,
    /// Why published advice looks wrong; empty where it does not.
    pub wrong: &'static str,
    /// All lines of the block as written: key and text.
    pub lines: Vec<(&'static str, &'static str)>,
}

impl Row {
    /// Advice for a profile.
    #[must_use]
    pub fn advice(&self, profile: Profile) -> &Advice {
        match profile {
            Profile::Router => &self.router,
            Profile::Endpoint => &self.endpoint,
        }
    }

    /// A line of its block.
    #[must_use]
    pub fn line(&self, key: &str) -> Option<&'static str> {
        let line = self.lines.iter().find(|(known, _)| *known == key);
        line.map(|(_, text)| *text)
    }

    /// Values worth measuring.
    #[must_use]
    pub fn levels(&self) -> Vec<&'static str> {
        self.line("levels").map_or_else(Vec::new, parse::parts)
    }

    /// Name of its scope.
    #[must_use]
    pub fn scope_name(&self) -> &'static str {
        let named = Scope::ALL.iter().find(|(_, scope)| *scope == self.scope);
        named.map_or("", |(name, _)| name)
    }
}

/// All settings in the order in which they are applied; those of one order as the file has them.
#[must_use]
pub fn in_order() -> Vec<&'static Row> {
    let mut rows: Vec<&Row> = CATALOGUE.iter().collect();
    rows.sort_by_key(|row| row.order);
    rows
}

#[cfg(test)]
mod tests;
