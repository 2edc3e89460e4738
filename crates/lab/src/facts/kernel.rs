//! What the kernel is and how it is set, beyond its release.

use super::config;
use super::root::{Root, shortened};
use mpps_record::facts::{Kernel, Mitigation, Reading};

/// One file a CPU fault, with what is done against it.
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";
const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0";

/// Kernel parameters that bear on packet rates: isolation, mitigations, timers, power, memory. The
/// others stay out of records: a command line may hold secrets.
const PARAMETERS: [&str; 22] = [
    "amd_pstate",
    "audit",
    "clocksource",
    "cpuidle.off",
    "hugepages",
    "idle",
    "intel_idle.max_cstate",
    "intel_iommu",
    "intel_pstate",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "mitigations",
    "nohz",
    "nohz_full",
    "nosmt",
    "preempt",
    "processor.max_cstate",
    "rcu_nocbs",
    "skew_tick",
    "threadirqs",
    "transparent_hugepage",
];

/// Settings of the whole machine that bear on packet rates or on measuring them (dotted, as sysctl(8) has
/// them). Those of a network namespace are the bed's own.
pub(super) const SETTINGS: [&str; 20] = [
    "kernel.bpf_stats_enabled",
    "kernel.nmi_watchdog",
    "kernel.numa_balancing",
    "kernel.perf_event_paranoid",
    "kernel.sched_autogroup_enabled",
    "kernel.sched_rt_period_us",
    "kernel.sched_rt_runtime_us",
    "kernel.sched_schedstats",
    "kernel.tainted",
    "kernel.timer_migration",
    "kernel.unprivileged_bpf_disabled",
    "net.core.bpf_jit_enable",
    "net.core.bpf_jit_harden",
    "net.core.bpf_jit_limit",
    "net.core.default_qdisc",
    "net.core.dev_weight",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.netdev_tstamp_prequeue",
];

/// Where such a setting is.
pub(super) fn file_of(setting: &str) -> String {
    format!("/proc/sys/{}", setting.replace('.', "/"))
}

/// Facts of the running kernel.
pub(super) fn read(root: &Root, release: &str) -> Kernel {
    Kernel {
        version: root.text("/proc/sys/kernel/version"),
        compiler: root.text("/proc/version").find(
            |text| compiler(text),
            |_| "/proc/version: names no compiler".to_owned(),
        ),
        configuration: config::read(root, release),
        preemption: chosen(root, "/sys/kernel/debug/sched/preempt", ('(', ')')),
        clocksource: root.text(&format!("{CLOCKSOURCE}/current_clocksource")),
        settings: (SETTINGS
            .iter()
            .map(|name| ((*name).to_owned(), root.text(&file_of(name)))))
        .collect(),
        transparent_hugepages: chosen(
            root,
            "/sys/kernel/mm/transparent_hugepage/enabled",
            ('[', ']'),
        ),
    }
}

/// What the kernel was booted with, as far as it bears on packet rates.
pub(super) fn parameters(command_line: &str) -> Vec<String> {
    let known = |word: &&str| PARAMETERS.contains(&word.split('=').next().unwrap_or_default());
    command_line
        .split_whitespace()
        .filter(known)
        .map(str::to_owned)
        .collect()
}

/// Each CPU fault that concerns this machine, in order.
pub(super) fn mitigations(root: &Root) -> Reading<Vec<Mitigation>> {
    root.names(VULNERABILITIES).map(|names| {
        let mitigation = |fault: String| {
            let state = match root.text(&format!("{VULNERABILITIES}/{fault}")) {
                Reading::Known(state) => state,
                Reading::Unreadable { unreadable } => format!("unreadable: {unreadable}"),
            };
            Mitigation { fault, state }
        };
        let all = names.into_iter().map(mitigation);
        all.filter(|one| one.state != "Not affected").collect()
    })
}

/// The one of several words that stands between brackets: `always [madvise] never`.
fn chosen(root: &Root, usual: &str, (open, close): (char, char)) -> Reading<String> {
    root.text(usual).find(
        |text| {
            let (_, rest) = text.split_once(open)?;
            Some(rest.split_once(close)?.0.to_owned())
        },
        |text| format!("{usual}: \"{}\" names no choice", shortened(text)),
    )
}

/// From `Linux version R (who@where) (gcc (Debian 12) 12.2, GNU ld 2.40) #1 SMP ...`: what stands in the
/// second pair of parentheses. Who built it where is nobody's business.
fn compiler(version: &str) -> Option<String> {
    let (_, rest) = version.split_once(") (")?;
    let (inside, _) = rest.rsplit_once(") #").or_else(|| rest.rsplit_once(')'))?;
    (!inside.is_empty()).then(|| inside.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_parameters_that_bear_on_rates_are_kept() {
        let line = "root=/dev/vda mitigations=off quiet secret=hunter2 isolcpus=2-3 threadirqs";
        assert_eq!(
            parameters(line),
            ["mitigations=off", "isolcpus=2-3", "threadirqs"]
        );
    }

    #[test]
    fn the_compiler_is_told_and_the_builder_is_not() {
        let text = "Linux version 6.1.0-18-amd64 (someone@somewhere) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1";
        assert_eq!(
            compiler(text).as_deref(),
            Some("gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40")
        );
        for text in ["", "Linux version 6", "Linux (a) (", ") (", "(a) () #1"] {
            assert_eq!(compiler(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_version_is_read(text in "[ -~]{0,200}") {
            let _ = compiler(&text);
            prop_assert!(parameters(&text).len() <= text.len());
        }
    }
}
