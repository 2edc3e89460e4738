//! How the machine is set: seen by looking, as all of it is in its facts.

use super::{Check, State, Subject};
use mpps_record::facts::{Facts, Reading};

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
    vec![
        real_time(facts),
        jit(facts),
        bpf_statistics(facts),
        clock(facts),
        governor(facts),
        idle_states(facts),
        debug_kernel(facts),
    ]
}

fn real_time(facts: &Facts) -> Check {
    let setting = |name| facts.kernel.setting(name);
    let (Some(runtime), Some(period)) = (
        setting("kernel.sched_rt_runtime_us"),
        setting("kernel.sched_rt_period_us"),
    ) else {
        return Check::untried(
            Subject::REAL_TIME,
            "kernel.sched_rt_runtime_us cannot be read",
        );
    };
    if runtime < 0 {
        return Check::good(Subject::REAL_TIME, "real-time threads are never stopped");
    }
    let share = runtime as f64 / period.max(1) as f64;
    let seen = format!("real-time threads may have {:.0} % of a CPU", share * 100.0);
    Check::good_if(Subject::REAL_TIME, share >= REAL_TIME_SHARE, seen)
}

fn jit(facts: &Facts) -> Check {
    match (
        facts.kernel.setting("net.core.bpf_jit_enable"),
        facts.kernel.setting("net.core.bpf_jit_harden"),
    ) {
        (Some(0), _) => Check::new(Subject::JIT, State::Costs, "off"),
        (Some(_), Some(harden)) => Check::good_if(
            Subject::JIT,
            harden < 2,
            format!(
                "on, constants {}",
                if harden < 2 {
                    "as they are"
                } else {
                    "blinded for everybody"
                }
            ),
        ),
        // Only root may read the second.
        (Some(_), None) => Check::good(Subject::JIT, "on"),
        (None, _) => Check::untried(Subject::JIT, "net.core.bpf_jit_enable cannot be read"),
    }
}

fn bpf_statistics(facts: &Facts) -> Check {
    match facts.kernel.setting("kernel.bpf_stats_enabled") {
        Some(on) => Check::good_if(
            Subject::BPF_STATISTICS,
            on == 0,
            if on == 0 { "off" } else { "on" },
        ),
        None => Check::untried(
            Subject::BPF_STATISTICS,
            "kernel.bpf_stats_enabled cannot be read",
        ),
    }
}

fn clock(facts: &Facts) -> Check {
    match &facts.kernel.clocksource {
        Reading::Known(name) => Check::good_if(
            Subject::CLOCK,
            FAST_CLOCKS.contains(&name.as_str()),
            name.clone(),
        ),
        Reading::Unreadable { unreadable } => Check::untried(Subject::CLOCK, unreadable),
    }
}

fn governor(facts: &Facts) -> Check {
    match &facts.cpu.governors {
        Reading::Known(governors) => {
            let each: Vec<String> = governors
                .iter()
                .map(|(name, cpus)| format!("{name} on CPUs {cpus}"))
                .collect();
            let steady = governors.keys().all(|name| name == "performance");
            Check::good_if(Subject::GOVERNOR, steady, each.join(", "))
        }
        Reading::Unreadable { .. } => Check::good(
            Subject::GOVERNOR,
            "this kernel scales no frequencies (a hypervisor may)",
        ),
    }
}

fn idle_states(facts: &Facts) -> Check {
    let Some(states) = facts.cpu.idle.states.known() else {
        return Check::good(Subject::IDLE_STATES, "this kernel chooses no idle states");
    };
    let deep: Vec<String> = states
        .iter()
        .filter(|state| state.disabled.known() != Some(&true))
        .filter_map(|state| {
            let latency = *state.exit_latency_us.known()?;
            (latency > WAKE_US).then(|| format!("{} ({latency} us)", state.name))
        })
        .collect();
    let seen = if deep.is_empty() {
        format!("none takes over {WAKE_US} us to leave")
    } else {
        deep.join(", ")
    };
    Check::good_if(Subject::IDLE_STATES, deep.is_empty(), seen)
}

fn debug_kernel(facts: &Facts) -> Check {
    match &facts.kernel.configuration {
        Reading::Known(configuration) => {
            let on: Vec<&str> = DEBUG_OPTIONS
                .into_iter()
                .filter(|option| configuration.has(option) == Some(true))
                .collect();
            let seen = if on.is_empty() {
                "no".to_owned()
            } else {
                on.join(", ")
            };
            Check::good_if(Subject::DEBUG_KERNEL, on.is_empty(), seen)
        }
        Reading::Unreadable { unreadable } => Check::untried(Subject::DEBUG_KERNEL, unreadable),
    }
}

#[cfg(test)]
mod tests;
