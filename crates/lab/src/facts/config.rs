//! The configuration the kernel was built with, as far as it bears on forwarding.

use super::root::{Root, why_refused};
use flate2::read::GzDecoder;
use mpps_record::facts::{Configuration, Reading};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

/// Longest configuration read, octets; real ones have a quarter of a million.
const LENGTH_MAX: u64 = 8 << 20;

/// Options that make the same router faster or slower, or a measurement possible.
const OPTIONS: [&str; 64] = [
    "BPF_JIT",
    "BPF_JIT_ALWAYS_ON",
    "BPF_SYSCALL",
    "BRIDGE_NETFILTER",
    "CPU_FREQ_DEFAULT_GOV_PERFORMANCE",
    "CPU_FREQ_DEFAULT_GOV_SCHEDUTIL",
    "CPU_IDLE",
    "DEBUG_INFO_BTF",
    "DEBUG_KMEMLEAK",
    "DEBUG_LOCK_ALLOC",
    "DEBUG_PAGEALLOC",
    "DEBUG_PREEMPT",
    "FORTIFY_SOURCE",
    "FTRACE",
    "HARDENED_USERCOPY",
    "HUGETLBFS",
    "HZ",
    "INIT_ON_ALLOC_DEFAULT_ON",
    "INIT_ON_FREE_DEFAULT_ON",
    "IOMMU_DEFAULT_DMA_STRICT",
    "IPV6",
    "IPV6_MULTIPLE_TABLES",
    "IP_ADVANCED_ROUTER",
    "IP_FIB_TRIE_STATS",
    "IP_MULTIPLE_TABLES",
    "IP_ROUTE_MULTIPATH",
    "IRQ_TIME_ACCOUNTING",
    "KASAN",
    "KCSAN",
    "KFENCE",
    "LOCKDEP",
    "LTO_CLANG",
    "MITIGATION_RETHUNK",
    "MITIGATION_RETPOLINE",
    "MITIGATION_SRSO",
    "NETFILTER",
    "NETFILTER_EGRESS",
    "NETFILTER_INGRESS",
    "NET_FLOW_LIMIT",
    "NET_NS",
    "NET_RX_BUSY_POLL",
    "NET_SCH_NETEM",
    "NF_CONNTRACK",
    "NF_FLOW_TABLE",
    "NF_TABLES",
    "NO_HZ_FULL",
    "NO_HZ_IDLE",
    "NUMA",
    "PACKET",
    "PAGE_POOL_STATS",
    "PARAVIRT_TIME_ACCOUNTING",
    "PREEMPT",
    "PREEMPT_DYNAMIC",
    "PREEMPT_LAZY",
    "PREEMPT_NONE",
    "PREEMPT_RT",
    "PREEMPT_VOLUNTARY",
    "RANDOM_KMALLOC_CACHES",
    "RETPOLINE",
    "SCHEDSTATS",
    "SCHED_INFO",
    "SMP",
    "VETH",
    "XDP_SOCKETS",
];

/// Reads the running kernel's: /proc/config.gz, else the file that distributions install with it.
pub(super) fn read(root: &Root, release: &str) -> Reading<Configuration> {
    read_options(root, release, &OPTIONS)
}

/// The same of these options, named without `CONFIG_`. One that the kernel does not know is `-`.
pub(crate) fn read_options(root: &Root, release: &str, names: &[&str]) -> Reading<Configuration> {
    let mut tried = Vec::new();
    for usual in [
        "/proc/config.gz".to_owned(),
        format!("/boot/config-{release}"),
        format!("/lib/modules/{release}/config"),
    ] {
        match text_of(root, &usual) {
            Ok(text) if text.contains("CONFIG_") => {
                return Reading::Known(Configuration {
                    source: usual,
                    options: options(&text, names),
                });
            }
            Ok(_) => tried.push(format!("{usual}: no kernel configuration")),
            Err(error) => tried.push(format!("{usual}: {}", why_refused(&error))),
        }
    }
    Reading::unreadable(tried.join("; "))
}

fn text_of(root: &Root, usual: &str) -> io::Result<String> {
    let file = File::open(root.path(usual))?;
    let mut octets = Vec::new();
    if usual.ends_with(".gz") {
        GzDecoder::new(file)
            .take(LENGTH_MAX)
            .read_to_end(&mut octets)?;
    } else {
        file.take(LENGTH_MAX).read_to_end(&mut octets)?;
    }
    Ok(String::from_utf8_lossy(&octets).into_owned())
}

fn options(text: &str, names: &[&str]) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = names
        .iter()
        .map(|name| ((*name).to_owned(), "-".to_owned()))
        .collect();
    for line in text.lines() {
        let set = line
            .strip_prefix("CONFIG_")
            .and_then(|rest| rest.split_once('='));
        let unset = line
            .strip_prefix("# CONFIG_")
            .and_then(|rest| rest.strip_suffix(" is not set"));
        if let Some((name, value)) = set.or(unset.map(|name| (name, "n")))
            && let Some(entry) = found.get_mut(name.trim())
        {
            *entry = value.trim().trim_matches('"').to_owned();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn options_are_set_unset_or_not_there() {
        let text = "#\n# Automatically generated\nCONFIG_HZ=250\nCONFIG_NETFILTER=m\n# CONFIG_PREEMPT_RT is not set\nCONFIG_LOCALVERSION=\"-x\"\nCONFIG_VETH=y\n";
        let options = options(text, &OPTIONS);
        let of = |name: &str| options.get(name).map(String::as_str);
        assert_eq!(
            [
                of("HZ"),
                of("NETFILTER"),
                of("PREEMPT_RT"),
                of("VETH"),
                of("NO_HZ_FULL"),
                of("LOCALVERSION")
            ],
            [
                Some("250"),
                Some("m"),
                Some("n"),
                Some("y"),
                Some("-"),
                None
            ]
        );
        let configuration = Configuration {
            source: String::new(),
            options,
        };
        assert_eq!(
            ["VETH", "NETFILTER", "PREEMPT_RT", "NO_HZ_FULL"].map(|name| configuration.has(name)),
            [Some(true), Some(true), Some(false), None]
        );
    }

    #[test]
    fn names_stand_once_and_in_order() {
        assert!(OPTIONS.is_sorted());
        assert_eq!(options("", &OPTIONS).len(), OPTIONS.len());
    }

    #[test]
    fn where_no_file_is_all_places_are_named() {
        let root = Root::at(std::path::Path::new("/nowhere"));
        let why = super::read(&root, "6.1.0").why().unwrap().to_owned();
        for place in [
            "/proc/config.gz: not there",
            "/boot/config-6.1.0: not there",
            "/lib/modules/6.1.0/config",
        ] {
            assert!(why.contains(place), "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in ".{0,400}", lines in prop::collection::vec("(# )?CONFIG_[A-Z_]{0,12}(=.{0,8}| is not set)?", 0..20)) {
            prop_assert_eq!(options(&text, &OPTIONS).len(), OPTIONS.len());
            prop_assert_eq!(options(&lines.join("\n"), &OPTIONS).len(), OPTIONS.len());
        }
    }
}
