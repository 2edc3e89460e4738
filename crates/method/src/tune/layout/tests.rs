use super::*;
use proptest::prelude::*;

/// Nodes of so many cores with so many threads, numbered as Linux does: first threads first.
fn machine(nodes: usize, cores: usize, threads: usize) -> Vec<Cpu> {
    let all = nodes * cores;
    let cpu = |number: usize| Cpu {
        number,
        core: number % all,
        node: Some(number % all / cores),
    };
    (0..all * threads).map(cpu).collect()
}

fn port(node: Option<usize>, queues: usize) -> Port {
    Port {
        name: "p".to_owned(),
        node,
        rx: queues,
        tx: queues,
        channels_max: None,
    }
}

fn one(cpus: &[Cpu], port: Port) -> Served {
    lay_out(cpus, &[port]).remove(0)
}

#[test]
fn cores_of_the_port_s_node_come_first() {
    let served = one(&machine(2, 8, 2), port(Some(1), 8));
    assert_eq!(served.rx, (8..16).collect::<Vec<_>>());
    // The core's other thread sends on the same queue, and each CPU of the other node on one of them.
    assert_eq!(served.tx[0], [0, 8, 16, 24]);
    assert_eq!(served.tx[7], [7, 15, 23, 31]);
    assert!(served.has_enough);
    assert_eq!(served.channels, None);
}

#[test]
fn second_threads_serve_when_cores_are_used_up() {
    let served = one(&machine(2, 8, 2), port(Some(1), 18));
    assert_eq!(served.rx[7..10], [15, 24, 25]);
    assert_eq!(served.rx[16..], [8, 9]);
    assert!(served.tx[8].contains(&24) && !served.tx[0].contains(&24));
    assert_eq!(served.channels, Some(8));
}

#[test]
fn few_queues_may_become_more() {
    let cpus = machine(1, 4, 1);
    let served = one(&cpus, port(Some(0), 2));
    assert_eq!(
        (served.rx.as_slice(), served.has_enough),
        (&[0, 1][..], false)
    );
    assert_eq!(served.tx, [[0, 2], [1, 3]]);
    assert_eq!(served.channels, None);
    let most = |channels_max| Port {
        channels_max,
        ..port(Some(0), 2)
    };
    assert_eq!(one(&cpus, most(Some(64))).channels, Some(4));
    assert_eq!(one(&cpus, most(Some(3))).channels, Some(3));
    assert_eq!(one(&cpus, most(Some(2))).channels, None);
}

#[test]
fn an_asymmetric_machine_has_its_own_order() {
    // Node 0 has one core of two threads, node 1 two cores of one; numbers are mixed.
    let cpus = [(5, 1, 0), (1, 1, 0), (2, 2, 1), (0, 0, 1)].map(|(number, core, node)| Cpu {
        number,
        core,
        node: Some(node),
    });
    assert_eq!(one(&cpus, port(Some(0), 2)).rx, [1, 5]);
    assert_eq!(one(&cpus, port(Some(1), 3)).rx, [0, 2, 0]);
}

#[test]
fn one_cpu_serves_everything() {
    let served = one(&machine(1, 1, 1), port(None, 4));
    assert_eq!(served.rx, [0; 4]);
    assert_eq!(served.tx, [vec![0], vec![], vec![], vec![]]);
    assert_eq!((served.has_enough, served.channels), (true, Some(1)));
    assert!(one(&machine(1, 1, 1), port(None, 1)).tx.is_empty());
}

#[test]
fn an_offline_cpu_gets_nothing() {
    let mut cpus = machine(1, 4, 2);
    // The first thread of core 1 and all of core 2 are offline.
    cpus.retain(|cpu| cpu.number != 1 && cpu.core != 2);
    assert_eq!(one(&cpus, port(Some(0), 3)).rx, [0, 5, 3]);
    // A node all of whose CPUs are offline: any other will do.
    assert_eq!(one(&cpus, port(Some(7), 3)).rx, [0, 5, 3]);
    assert_eq!(lay_out(&[], &[port(None, 2)]), [Served::default()]);
}

#[test]
fn a_guest_without_topology_has_cores_alone() {
    let cpus: Vec<Cpu> = (0..4)
        .map(|number| Cpu {
            number,
            core: number,
            node: None,
        })
        .collect();
    assert_eq!(one(&cpus, port(None, 4)).rx, [0, 1, 2, 3]);
}

#[test]
fn two_ports_of_a_node_share_it() {
    let cpus = machine(2, 8, 1);
    let few = lay_out(
        &cpus,
        &[port(Some(0), 3), port(Some(1), 2), port(Some(0), 5)],
    );
    let rx: Vec<&[usize]> = few.iter().map(|served| served.rx.as_slice()).collect();
    assert_eq!(rx, [&[0, 1, 2][..], &[8, 9], &[3, 4, 5, 6, 7]]);
    assert!(few[0].has_enough && !few[1].has_enough);
    // With more queues than cores both have the same map.
    let many = lay_out(&cpus, &[port(Some(0), 8), port(Some(0), 8)]);
    assert_eq!(many[0], many[1]);
    assert_eq!(many[0].tx[3], [3, 11]);
}

#[test]
fn drivers_name_queues_in_their_own_ways() {
    for (name, queue) in [
        ("eth0-TxRx-3", Some(3)),
        ("i40e-enp3s0f0-TxRx-12", Some(12)),
        ("ens5-Tx-Rx-0", Some(0)),
        ("virtio0-input.1", Some(1)),
        ("virtio0-output.0", Some(0)),
        ("mlx5_comp7@pci:0000:3b:00.0", Some(7)),
        ("mlx5_async0@pci:0000:3b:00.0", None),
        ("eth0-rx-0", Some(0)),
        ("virtio0-config", None),
        ("eth0", None),
        ("rx-", None),
        ("", None),
    ] {
        assert_eq!(queue_of(name), queue, "{name}");
    }
}

proptest! {
    /// Each queue has an online CPU, each CPU sends on one queue, and cores are used evenly.
    #[test]
    fn laws_hold_on_any_machine(
        threads in proptest::collection::vec((0..8usize, proptest::option::of(0..3usize)), 1..40),
        ports in proptest::collection::vec((0..9usize, 0..9usize, proptest::option::of(0..4usize)), 1..5),
    ) {
        let cpus: Vec<Cpu> = threads.iter().enumerate()
            .map(|(number, &(core, node))| Cpu { number, core, node }).collect();
        let ports: Vec<Port> = ports.iter()
            .map(|&(rx, tx, node)| Port { rx, tx, ..port(node, 0) }).collect();
        for (served, port) in lay_out(&cpus, &ports).iter().zip(&ports) {
            prop_assert_eq!(served.rx.len(), port.rx);
            let mut senders: Vec<usize> = served.tx.concat();
            senders.sort_unstable();
            let all: Vec<usize> = if port.tx > 1 { (0..cpus.len()).collect() } else { vec![] };
            prop_assert_eq!(senders, all);
            let uses = |cpu: &Cpu| served.rx.iter().filter(|&&one| one == cpu.number).count();
            let near = cores(&cpus).into_iter()
                .filter(|core| near(&cpus, port).is_none() || core[0].node == port.node)
                .map(|core| core.iter().map(uses).sum::<usize>());
            // No core gets a second queue before each has one.
            let (most, least) = (near.clone().max().unwrap_or(0), near.min().unwrap_or(0));
            prop_assert!(most < 2 || least > 0, "{:?}", served);
        }
    }
}
