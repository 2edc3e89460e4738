use super::*;
use crate::facts::{
    self,
    planted::{Planted, ROUTER},
};

fn facts(planted: &Planted) -> Facts {
    facts::read(&planted.root(), Reading::Known(4), None)
}

fn seen(check: &Check) -> (State, &str) {
    (check.state, check.seen.as_str())
}

#[test]
fn a_router_badly_set_is_told_what_it_costs() {
    let planted = Planted::new("doctor", ROUTER);
    let bad = facts(&planted);
    assert_eq!(seen(&jit(&bad)), (State::Costs, "off"));
    assert_eq!(
        seen(&governor(&bad)),
        (
            State::Costs,
            "performance on CPUs 0,2-3, powersave on CPUs 1"
        )
    );
    // The deep one is switched off there.
    assert_eq!(idle_states(&bad).state, State::Good);
    planted.put(
        "/sys/devices/system/cpu/cpu0/cpuidle/state1/disable",
        b"0\n",
    );
    assert_eq!(
        seen(&idle_states(&facts(&planted))),
        (State::Costs, "C6 (133 us)")
    );
    assert_eq!(
        real_time(&bad).state,
        State::Unknown,
        "one of two settings is not there"
    );
    planted.put("/proc/sys/kernel/sched_rt_period_us", b"1000000\n");
    assert_eq!(
        seen(&real_time(&facts(&planted))),
        (State::Good, "real-time threads are never stopped")
    );
    planted.put("/proc/sys/kernel/sched_rt_runtime_us", b"500000\n");
    assert_eq!(
        seen(&real_time(&facts(&planted))),
        (State::Costs, "real-time threads may have 50 % of a CPU")
    );
    assert_eq!(clock(&bad).state, State::Unknown);
    planted.put(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        b"acpi_pm\n",
    );
    assert_eq!(seen(&clock(&facts(&planted))), (State::Costs, "acpi_pm"));
    assert_eq!(debug_kernel(&bad).state, State::Good);
    planted.put(
        "/boot/config-6.12.9-amd64",
        b"CONFIG_KASAN=y\nCONFIG_LOCKDEP=y\n",
    );
    assert_eq!(
        seen(&debug_kernel(&facts(&planted))),
        (State::Costs, "KASAN, LOCKDEP")
    );
}
