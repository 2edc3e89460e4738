//! Namespaces that exist for one test, and the rule of honest skips.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mpps_linux::links::{self, VethSpec};
use mpps_linux::netns::NetNs;
use mpps_linux::{cpu, kernel, setting::Setting};

/// Whether tests that change the kernel can run here; says what is needed if not.
#[must_use]
pub fn privileged() -> bool {
    if kernel::effective_uid() == 0 {
        return true;
    }
    println!("SKIP: needs root");
    false
}

/// Skips the rest of a test because this machine lacks something. As root on a kernel that has all
/// we ask for (5.18) that is a failure: a skip must not hide what we broke.
pub fn skip(what: &str) {
    println!("SKIP: needs {what}");
    let release = kernel::release().expect("a kernel has a release");
    assert!(
        kernel::effective_uid() != 0 || !release.at_least(5, 18),
        "needs {what}, which root on Linux {} should have",
        release.text
    );
}

/// A namespace with a name of its own, removed at the end of the test even when it panics.
pub struct Scratch(pub NetNs);

impl Scratch {
    /// A new, empty namespace: no IPv6 unless asked for, so that nothing sends of its own accord.
    pub fn new() -> Self {
        Self(NetNs::create(&unique_name()).expect("create namespace"))
    }

    /// Runs in the namespace; errors of entering it fail the test.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.0.run(work).expect("enter namespace")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let deleted = NetNs::delete(self.0.name());
        if !std::thread::panicking() {
            deleted.expect("delete namespace");
        }
    }
}

/// A name no other test, and no other run of this test, has.
pub fn unique_name() -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let n = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("mpps-linux-{}-{n}", std::process::id())
}

pub const MAC_C: [u8; 6] = [0x02, 0x6d, 0x70, 0x70, 0x00, 0x0c];
pub const MAC_D: [u8; 6] = [0x02, 0x6d, 0x70, 0x70, 0x00, 0x0d];

/// Two namespaces joined by the veth pair mC - mD, both ends up, silent (no IPv6).
pub fn joined(queues: u32) -> (Scratch, Scratch) {
    let (c, d) = (Scratch::new(), Scratch::new());
    for side in [&c, &d] {
        side.run(|| {
            let disable = "net.ipv6.conf.default.disable_ipv6";
            if Setting::sysctl(disable).exists() {
                Setting::sysctl(disable).write("1").expect("disable IPv6");
            }
        });
    }
    c.run(|| {
        links::create_veth(&VethSpec {
            name: "mC",
            mac: MAC_C,
            peer_name: "mD",
            peer_mac: MAC_D,
            peer_netns: &d.0,
            rx_queues: queues,
            tx_queues: queues,
        })
        .expect("create veth");
        links::set_up("mC").expect("mC up");
    });
    d.run(|| links::set_up("mD").expect("mD up"));
    (c, d)
}

/// Asks again and again until there is an answer; fails the test after 10 seconds.
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited 10 s for {what}");
        std::thread::yield_now();
    }
}

/// The last CPU this process may use.
pub fn last_cpu() -> cpu::CpuSet {
    let last = cpu::available().expect("affinity").iter().last();
    cpu::CpuSet::single(last.expect("a thread may run on some CPU"))
}
