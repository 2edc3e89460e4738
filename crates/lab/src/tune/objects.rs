//! What the kernel has of the objects that the catalogue counts or names: rules, links, routes, filters, threads.

use super::NEEDS_ROOT;
use super::place::Place;
use crate::facts::Root;
use crate::fib::routes_in_fib;
use mpps_linux::bpf::{LinkKind, attached};
use mpps_linux::error::Error;
use mpps_linux::links::Link;
use mpps_linux::objects::{TcKind, TcObject, tc_objects};
use mpps_linux::routes::{Family, nexthops};
use mpps_linux::{cpu, links, napi, netfilter, objects};
use mpps_record::facts::Reading;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// There is no such object.
const NONE: &str = "none";
/// The catalogue has a name that nothing here reads.
const NO_READER: &str = "mpps has no reader for it";
/// A limit that no program set (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE`), us.
const NO_LIMIT: i32 = 2_000_000_000;

/// Links and rules, read once, in the namespace of the thread that made this.
#[derive(Debug)]
pub(super) struct Objects {
    links: Reading<Vec<Link>>,
    rules: OnceCell<Reading<BTreeMap<String, u64>>>,
}

impl Objects {
    pub(super) fn read() -> Self {
        Self {
            links: known(links::list()),
            rules: OnceCell::new(),
        }
    }

    /// What a place holds: how many there are, or which.
    pub(super) fn value(&self, place: &Place, root: &Root) -> Reading<String> {
        let (group, name) = place.text.split_once('/').unwrap_or_default();
        let Some(interface) = &place.interface else {
            return self.of_namespace(group, name, root);
        };
        let links = match self.links.get() {
            Ok(links) => links,
            Err(why) => return Reading::unreadable(why),
        };
        let Some(link) = links.iter().find(|link| link.name == *interface) else {
            return Reading::unreadable("no such interface");
        };
        let name = name.trim_start_matches("{if}/");
        match group {
            "link" => of_link(link, links, name),
            "tc" => of_traffic_control(link, name),
            "napi" => of_napi(link, name),
            _ => Reading::unreadable(NO_READER),
        }
    }

    fn of_namespace(&self, group: &str, name: &str, root: &Root) -> Reading<String> {
        let count = |count: Result<usize, Error>| known(count.map(|count| number(count as u64)));
        match (group, name) {
            ("nft", words) => self.rules(root).map(|all| {
                let counts = words.split('|').filter_map(|word| all.get(word));
                number(counts.sum())
            }),
            ("links", kind @ ("vlan" | "vrf")) => {
                let of_kind = |link: &&Link| link.kind.as_deref() == Some(kind);
                let links = self.links.get();
                let count = links.map(|links| links.iter().filter(of_kind).count());
                count.map(|count| number(count as u64)).into()
            }
            // The other neighbours are static, so a number alone would not tell which of both it counts.
            ("neighbours", "learned") => known(links::neighbours()).map(|all| {
                let learned = all.iter().filter(|one| one.is_learned).count();
                format!("{} learned", number(learned as u64))
            }),
            ("routes", "nexthops") => count(nexthops::list().map(|all| all.len())),
            ("routes", family @ ("ipv4" | "ipv6")) => match routes_in_fib(family == "ipv6") {
                Some(routes) => Reading::Known(number(routes)),
                None => Reading::unreadable("this kernel has none"),
            },
            ("rules", "ipv4") => count(objects::policy_rules(Family::V4)),
            ("rules", "ipv6") => count(objects::policy_rules(Family::V6)),
            ("xfrm", "policies") => count(objects::ipsec_policies()),
            ("tc", "police") => count(objects::police_actions()),
            ("sockets", "packet") => {
                let sockets = root.text("/proc/thread-self/net/packet");
                // The first line is the table's head.
                sockets.map(|text| number(text.lines().skip(1).count() as u64))
            }
            ("cpu", "latency-limit") => latency_limit(root),
            _ => Reading::unreadable(NO_READER),
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
            known(netfilter::count_rules())
        };
        self.rules.get_or_init(read).clone()
    }
}

