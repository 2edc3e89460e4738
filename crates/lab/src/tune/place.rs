//! Places of a setting on this machine: a template of the catalogue with its words in braces filled in.

use super::machine::Machine;
use crate::bed::BedPlan;
use mpps_linux::setting::{Kind as Reached, Setting};
use mpps_method::tune::{DUT_CPUS, Kind, Row, Template};

const NET: &str = "/sys/class/net";
const CPUS: &str = "/sys/devices/system/cpu";

/// One place of a setting on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// How it is reached.
    pub kind: Kind,
    /// Which of the row's templates it is of; as many as there are where it is of none.
    pub template: usize,
    /// The interface that it belongs to, where it belongs to one.
    pub interface: Option<String>,
    /// The template with everything filled in but the interface.
    pub(super) text: String,
}

impl Place {
    /// Its name or path in full, as people write it.
    #[must_use]
    pub fn name(&self) -> String {
        self.with_interface(&self.text)
    }

    /// The file that holds it; `None` where no file does.
    #[must_use]
    pub fn file(&self) -> Option<String> {
        match self.kind {
            // An interface's name may hold dots, so they are replaced first.
            Kind::Sysctl => {
                let path = self.with_interface(&self.text.replace('.', "/"));
                Some(format!("/proc/sys/{path}"))
            }
            Kind::Sysfs | Kind::Procfs => Some(self.name()),
            Kind::Irq => Some(format!("/proc/irq/{}/smp_affinity_list", self.text)),
            _ => None,
        }
    }

    /// The setting by which it is read and written; `None` where nothing but a boot or a command changes it.
    #[must_use]
    pub fn setting(&self) -> Option<Setting> {
        let (kind, name) = match self.kind {
            Kind::Sysctl => (Reached::Sysctl, self.text.replace('.', "/")),
            Kind::Sysfs => (Reached::Sysfs, self.text.strip_prefix("/sys/")?.to_owned()),
            Kind::Ethtool => (Reached::Ethtool, self.text.clone()),
            Kind::Irq => (Reached::Irq, self.text.clone()),
            Kind::Service => (Reached::Service, self.text.clone()),
            _ => return None,
        };
        let needs_interface = name.contains("{if}") || kind == Reached::Ethtool;
        Some(Setting {
            kind,
            name: name.replace("{if}", "*"),
            interface: self.interface.clone().filter(|_| needs_interface),
        })
    }

    fn with_interface(&self, text: &str) -> String {
        match &self.interface {
            Some(interface) => text.replace("{if}", interface),
            None => text.to_owned(),
        }
    }
}

/// All places of a row. `Err`: why there is none here.
///
/// # Errors
/// No interface, queue, CPU or interrupt that it could be of.
pub fn places(row: &Row, machine: &Machine) -> Result<Vec<Place>, String> {
    let interfaces: Vec<&String> = machine
        .interfaces
        .iter()
        .filter(|name| row.drivers.is_empty() || machine.has_driver(name, &row.drivers))
        .collect();
    let per_interface =
        |template: &Template| template.kind == Kind::Ethtool || is_of_interface(template.text);
    if row.places.iter().any(per_interface) && interfaces.is_empty() {
        return Err(match row.drivers.as_slice() {
            [] => "no interface".to_owned(),
            drivers => format!("no interface of driver {}", drivers.join(", ")),
        });
    }
    let mut all = Vec::new();
    for (number, template) in row.places.iter().enumerate() {
        let place = |interface: Option<&str>, text: String| Place {
            kind: template.kind,
            template: number,
            interface: interface.map(str::to_owned),
            text,
        };
        if per_interface(template) {
            for interface in &interfaces {
                let texts = filled(machine, template.text, interface);
                all.extend(texts.into_iter().map(|text| place(Some(interface), text)));
            }
        } else {
            let texts = filled(machine, template.text, "");
            all.extend(texts.into_iter().map(|text| place(None, text)));
        }
    }
    if all.is_empty() {
        let reasons = [
            ("{irq}", "no interrupt of these interfaces"),
            ("xq}", "no queue of these interfaces"),
            ("{idle}", "no idle states to choose"),
            ("", "no CPU that has it"),
        ];
        let is_of = |part: &str| row.places.iter().any(|place| place.text.contains(part));
        let found = reasons.into_iter().find(|(part, _)| is_of(part));
        return Err(found.map_or("", |(_, why)| why).to_owned());
    }
    Ok(all)
}

