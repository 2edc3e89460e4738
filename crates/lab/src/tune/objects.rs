//! What the kernel has of the objects that the catalogue counts or names: rules, links, routes, filters, threads.

use super::NEEDS_ROOT;
use super::place::Place;
use crate::facts::Root;
use crate::fib::routes_in_fib;
use mpps_linux::error::Error;
use mpps_linux::links::Link;
use mpps_linux::objects::{Control, Controlled, controls};
use mpps_linux::routes::{Family, nexthops};
use mpps_linux::{cpu, links, napi, netfilter, objects};
use mpps_record::facts::Reading;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// There is no such object.
const NONE: &str = "none";
/// A limit that no program set (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE`), us.
const NO_LIMIT: i32 = 2_000_000_000;

/// Links and rules, read once, in the namespace of the thread that made this.
#[derive(Debug)]
pub(super) struct Objects {
    links: Vec<Link>,
    rules: OnceCell<Reading<BTreeMap<String, u64>>>,
}

impl Objects {
    pub(super) fn read() -> Self {
        Self {
            links: links::list().unwrap_or_default(),
            rules: OnceCell::new(),
        }
    }

    /// What a place holds: how many there are, or which.
    pub(super) fn value(&self, place: &Place, root: &Root) -> Reading<String> {
        let (group, name) = place.text.split_once('/').unwrap_or_default();
        let Some(interface) = &place.interface else {
            return self.of_namespace(group, name, root);
        };
        let link = self.links.iter().find(|link| link.name == *interface);
        let name = name.trim_start_matches("{if}/");
        match (group, link) {
            (_, None) => Reading::unreadable("no such interface"),
            ("link", Some(link)) => self.of_link(link, name),
            ("tc", Some(link)) => known(of_traffic_control(link, name)),
            (_, Some(link)) => of_napi(link, name),
        }
    }

    fn of_namespace(&self, group: &str, name: &str, root: &Root) -> Reading<String> {
        let count = |count: Result<usize, Error>| known(count.map(|count| number(count as u64)));
        match (group, name) {
            ("nft", words) => self.rules(root).map(|all| {
                let counts = words.split('|').filter_map(|word| all.get(word));
                number(counts.sum())
            }),
            ("links", kind) => {
                let of_kind = |link: &&Link| link.kind.as_deref() == Some(kind);
                count(Ok(self.links.iter().filter(of_kind).count()))
            }
            ("neighbours", _) => count(
                links::neighbours().map(|all| all.iter().filter(|one| one.is_learned).count()),
            ),
            ("routes", "nexthops") => count(nexthops::list().map(|all| all.len())),
            ("routes", family) => match routes_in_fib(family == "ipv6") {
                Some(routes) => Reading::Known(number(routes)),
                None => Reading::unreadable("this kernel has none"),
            },
            ("rules", "ipv6") => count(objects::policy_rules(Family::V6)),
            ("rules", _) => count(objects::policy_rules(Family::V4)),
            ("xfrm", _) => count(objects::ipsec_policies()),
            ("tc", _) => count(objects::police_actions()),
            ("sockets", _) => {
                let sockets = root.text("/proc/thread-self/net/packet");
                // The first line is the table's head.
                sockets.map(|text| number(text.lines().skip(1).count() as u64))
            }
            _ => latency_limit(root),
        }
    }

    /// Rules of nftables. Those of the older iptables are somewhere else.
    fn rules(&self, root: &Root) -> Reading<BTreeMap<String, u64>> {
        let read = || {
            let is_used = |family: &str| {
                let tables = root.text(&format!("/proc/thread-self/net/{family}_tables_names"));
                tables.known().is_some_and(|names| !names.is_empty())
            };
            if is_used("ip") || is_used("ip6") {
                return Reading::unreadable("rules of iptables-legacy, which only it shows");
            }
            known(netfilter::census())
        };
        self.rules.get_or_init(read).clone()
    }

    fn of_link(&self, link: &Link, name: &str) -> Reading<String> {
        let octets = match name {
            "gso-max" => link.gso_max,
            "gro-max" => link.gro_max,
            "xdp" => return Reading::Known(link.xdp.to_owned()),
            _ => {
                let master = self.links.iter().find(|one| Some(one.index) == link.master);
                let kind = master.map_or(Some(NONE), |one| one.kind.as_deref());
                return Reading::Known(kind.unwrap_or("another").to_owned());
            }
        };
        let known = octets.map(|octets| Reading::Known(octets.to_string()));
        known.unwrap_or_else(|| Reading::unreadable("this kernel does not tell"))
    }
}

