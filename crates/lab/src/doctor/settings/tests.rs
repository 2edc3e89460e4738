use super::super::State;
use super::*;
use crate::facts::{
    self,
    tests::planted::{Planted, ROUTER},
};
use mpps_record::facts::Reading;

fn facts(planted: &Planted) -> Facts {
    facts::read(&planted.root(), Reading::Known(4), None)
}

fn is_good(seen: &Seen) -> bool {
    matches!(seen, Ok((State::Good, _)))
}

#[test]
fn a_router_badly_set_is_told_what_it_costs() {
    let planted = Planted::new("doctor", ROUTER);
    let bad = facts(&planted);
    assert_eq!(jit(&bad), good_if(false, "off"));
    assert_eq!(
        governor(&bad),
        good_if(false, "performance on CPUs 0,2-3, powersave on CPUs 1")
    );
    // The deep one is switched off there.
    assert!(is_good(&idle_states(&bad)));
    planted.put(
        "/sys/devices/system/cpu/cpu0/cpuidle/state1/disable",
        b"0\n",
    );
    assert_eq!(idle_states(&facts(&planted)), good_if(false, "C6 (133 us)"));
    assert!(real_time(&bad).is_err(), "one of two settings is not there");
    planted.put("/proc/sys/kernel/sched_rt_period_us", b"1000000\n");
    assert_eq!(
        real_time(&facts(&planted)),
        good("real-time threads are never stopped")
    );
    planted.put("/proc/sys/kernel/sched_rt_runtime_us", b"500000\n");
    assert_eq!(
        real_time(&facts(&planted)),
        good_if(false, "real-time threads may have 50 % of a CPU")
    );
    assert!(clock(&bad).is_err());
    planted.put(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        b"acpi_pm\n",
    );
    assert_eq!(clock(&facts(&planted)), good_if(false, "acpi_pm"));
    assert!(is_good(&debug_kernel(&bad)));
    planted.put(
        "/boot/config-6.12.9-amd64",
        b"CONFIG_KASAN=y\nCONFIG_LOCKDEP=y\n",
    );
    assert_eq!(
        debug_kernel(&facts(&planted)),
        good_if(false, "KASAN, LOCKDEP")
    );
}
