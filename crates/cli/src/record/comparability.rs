//! The comparability key: records whose keys differ were not taken under the same conditions.

use super::bed::{bed_kind, front_name, means, ring_frames};
use super::job::Job;
use super::run::METHOD_VERSION;
use super::traffic::TrafficEntry;
use mpps_lab::bed::Bed;
use mpps_lab::facts::Facts;
use mpps_lab::tester::ReceiverPlace;
use mpps_method::simulate::Properties;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt;

/// What two results must have in common to be compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparability {
    /// All that follows, in 8 hexadecimal digits: for the eye, not for security.
    pub key: String,
    bed: &'static str,
    nic: &'static str,
    /// What carries the frames: batches make them cheaper.
    port: &'static str,
    rx_ring_frames: u32,
    queues: u16,
    kernel_release: String,
    mitigations: String,
    /// Threads cost the DUT's CPU more than timers; null where neither could be tried.
    stall_watch: Option<&'static str>,
    /// The DUT gets what the tester leaves of a CPU.
    cpus_shared: bool,
    cpu_model: String,
    /// Null: nobody knows.
    hypervisor: Option<bool>,
    dut_cpus: Vec<usize>,
    tester_cpus: usize,
    /// How long trials are and when a load has passed.
    search: String,
    /// All properties of the traffic but its frame sizes, as in `plan`.
    traffic: String,
    /// Hash of the set-up script's text.
    dut_setup: Option<String>,
    tool_version: &'static str,
    method_version: u32,
    /// Where the tester receives, as it begins: it falls back to its port where frames pass the exit by.
    receiver: Option<&'static str>,
    /// How a simulated pair is written.
    simulated: Option<String>,
}

impl Comparability {
    /// Of results on this bed of this machine.
    #[must_use]
    pub fn of_bed(bed: &Bed, job: Job<'_>, facts: &Facts) -> Self {
        let plan = bed.plan();
        let traffic = TrafficEntry::of(job.traffic());
        let script = plan.dut_setup.as_ref();
        Self {
            bed: bed_kind(plan),
            nic: front_name(plan),
            port: job.traffic().port.name(),
            receiver: job.receiver(bed).map(ReceiverPlace::name),
            rx_ring_frames: ring_frames(bed),
            queues: plan.queues,
            kernel_release: facts.kernel_release.text().to_owned(),
            mitigations: facts.mitigations_text(),
            stall_watch: means(bed).map(|means| means.stall_watch.name()),
            cpus_shared: plan.cpus.shared(),
            cpu_model: facts.cpu_model.text().to_owned(),
            hypervisor: facts.hypervisor.known().copied(),
            dut_cpus: plan.cpus.dut.clone(),
            tester_cpus: plan.cpus.tester.len(),
            search: job.search_rule(),
            // All of it is numbers and words.
            traffic: serde_json::to_string(&traffic).unwrap_or_default(),
            dut_setup: script.map(|path| sha256(&std::fs::read(path).unwrap_or_default())),
            ..Self::bare()
        }
        .keyed()
    }

    /// Of a simulated pair's: whatever machine it ran on.
    #[must_use]
    pub fn of_simulated(pair: &Properties) -> Self {
        Self {
            bed: "simulated",
            nic: "simulated",
            port: "simulated",
            rx_ring_frames: u32::try_from(pair.ring).unwrap_or(u32::MAX),
            queues: 1,
            simulated: Some(pair.to_string()),
            ..Self::bare()
        }
        .keyed()
    }

    fn bare() -> Self {
        Self {
            key: String::new(),
            bed: "",
            nic: "",
            port: "",
            receiver: None,
            rx_ring_frames: 0,
            queues: 0,
            kernel_release: String::new(),
            mitigations: String::new(),
            stall_watch: None,
            cpus_shared: false,
            cpu_model: String::new(),
            hypervisor: None,
            dut_cpus: Vec::new(),
            tester_cpus: 0,
            search: String::new(),
            traffic: String::new(),
            dut_setup: None,
            tool_version: env!("CARGO_PKG_VERSION"),
            method_version: METHOD_VERSION,
            simulated: None,
        }
    }