fn known<T>(read: Result<T, Error>) -> Reading<T> {
    match read {
        Ok(value) => Reading::Known(value),
        Err(error) if error.is_denied() => Reading::unreadable(NEEDS_ROOT),
        Err(error) => Reading::unreadable(error.to_string()),
    }
}

fn number(count: u64) -> String {
    match count {
        0 => NONE.to_owned(),
        count => count.to_string(),
    }
}

/// Each of several values once.
fn joined(values: impl IntoIterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all.join(" ")
}

fn of_traffic_control(link: &Link, name: &str) -> Result<String, Error> {
    let list = |of| controls(link.index, of);
    let count = |all: Vec<Controlled>| number(all.len() as u64);
    Ok(match name {
        // Queues of the hardware are classes too.
        "classes" => {
            let mut classes = list(Control::Classes)?;
            classes.retain(|one| !one.kind.starts_with("mq"));
            count(classes)
        }
        "filters" => count(list(Control::IngressFilters)?),
        "bpf" => {
            let mut filters = list(Control::IngressFilters)?;
            filters.retain(|one| one.kind == "bpf");
            count(filters)
        }
        "ingress" => {
            let mut qdiscs = list(Control::Qdiscs)?.into_iter();
            let found = qdiscs.find(|one| one.parent == Controlled::INGRESS);
            found.map_or_else(|| NONE.to_owned(), |one| one.kind)
        }
        // The root, and what is below it. The kernel does not list a root without a queue.
        _ => {
            let qdiscs = list(Control::Qdiscs)?.into_iter();
            let below = qdiscs.filter(|one| one.parent != Controlled::INGRESS);
            joined(
                link.qdisc
                    .clone()
                    .into_iter()
                    .chain(below.map(|one| one.kind)),
            )
        }
    })
}

fn of_napi(link: &Link, name: &str) -> Reading<String> {
    let value = |one: &napi::Napi| match name {
        "cpus" => match one.thread {
            Some(thread) => Some(cpu::affinity(thread).ok()?.to_string()),
            None => Some("no thread".to_owned()),
        },
        "threaded" => match one.threaded? {
            0 => Some("off".to_owned()),
            1 => Some("on".to_owned()),
            _ => Some("busy-poll".to_owned()),
        },
        _ => Some(one.suspend_timeout_ns?.to_string()),
    };
    known(napi::list(&link.name)).and_then(|all| {
        let values: Option<Vec<String>> = all.iter().map(value).collect();
        match values {
            Some(values) if values.is_empty() => Reading::unreadable("no NAPI while it is down"),
            Some(values) => Reading::Known(joined(values)),
            None => Reading::unreadable("this kernel does not tell"),
        }
    })
}

/// The longest time that a CPU may take to wake up, as programs demand it, us.
fn latency_limit(root: &Root) -> Reading<String> {
    let octets = std::fs::read(root.path("/dev/cpu_dma_latency"));
    let octets = octets.map(|octets| <[u8; 4]>::try_from(octets).map(i32::from_ne_bytes));
    match octets {
        Ok(Ok(NO_LIMIT)) => Reading::Known(NONE.to_owned()),
        Ok(Ok(limit)) => Reading::Known(limit.to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Reading::unreadable(NEEDS_ROOT)
        }
        _ => Reading::unreadable("this kernel has no such file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::planted::Planted;

    #[test]
    fn a_demanded_latency_is_a_number_of_its_own() {
        let planted = Planted::new("latency", &[]);
        let told = |octets: &[u8]| {
            planted.put("/dev/cpu_dma_latency", octets);
            latency_limit(&planted.root()).known().cloned()
        };
        assert_eq!(told(&20_i32.to_ne_bytes()).as_deref(), Some("20"));
        assert_eq!(told(&0_i32.to_ne_bytes()).as_deref(), Some("0"));
        assert_eq!(told(&NO_LIMIT.to_ne_bytes()).as_deref(), Some(NONE));
        assert_eq!(told(&[1, 2]), None);
    }

    #[test]
    fn rules_of_the_older_iptables_are_told() {
        let objects = Objects::read();
        let file = "/proc/thread-self/net/ip6_tables_names";
        let planted = Planted::new("legacy", &[(file, "filter\n")]);
        let why = objects.rules(&planted.root());
        assert!(
            why.why().is_some_and(|why| why.contains("iptables-legacy")),
            "{why:?}"
        );
    }
}
