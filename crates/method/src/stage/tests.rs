//! Whole profiles, taken on Linux 6.18 with `perf record -e cpu-clock -c 250000 -g` while a bed of one CPU forwarded all
//! it could: the call tree of the DUT's thread, a function a line, callees indented, with its own samples. Samples
//! in the wire's program are left out.

use super::*;

const IPV4: &str = include_str!("tests/ipv4.stacks");
const IPV6: &str = include_str!("tests/ipv6.stacks");
/// 100 rules in the FORWARD hook that do not match.
const RULES: &str = include_str!("tests/rules.stacks");
/// `ct state` in the FORWARD hook.
const CONNTRACK: &str = include_str!("tests/ct.stacks");
/// The same, and masquerade.
const NAT: &str = include_str!("tests/nat.stacks");
/// `rp_filter=1`.
const RP_FILTER: &str = include_str!("tests/rpf.stacks");

/// The front `napi`: plain veth whose NAPI has a thread of its own.
const NAPI: &str = include_str!("tests/napi.stacks");

/// The samples of a call tree: stack, leaf first, and how many.
fn samples(tree: &str) -> Vec<(Vec<&str>, f64)> {
    let mut path: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for line in tree.lines() {
        let name = line.trim_start();
        path.truncate(line.len() - name.len());
        let (name, number) = name.split_once(' ').unwrap_or((name, "0"));
        path.push(name);
        let number: f64 = number.parse().expect("a number of samples");
        if number > 0.0 {
            all.push((path.iter().rev().copied().collect(), number));
        }
    }
    all
}

/// A profile, split. Its whole is 100, so each part is in per cent.
fn profile(tree: &str) -> Split {
    let all = samples(tree);
    let placed = all.iter().zip(0..).map(|((stack, weight), at)| Sample {
        at_ns: at * 1_000_000,
        weight: *weight,
        placed: place_late(stack, None, Router::OnBed),
    });
    split(&placed.collect::<Vec<_>>(), 100.0, 1).expect("samples")
}

fn stage(split: &Split, of: Stage) -> f64 {
    split
        .stages
        .iter()
        .find(|cost| cost.of == of)
        .expect("every stage")
        .ns
}

fn cause(split: &Split, of: Cause) -> f64 {
    split
        .causes
        .iter()
        .find(|cost| cost.of == of)
        .expect("every cause")
        .ns
}

/// Prints a profile; with `--nocapture` a test shows it.
fn show(name: &str, split: &Split) {
    let unclassified = 100.0 * split.unclassified;
    println!(
        "{name}: unclassified {unclassified:.2} %, shadow {:.1} %",
        100.0 * split.shadow
    );
    let words = |top: &[mpps_record::FunctionCost]| {
        let all = top
            .iter()
            .map(|one| format!("{} {:.2}", one.function, one.ns));
        all.collect::<Vec<_>>().join(", ")
    };
    for cost in &split.stages {
        println!("  {:20} {:5.1} {}", cost.of, cost.ns, words(&cost.top));
    }
    for cost in &split.causes {
        println!("    {:20} {:5.1} {}", cost.of, cost.ns, words(&cost.top));
    }
}

#[test]
fn every_profile_is_placed() {
    for (name, tree) in [
        ("IPv4", IPV4),
        ("IPv6", IPV6),
        ("rules", RULES),
        ("conntrack", CONNTRACK),
        ("NAT", NAT),
        ("rp_filter", RP_FILTER),
        ("napi", NAPI),
    ] {
        let all = samples(tree);
        assert!(
            all.iter().map(|(_, number)| number).sum::<f64>() > 5_000.0,
            "{name}"
        );
        let split = profile(tree);
        show(name, &split);
        assert!(split.unclassified < 0.01, "{name}: {:?}", split.unplaced);
        assert!(stage(&split, Stage::Other) < 10.0, "{name}: {split:?}");
        let unknown = all
            .iter()
            .filter(|(stack, _)| place(stack, Router::OnBed).unknown);
        let unknown: f64 = unknown.map(|(_, number)| number).sum();
        let whole: f64 = all.iter().map(|(_, number)| number).sum();
        assert!(unknown / whole < 0.02, "{name}: {}", unknown / whole);
        for of in [
            Stage::VirtualNic,
            Stage::Rx,
            Stage::Alloc,
            Stage::Prerouting,
            Stage::Routing,
            Stage::Postrouting,
            Stage::Tx,
            Stage::Free,
            Stage::Exit,
        ] {
            assert!(stage(&split, of) > 0.1, "{name}: {of}");
        }
    }
}