    fn keyed(self) -> Self {
        let each = [
            self.bed.to_owned(),
            self.nic.to_owned(),
            self.port.to_owned(),
            self.receiver.unwrap_or_default().to_owned(),
            self.rx_ring_frames.to_string(),
            self.queues.to_string(),
            self.kernel_release.clone(),
            self.mitigations.clone(),
            format!("{}{}", self.stall_watch.unwrap_or_default(), self.sharing()),
            self.tool_version.to_owned(),
            self.method_version.to_string(),
            self.simulated.clone().unwrap_or_default(),
            self.cpu_model.clone(),
            format!("{:?}", self.hypervisor),
            format!("{:?} {}", self.dut_cpus, self.tester_cpus),
            self.search.clone(),
            self.traffic.clone(),
            self.dut_setup.clone().unwrap_or_default(),
        ];
        let key = digest(each.join("\n").as_bytes());
        Self { key, ..self }
    }

    /// Nothing where nothing is shared: keys of earlier records stay.
    const fn sharing(&self) -> &'static str {
        if self.cpus_shared {
            ", CPUs shared"
        } else {
            ""
        }
    }
}

/// As a person reads it: `5f3a09c1 (bed namespaces, front cpumap, ...)`.
impl fmt::Display for Comparability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            key,
            bed,
            nic,
            port,
            receiver,
            rx_ring_frames,
            queues,
            kernel_release,
            mitigations,
            stall_watch,
            cpus_shared: _,
            cpu_model,
            hypervisor: _,
            dut_cpus,
            tester_cpus: _,
            search,
            traffic,
            dut_setup,
            tool_version,
            method_version,
            simulated,
        } = self;
        if let Some(pair) = simulated {
            return write!(
                f,
                "{key} (simulated {pair}; mpps {tool_version}, method {method_version})"
            );
        }
        write!(
            f,
            "{key} (bed {bed}, front {nic}, port {port}, receiver {}, ring {rx_ring_frames} x {queues}, Linux {kernel_release}, mitigations {}, \
             stalls watched by {}{}, {cpu_model}, {} CPU(s) for the DUT, search {search}, traffic {}, {}, \
             mpps {tool_version}, method {method_version})",
            receiver.unwrap_or("unknown"),
            digest(mitigations.as_bytes()),
            stall_watch.unwrap_or("nothing"),
            self.sharing(),
            dut_cpus.len(),
            digest(traffic.as_bytes()),
            dut_setup
                .as_ref()
                .map_or("no set-up script".to_owned(), |hash| format!(
                    "set-up script {hash:.12}"
                )),
        )
    }
}

/// SHA-256 in hexadecimal digits, as `sha256sum` prints it.
#[must_use]
pub fn sha256(octets: &[u8]) -> String {
    let octets = Sha256::digest(octets);
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// FNV-1a, 32 bit (RFC 9923): the same text has the same digits everywhere.
pub(super) fn digest(text: &[u8]) -> String {
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

    #[test]
    fn what_differs_has_another_key() {
        let pair = Properties::ideal(mpps_method::Rate::from_fps(1e6));
        let one = Comparability::of_simulated(&pair);
        let other = Comparability::of_simulated(&Properties { ring: 8, ..pair });
        assert_eq!(one.key, Comparability::of_simulated(&pair).key);
        assert_ne!(one.key, other.key);
        assert!(other.to_string().contains("ring=8"), "{other}");
    }

    #[test]
    fn each_condition_gives_another_key() {
        let bare = Comparability::bare;
        let with = [
            bare(),
            Comparability {
                cpu_model: "EPYC".to_owned(),
                ..bare()
            },
            Comparability {
                hypervisor: Some(true),
                ..bare()
            },
            Comparability {
                dut_cpus: vec![1],
                ..bare()
            },
            Comparability {
                search: "1 s trials, any of 3".to_owned(),
                ..bare()
            },
            Comparability {
                traffic: "flows 9".to_owned(),
                ..bare()
            },
            Comparability {
                dut_setup: Some(digest(b"nft")),
                ..bare()
            },
        ];
        let mut keys: Vec<String> = with.into_iter().map(|one| one.keyed().key).collect();
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn a_result_of_a_shared_cpu_compares_with_none_of_a_cpu_alone() {
        let with = |cpus_shared| {
            let bare = Comparability::bare();
            Comparability {
                cpus_shared,
                ..bare
            }
            .keyed()
        };
        let (alone, shared) = (with(false), with(true));
        assert_ne!(alone.key, shared.key);
        assert!(shared.to_string().contains(", CPUs shared,"), "{shared}");
        assert!(!alone.to_string().contains("shared"), "{alone}");
    }
}
