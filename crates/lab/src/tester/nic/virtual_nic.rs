//! The virtual NIC before the DUT: an XDP program on the DUT's port, a ring and a kthread for each queue.

use crate::bed::{Front, RssKey};
use crate::tester::error::TesterError;
use crate::tester::programs::{self, attach_in, map_options, maps};
use libbpf_rs::{MapCore, MapHandle, MapType};
use mpps_ebpf::instruments::nic::{HASH_INPUT_MAX, NicSkel, NicSkelBuilder, QUEUES_MAX};
use mpps_linux::bpf::{self, LinkKind};
use mpps_linux::netns::NetNs;
use mpps_linux::{Error, task};
use mpps_wire::toeplitz;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What the NIC is to be: the front, its queues, and the CPUs that serve them in turns.
#[derive(Clone, Debug)]
pub struct NicPlan {
    /// Which part of the kernel receives.
    pub front: Front,
    /// Receive queues, 1 to 64.
    pub queues: u16,
    /// Frames a ring holds behind the cpumap front. The others have the kernel's own rings.
    pub rx_ring: u32,
    /// RSS key.
    pub rss: RssKey,
    /// The DUT's CPUs.
    pub dut_cpus: Vec<usize>,
}

/// An attached virtual NIC. It is detached when this is dropped.
pub struct Nic {
    skel: NicSkel<'static>,
    rings: Vec<MapHandle>,
    queues: u16,
    kthreads: Vec<(i32, usize)>,
    front: Front,
    /// Whether the second of both programs is there.
    is_swapped: bool,
    link: OwnedFd,
}

impl Nic {
    /// Puts the NIC on the port `ifindex` of namespace `dut`.
    ///
    /// # Errors
    /// The kernel refused the program, a ring, or the attachment.
    pub fn attach(plan: &NicPlan, dut: &NetNs, ifindex: u32) -> Result<Self, TesterError> {
        let mut open = programs::open(NicSkelBuilder::default(), "open the virtual NIC")?;
        let rodata = programs::constants(&mut open.maps.rodata_data, "nic rodata")?;
        rodata.queues = u32::from(plan.queues);
        let key = match plan.rss {
            RssKey::Default => &toeplitz::DEFAULT_KEY,
            RssKey::Symmetric => &toeplitz::SYMMETRIC_KEY,
        };
        rodata
            .toeplitz
            .copy_from_slice(&toeplitz::table(key)[..HASH_INPUT_MAX]);
        for (entry, queue) in rodata.indirection.iter_mut().zip((0..plan.queues).cycle()) {
            *entry = u8::try_from(queue).unwrap_or(0);
        }
        for (queue, cpu) in rodata.queue_cpu.iter_mut().zip(queue_cpus(plan)) {
            *queue = u32::try_from(cpu).unwrap_or(0);
        }
        let skel = programs::load(open, "load the virtual NIC")?;
        let mut nic = Self {
            rings: Vec::new(),
            queues: plan.queues,
            kthreads: Vec::new(),
            front: plan.front,
            is_swapped: false,
            link: attach_in(
                dut,
                both_programs(&skel, plan.front)[0],
                ifindex,
                LinkKind::Xdp,
            )?,
            skel,
        };
        if plan.front == Front::Cpumap {
            nic.make_rings(plan)?;
        }
        Ok(nic)
    }

    /// Makes a map for each queue, because a CPUMAP's key is a CPU number and two queues may share a CPU.
    fn make_rings(&mut self, plan: &NicPlan) -> Result<(), TesterError> {
        for (queue, cpu) in (0..u32::from(plan.queues)).zip(queue_cpus(plan)) {
            let entries = u32::try_from(cpu + 1).unwrap_or(u32::MAX);
            let ring = MapHandle::create(
                MapType::Cpumap,
                Some("mpps_ring"),
                4,
                8,
                entries,
                &map_options(),
            )
            .map_err(|e| TesterError::bpf("make a receive ring", &e))?;
            // How many frames it holds, and no program.
            let value = [plan.rx_ring, 0];
            maps::write(&ring, entries - 1, &value, "size a receive ring")?;
            self.kthreads
                .push((ring_kthread(ring_id(&ring)?, cpu)?, cpu));
            let ring_fd = std::os::fd::AsRawFd::as_raw_fd(&ring.as_fd()).cast_unsigned();
            let attach = "attach a ring to the virtual NIC";
            maps::write(&self.skel.maps.rings, queue, &ring_fd, attach)?;
            self.rings.push(ring);
        }
        Ok(())
    }

