pub(crate) mod planted;

use super::*;
use planted::{Planted, ROUTER};
use std::io::Write;

#[test]
fn a_planted_machine_has_every_fact() {
    let planted = Planted::new("router", ROUTER);
    let facts = read(&planted.root(), Reading::Known(2), None);
    assert_eq!(facts.kernel_release.text(), "6.12.9-amd64");
    assert_eq!(facts.cpu_model.text(), "Xeon E5-2660 v3 @ 2.20GHz");
    assert_eq!(
        (facts.cpus_online.known(), facts.hypervisor.known()),
        (Some(&4), Some(&false))
    );
    assert_eq!(facts.mitigations_text(), "meltdown: Vulnerable");
    assert_eq!(
        facts.kernel_parameters.known().unwrap(),
        &["isolcpus=2-3", "mitigations=off"]
    );
    assert_eq!(facts.steal_share_since_boot, Reading::Known(0.025));
    let cpu = &facts.cpu;
    assert_eq!(
        (cpu.microcode.text(), cpu.clock_mhz.known()),
        ("0x49", Some(&2194.9))
    );
    assert_eq!(
        (cpu.frequency_max_khz.known(), cpu.turbo.known()),
        (Some(&3_300_000), Some(&false))
    );
    let governors = cpu.governors.known().unwrap();
    assert_eq!(
        (
            governors["performance"].as_str(),
            governors["powersave"].as_str()
        ),
        ("0,2-3", "1")
    );
    assert_eq!(
        (cpu.threads_per_core.known(), cpu.packages.known()),
        (Some(&2), Some(&2))
    );
    assert_eq!((cpu.smt.text(), cpu.isolated.text()), ("on", "2-3"));
    let states = cpu.idle.states.known().unwrap();
    assert_eq!(
        (
            states[1].name.as_str(),
            states[1].exit_latency_us.known(),
            states[1].disabled.known()
        ),
        ("C6", Some(&133), Some(&true))
    );
    assert_eq!(cpu.last_cache_octets(), Some(25_600 << 10));
    assert_eq!(cpu.caches.known().unwrap()[0].shared_cpus.text(), "0,2");
    let nodes = cpu.numa_nodes.known().unwrap();
    assert_eq!(
        (nodes.len(), nodes[0].memory_octets.known()),
        (2, Some(&(64 << 20)))
    );
    let kernel = &facts.kernel;
    assert_eq!(kernel.compiler.text(), "gcc-14 14.2.0, GNU ld 2.43");
    let configuration = kernel.configuration.known().unwrap();
    assert_eq!(
        (
            configuration.options["HZ"].as_str(),
            configuration.has("PREEMPT_RT")
        ),
        ("250", Some(false))
    );
    assert_eq!(
        (
            kernel.setting("net.core.bpf_jit_enable"),
            kernel.setting("kernel.sched_rt_runtime_us")
        ),
        (Some(0), Some(-1))
    );
    assert_eq!(kernel.transparent_hugepages.text(), "madvise");
    assert_eq!(
        (
            facts.memory.total_octets.known(),
            facts.memory.hugepages_free.known()
        ),
        (Some(&(128 << 20)), Some(&6))
    );
    assert_eq!(facts.platform.product.text(), "X10DRi");
}

/// The planted machine's CPUs 0 and 2 are threads of one core.
#[test]
fn a_core_with_a_cpu_of_each_side_is_found() {
    let planted = Planted::new("cores", ROUTER);
    let shared = |dut: &[usize], tester: &[usize]| core_shared(&planted.root(), dut, tester);
    for cpu in [1, 3] {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        planted.put(&path, b"1,3\n");
    }
    assert_eq!(shared(&[0], &[2]), Reading::Known(Some((0, 2))));
    assert_eq!(shared(&[0, 1], &[3]), Reading::Known(Some((1, 3))));
    // One CPU for both has a doubt of its own, and one side may have a whole core.
    for (dut, tester) in [(&[0][..], &[0, 1][..]), (&[1, 3], &[0]), (&[0], &[])] {
        assert_eq!(
            shared(dut, tester),
            Reading::Known(None),
            "{dut:?} {tester:?}"
        );
    }
    let unknown = shared(&[7], &[0]);
    assert!(unknown.known().is_none(), "{unknown:?}");
}

#[test]
fn a_missing_fact_names_its_file() {
    let planted = Planted::new(
        "bare",
        &[
            ("/proc/cpuinfo", "nonsense\n"),
            ("/sys/devices/system/cpu/online", "x-y\n"),
        ],
    );
    let facts = read(&planted.root(), Reading::unreadable("no"), None);
    let json = serde_json::to_value(&facts).unwrap();
    let mut leaves = Vec::new();
    leaves_of(&json, &mut leaves);
    assert!(leaves.len() > 40, "{json}");
    for leaf in &leaves {
        assert!(leaf.contains("unreadable"), "{leaf}");
    }
    assert!(
        facts
            .kernel_release
            .why()
            .unwrap()
            .starts_with("/proc/sys/kernel/osrelease")
    );
    assert!(facts.cpus_online.why().unwrap().contains("x-y"));
}

/// Every value that is no group.
fn leaves_of(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) if !members.contains_key("unreadable") => {
            members.values().for_each(|member| leaves_of(member, found));
        }
        leaf => found.push(leaf.to_string()),
    }
}

