use super::*;
use crate::facts::tests::planted::Planted;
use crate::facts::topology::{CPUS, NODES};
use crate::tune::{Choice, Plan, State};
use mpps_method::tune::Profile;
use mpps_record::facts::Reading;

/// Two nodes of two cores with two threads; CPU 7 is offline. An interface of two queues is on node 1.
fn router(name: &str) -> (Planted, Machine) {
    let planted = Planted::new(name, &[("/sys/devices/system/cpu/online", "0-6\n")]);
    let put = |path: String, text: &str| planted.put(&path, text.as_bytes());
    for cpu in 0..8 {
        let list = format!("{},{}\n", cpu % 4, cpu % 4 + 4);
        put(
            format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list"),
            &list,
        );
    }
    put(format!("{NODES}/node0/cpulist"), "0-1,4-5\n");
    put(format!("{NODES}/node1/cpulist"), "2-3,6-7\n");
    let net = "/sys/class/net/planted0";
    put(format!("{net}/device/numa_node"), "1\n");
    for queue in 0..2 {
        put(format!("{net}/queues/rx-{queue}/rps_cpus"), "ff\n");
        put(format!("{net}/queues/tx-{queue}/xps_cpus"), "00\n");
    }
    let names = [
        (60, "planted0-TxRx-0"),
        (61, "planted0-TxRx-1"),
        (62, "planted0"),
    ];
    let mut interrupts = "      CPU0 CPU1\n".to_owned();
    for (number, name) in names {
        put(format!("{net}/device/msi_irqs/{number}"), "msix\n");
        put(format!("/proc/irq/{number}/smp_affinity_list"), "2\n");
        interrupts += &format!(" {number}:  1  2  PCI-MSI 1-edge  {name}\n");
    }
    put("/proc/interrupts".to_owned(), &interrupts);
    put("/proc/sys/net/core/dev_weight".to_owned(), "64\n");
    put("/proc/9/comm".to_owned(), "irqbalance\n");
    let root = planted.root();
    let facts = crate::facts::read(&root, Reading::Known(7), None);
    let machine = Machine::new(root, facts, &[]).expect("a machine");
    (planted, machine)
}

#[test]
fn interrupts_and_queues_get_their_cpus() {
    let (_planted, machine) = router("layout");
    let layout = &machine.layout;
    let (port, served) = &layout.ports[0];
    assert_eq!((port.node, port.rx, port.tx), (Some(1), 2, 2));
    assert_eq!(
        (served.rx.as_slice(), served.has_enough),
        (&[2, 3][..], true)
    );
    let value = |kind, name: &str, of: bool| {
        let interface = of.then(|| "planted0".to_owned());
        let name = name.to_owned();
        let found = layout.value(&Setting {
            kind,
            name,
            interface,
        });
        found.map(str::to_owned)
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(value(Kind::Irq, "60", false), some("2"));
    assert_eq!(value(Kind::Irq, "61", false), some("3"));
    // The interrupt of the link is of no queue.
    assert_eq!(value(Kind::Irq, "62", false), None);
    let queues = "class/net/*/queues";
    assert_eq!(
        value(Kind::Sysfs, &format!("{queues}/tx-0/xps_cpus"), true),
        some("55")
    );
    assert_eq!(
        value(Kind::Sysfs, &format!("{queues}/tx-1/xps_cpus"), true),
        some("2a")
    );
    assert_eq!(
        value(Kind::Sysfs, &format!("{queues}/rx-1/rps_cpus"), true),
        some("0")
    );
    assert_eq!(layout.place_of("61"), Some(("planted0", 1)));
    assert!(layout.irqbalance);
}

/// The place of a port's queues does not depend on the interfaces that are looked at.
#[test]
fn a_port_alone_leaves_room_for_the_others() {
    let (planted, machine) = router("layout-other");
    for (file, text) in [
        ("/sys/devices/system/cpu/online", "0-6,8\n"),
        ("/sys/devices/system/node/node1/cpulist", "2-3,6-8\n"),
        ("/sys/class/net/planted1/device/numa_node", "1\n"),
        ("/sys/class/net/planted1/queues/rx-0/rps_cpus", "0\n"),
    ] {
        planted.put(file, text.as_bytes());
    }
    let only = ["planted1".to_owned()];
    let machine = Machine::new(planted.root(), machine.facts, &only).expect("a machine");
    let ports = machine.layout.ports.iter();
    let rx: Vec<(&str, &[usize])> = ports
        .map(|(port, served)| (port.name.as_str(), served.rx.as_slice()))
        .collect();
    assert_eq!(rx, [("planted1", &[8][..])]);
}

#[test]
fn the_layout_is_applied_for_a_router() {
    let (_planted, machine) = router("layout-plan");
    let standings = machine.standings(Profile::Router);
    let only = ROWS.map(str::to_owned).to_vec();
    let choice = Choice {
        only,
        ..Choice::default()
    };
    let plan = Plan::new(&standings, Profile::Router, &choice, true);
    let changes: Vec<(&str, &str)> = plan
        .changes
        .iter()
        .map(|one| (one.id, one.value.as_str()))
        .collect();
    let xps = [("xps_cpus", "55"), ("xps_cpus", "2a")];
    let rps = [("rps_cpus", "0"); 2];
    assert_eq!(changes, [&[("irq_affinity", "3")][..], &rps, &xps].concat());
    assert_eq!(plan.met.len(), 1, "{:?}", plan.met);
    // In a namespace no interrupt is moved, and an end host has its own advice.
    let inside = Plan::new(&standings, Profile::Router, &choice, false);
    assert!(inside.changes.iter().all(|one| one.id != "irq_affinity"));
    let end_host = machine.standings(Profile::Endpoint);
    let laid_out = end_host.iter().filter(|one| ROWS.contains(&one.row.id));
    assert!(
        laid_out.clone().count() == 3 && laid_out.clone().all(|one| one.state == State::InWords)
    );
}
