//! A network interface: driver, firmware, its place on the bus, its queues, rings, offloads.

use super::root::Root;
use mpps_linux::netns::NetNs;
use mpps_linux::{ethtool, xdp};
use mpps_method::limits::Generation;
use mpps_record::facts::Reading;
use mpps_record::{Channels, Coalescing, Driver, Nic, PcieLink, Rings};
use std::fs;

const NET: &str = "/sys/class/net";

/// Facts of an interface of the calling thread's network namespace; `root` shows the same namespace.
#[must_use]
pub fn read(root: &Root, name: &str) -> Nic {
    let offloads = ethtool::features(name).map(|all| {
        let on = all.into_iter().filter(|feature| feature.on);
        on.map(|feature| feature.name).collect()
    });
    Nic {
        driver: ethtool::driver(name).map(driver).into(),
        channels: channels(name).into(),
        rings: rings(name).into(),
        coalescing: coalescing(name).into(),
        offloads_on: offloads.into(),
        xdp: xdp::features(name).map(xdp_names).into(),
        ..from_sysfs(root, name)
    }
}

/// Facts of an interface in a network namespace.
///
/// # Errors
/// The namespace could not be entered or shown.
pub fn in_netns(netns: &NetNs, name: &str) -> mpps_linux::Result<Nic> {
    netns.with_sysfs(|sys| read(&Root::with_sysfs(sys), name))
}

/// Only what sysfs has; the driver itself is not asked.
#[must_use]
pub fn from_sysfs(root: &Root, name: &str) -> Nic {
    let path = |file: &str| format!("{NET}/{name}/{file}");
    let queues = |kind: &str| {
        let names = root.names(&path("queues"));
        names.map(|names| names.iter().filter(|name| name.starts_with(kind)).count())
    };
    let not_asked = || "the driver was not asked";
    Nic {
        name: name.to_owned(),
        state: root.text(&path("operstate")),
        link_mbit_per_s: speed(root, &path("speed")),
        mtu_octets: root.number(&path("mtu")),
        driver: Reading::unreadable(not_asked()),
        pcie: pcie(root, name),
        numa_node: root.number(&path("device/numa_node")),
        local_cpus: root.text(&path("device/local_cpulist")),
        interrupt_vectors: root.names(&path("device/msi_irqs")).map(|irqs| irqs.len()),
        rx_queues: queues("rx-"),
        tx_queues: queues("tx-"),
        channels: Reading::unreadable(not_asked()),
        rings: Reading::unreadable(not_asked()),
        coalescing: Reading::unreadable(not_asked()),
        offloads_on: Reading::unreadable(not_asked()),
        xdp: Reading::unreadable(not_asked()),
    }
}

/// Names of the interfaces that have a device behind them, in order: no bridge, no veth, no loopback.
#[must_use]
pub fn names(root: &Root) -> Reading<Vec<String>> {
    root.names(NET).map(|mut names| {
        names.retain(|name| root.path(&format!("{NET}/{name}/device")).exists());
        names
    })
}

/// Whether the link to the device runs below what the device could.
#[must_use]
pub fn is_held_back(nic: &Nic) -> Option<bool> {
    let link = nic.pcie.known()?;
    let generation = |text: &Reading<String>| Generation::from_speed(text.known()?);
    let slower = generation(&link.speed)? < generation(&link.speed_max)?;
    Some(slower || link.lanes.known()? < link.lanes_max.known()?)
}

/// A link that is down says -1, or nothing at all (EINVAL).
fn speed(root: &Root, usual: &str) -> Reading<u64> {
    let why = |_: &_| format!("{usual}: the link does not say");
    root.number::<i64>(usual)
        .find(|&speed| u64::try_from(speed).ok(), why)
}

/// A virtio device is a child of the PCI device, which has the files.
fn pcie(root: &Root, name: &str) -> Reading<PcieLink> {
    let device = format!("{NET}/{name}/device");
    let on_pci = |usual: &str| root.path(&format!("{usual}/current_link_speed")).exists();
    let folder = [device.clone(), format!("{device}/..")]
        .into_iter()
        .find(|folder| on_pci(folder));
    let Some(folder) = folder else {
        let kind = fs::canonicalize(root.path(&format!("{device}/subsystem")));
        let kind = kind.ok().and_then(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some(name)
        });
        return Reading::unreadable(match kind {
            Some(bus) => format!("{device}: a device of bus {bus}, not on PCI Express"),
            None => format!("{device}: not on PCI Express"),
        });
    };
    let path = |file: &str| format!("{folder}/{file}");
    Reading::Known(PcieLink {
        speed: root.text(&path("current_link_speed")),
        speed_max: root.text(&path("max_link_speed")),
        lanes: root.number(&path("current_link_width")),
        lanes_max: root.number(&path("max_link_width")),
    })
}

fn driver(driver: ethtool::Driver) -> Driver {
    let ethtool::Driver {
        name,
        version,
        firmware,
        bus,
    } = driver;
    Driver {
        name,
        version,
        firmware,
        bus,
    }
}

fn channels(name: &str) -> mpps_linux::Result<Channels> {
    let names = ["rx", "tx", "combined", "rx-max", "tx-max", "combined-max"];
    let [rx, tx, combined, rx_max, tx_max, combined_max] =
        ethtool::numbers(name, "channels", names)?;
    Ok(Channels {
        rx,
        tx,
        combined,
        rx_max,
        tx_max,
        combined_max,
    })
}

fn rings(name: &str) -> mpps_linux::Result<Rings> {
    let names = ["rx", "rx-max", "tx", "tx-max"];
    let [rx_frames, rx_frames_max, tx_frames, tx_frames_max] =
        ethtool::numbers(name, "rings", names)?;
    Ok(Rings {
        rx_frames,
        rx_frames_max,
        tx_frames,
        tx_frames_max,
    })
}

fn coalescing(name: &str) -> mpps_linux::Result<Coalescing> {
    let names = ["rx-usecs", "rx-frames", "adaptive-rx"];
    let [rx_us, rx_frames, adaptive] = ethtool::numbers(name, "coalescing", names)?;
    Ok(Coalescing {
        rx_us,
        rx_frames,
        rx_adaptive: adaptive != 0,
    })
}

fn xdp_names(features: xdp::XdpFeatures) -> Vec<String> {
    let all = [
        (features.basic, "native"),
        (features.redirect, "redirect"),
        (features.transmit, "transmit"),
        (features.zero_copy, "zero-copy"),
        (features.receive_fragments, "fragments"),
    ];
    let can = all.into_iter().filter(|(can, _)| *can);
    can.map(|(_, name)| name.to_owned()).collect()
}
