//! The catalogue of settings: what bears on the rate of a router or an end host, as data.
//!
//! `tune/settings.toml` holds a block for each setting; docs/tune.md says what its lines mean. Nothing here reads or
//! changes a machine: that is for the lab.

pub mod layout;
mod named;
mod parse;

pub use named::named;

use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The blocks as committed.
const BLOCKS: &str = include_str!("tune/settings.toml");

/// All settings, in the order of the file. A test of this crate refuses a wrong block.
pub static CATALOGUE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let blocks = parse::blocks(BLOCKS).unwrap_or_default().into_iter();
    let rows = blocks.filter_map(|(_, id, lines)| parse::row(id, lines).ok());
    rows.collect()
});

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

/// A level that stands for the mask of a bed's router CPUs.
pub const DUT_CPUS: &str = "{dut}";

/// How a setting is read and, where it can be, written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// Objects of the kernel that are counted or named, as `nft/log` or `tc/{if}/filters`; nobody writes them.
    Object,
    /// Anything else: the command that shows it.
    Command,
}

/// Where a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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

crate::named! {
    /// Whom advice is for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Profile {
        /// A machine that forwards.
        Router = "router",
        /// A machine whose programs send and receive.
        Endpoint = "endpoint",
    }
}

impl Scope {
    /// The words for them in the file.
    pub const NAMES: [&str; 6] = ["namespace", "interface", "irq", "cpu", "host", "boot"];
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
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name on the command line.
    #[serde(skip)]
    pub id: &'static str,
    /// Group of [`GROUPS`].
    pub group: &'static str,
    /// What it is, in a few words.
    pub name: &'static str,
    /// What it does, in sentences.
    pub what: &'static str,
    kind: Kind,
    #[serde(rename = "where")]
    place: &'static str,
    /// Where it lives.
    #[serde(skip)]
    pub places: Vec<Template>,
    /// Where it holds.
    pub scope: Scope,
    /// Its value on an untouched machine.
    pub default: &'static str,
    #[serde(rename = "router")]
    router_words: &'static str,
    #[serde(default)]
    router_set: &'static str,
    /// Advice for a router.
    #[serde(skip)]
    pub router: Advice,
    #[serde(rename = "endpoint")]
    endpoint_words: &'static str,
    #[serde(default)]
    endpoint_set: &'static str,
    /// Advice for an end host.
    #[serde(skip)]
    pub endpoint: Advice,
    /// Who says so.
    pub source: &'static str,
    /// What else changes with it.
    pub effects: &'static str,
    /// What can go wrong.
    pub risk: &'static str,
    /// What stops while it changes; empty where nothing does.
    #[serde(default)]
    pub disrupts: &'static str,
    /// Place among all settings when they are applied, 0 to 99; reverted from the highest down.
    #[serde(deserialize_with = "parse::order")]
    pub order: u8,
    #[serde(default)]
    levels: &'static str,
    #[serde(rename = "acts")]
    _acts: IgnoredAny,
    /// Fronts of a bed that it acts on; empty where it cannot act on any.
    #[serde(rename = "bed", deserialize_with = "parse::listed")]
    pub fronts: Vec<&'static str>,
    /// The setting that is on at both levels on a bed; empty where none is.
    #[serde(default)]
    pub bed_with: &'static str,
    /// Settings beside which its second level forwards nothing on a bed.
    #[serde(default, deserialize_with = "parse::listed")]
    pub bed_not_with: Vec<&'static str>,
    /// The command that makes the second level on a bed; empty where there is none.
    #[serde(default)]
    pub bed_on: &'static str,
    /// The command that takes it back.
    #[serde(default)]
    pub bed_off: &'static str,
    #[serde(default)]
    bed_flags: &'static str,
    /// What else it needs to act; empty where nothing.
    #[serde(default)]
    pub needs: &'static str,
    /// Drivers that have it; empty where any may.
    #[serde(default, rename = "driver", deserialize_with = "parse::listed")]
    pub drivers: Vec<&'static str>,
    /// What the firmware calls it; empty where it has nothing to do with it.
    #[serde(default)]
    pub firmware: &'static str,
    /// What it should be in the firmware.
    #[serde(default)]
    pub firmware_set: &'static str,
    #[serde(default, rename = "interacts")]
    _interacts: IgnoredAny,
    /// Lines of the published cookbook that it covers.
    #[serde(default, deserialize_with = "parse::cookbook")]
    pub cookbook: Vec<&'static str>,
    /// Why nobody reads it, of those that only a command shows; empty for all others.
    #[serde(default)]
    pub unread: &'static str,
    /// Why published advice looks wrong; empty where it does not.
    #[serde(default)]
    pub wrong: &'static str,
    /// All lines of the block as written: key and text.
    #[serde(skip)]
    pub lines: BTreeMap<&'static str, &'static str>,
}

/// Whether [`Row::needs`] is no thing but a sentence: the bed sets it.
#[must_use]
pub fn is_set_by_bed(needs: &str) -> bool {
    needs.starts_with("the bed sets")
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

    /// Values worth measuring; one may be [`DUT_CPUS`].
    #[must_use]
    pub fn levels(&self) -> Vec<&'static str> {
        parse::parts(self.levels)
    }

    /// Flags of the two beds that are its levels, each as one text; `None`: it is switched on one bed, or not at all.
    #[must_use]
    pub fn beds(&self) -> Option<[&'static str; 2]> {
        parse::parts(self.bed_flags).try_into().ok()
    }

    /// Name of its scope.
    #[must_use]
    pub fn scope_name(&self) -> &'static str {
        self.lines.get("scope").copied().unwrap_or_default()
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