    /// The next swap of both programs, to be done once and before another is asked for.
    pub fn swap(&mut self) -> Result<Swap, TesterError> {
        let mut programs = both_programs(&self.skel, self.front);
        if self.is_swapped {
            programs.reverse();
        }
        let copy = |fd: BorrowedFd<'_>| {
            fd.try_clone_to_owned()
                .map_err(|error| Error::from_io("copy a descriptor", "of the NIC", &error))
        };
        let [old, new] = programs;
        let swap = Swap {
            link: copy(self.link.as_fd())?,
            programs: [copy(old)?, copy(new)?],
        };
        self.is_swapped = !self.is_swapped;
        Ok(swap)
    }

    /// Map ids of the rings, for the ledger.
    pub fn ring_ids(&self) -> Result<Vec<u32>, TesterError> {
        self.rings.iter().map(ring_id).collect()
    }

    /// The kthreads that serve the rings, with their CPUs.
    #[must_use]
    pub fn kthreads(&self) -> &[(i32, usize)] {
        &self.kthreads
    }

    /// Frames received so far, by queue.
    pub fn received(&self) -> Result<Vec<u64>, TesterError> {
        let map = &self.skel.maps.received;
        (0..u32::from(self.queues))
            .map(|queue| {
                let cpus: Vec<u64> = maps::read_per_cpu(map, queue, "read the virtual NIC")?;
                Ok(cpus.iter().sum())
            })
            .collect()
    }
}

/// A swap of the port's XDP program for another, as a data plane is upgraded: the link stays. It has descriptors of its own,
/// so that it can be done beside the sender.
#[derive(Debug)]
pub struct Swap {
    link: OwnedFd,
    programs: [OwnedFd; 2],
}

impl Swap {
    /// Swaps them.
    ///
    /// # Errors
    /// What the kernel said; another program is attached.
    pub fn run(&self) -> Result<(), TesterError> {
        let [old, new] = &self.programs;
        Ok(bpf::replace(self.link.as_fd(), [old.as_fd(), new.as_fd()])?)
    }
}

/// The program of a front, and the same once more.
fn both_programs<'a>(skel: &'a NicSkel<'static>, front: Front) -> [BorrowedFd<'a>; 2] {
    let programs = &skel.progs;
    match front {
        Front::Cpumap => [programs.nic.as_fd(), programs.nic_second.as_fd()],
        Front::Napi | Front::Softirq => [programs.pass.as_fd(), programs.pass_second.as_fd()],
    }
}

fn queue_cpus(plan: &NicPlan) -> impl Iterator<Item = usize> + '_ {
    plan.dut_cpus
        .iter()
        .copied()
        .cycle()
        .take(usize::from(plan.queues).min(QUEUES_MAX))
}

fn ring_id(ring: &MapHandle) -> Result<u32, TesterError> {
    let info = ring.info();
    let info = info.map_err(|e| TesterError::bpf("ask a ring's id", &e))?;
    Ok(info.info.id)
}

/// The kthread is named after its map. Kthreads of closed maps may still exist under other ids.
fn ring_kthread(map_id: u32, cpu: usize) -> Result<i32, TesterError> {
    let name = format!("cpumap/{cpu}/map:{map_id}");
    let found = task::find_kthreads(|comm| comm == name)?;
    found
        .first()
        .map(|(pid, _)| *pid)
        .ok_or(TesterError::NoKthread(name))
}