fn of_link(link: &Link, links: &[Link], name: &str) -> Reading<String> {
    let octets = match name {
        "gso-max" => link.gso_max,
        "gro-max" => link.gro_max,
        "xdp" => return Reading::Known(link.xdp.to_owned()),
        "master" => {
            let master = links.iter().find(|one| Some(one.index) == link.master);
            let kind = master.map_or(Some(NONE), |one| one.kind.as_deref());
            return Reading::Known(kind.unwrap_or("another").to_owned());
        }
        _ => return Reading::unreadable(NO_READER),
    };
    let known = octets.map(|octets| Reading::Known(octets.to_string()));
    known.unwrap_or_else(|| Reading::unreadable("this kernel does not tell"))
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

/// Queueing disciplines that list their flows as classes.
const FLOWS: [&str; 4] = ["fq_codel", "sfq", "cake", "fq_pie"];

fn of_traffic_control(link: &Link, name: &str) -> Reading<String> {
    let list = |of| tc_objects(link.index, of);
    match name {
        "classes" => known(list(TcKind::Classes)).map(|mut classes| {
            // Queues of the hardware are classes too, and so are flows that some disciplines sort.
            let is_own = |kind: &str| kind.starts_with("mq") || FLOWS.contains(&kind);
            classes.retain(|one| !is_own(&one.kind));
            number(classes.len() as u64)
        }),
        "filters" => known(ingress_filters(link, |_| true)),
        "bpf" => known(ingress_filters(link, |one| one.kind == "bpf")),
        "ingress" => known(list(TcKind::Qdiscs)).map(|qdiscs| {
            let mut qdiscs = qdiscs.into_iter();
            let found = qdiscs.find(|one| one.parent == TcObject::INGRESS);
            found.map_or_else(|| NONE.to_owned(), |one| one.kind)
        }),
        // The root, and what is below it. The kernel does not list a root without a queue.
        "root" => known(list(TcKind::Qdiscs)).map(|qdiscs| {
            let below = qdiscs.into_iter();
            let below = below.filter(|one| one.parent != TcObject::INGRESS);
            let root = link.qdisc.clone().into_iter();
            joined(root.chain(below.map(|one| one.kind)))
        }),
        _ => Reading::unreadable(NO_READER),
    }
}

/// Filters before layer 3. Programs of tcx (Linux 6.6) do the work of filters, but traffic control does not list them.
fn ingress_filters(link: &Link, is_counted: fn(&TcObject) -> bool) -> Result<String, Error> {
    let filters = tc_objects(link.index, TcKind::IngressFilters)?;
    let filters = filters.iter().filter(|one| is_counted(one)).count();
    let programs = attached(link.index, LinkKind::TcxIngress)?.len();
    Ok(number((filters + programs) as u64))
}

fn of_napi(link: &Link, name: &str) -> Reading<String> {
    let value: fn(&napi::Napi) -> Option<String> = match name {
        "cpus" => |one| match one.thread {
            Some(thread) => Some(cpu::affinity(thread).ok()?.to_string()),
            None => Some("no thread".to_owned()),
        },
        "threaded" => |one| match one.threaded? {
            0 => Some("off".to_owned()),
            1 => Some("on".to_owned()),
            _ => Some("busy-poll".to_owned()),
        },
        "suspend-timeout" => |one| Some(one.suspend_timeout_ns?.to_string()),
        _ => return Reading::unreadable(NO_READER),
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
    use mpps_method::tune::{CATALOGUE, Kind};

    /// The catalogue's own check knows names, this test knows that each has a reader.
    #[test]
    fn each_object_of_the_catalogue_has_a_reader() {
        let sockets = ("/proc/thread-self/net/packet", "sk\n");
        let (objects, planted) = (Objects::read(), Planted::new("readers", &[sockets]));
        let value = |text: &str| {
            let place = Place {
                kind: Kind::Object,
                template: 0,
                interface: text.contains("{if}").then(|| "lo".to_owned()),
                text: text.to_owned(),
            };
            objects.value(&place, &planted.root())
        };
        let places = CATALOGUE.iter().flat_map(|row| &row.places);
        let places = places.filter(|place| place.kind == Kind::Object);
        assert!(places.clone().count() > 40);
        for place in places {
            let value = value(place.text);
            assert!(value.why() != Some(NO_READER), "{}", place.text);
        }
        for text in ["cpu/{if}/x", "link/{if}/x", "links/x", "napi/{if}/x"] {
            assert_eq!(value(text), Reading::unreadable(NO_READER), "{text}");
        }
        for text in ["neighbours/x", "routes/x", "rules/x", "tc/x", "tc/{if}/x"] {
            assert_eq!(value(text), Reading::unreadable(NO_READER), "{text}");
        }
        let learned = value("neighbours/learned");
        assert!(learned.text().ends_with(" learned"), "{learned:?}");
    }

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
