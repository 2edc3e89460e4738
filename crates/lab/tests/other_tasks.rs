//! Who else had a CPU, and for how long: by what this test did to it.

use crate::host::{again, succeeded};
use crate::support;
use mpps_lab::clock::wait_until;
use mpps_lab::tester::{OtherTasks, RouterTasks};
use mpps_linux::clock::monotonic_ns;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::task;
use std::process::{Child, Command};

/// As a program like any other, before it gets real-time priority, ns.
const LIFE_BEFORE_NS: u64 = 300_000_000;
const STRETCH_NS: u64 = 30_000_000;

/// A program that works for ever.
struct Busy(Child);

impl Busy {
    fn on(cpu: usize) -> Self {
        let child = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn();
        let busy = Self(child.expect("sh"));
        cpu::pin_task(busy.pid(), &CpuSet::single(cpu)).expect("pin");
        busy
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).expect("a pid")
    }

    fn end(mut self) {
        self.0.kill().expect("kill");
        self.0.wait().expect("wait");
    }
}

/// What one CPU had of others.
fn longest(watch: &OtherTasks) -> (u64, String) {
    let (_, cpu_use) = watch.read().expect("read")[0];
    let comm = String::from_utf8_lossy(&cpu_use.others.longest_comm).into_owned();
    (
        cpu_use.others.longest_ns,
        comm.trim_end_matches('\0').to_owned(),
    )
}

#[test]
fn a_stretch_counts_from_the_clearing() {
    if !support::can_run() {
        return;
    }
    let cpu = support::plan().cpus.dut[0];
    let watch = OtherTasks::watch(&[cpu], &[], &RouterTasks::default()).expect("watch");
    let busy = Busy::on(cpu);
    let ran_ns = || task::schedstat(busy.pid()).expect("schedstat").run_ns;
    while ran_ns() < LIFE_BEFORE_NS {
        std::hint::spin_loop();
    }
    // From here on it goes for nobody, and the slice that the scheduler shows of it began in its life before.
    cpu::set_fifo(busy.pid(), 50).expect("FIFO");
    let cleared_ns = monotonic_ns();
    watch.clear().expect("clear");
    wait_until(cleared_ns + STRETCH_NS);
    let (still_there_ns, name) = longest(&watch);
    busy.end();
    let (gone_ns, name_gone) = longest(&watch);
    let most_ns = monotonic_ns() - cleared_ns;
    for (stretch_ns, name) in [(still_there_ns, name), (gone_ns, name_gone)] {
        assert!(
            (STRETCH_NS / 2..=most_ns).contains(&stretch_ns),
            "{stretch_ns} ns of {name}, at most {most_ns} ns"
        );
        assert_eq!(name, "sh");
    }
}

/// A container may have a time namespace. The kernel's programs read the clock of the host.
#[test]
fn a_stretch_counts_in_a_time_namespace() {
    if !support::can_run() {
        return;
    }
    let test = "a_stretch_counts_from_the_clearing";
    let own = again(test);
    let offset = ["--time", "--monotonic", "100000"];
    let mut apart = Command::new("unshare");
    apart
        .args(offset)
        .arg(own.get_program())
        .args(own.get_args());
    let ended = apart.output().expect("unshare (util-linux)");
    succeeded(test, &ended);
}