#[test]
fn a_packed_configuration_is_read_a_torn_one_not() {
    let planted = Planted::new("config", &[]);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer
        .write_all(b"CONFIG_HZ=1000\nCONFIG_XDP_SOCKETS=y\n")
        .unwrap();
    let packed = packer.finish().unwrap();
    planted.put("/proc/config.gz", &packed);
    let configuration = config::read(&planted.root(), "6.1");
    let configuration = configuration.known().unwrap();
    assert_eq!(
        (
            configuration.source.as_str(),
            configuration.options["HZ"].as_str()
        ),
        ("/proc/config.gz", "1000")
    );
    planted.put("/proc/config.gz", &packed[..packed.len() / 2]);
    planted.put("/boot/config-6.1", b"\xff\xfe CONFIG_\n");
    assert_eq!(
        config::read(&planted.root(), "6.1").known().unwrap().source,
        "/boot/config-6.1"
    );
}

#[test]
fn a_nic_knows_its_bus_and_whether_it_is_held_back() {
    const DEVICE: &str = "/sys/devices/pci0000:00/0000:00:03.0/0000:03:00.0";
    let file = |name: &str| format!("{DEVICE}/{name}");
    let planted = Planted::new("nic", &[("/sys/class/net/lo/operstate", "unknown\n")]);
    for (name, text) in [
        ("current_link_speed", "5.0 GT/s PCIe\n"),
        ("max_link_speed", "8.0 GT/s PCIe\n"),
        ("current_link_width", "8\n"),
        ("max_link_width", "8\n"),
        ("numa_node", "1\n"),
        ("local_cpulist", "1,3\n"),
        ("msi_irqs/31", "msix\n"),
        ("msi_irqs/32", "msix\n"),
        ("net/ens3/operstate", "up\n"),
        ("net/ens3/speed", "40000\n"),
        ("net/ens3/mtu", "1500\n"),
        ("net/ens3/queues/rx-0/rps_cpus", "0\n"),
        ("net/ens3/queues/rx-1/rps_cpus", "0\n"),
        ("net/ens3/queues/tx-0/xps_cpus", "0\n"),
    ] {
        planted.put(&file(name), text.as_bytes());
    }
    planted.link(&file("net/ens3/device"), "../..");
    planted.link(
        "/sys/class/net/ens3",
        &format!("../../{}", file("net/ens3").trim_start_matches("/sys/")),
    );
    let root = planted.root();
    assert_eq!(nic::names(&root).known().unwrap(), &["ens3"]);
    let nic = nic::from_sysfs(&root, "ens3");
    assert_eq!(nic::is_held_back(&nic), Some(true), "{nic:?}");
    assert_eq!(
        (nic.link_mbit_per_s.known(), nic.numa_node.known()),
        (Some(&40_000), Some(&1))
    );
    assert_eq!(
        (
            nic.interrupt_vectors.known(),
            nic.rx_queues.known(),
            nic.tx_queues.known()
        ),
        (Some(&2), Some(&2), Some(&1))
    );
    planted.put(&file("current_link_speed"), b"8.0 GT/s PCIe\n");
    assert_eq!(
        nic::is_held_back(&nic::from_sysfs(&root, "ens3")),
        Some(false)
    );
    planted.put(&file("current_link_width"), b"4\n");
    assert_eq!(
        nic::is_held_back(&nic::from_sysfs(&root, "ens3")),
        Some(true)
    );
    planted.put(&file("max_link_speed"), b"Unknown\n");
    assert_eq!(nic::is_held_back(&nic::from_sysfs(&root, "ens3")), None);
    planted.put(&file("net/ens3/speed"), b"-1\n");
    assert!(
        nic::from_sysfs(&root, "ens3")
            .link_mbit_per_s
            .why()
            .unwrap()
            .contains("does not say")
    );
}

#[test]
fn a_virtual_nic_finds_the_bus_behind_it() {
    const PCI: &str = "/sys/devices/pci0000:00/0000:00:03.0";
    let planted = Planted::new("virtio", &[]);
    planted.put(&format!("{PCI}/current_link_speed"), b"8.0 GT/s PCIe\n");
    planted.put(&format!("{PCI}/virtio0/net/eth0/mtu"), b"1500\n");
    planted.link(
        "/sys/class/net/eth0/device",
        &format!("../../../..{PCI}/virtio0"),
    );
    planted.put("/sys/devices/virtio2/vendor", b"0\n");
    planted.link("/sys/devices/virtio2/subsystem", "../../bus/virtio");
    planted.put("/sys/bus/virtio/uevent", b"");
    planted.link("/sys/class/net/eth1/device", "../../../devices/virtio2");
    let root = planted.root();
    let behind = nic::from_sysfs(&root, "eth0");
    assert_eq!(
        behind.pcie.known().unwrap().speed.text(),
        "8.0 GT/s PCIe",
        "{behind:?}"
    );
    assert!(
        nic::is_held_back(&behind).is_none(),
        "half of it is not there"
    );
    let none = nic::from_sysfs(&root, "eth1");
    assert!(
        none.pcie
            .why()
            .unwrap()
            .contains("bus virtio, not on PCI Express"),
        "{none:?}"
    );
}

#[test]
fn this_machine_has_facts() {
    let facts = gather();
    assert!(facts.kernel_release.text().contains('.'), "{facts:?}");
    let (online, available) = (facts.cpus_online.known(), facts.cpus_available.known());
    assert!(available >= Some(&1) && online >= available, "{facts:?}");
    assert!(
        facts
            .memory
            .total_octets
            .known()
            .is_some_and(|octets| *octets > 1 << 24),
        "{facts:?}"
    );
    let mitigations = facts.mitigations.known().unwrap();
    assert!(
        mitigations
            .iter()
            .all(|one| !one.fault.is_empty() && !one.state.contains('\n'))
    );
    for name in nic::names(&Root::here()).known().unwrap() {
        let nic = nic::read(&Root::here(), name);
        assert!(
            nic.driver
                .known()
                .is_some_and(|driver| !driver.name.is_empty()),
            "{nic:?}"
        );
    }
}
