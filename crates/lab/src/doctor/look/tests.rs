use super::super::State;
use super::*;
use crate::facts::{
    self,
    tests::planted::{Planted, ROUTER},
};
use mpps_record::facts::Reading;

fn state(seen: Seen) -> State {
    Check::new(Subject::MEMORY, seen).state
}

#[test]
fn what_a_machine_lacks_is_seen() {
    let planted = Planted::new("lacks", ROUTER);
    let facts = facts::read(&planted.root(), Reading::Known(4), None);
    assert_eq!(
        memory(&facts),
        Ok((State::Costs, "64 MiB available".to_owned()))
    );
    planted.put("/proc/meminfo", b"MemAvailable: 1048576 kB\n");
    let facts = facts::read(&planted.root(), Reading::Known(4), None);
    assert_eq!(state(memory(&facts)), State::Good);
    let root = planted.root();
    for seen in [types(&root), ipv6(&root), clang(&root)] {
        assert_eq!(state(seen), State::Lacks);
    }
    let none = nics(&root);
    assert_eq!(state(none), State::Unknown, "no /sys/class/net at all");
    for (name, expected) in [
        ("lo", State::Lacks),
        ("eth0/device", State::Lacks),
        ("eth1/device", State::Good),
    ] {
        planted.put(&format!("/sys/class/net/{name}/uevent"), b"");
        assert_eq!(state(nics(&root)), expected, "{name}");
    }
}

#[test]
fn cpus_and_their_siblings_are_told() {
    let planted = Planted::new("siblings", &[]);
    let facts = |available| facts::read(&planted.root(), Reading::Known(available), None);
    let states = [1, 2, 3].map(|available| state(cpus(&facts(available))));
    assert_eq!(states, [State::Costs, State::Costs, State::Good]);
    assert_eq!(state(siblings(&planted.root())), State::Unknown);
    let all = cpu::available().unwrap();
    let split = CpuSplit::choose(&all, None, None).unwrap();
    let (dut, tester) = (split.dut[0], split.tester[0]);
    let path = format!("/sys/devices/system/cpu/cpu{dut}/topology/thread_siblings_list");
    planted.put(&path, format!("{dut}\n").as_bytes());
    assert_eq!(state(siblings(&planted.root())), State::Good);
    if split.shared() {
        println!("SKIP: a machine of one CPU has no siblings to tell");
        return;
    }
    planted.put(&path, format!("{dut},{tester}\n").as_bytes());
    assert_eq!(state(siblings(&planted.root())), State::Costs);
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
