//! Which CPU serves which queue of a NIC, computed from where CPUs and NICs are.
//!
//! Each receive queue gets a physical core of the NIC's memory node. Second threads of the cores get queues only when
//! every core has one. A CPU sends on the queue that it receives from, so that no two CPUs wait for one queue's lock
//! (`Documentation/networking/scaling.rst`).

use std::collections::BTreeMap;

/// A CPU that is online.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Its number.
    pub number: usize,
    /// Its core, by the lowest number of a thread of it.
    pub core: usize,
    /// Its memory node, where the machine tells one.
    pub node: Option<usize>,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its memory node, where the machine tells one.
    pub node: Option<usize>,
    /// Receive queues.
    pub rx: usize,
    /// Transmit queues.
    pub tx: usize,
    /// The most channels that it can have, where it tells.
    pub channels_max: Option<usize>,
}

/// Which CPUs serve a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// The CPU of each receive queue.
    pub rx: Vec<usize>,
    /// CPUs that send on each transmit queue; empty where there is one queue.
    pub tx: Vec<Vec<usize>>,
    /// Whether each core near the port has a queue, so that spreading frames by software (RPS) only costs.
    pub has_enough: bool,
    /// So many channels would give each core near the port one queue; `None` where they do already, or cannot.
    pub channels: Option<usize>,
}

/// Places the queues of all ports.
#[must_use]
pub fn lay_out(cpus: &[Cpu], ports: &[Port]) -> Vec<Served> {
    let serve = |(at, port): (usize, &Port)| serve(cpus, ports, at, port);
    ports.iter().enumerate().map(serve).collect()
}

fn serve(cpus: &[Cpu], ports: &[Port], at: usize, port: &Port) -> Served {
    let node = near(cpus, port);
    let (near_cores, far_cores): (Vec<_>, Vec<_>) = cores(cpus)
        .into_iter()
        .partition(|core| node.is_none() || core.iter().any(|cpu| cpu.node == node));
    let count = near_cores.len();
    if count == 0 {
        return Served::default();
    }
    let shares = |other: &&Port| near(cpus, other) == node;
    let queues: usize = ports.iter().filter(shares).map(|port| port.rx).sum();
    let others: usize = ports
        .iter()
        .take(at)
        .filter(shares)
        .map(|port| port.rx)
        .sum();
    // Ports of one node get cores of their own while there are enough, and else the same ones.
    let first = if queues <= count { others } else { 0 };
    let mut ranked = near_cores;
    ranked.rotate_left(first % count);
    let threads = ranked.iter().map(Vec::len).max().unwrap_or(0);
    let thread = |number: usize| ranked.iter().filter_map(move |core| core.get(number));
    let order: Vec<usize> = (0..threads)
        .flat_map(thread)
        .map(|cpu| cpu.number)
        .collect();
    let rx: Vec<usize> = order.iter().copied().cycle().take(port.rx).collect();
    let mut tx = vec![Vec::new(); if port.tx > 1 { port.tx } else { 0 }];
    for (rank, core) in ranked.iter().chain(&far_cores).enumerate() {
        for cpu in core {
            let own = rx.iter().position(|&one| one == cpu.number);
            if let Some(cpus) = tx.get_mut(own.unwrap_or(rank) % port.tx.max(1)) {
                cpus.push(cpu.number);
            }
        }
    }
    tx.iter_mut().for_each(|cpus| cpus.sort_unstable());
    let channels = count.min(port.channels_max.unwrap_or(port.rx));
    Served {
        rx,
        tx,
        has_enough: queues >= count,
        channels: (channels != port.rx && port.rx > 0).then_some(channels),
    }
}

/// The memory node whose CPUs are near a port; `None`: all are.
fn near(cpus: &[Cpu], port: &Port) -> Option<usize> {
    let has_cpus = |node: &usize| cpus.iter().any(|cpu| cpu.node == Some(*node));
    port.node.filter(has_cpus)
}

/// The threads of each core, by node and number.
#[must_use]
pub fn cores(cpus: &[Cpu]) -> Vec<Vec<Cpu>> {
    let mut cores: BTreeMap<(Option<usize>, usize), Vec<Cpu>> = BTreeMap::new();
    for cpu in cpus {
        cores.entry((cpu.node, cpu.core)).or_default().push(*cpu);
    }
    cores
        .into_values()
        .map(|mut threads| {
            threads.sort_unstable_by_key(|cpu| cpu.number);
            threads
        })
        .collect()
}

/// The queue of an interrupt by the name that a driver gave it: `eth0-TxRx-3`, `virtio0-input.1`, `mlx5_comp2@pci:...`.
#[must_use]
pub fn queue_of(interrupt: &str) -> Option<usize> {
    let name = interrupt.split('@').next()?.to_ascii_lowercase();
    let kind = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_queue = ["rx-", "tx-", "input.", "output.", "comp"]
        .iter()
        .any(|end| kind.ends_with(end));
    name[kind.len()..].parse().ok().filter(|_| is_queue)
}

#[cfg(test)]
mod tests;
