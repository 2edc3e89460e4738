//! What two results must have in common to be compared.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// What two results must have in common to be compared. Null: older records did not say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparability {
    /// All that follows, in 8 hexadecimal digits: for the eye, not for security.
    pub key: String,
    /// Kind of bed.
    pub bed: String,
    /// How the DUT receives.
    pub nic: String,
    /// What carries the frames: batches make them cheaper.
    pub port: String,
    /// Frames of one receive ring.
    pub rx_ring_frames: u32,
    /// Receive queues.
    pub queues: u16,
    /// As `uname -r`.
    pub kernel_release: String,
    /// What the kernel does against each CPU fault.
    pub mitigations: String,
    /// Threads cost the DUT's CPU more than timers; null where neither could be tried.
    pub stall_watch: Option<String>,
    /// The DUT gets what the tester leaves of a CPU.
    pub cpus_shared: Option<bool>,
    /// The kernel's clock source, which the bed, the watch and the router's timestamps read. Missing: not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocksource: Option<String>,
    /// Model of the CPU, as the kernel names it.
    pub cpu_model: Option<String>,
    /// Whether there is one; null: it is not known.
    pub hypervisor: Option<bool>,
    /// The DUT's CPUs.
    pub dut_cpus: Option<Vec<usize>>,
    /// How many the tester has.
    pub tester_cpus: Option<usize>,
    /// How long trials are and when a load has passed.
    pub search: Option<String>,
    /// All properties of the traffic but its frame sizes, as in `plan`.
    pub traffic: Option<String>,
    /// Filters that each forwarded frame passes; missing: none, so keys of such runs stay as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<u16>,
    /// Whether idle CPUs stayed awake at all latencies of the run. A reader adds it from these lines; missing: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus_awake: Option<bool>,
    /// Hash of the set-up script's text.
    pub dut_setup: Option<String>,
    /// Version of the program.
    pub tool_version: String,
    /// Version of the rules by which trials are judged and rates searched.
    pub method_version: u32,
    /// Where the tester receives, as it begins. A reader sets the port where an answer says that the tester fell back to it.
    pub receiver: Option<String>,
    /// A simulated pair, in words.
    pub simulated: Option<String>,
}

impl Comparability {
    /// The same with its key. It is hashed from the JSON of all members, so no member can be forgotten.
    #[must_use]
    pub fn keyed(self) -> Self {
        let bare = Self {
            key: String::new(),
            ..self
        };
        // All of it is numbers and words.
        let text = serde_json::to_string(&bare).unwrap_or_default();
        Self {
            key: digest(text.as_bytes()),
            ..bare
        }
    }

    /// Names of the members in which two differ, the key aside. Where there is none, their results may be compared.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let members = |one: &Self| serde_json::to_value(one).unwrap_or_default();
        let (Value::Object(ours), theirs) = (members(self), members(other)) else {
            return Vec::new();
        };
        let differ = ours
            .into_iter()
            .filter(|(name, value)| name != "key" && theirs.get(name) != Some(value));
        differ.map(|(name, _)| name).collect()
    }
}

/// As a person reads it: `5f3a09c1 (bed namespaces, front cpumap, ...)`.
impl fmt::Display for Comparability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unknown = || "unknown".to_owned();
        let hashed = |text: &Option<String>| {
            text.as_ref()
                .map_or_else(unknown, |text| digest(text.as_bytes()))
        };
        let said = |text: &Option<String>| text.clone().unwrap_or_else(unknown);
        let clock = self.clocksource.as_ref();
        let clock = clock.map(|source| format!("clock {source}, "));
        let (key, tool, method) = (&self.key, &self.tool_version, self.method_version);
        if let Some(pair) = &self.simulated {
            return write!(f, "{key} (simulated {pair}; mpps {tool}, method {method})");
        }
        write!(
            f,
            "{key} (bed {}, front {}, port {}, receiver {}, ring {} x {}, Linux {}, {}mitigations {}, ",
            self.bed,
            self.nic,
            self.port,
            said(&self.receiver),
            self.rx_ring_frames,
            self.queues,
            self.kernel_release,
            clock.unwrap_or_default(),
            digest(self.mitigations.as_bytes()),
        )?;
        let shared = if self.cpus_shared == Some(true) {
            ", CPUs shared"
        } else {
            ""
        };
        let filters = self.filters.map(|count| format!(", filters {count}"));
        let awake = match self.cpus_awake {
            None => "",
            Some(true) => ", idle CPUs awake",
            Some(false) => ", idle CPUs may sleep",
        };
        let setup = self.dut_setup.as_ref();
        write!(
            f,
            "stalls watched by {}{shared}{}{awake}, {}, DUT CPUs {}, search {}, traffic {}, {}, \
             mpps {tool}, method {method})",
            self.stall_watch.as_deref().unwrap_or("nothing"),
            filters.unwrap_or_default(),
            said(&self.cpu_model),
            self.dut_cpus.as_ref().map_or(0, Vec::len),
            said(&self.search),
            hashed(&self.traffic),
            setup.map_or("no set-up script".to_owned(), |hash| format!(
                "set-up script {hash:.12}"
            )),
        )
    }
}

/// FNV-1a, 32 bit (RFC 9923): the same text has the same digits everywhere.
fn digest(text: &[u8]) -> String {
    let fold = |hash: u32, octet: &u8| (hash ^ u32::from(*octet)).wrapping_mul(0x0100_0193);
    format!("{:08x}", text.iter().fold(0x811c_9dc5, fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_the_published_one() {
        // RFC 9923, test vectors of FNV-1a 32.
        assert_eq!(digest(b""), "811c9dc5");
        assert_eq!(digest(b"a"), "e40c292c");
        assert_eq!(digest(b"foobar"), "bf9cf968");
    }

    /// Each member in turn gets another value, whatever its name.
    #[test]
    fn every_member_gives_another_key() {
        let bare = Comparability {
            filters: Some(2),
            cpus_awake: Some(false),
            clocksource: Some("tsc".to_owned()),
            ..Comparability::default()
        };
        let members = serde_json::to_value(&bare).expect("members");
        let members = members.as_object().expect("an object");
        let mut keys = vec![bare.clone().keyed().key];
        for name in members.keys().filter(|name| *name != "key") {
            let values = [1.into(), "x".into(), true.into(), vec![1].into()];
            let other = values.into_iter().find_map(|value: Value| {
                let mut members = members.clone();
                members.insert(name.clone(), value);
                serde_json::from_value::<Comparability>(members.into()).ok()
            });
            let other = other.expect(name).keyed();
            assert_eq!(bare.differences(&other), [name.as_str()]);
            keys.push(other.key);
        }
        let count = keys.len();
        assert_eq!(count, members.len());
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn a_key_of_a_key_is_the_same() {
        let once = Comparability::default().keyed();
        assert_eq!(once.clone().keyed(), once);
    }

    #[test]
    fn shared_cpus_are_said() {
        let with = |shared| Comparability {
            cpus_shared: Some(shared),
            ..Comparability::default()
        };
        assert!(with(true).to_string().contains(", CPUs shared,"));
        assert!(!with(false).to_string().contains("shared"));
    }
}
