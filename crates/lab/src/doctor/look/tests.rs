use super::*;
use crate::facts::{
    self,
    planted::{Planted, ROUTER},
};

#[test]
fn what_a_machine_lacks_is_seen() {
    let planted = Planted::new("lacks", ROUTER);
    let facts = facts::read(&planted.root(), Reading::Known(4), None);
    let seen = |check: Check| (check.state, check.seen);
    assert_eq!(
        seen(memory(&facts)),
        (State::Costs, "64 MiB available".to_owned())
    );
    planted.put("/proc/meminfo", b"MemAvailable: 1048576 kB\n");
    let facts = facts::read(&planted.root(), Reading::Known(4), None);
    assert_eq!(memory(&facts).state, State::Good);
    let root = planted.root();
    for check in [types(&root), ipv6(&root), clang(&root)] {
        assert_eq!(check.state, State::Lacks, "{check:?}");
    }
    assert_eq!(
        nics(&root).state,
        State::Unknown,
        "no /sys/class/net at all"
    );
    for (name, state) in [
        ("lo", State::Lacks),
        ("eth0/device", State::Lacks),
        ("eth1/device", State::Good),
    ] {
        planted.put(&format!("/sys/class/net/{name}/uevent"), b"");
        assert_eq!(nics(&root).state, state, "{name}");
    }
}

#[test]
fn cpus_and_their_siblings_are_told() {
    let planted = Planted::new("siblings", &[]);
    let facts = |available| facts::read(&planted.root(), Reading::Known(available), None);
    let states = [1, 2, 3].map(|available| cpus(&facts(available)).state);
    assert_eq!(states, [State::Costs, State::Costs, State::Good]);
    assert_eq!(siblings(&planted.root()).state, State::Unknown);
    let all = cpu::available().unwrap();
    let split = CpuSplit::choose(&all, None, None).unwrap();
    let (dut, tester) = (split.dut[0], split.tester[0]);
    let path = format!("/sys/devices/system/cpu/cpu{dut}/topology/thread_siblings_list");
    planted.put(&path, format!("{dut}\n").as_bytes());
    assert_eq!(siblings(&planted.root()).state, State::Good);
    if split.shared() {
        println!("SKIP: a machine of one CPU has no siblings to tell");
        return;
    }
    planted.put(&path, format!("{dut},{tester}\n").as_bytes());
    assert_eq!(siblings(&planted.root()).state, State::Costs);
}

#[test]
fn capabilities_are_read_as_the_kernel_writes_them() {
    assert_eq!(
        capabilities("Name:\tx\nCapEff:\t00000000000000ff\n"),
        Some(255)
    );
    for text in [
        "",
        "CapEff:\n",
        "CapEff:\txyz\n",
        "CapEff:\tffffffffffffffffff\n",
    ] {
        assert_eq!(capabilities(text), None, "{text}");
    }
}
