//! Counters on the router's path that only `mpps explain` attaches: polls of its threads, and dropped packets by the
//! kernel's reason.

use crate::tester::Tester;
use crate::tester::error::TesterError;
use crate::tester::programs::{self, maps, trace};
use crate::traffic::ReceiverPlace;
use libbpf_rs::btf::{Btf, types::Enum};
use libbpf_rs::{Link, MapCore, MapFlags};
use mpps_ebpf::instruments::evidence::{EvidenceSkel, EvidenceSkelBuilder, Polls, REASONS};
use std::collections::BTreeMap;

/// The type of the kernel's reasons, what begins their names, and the reason of frames that an exit's program takes.
const REASON: &str = "skb_drop_reason";
const PREFIX: &str = "SKB_DROP_REASON_";
const EXIT: &str = "TC_EGRESS";

/// Loaded counters. They count while what attaching returned lives.
pub struct EvidenceProbe {
    skel: EvidenceSkel<'static>,
    reasons: BTreeMap<u32, String>,
}

impl EvidenceProbe {
    /// Loads what counts the polls of the DUT's threads and the drops in its namespace.
    pub fn load(tester: &Tester<'_>) -> Result<Self, TesterError> {
        let reasons = reasons()?;
        let mut open = programs::open(EvidenceSkelBuilder::default(), "open the probes of polls")?;
        let rodata = programs::constants(&mut open.maps.rodata_data, "rodata of polls")?;
        let exit = reasons.iter().find(|(_, name)| *name == EXIT);
        rodata.exit_reason = exit.map_or(u32::MAX, |(number, _)| *number);
        for (way, place) in tester.ways().iter().zip(0..) {
            let Some(dut) = way.dut else { continue };
            rodata.dut_netns = u32::try_from(dut.outgoing.netns.inode()).unwrap_or(0);
            let taken = tester.traffic.receiver == ReceiverPlace::Exit;
            let exit = rodata
                .exit_ifindex
                .get_mut::<usize>(place)
                .filter(|_| taken);
            exit.into_iter()
                .for_each(|exit| *exit = dut.outgoing.ifindex);
        }
        let skel = programs::load(open, "load the probes of polls")?;
        for (tid, _) in tester.dut_threads() {
            let value = 0_u32.to_ne_bytes();
            let done = (skel.maps.threads).update(&tid.to_ne_bytes(), &value, MapFlags::ANY);
            done.map_err(|e| TesterError::bpf("name a thread whose polls count", &e))?;
        }
        Ok(Self { skel, reasons })
    }

    /// Begins to count polls.
    pub fn attach_polls(&self) -> Result<[Link; 2], TesterError> {
        let attached = "attach the probes of polls";
        Ok([
            trace(&self.skel.progs.cpumap_polls, attached)?,
            trace(&self.skel.progs.napi_polls, attached)?,
        ])
    }

    /// Begins to count drops. This costs each packet that is freed some time.
    pub fn attach_drops(&self) -> Result<Link, TesterError> {
        trace(&self.skel.progs.packet_drops, "attach the probe of drops")
    }

    /// The polls so far, by CPU.
    pub fn polls(&self) -> Result<Vec<Polls>, TesterError> {
        maps::read_per_cpu(&self.skel.maps.polls, 0, "read the polls")
    }

    /// Packets dropped so far, by reason.
    pub fn drops(&self) -> Result<BTreeMap<String, u64>, TesterError> {
        let mut drops = BTreeMap::new();
        for number in 0..REASONS {
            let cpus: Vec<u64> =
                maps::read_per_cpu(&self.skel.maps.drops, number, "read the drops")?;
            let name = self.reasons.get(&number).filter(|_| number < REASONS - 1);
            let name = name.map_or_else(|| "other".to_owned(), Clone::clone);
            let packets: u64 = cpus.iter().sum();
            if packets > 0 {
                *drops.entry(name).or_default() += packets;
            }
        }
        Ok(drops)
    }
}

/// The kernel's own names of its reasons, without what all begin with.
fn reasons() -> Result<BTreeMap<u32, String>, TesterError> {
    let failed = |e: libbpf_rs::Error| TesterError::bpf("read the kernel's types", &e);
    let types = Btf::from_vmlinux().map_err(failed)?;
    let found = types.type_by_name::<Enum<'_>>(REASON);
    let members = found.iter().flat_map(|reasons| reasons.iter());
    let named = members.filter_map(|member| {
        let name = member.name?.to_str()?;
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        Some((u32::try_from(member.value).ok()?, name.to_owned()))
    });
    Ok(named.collect())
}
