//! The counters along the frames' way, read when no frame is under way.

use crate::bed::Port;
use crate::tester::{PortKind, RingCount, Tester, TesterError, Way};
use mpps_ebpf::instruments::ledger::Taken;
use mpps_linux::ethtool;
use mpps_linux::ipstat::IpCounts;
use mpps_linux::links::{self, LinkStats};
use mpps_linux::procstat::{self, CpuTimes};
use mpps_linux::task::{self, SchedStat};

/// One direction's counters.
#[derive(Clone, Debug)]
pub struct WayStations {
    /// What the sending port and the virtual NIC's rings took and refused.
    pub taken: Taken,
    /// What the receiver's own ring took, where it has one.
    pub ring: RingCount,
    /// Frames the virtual NIC's program saw, by queue.
    pub nic: Vec<u64>,
    /// The kernel's counters of the DUT's incoming port.
    pub dut_in: LinkStats,
    /// The kernel's counters of the DUT's outgoing port.
    pub dut_out: LinkStats,
    /// Frames that a real receiving port had no room for. For a veth its peer counts them.
    pub missed: u64,
    /// Of the frames that a veth refused, those over the MTU of its receiving end. Only that end counts them apart.
    pub too_long: u64,
}

/// All counters at one moment.
#[derive(Clone, Debug)]
pub struct Stations {
    /// By direction.
    pub ways: Vec<WayStations>,
    /// The CPU of each of the DUT's threads, and how long it ran.
    pub threads: Vec<(usize, SchedStat)>,
    /// Times of every CPU.
    pub cpus: Vec<CpuTimes>,
    /// Packets that the network stack of every CPU has taken.
    pub stack_packets: Vec<(usize, u32)>,
    /// What the DUT's IP layer counted of the family in use. `None`: not known.
    pub stack: Option<IpCounts>,
}

impl Stations {
    /// Reads all counters.
    ///
    /// # Errors
    /// The kernel refused to tell a counter, for example because a namespace vanished.
    pub fn read(tester: &Tester<'_>) -> Result<Self, TesterError> {
        let ways = tester.ways();
        let ways = (0..)
            .zip(&ways)
            .map(|(number, way)| read_way(tester, number, way))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            ways,
            threads: read_threads(tester)?,
            cpus: procstat::cpu_times()?,
            stack_packets: procstat::stack_packets()?,
            stack: read_stack(tester)?,
        })
    }

    /// Frames that the DUT has dropped since, because it had no route. 0 for traffic that has routes.
    pub fn unrouted_since(&self, tester: &Tester<'_>) -> Result<u64, TesterError> {
        if !tester.traffic.missing() {
            return Ok(0);
        }
        let counted = read_stack(tester)?.zip(self.stack);
        Ok(counted.map_or(0, |(now, before)| now.no_route - before.no_route))
    }

    /// Frames that ports and rings have refused since this was read, all directions.
    pub fn refused_since(&self, tester: &Tester<'_>) -> Result<u64, TesterError> {
        let mut refused = 0;
        for ((number, way), before) in (0..).zip(&tester.ways()).zip(&self.ways) {
            let (taken, ring) = read_taken(tester, number, way)?;
            refused += taken.port_refused + taken.ring_refused + ring.dropped
                - before.taken.port_refused
                - before.taken.ring_refused
                - before.ring.dropped;
        }
        Ok(refused)
    }
}

fn read_stack(tester: &Tester<'_>) -> Result<Option<IpCounts>, TesterError> {
    Ok(tester.bed.dut().ip_counts(tester.traffic.ipv6)?)
}

fn read_way(tester: &Tester<'_>, number: u32, way: &Way<'_>) -> Result<WayStations, TesterError> {
    let (taken, ring) = read_taken(tester, number, way)?;
    let nic = tester.nics.get(number as usize).map(|nic| nic.received());
    let (dut_in, dut_out) = match way.dut {
        Some(dut) => (read_port(dut.incoming)?, read_port(dut.outgoing)?),
        None => Default::default(),
    };
    let port = read_port(way.to)?;
    let (missed, too_long) = match way.to.is_adopted() {
        true => (port.rx_missed_errors + port.rx_over_errors, 0),
        false => (0, port.rx_dropped.saturating_sub(read_ring_full(way)?)),
    };
    Ok(WayStations {
        taken,
        ring,
        nic: nic.transpose()?.unwrap_or_default(),
        dut_in,
        dut_out,
        missed,
        too_long,
    })
}

/// Frames that the receiver's port counts as dropped because its ring was full for a redirect by XDP, or by its own XDP program.
fn read_ring_full(way: &Way<'_>) -> Result<u64, TesterError> {
    let count = |port: &Port, end: &str| -> Result<u64, TesterError> {
        let counts = port.netns.run(|| ethtool::statistics(&port.name))??;
        // `xdp_drops` are those that a program wanted, as the receiver does.
        let is_one = |name: &str| name.ends_with(end) && !name.ends_with("_xdp_drops");
        let of_queues = counts.iter().filter(|(name, _)| is_one(name));
        Ok(of_queues.map(|(_, count)| count).sum())
    };
    let before = way.dut.map(|dut| count(dut.outgoing, "_xdp_xmit_errors"));
    Ok(before.transpose()?.unwrap_or(0) + count(way.to, "_drops")?)
}

/// What the rings and ports around the DUT took and refused.
fn read_taken(
    tester: &Tester<'_>,
    number: u32,
    way: &Way<'_>,
) -> Result<(Taken, RingCount), TesterError> {
    let mut taken = tester.ledger.read(number)?;
    if tester.traffic.port == PortKind::AfPacket {
        // Packet sockets redirect nothing, so the tracepoint sees nothing. The statistics of the port count instead.
        let port = read_port(way.from)?;
        (taken.port_taken, taken.port_refused) = (port.tx_packets, port.tx_dropped);
    }
    let ring = tester.receivers[number as usize].ring()?;
    Ok((taken, ring.unwrap_or_default()))
}

fn read_port(port: &Port) -> Result<LinkStats, TesterError> {
    Ok(port.netns.run(|| links::stats(&port.name))??)
}

fn read_threads(tester: &Tester<'_>) -> Result<Vec<(usize, SchedStat)>, TesterError> {
    tester
        .dut_threads()
        .iter()
        .map(|(tid, cpu)| Ok((*cpu, task::schedstat(*tid)?)))
        .collect()
}

/// How long the DUT's threads have run so far, ns. It stops growing when the DUT has nothing left to do. It is 0 for a
/// DUT without threads.
pub fn dut_run_ns(tester: &Tester<'_>) -> Result<u64, TesterError> {
    let threads = read_threads(tester)?;
    Ok(threads.iter().map(|(_, stat)| stat.run_ns).sum())
}