/// The network path of the kernels of Debian 12 (6.1.192) and 13 (6.12.107), as bench/explain/names.py lists it.
const DEBIAN: &str = include_str!("tests/debian.names");

#[test]
fn debians_kernels_have_a_row_for_each_name() {
    let unknown = |name: &&str| place(&[name], Router::OnBed).unknown;
    assert!(DEBIAN.lines().count() > 500);
    let without: Vec<&str> = DEBIAN.lines().filter(unknown).collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn causes_are_those_of_the_set_up() {
    let plain = profile(IPV4);
    let netfilter = [Cause::Rules, Cause::ConnTrack, Cause::Nat];
    let of = |split: &Split| netfilter.map(|of| cause(split, of) > 1.0);
    assert_eq!(of(&plain), [false, false, false]);
    assert_eq!(of(&profile(RULES)), [true, false, false]);
    assert_eq!(of(&profile(CONNTRACK)), [true, true, false]);
    assert_eq!(of(&profile(NAT)), [true, true, true]);
    assert!(netfilter.iter().all(|&of| cause(&plain, of) == 0.0));
    assert!(cause(&plain, Cause::Scheduler) < 0.02 * plain.whole_ns);
    assert!(!Stage::VirtualNic.is_routers() && !Stage::Exit.is_routers());
    // Rules are after the decision, connection tracking before it.
    assert!(stage(&profile(RULES), Stage::Postrouting) > 3.0 * stage(&plain, Stage::Postrouting));
    assert!(stage(&profile(CONNTRACK), Stage::Prerouting) > 1.5 * stage(&plain, Stage::Prerouting));
    let look_up = |tree| cause(&profile(tree), Cause::LookUp);
    assert!(
        look_up(RP_FILTER) > 1.5 * look_up(IPV4),
        "{} {}",
        look_up(RP_FILTER),
        look_up(IPV4)
    );
}

#[test]
fn stacks_are_placed_by_their_rules() {
    for (stack, stage, substage) in [
        (
            "nft_do_chain;nf_hook_slow;ip_rcv",
            Stage::Prerouting,
            "pre.nf",
        ),
        (
            "nft_do_chain;nf_hook_slow;NF_HOOK.constprop.0;ip_forward;ip_sublist_rcv",
            Stage::Postrouting,
            "post.nf_forward",
        ),
        (
            "nf_nat_ipv4_out;nf_hook_slow;ip_output;ip_forward",
            Stage::Postrouting,
            "post.nf",
        ),
        (
            "nft_do_chain;nf_hook_slow;ip6_input",
            Stage::Other,
            "other.local",
        ),
        (
            "nft_do_chain;nf_hook_slow;__netif_receive_skb_core.constprop.0",
            Stage::Rx,
            "rx.ingress",
        ),
        (
            "nf_hook_slow;br_handle_frame;__netif_receive_skb_core",
            Stage::Rx,
            "rx.bridge",
        ),
        (
            "nf_conntrack_in;nf_hook_slow;__netif_receive_skb_one_core",
            Stage::Prerouting,
            "pre.nf",
        ),
        (
            "nf_confirm;nf_hook_slow;__netif_receive_skb_one_core",
            Stage::Postrouting,
            "post.nf",
        ),
        ("nf_conntrack_in", Stage::Prerouting, "pre.nf"),
        ("nft_do_chain", Stage::Postrouting, "post.nf_forward"),
        // A connection's reference ends with the frame that held it: not a hook.
        (
            "nf_ct_destroy;skb_release_head_state;sk_skb_reason_drop;__dev_queue_xmit;ip_finish_output2;ip_output",
            Stage::Free,
            "free.tx",
        ),
        (
            "kmem_cache_free;sk_skb_reason_drop;ip_rcv_core",
            Stage::Free,
            "free.drop",
        ),
        (
            "kmem_cache_free;skb_gro_receive;dev_gro_receive;napi_gro_receive",
            Stage::Free,
            "free.gro",
        ),
        (
            "kmem_cache_free;rcu_do_batch;rcu_core;handle_softirqs",
            Stage::Other,
            "other.rcubg",
        ),
        (
            "kmem_cache_alloc_noprof;__nf_conntrack_alloc;nf_conntrack_in",
            Stage::Alloc,
            "alloc.flow",
        ),
        (
            "fib_table_lookup;bpf_ipv4_fib_lookup;bpf_prog_0123456789abcdef_mine;do_xdp_generic",
            Stage::Routing,
            "route.xdpfib",
        ),
        (
            "fib_table_lookup;ip_route_input_slow;ip_rcv",
            Stage::Routing,
            "route.fib",
        ),
        (
            "bpf_ktime_get_ns;bpf_prog_0123456789abcdef_leave;__dev_queue_xmit",
            Stage::Exit,
            "exit.program",
        ),
        (
            "bpf_prog_0123456789abcdef_pass;cpu_map_kthread_run",
            Stage::VirtualNic,
            "nic.program",
        ),
        (
            "bpf_prog_0123456789abcdef_mine;__dev_queue_xmit",
            Stage::Tx,
            "tx.core",
        ),
        ("veth_poll;__napi_poll", Stage::VirtualNic, "nic.veth"),
        ("veth_xmit;dev_hard_start_xmit", Stage::Exit, "exit.veth"),
        (
            "dma_unmap_page_attrs;ixgbe_poll;__napi_poll",
            Stage::Free,
            "free.txclean",
        ),
        ("ixgbe_poll;__napi_poll", Stage::Rx, "rx.driver"),
        (
            "memcpy;bpf_prog_0123456789abcdef_send;bpf_prog_test_run_xdp",
            Stage::Other,
            "other.generator",
        ),
        (
            "ip_rcv_core;process_backlog;net_rx_action;handle_softirqs;do_softirq;packet_sendmsg",
            Stage::Prerouting,
            "pre.ip",
        ),
        ("default_idle;do_idle", Stage::Other, "other.idle"),
        // The generator's buffer, whoever releases it.
        (
            "sock_wfree;skb_release_head_state;consume_skb;cpu_map_kthread_run",
            Stage::Other,
            "other.genartefact",
        ),
        ("nobody_knows;this_either", Stage::Other, UNCLASSIFIED),
        ("_raw_spin_lock", Stage::Other, UNCLASSIFIED),
    ] {
        let stack_of: Vec<&str> = stack.split(';').collect();
        let placed = place(&stack_of, Router::OnBed);
        assert_eq!(
            (placed.stage, placed.substage),
            (stage, substage),
            "{stack}"
        );
    }
    assert_eq!(place(&[], Router::OnBed).substage, "other.user");
}

#[test]
fn a_host_has_no_stages_of_a_bed() {
    for (stack, stage) in [
        (["veth_poll", "__napi_poll"], Stage::Rx),
        (["veth_xmit", "dev_hard_start_xmit"], Stage::Tx),
        (["cpu_map_kthread_run", "kthread"], Stage::Rx),
        (
            ["bpf_prog_0123456789abcdef_leave", "__dev_queue_xmit"],
            Stage::Tx,
        ),
        (["sock_wfree", "skb_release_head_state"], Stage::Free),
        // Who takes a frame over from its sender's socket releases no buffer.
        (["sock_wfree", "ip_rcv_core"], Stage::Prerouting),
        (["sock_wfree", "packet_sendmsg"], Stage::Other),
    ] {
        assert_eq!(place(&stack, Router::OfHost).stage, stage, "{stack:?}");
    }
}

#[test]
fn a_cause_goes_beyond_the_stage_that_it_is_in() {
    let cause = |stack: &str| place(&stack.split(';').collect::<Vec<_>>(), Router::OnBed).cause;
    assert_eq!(
        cause("_raw_spin_lock;nf_conntrack_in;nf_hook_slow;ip_rcv"),
        Cause::Locks
    );
    assert_eq!(
        cause("kmem_cache_alloc_noprof;__nf_conntrack_alloc;nf_conntrack_in;nf_hook_slow;ip_rcv"),
        Cause::ConnTrack
    );
    let decoded = |by: &str| cause(&format!("__skb_flow_dissect;__xfrm_decode_session;{by}"));
    assert_eq!(
        decoded("nf_xfrm_me_harder;nf_nat_ipv4_out;nf_hook_slow;ip_output"),
        Cause::Nat
    );
    // What IPsec and the errors of ICMP ask for is no translation.
    assert_eq!(
        decoded("icmp_route_lookup.constprop.0;__icmp_send;__udp4_lib_rcv"),
        Cause::None
    );
    assert_eq!(cause("__x86_return_thunk;ip_rcv"), Cause::Mitigations);
    assert_eq!(cause("memcpy;skb_copy_bits;ip_rcv"), Cause::MemoryCopies);
    // A thread that was started once is no work of the scheduler's.
    assert_eq!(
        cause("gro_receive_skb;cpu_map_kthread_run;kthread;ret_from_fork;ret_from_fork_asm"),
        Cause::None
    );
    assert_eq!(
        cause("try_to_wake_up;enqueue_to_backlog;ip_rcv"),
        Cause::Scheduler
    );
    // An interrupt that rules were interrupted by is not the rules'.
    assert_eq!(
        cause(
            "sysvec_apic_timer_interrupt;asm_sysvec_apic_timer_interrupt;nft_do_chain;ip_forward"
        ),
        Cause::None
    );
}

#[test]
fn a_shadow_belongs_to_who_had_interrupts_off() {
    let late = |ns| Some(Lateness { ns, usual_ns: 450 });
    let stack = [
        "_raw_spin_unlock_irqrestore",
        "free_frozen_page_commit",
        "skb_release_data",
    ];
    let shadow = place_late(&stack, late(1_200), Router::OnBed);
    assert_eq!(
        (shadow.shadow, shadow.function, shadow.cause),
        (true, "free_frozen_page_commit", Cause::None)
    );
    assert_eq!(shadow.stage, Stage::Free);
    // On time, the function itself was running.
    let own = place_late(&stack, late(300), Router::OnBed);
    assert_eq!(
        (own.shadow, own.function, own.cause),
        (false, "_raw_spin_unlock_irqrestore", Cause::Locks)
    );
    assert_eq!(own.stage, Stage::Free);
    assert!(place_late(&stack, None, Router::OnBed).shadow);
    let softirqs = [
        "handle_softirqs",
        "__irq_exit_rcu",
        "common_interrupt",
        "ip_forward",
    ];
    let interrupt = place_late(&softirqs, late(1_200), Router::OnBed);
    assert_eq!(
        (interrupt.stage, interrupt.substage),
        (Stage::Other, "other.irq")
    );
    assert_eq!(
        place_late(&softirqs, late(300), Router::OnBed).substage,
        "other.softirq"
    );
    for (leaf, caller) in [
        ("_raw_spin_unlock_irq", "process_backlog"),
        ("_raw_spin_unlock_irqrestore", "enqueue_to_backlog"),
    ] {
        assert_eq!(
            place_late(&[leaf, caller], None, Router::OnBed).substage,
            "rx.steer"
        );
    }
    let ordinary = place_late(&["ip_rcv_core", "ip_rcv"], late(1_200), Router::OnBed);
    assert_eq!((ordinary.shadow, ordinary.substage), (false, "pre.ip"));
}

/// Two CPUs that send through one queueing discipline, as sampled on Linux 6.18 with tbf. A CPU that waits spins, or has
/// itself halted by a hypervisor (`arch/x86/kernel/kvm.c`).
#[test]
fn a_wait_for_a_qdisc_is_a_lock_of_tx() {
    const CALLERS: &str = "_raw_spin_lock __dev_queue_xmit ip_finish_output2 ip_output ip_sublist_rcv ip_list_rcv \
                           __netif_receive_skb_list_core netif_receive_skb_list_internal cpu_map_kthread_run kthread \
                           ret_from_fork ret_from_fork_asm";
    for waits in [
        "native_queued_spin_lock_slowpath",
        "__pv_queued_spin_lock_slowpath",
        "kvm_wait __pv_queued_spin_lock_slowpath",
        "native_halt kvm_wait __pv_queued_spin_lock_slowpath",
        "pv_native_safe_halt kvm_wait __pv_queued_spin_lock_slowpath",
    ] {
        let chain = format!("{waits} {CALLERS}");
        let stack: Vec<&str> = chain.split(' ').collect();
        let placed = place_late(&stack, None, Router::OnBed);
        assert_eq!(
            (placed.stage, placed.cause, placed.decided_by),
            (Stage::Tx, Cause::Locks, "__dev_queue_xmit"),
            "{waits}"
        );
        assert!(!placed.unknown, "{waits}");
    }
    // A CPU without work halts too.
    let idle = ["pv_native_safe_halt", "default_idle", "do_idle"];
    let placed = place(&idle, Router::OnBed);
    assert_eq!(
        (placed.stage, placed.substage),
        (Stage::Other, "other.idle")
    );
}
