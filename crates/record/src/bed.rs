//! Where a run measured.

use crate::nic::Nic;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where it ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum RunBed {
    /// Network namespaces joined by veth.
    Namespaces(Box<Bed>),
    /// Real ports around an external device.
    External(Box<Bed>),
    /// A host at its work, with traffic of others.
    Host {
        /// Inode number of the network namespace.
        netns: u64,
    },
    /// A simulated pair: nothing was measured.
    Simulated {
        /// Its properties in words.
        pair: String,
    },
    /// Of another schema.
    #[serde(untagged)]
    Other(Value),
}

impl RunBed {
    /// The bed; `None` where there was none, or where it is of another schema.
    #[must_use]
    pub const fn bed(&self) -> Option<&Bed> {
        match self {
            Self::Namespaces(bed) | Self::External(bed) => Some(bed),
            Self::Host { .. } | Self::Simulated { .. } | Self::Other(_) => None,
        }
    }
}

/// A bed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bed {
    /// Its name.
    pub name: String,
    /// Whether it stood before the run. Null in older records.
    pub kept: Option<bool>,
    /// How the DUT receives.
    pub nic: String,
    /// Its receive queues.
    pub queues: u16,
    /// Frames of one receive ring; 0 where nobody knows.
    pub rx_ring_frames: u32,
    /// What all receive rings hold together.
    pub rings_together_frames: u32,
    /// Key of receive side scaling.
    pub rss: String,
    /// As asked for: newest, or oldest.
    pub kernel_interfaces: String,
    /// The interfaces that this gave the tester; null where it could not be tried.
    #[serde(alias = "tester_means")]
    pub tester_interfaces: Option<KernelInterfaces>,
    /// CPUs that the router works on.
    pub dut_cpus: Vec<usize>,
    /// CPUs that send, and receive where the receiver is at the port.
    pub tester_cpus: Vec<usize>,
    /// Whether they have one in common.
    pub cpus_shared: bool,
    /// Filters that each forwarded frame passes (RFC 2544 11.4); null: none of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<u16>,
    /// Path of the set-up script.
    pub dut_setup: Option<String>,
    /// The script, and its output. Null in schema 1.
    pub dut_setup_script: Option<SetUpScript>,
    /// Where the tester sends and receives around an external device.
    pub external_ports: Option<Vec<String>>,
    /// Their NICs and links.
    #[serde(default)]
    pub external_nics: Vec<Nic>,
}

/// A set-up script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetUpScript {
    /// SHA-256 of the whole script as it was when it ran.
    pub sha256: String,
    /// Its first 64 KiB; null where it could not be read.
    pub text: Option<String>,
    /// The end of its output and its errors, 64 KiB of each; null where that is gone.
    pub output: Option<String>,
}

/// The kernel's interfaces that the tester works with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelInterfaces {
    /// How programs are attached at ports.
    pub traffic_control: String,
    /// How stalls are watched.
    pub stall_watch: String,
    /// How NAPI threads are found.
    pub napi_list: String,
}
