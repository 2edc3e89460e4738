//! Trees of files that look like machines, for tests.

use crate::facts::Root;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// A router of two sockets as its files have it.
pub(crate) const ROUTER: &[(&str, &str)] = &[
    ("/proc/sys/kernel/osrelease", "6.12.9-amd64\n"),
    (
        "/proc/sys/kernel/version",
        "#1 SMP PREEMPT_DYNAMIC Debian 6.12.9-1 (2025-01-10)\n",
    ),
    (
        "/proc/version",
        "Linux version 6.12.9-amd64 (a@b) (gcc-14 14.2.0, GNU ld 2.43) #1 SMP\n",
    ),
    (
        "/proc/cmdline",
        "root=/dev/sda1 isolcpus=2-3 mitigations=off\n",
    ),
    (
        "/proc/cpuinfo",
        "processor : 0\nmodel name : Xeon E5-2660 v3 @ 2.20GHz\nmicrocode : 0x49\ncpu MHz : 2194.9\nflags : fpu lm\n",
    ),
    (
        "/proc/stat",
        "cpu  80 0 10 100 0 0 5 5 0 0\ncpu0 80 0 10 100 0 0 5 5 0 0\n",
    ),
    (
        "/proc/meminfo",
        "MemTotal: 131072 kB\nMemAvailable: 65536 kB\nHugePages_Total: 8\nHugePages_Free: 6\nHugepagesize: 2048 kB\n",
    ),
    ("/proc/sys/net/core/bpf_jit_enable", "0\n"),
    ("/proc/sys/kernel/sched_rt_runtime_us", "-1\n"),
    (
        "/boot/config-6.12.9-amd64",
        "CONFIG_HZ=250\nCONFIG_BPF_JIT=y\n# CONFIG_PREEMPT_RT is not set\n",
    ),
    ("/sys/devices/system/cpu/online", "0-3\n"),
    ("/sys/devices/system/cpu/isolated", "2-3\n"),
    ("/sys/devices/system/cpu/smt/control", "on\n"),
    (
        "/sys/devices/system/cpu/cpuidle/current_driver",
        "intel_idle\n",
    ),
    (
        "/sys/devices/system/cpu/cpuidle/current_governor_ro",
        "menu\n",
    ),
    ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    (
        "/sys/devices/system/cpu/vulnerabilities/meltdown",
        "Vulnerable\n",
    ),
    (
        "/sys/devices/system/cpu/vulnerabilities/mds",
        "Not affected\n",
    ),
    (
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "performance\n",
    ),
    (
        "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
        "powersave\n",
    ),
    (
        "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor",
        "performance\n",
    ),
    (
        "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
        "performance\n",
    ),
    (
        "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
        "3300000\n",
    ),
    (
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
        "intel_pstate\n",
    ),
    (
        "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
        "0,2\n",
    ),
    (
        "/sys/devices/system/cpu/cpu0/topology/physical_package_id",
        "0\n",
    ),
    (
        "/sys/devices/system/cpu/cpu1/topology/physical_package_id",
        "1\n",
    ),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6\n"),
    (
        "/sys/devices/system/cpu/cpu0/cpuidle/state1/latency",
        "133\n",
    ),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n"),
    ("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
    ("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
    ("/sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"),
    (
        "/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size",
        "64\n",
    ),
    (
        "/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list",
        "0,2\n",
    ),
    ("/sys/devices/system/cpu/cpu0/cache/index3/level", "3\n"),
    ("/sys/devices/system/cpu/cpu0/cache/index3/size", "25600K\n"),
    ("/sys/devices/system/node/node0/cpulist", "0,2\n"),
    (
        "/sys/devices/system/node/node0/meminfo",
        "Node 0 MemTotal:       65536 kB\nNode 0 MemFree: 1 kB\n",
    ),
    ("/sys/devices/system/node/node1/cpulist", "1,3\n"),
    ("/sys/class/dmi/id/sys_vendor", "Supermicro\n"),
    ("/sys/class/dmi/id/product_name", "X10DRi\n"),
    (
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never\n",
    ),
];

/// A tree of files that looks like a machine's, removed at the end.
pub(crate) struct Planted(PathBuf);

impl Planted {
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("mpps-facts-{}-{name}", std::process::id()));
        let planted = Self(path);
        for (usual, text) in files {
            planted.put(usual, text.as_bytes());
        }
        planted
    }

    pub(crate) fn put(&self, usual: &str, octets: &[u8]) {
        let path = self.root().path(usual);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, octets).unwrap();
    }

    pub(crate) fn link(&self, usual: &str, to: &str) {
        let path = self.root().path(usual);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(to, path).unwrap();
    }

    pub(crate) fn root(&self) -> Root {
        Root::at(&self.0)
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}
