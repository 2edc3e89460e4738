//! The layout of this machine's queues over its CPUs, and the settings that make it.

use super::machine::Machine;
use super::place::{Place, places};
use crate::facts::{nic, topology};
use mpps_linux::cpu::CpuSet;
use mpps_linux::ethtool;
use mpps_linux::setting::{Kind, Setting};
use mpps_method::tune::CATALOGUE;
use mpps_method::tune::layout::{Cpu, Port, Served, lay_out, queue_of};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of the catalogue whose advice for a router is the layout.
pub const ROWS: [&str; 3] = ["irq_affinity", "xps_cpus", "rps_cpus"];

/// Where queues are to go.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// CPUs that are online.
    pub cpus: Vec<Cpu>,
    /// Each interface that was looked at, and what serves it.
    pub ports: Vec<(Port, Served)>,
    /// Interrupts of each interface in rising order, each with its queue where its name tells one.
    pub interrupts: BTreeMap<String, Vec<(String, Option<usize>)>>,
    /// Whether a process runs that moves interrupts again.
    pub irqbalance: bool,
    /// Settings that make it, with their values.
    values: Vec<(Setting, String)>,
}

impl Layout {
    pub(super) fn read(machine: &Machine) -> Self {
        let cpus = cpus(machine);
        // All NICs of the machine share its CPUs, whichever of them are looked at.
        let nics = nic::names(&machine.root);
        let names = nics.known().into_iter().flatten();
        let names: BTreeSet<&String> = names.chain(&machine.interfaces).collect();
        let all: Vec<Port> = names.into_iter().map(|name| port(machine, name)).collect();
        let served = lay_out(&cpus, &all);
        let mut ports: Vec<(Port, Served)> = all.into_iter().zip(served).collect();
        ports.retain(|(port, _)| machine.interfaces.contains(&port.name));
        let mut layout = Self {
            cpus,
            ports,
            irqbalance: machine.runs("irqbalance"),
            ..Self::default()
        };
        let names = interrupt_names(machine);
        let rows = CATALOGUE.iter().filter(|row| ROWS.contains(&row.id));
        for place in rows.flat_map(|row| places(row, machine).unwrap_or_default()) {
            if let Some(setting) = place.setting() {
                layout.add(machine, &place, setting, &names);
            }
        }
        layout
    }

    fn add(
        &mut self,
        machine: &Machine,
        place: &Place,
        setting: Setting,
        names: &BTreeMap<String, String>,
    ) {
        let interface = place.interface.clone().unwrap_or_default();
        let port = self.ports.iter().find(|(port, _)| port.name == interface);
        let Some((port, served)) = port else { return };
        let (_, file) = setting.name.split_once("/queues/").unwrap_or_default();
        let queue = |start| {
            file.strip_prefix(start)?
                .split_once('/')?
                .0
                .parse::<usize>()
                .ok()
        };
        let value = if setting.kind == Kind::Irq {
            let queue = names
                .get(&setting.name)
                .and_then(|name| match queue_of(name) {
                    // One interrupt for everything.
                    None if *name == interface && port.rx == 1 => Some(0),
                    queue => queue,
                });
            let all = self.interrupts.entry(interface).or_default();
            all.push((setting.name.clone(), queue));
            queue
                .and_then(|queue| served.rx.get(queue))
                .map(ToString::to_string)
        } else if let Some(queue) = queue("tx-") {
            let cpus = served.tx.get(queue);
            cpus.map(|cpus| cpus.iter().copied().collect::<CpuSet>().mask())
        } else {
            // An interface without hardware has nothing else that spreads frames.
            let device = machine
                .root
                .path(&format!("/sys/class/net/{interface}/device"));
            (served.has_enough && device.exists()).then(|| "0".to_owned())
        };
        self.values.extend(value.map(|value| (setting, value)));
    }

    /// What a setting should hold, if it is one of the layout.
    #[must_use]
    pub fn value(&self, setting: &Setting) -> Option<&str> {
        let found = self.values.iter().find(|(known, _)| known == setting);
        found.map(|(_, value)| value.as_str())
    }

    /// The interface of an interrupt and its place among that interface's: its number is another after a boot.
    #[must_use]
    pub fn place_of(&self, interrupt: &str) -> Option<(&str, usize)> {
        self.interrupts.iter().find_map(|(interface, all)| {
            let at = all.iter().position(|(number, _)| number == interrupt)?;
            Some((interface.as_str(), at))
        })
    }
}

fn cpus(machine: &Machine) -> Vec<Cpu> {
    let root = &machine.root;
    let nodes = topology::nodes(root);
    let cpu = |number: usize| {
        let threads = topology::threads_of_core(root, number);
        let first = threads.known().and_then(|threads| threads.iter().next());
        let node = nodes.iter().find(|(_, cpus)| cpus.contains(number));
        Cpu {
            number,
            core: first.unwrap_or(number),
            node: node.map(|(node, _)| *node),
        }
    };
    let online = topology::online(root);
    let online = online.known().into_iter().flat_map(CpuSet::iter);
    online.map(cpu).collect()
}

fn port(machine: &Machine, name: &str) -> Port {
    let folder = format!("/sys/class/net/{name}");
    let queues = |kind| {
        let all = machine.root.numbered(&format!("{folder}/queues"), kind);
        all.known().map_or(0, Vec::len)
    };
    // A virtio device is a child of the PCI device. A machine of one node says -1.
    let node = |file: &str| {
        machine
            .root
            .number(&format!("{folder}/{file}"))
            .known()
            .copied()
    };
    let most = ethtool::numbers(name, "channels", ["combined-max", "rx-max"]);
    let most = most.map(|[combined, rx]| combined.max(rx) as usize);
    Port {
        name: name.to_owned(),
        node: node("device/numa_node").or_else(|| node("device/../numa_node")),
        rx: queues("rx-"),
        tx: queues("tx-"),
        channels_max: most.ok().filter(|most| *most > 0),
    }
}

/// The name of each interrupt, by its number.
fn interrupt_names(machine: &Machine) -> BTreeMap<String, String> {
    let text = machine.root.text("/proc/interrupts");
    let name = |line: &str| {
        let (number, rest) = line.trim_start().split_once(':')?;
        Some((
            number.to_owned(),
            rest.split_whitespace().next_back()?.to_owned(),
        ))
    };
    text.known().map_or_else(BTreeMap::new, |text| {
        text.lines().filter_map(name).collect()
    })
}

#[cfg(test)]
mod tests;
