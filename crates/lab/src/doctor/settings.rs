//! How the machine is set: seen by looking, as all of it is in its facts.

use super::subject::{Seen, good, good_if, good_if_none};
use super::{Check, Subject};
use mpps_record::facts::Facts;

/// An idle state that takes longer to leave is deep, microseconds.
const WAKE_US: u64 = 20;
/// Share of a second that real-time threads have by default.
const REAL_TIME_SHARE: f64 = 0.95;
/// Clocks that are read without leaving the CPU.
const FAST_CLOCKS: [&str; 4] = [
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
];
/// Options that make a kernel check itself at every step.
const DEBUG_OPTIONS: [&str; 6] = [
    "DEBUG_KMEMLEAK",
    "DEBUG_LOCK_ALLOC",
    "DEBUG_PAGEALLOC",
    "KASAN",
    "KCSAN",
    "LOCKDEP",
];

pub(super) fn all(facts: &Facts) -> Vec<Check> {
    let seen = [
        (Subject::REAL_TIME, real_time(facts)),
        (Subject::JIT, jit(facts)),
        (Subject::BPF_STATISTICS, bpf_statistics(facts)),
        (Subject::CLOCK, clock(facts)),
        (Subject::GOVERNOR, governor(facts)),
        (Subject::IDLE_STATES, idle_states(facts)),
        (Subject::DEBUG_KERNEL, debug_kernel(facts)),
    ];
    seen.map(|(subject, seen)| Check::new(subject, seen)).into()
}

fn real_time(facts: &Facts) -> Seen {
    let setting = |name| facts.kernel.setting(name);
    let runtime = setting("kernel.sched_rt_runtime_us");
    let both = runtime.zip(setting("kernel.sched_rt_period_us"));
    let (runtime, period) = both.ok_or("kernel.sched_rt_runtime_us cannot be read")?;
    if runtime < 0 {
        return good("real-time threads are never stopped");
    }
    let share = runtime as f64 / period.max(1) as f64;
    let seen = format!("real-time threads may have {:.0} % of a CPU", share * 100.0);
    good_if(share >= REAL_TIME_SHARE, seen)
}

fn jit(facts: &Facts) -> Seen {
    let setting = |name| facts.kernel.setting(name);
    let on = setting("net.core.bpf_jit_enable");
    match (
        on.ok_or("net.core.bpf_jit_enable cannot be read")?,
        setting("net.core.bpf_jit_harden"),
    ) {
        (0, _) => good_if(false, "off"),
        (_, Some(..2)) => good("on, constants as they are"),
        (_, Some(2..)) => good_if(false, "on, constants blinded for everybody"),
        // Only root may read the second.
        (_, None) => good("on"),
    }
}

fn bpf_statistics(facts: &Facts) -> Seen {
    match facts.kernel.setting("kernel.bpf_stats_enabled") {
        Some(0) => good("off"),
        Some(_) => good_if(false, "on"),
        None => Err("kernel.bpf_stats_enabled cannot be read".to_owned()),
    }
}

fn clock(facts: &Facts) -> Seen {
    let name = facts.kernel.clocksource.get()?;
    good_if(FAST_CLOCKS.contains(&name.as_str()), name)
}

fn governor(facts: &Facts) -> Seen {
    let Some(governors) = facts.cpu.governors.known() else {
        return good("this kernel scales no frequencies (a hypervisor may)");
    };
    let each = governors.iter();
    let each: Vec<String> = each
        .map(|(name, cpus)| format!("{name} on CPUs {cpus}"))
        .collect();
    let steady = governors.keys().all(|name| name == "performance");
    good_if(steady, each.join(", "))
}

fn idle_states(facts: &Facts) -> Seen {
    let Some(states) = facts.cpu.idle.states.known() else {
        return good("this kernel chooses no idle states");
    };
    let deep: Vec<String> = states
        .iter()
        .filter(|state| state.disabled.known() != Some(&true))
        .filter_map(|state| {
            let latency = *state.exit_latency_us.known()?;
            (latency > WAKE_US).then(|| format!("{} ({latency} us)", state.name))
        })
        .collect();
    good_if_none(&deep, format!("none takes over {WAKE_US} us to leave"))
}

fn debug_kernel(facts: &Facts) -> Seen {
    let configuration = facts.kernel.configuration.get()?;
    let is_on = |option: &&str| configuration.has(option) == Some(true);
    let on: Vec<&str> = DEBUG_OPTIONS.into_iter().filter(is_on).collect();
    good_if_none(&on, "no")
}

#[cfg(test)]
mod tests;
