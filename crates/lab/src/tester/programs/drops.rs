//! Why and where the kernel drops packets of one network namespace (`drops.bpf.c`).

use super::trace;
use crate::tester::error::TesterError;
use libbpf_rs::btf::{Btf, types};
use libbpf_rs::{Link, MapCore, MapFlags};
use mpps_ebpf::Plain;
use mpps_ebpf::instruments::drops::{DroppedKey, DropsSkel, DropsSkelBuilder};
use std::collections::BTreeMap;

const READ: &str = "read the drops";

/// What packets dropped for one reason at one place have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dropped {
    /// The interface they were of.
    pub ifindex: u32,
    /// The kernel's name of the reason, as `NETFILTER_DROP`; without it `reason 7`.
    pub reason: String,
    /// Address in the kernel behind the call.
    pub location: u64,
}

/// Packets dropped so far.
pub type DropCounts = BTreeMap<Dropped, u64>;

/// A loaded program. It counts while what [`Self::attach`] returned lives.
pub struct DropProbe {
    skel: DropsSkel<'static>,
    reasons: BTreeMap<u32, String>,
}

impl DropProbe {
    /// For the network namespace with this inode number.
    pub fn load(netns: u64) -> Result<Self, TesterError> {
        let mut open = super::open(DropsSkelBuilder::default(), "open the probe of drops")?;
        let rodata = super::constants(&mut open.maps.rodata_data, "rodata of drops")?;
        rodata.netns = u32::try_from(netns).unwrap_or(0);
        Ok(Self {
            skel: super::load(open, "load the probe of drops")?,
            reasons: reasons(),
        })
    }

    /// Begins to count. This costs each packet that is dropped some time.
    pub fn attach(&self) -> Result<Link, TesterError> {
        trace(&self.skel.progs.dropped, "attach the probe of drops")
    }

    /// What was counted so far.
    pub fn read(&self) -> Result<DropCounts, TesterError> {
        let map = &self.skel.maps.drops;
        let mut drops = DropCounts::new();
        for key in map.keys() {
            let counts = map.lookup_percpu(&key, MapFlags::ANY);
            let counts = counts.map_err(|e| TesterError::bpf(READ, &e))?;
            let counts = counts.iter().flatten();
            let key = DroppedKey::from_octets(&key).ok_or(TesterError::Layout(READ))?;
            let known = self.reasons.get(&key.reason).cloned();
            let dropped = Dropped {
                ifindex: key.ifindex,
                reason: known.unwrap_or_else(|| format!("reason {}", key.reason)),
                location: key.location,
            };
            let counts = counts.filter_map(|count| u64::from_octets(count));
            drops.insert(dropped, counts.sum());
        }
        Ok(drops)
    }
}

/// Names of the kernel's reasons to drop a frame, from its own types. Without them, reasons are numbers.
fn reasons() -> BTreeMap<u32, String> {
    let Ok(btf) = Btf::from_vmlinux() else {
        return BTreeMap::new();
    };
    let Some(all) = btf.type_by_name::<types::Enum<'_>>("skb_drop_reason") else {
        return BTreeMap::new();
    };
    let name = |member: types::EnumMember<'_>| {
        let name = member.name?.to_str()?;
        let name = name.strip_prefix("SKB_DROP_REASON_").unwrap_or(name);
        Some((u32::try_from(member.value).ok()?, name.to_owned()))
    };
    all.iter().filter_map(name).collect()
}