/// A level of the catalogue as it is written on such a bed.
pub(super) fn level_at(level: &str, bed: &BedPlan) -> String {
    match level {
        DUT_CPUS => bed.cpus.dut_set().mask(),
        level => level.to_owned(),
    }
}

/// Places of a row at these ports of such a bed, and at the CPUs of its router.
pub(super) fn places_at(row: &Row, ports: &[String], bed: &BedPlan) -> Vec<Place> {
    let mut all = Vec::new();
    for (template, Template { kind, text }) in row.places.iter().enumerate() {
        let of_port = *kind == Kind::Ethtool || is_of_interface(text);
        let interfaces = match of_port {
            true => ports.iter().cloned().map(Some).collect(),
            false => vec![None],
        };
        let queues = |kind: &str| {
            let numbers = 0..bed.port_queues();
            numbers.map(|queue| format!("{kind}{queue}")).collect()
        };
        let (open, words): (&str, Vec<String>) = if text.contains("{rxq}") {
            ("{rxq}", queues("rx-"))
        } else if text.contains("{txq}") {
            ("{txq}", queues("tx-"))
        } else if text.contains("{cpu}") {
            let cpus = bed.cpus.dut.iter();
            ("{cpu}", cpus.map(usize::to_string).collect())
        } else {
            ("", vec![String::new()])
        };
        for interface in interfaces {
            all.extend(words.iter().map(|word| Place {
                kind: *kind,
                template,
                interface: interface.clone(),
                text: text.replace(open, word),
            }));
        }
    }
    all
}

fn is_of_interface(text: &str) -> bool {
    text.contains("{if}") || text.contains("{irq}")
}

/// The text once for each queue, CPU, idle state or interrupt. The interface stays open.
fn filled(machine: &Machine, text: &str, interface: &str) -> Vec<String> {
    let root = &machine.root;
    let numbers = |folder: String, prefix: &str| {
        let numbers = root.numbered(&folder, prefix).known().cloned();
        let numbers = numbers.unwrap_or_default().into_iter();
        numbers.map(|number| number.to_string()).collect()
    };
    let queues = |kind: &str| {
        let names = root.names(&format!("{NET}/{interface}/queues"));
        let mut names = names.known().cloned().unwrap_or_default();
        names.retain(|name| name.starts_with(kind));
        names
    };
    // A virtio device is a child of the PCI device, which has the interrupts.
    let interrupts = || -> Vec<String> {
        let device = format!("{NET}/{interface}/device");
        let own: Vec<String> = numbers(format!("{device}/msi_irqs"), "");
        if own.is_empty() {
            return numbers(format!("{device}/../msi_irqs"), "");
        }
        own
    };
    let (open, words): (&str, Vec<String>) = if text.contains("{rxq}") {
        ("{rxq}", queues("rx-"))
    } else if text.contains("{txq}") {
        ("{txq}", queues("tx-"))
    } else if text.contains("{irq}") {
        ("{irq}", interrupts())
    } else if text.contains("{cpu}") {
        ("{cpu}", numbers(CPUS.to_owned(), "cpu"))
    } else if let Some((folder, _)) = text.split_once("/state{idle}") {
        ("{idle}", numbers(folder.to_owned(), "state"))
    } else {
        return vec![text.to_owned()];
    };
    words
        .iter()
        .flat_map(|word| filled(machine, &text.replace(open, word), interface))
        .collect()
}
