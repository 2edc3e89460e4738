//! The stage of a sample, from its call stack.

use super::catalogue::{CATALOGUE, Catalogue, Row, plain};
use super::{Cause, Stage};

/// Substage of samples that no rule places.
pub const UNCLASSIFIED: &str = "other.unclassified";

/// Frames of a load generator.
const GENERATORS: [&str; 7] = [
    "packet_sendmsg",
    "packet_snd",
    "__sys_sendmmsg",
    "pktgen_thread_worker",
    "xdp_test_run_batch",
    "bpf_prog_test_run_xdp",
    "udp_sendmsg",
];
/// Where the router's work begins, whatever it interrupted.
const WORK: [&str; 5] = [
    "handle_softirqs",
    "__do_softirq",
    "napi_threaded_poll",
    "napi_threaded_poll_loop",
    "cpu_map_kthread_run",
];
/// Functions whose tail calls hide the function that called netfilter.
const TAIL_CALLERS: [&str; 2] = [
    "__netif_receive_skb_one_core",
    "__netif_receive_skb_list_core",
];

/// On a hypervisor a CPU that waits for a lock halts here until the lock's holder wakes it.
const HALTS: &str = "kvm_wait";

/// Whose router a stack is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Router {
    /// That of the bed: veth, CPUMAP and our programs are stages of their own.
    OnBed,
    /// A host's, where veth and CPUMAP are drivers as others are.
    OfHost,
}

/// Where a sample belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed<'a> {
    /// The stage.
    pub stage: Stage,
    /// Part of the stage, as the catalogue names it: `route.fib`.
    pub substage: &'static str,
    /// What the time was spent on.
    pub cause: Cause,
    /// The function that decided the stage, without suffixes; empty where none did.
    pub decided_by: &'a str,
    /// The function that was running; where the sample is a shadow, the one that had turned interrupts off.
    pub function: &'a str,
    /// The running function is not in the catalogue; its caller decided.
    pub unknown: bool,
    /// The function does the work of two stages, so its stage is an estimate.
    pub estimated: bool,
    /// The sample fired late, when interrupts were enabled again.
    pub shadow: bool,
}

/// Places a sample by its call stack: symbols of kernel functions, the running one first. A stack without a symbol is
/// user space.
#[must_use]
pub fn place<'a>(stack: &[&'a str], router: Router) -> Placed<'a> {
    let mut names: Vec<&str> = stack.iter().map(|symbol| plain(symbol)).collect();
    let is_awake = |name: &&str| !name.ends_with("_halt");
    let halts = names.iter().position(is_awake);
    if let Some(at) = halts.filter(|&at| names.get(at) == Some(&HALTS)) {
        names.drain(..at);
    }
    let first = names.first().copied().unwrap_or_default();
    let mut placed = Placed {
        stage: Stage::Other,
        substage: UNCLASSIFIED,
        cause: Cause::None,
        decided_by: "",
        // A name that is only a remark, such as [unknown], stays as it is.
        function: if first.is_empty() {
            stack.first().copied().unwrap_or_default()
        } else {
            first
        },
        unknown: row(first, router).is_none(),
        estimated: false,
        shadow: false,
    };
    if names.is_empty() {
        placed.substage = "other.user";
    } else if generates(&names) {
        placed.substage = "other.generator";
    } else {
        walk(&names, router, &mut placed);
    }
    placed
}

/// Whether a load generator ran, and not the router on top of it.
fn generates(names: &[&str]) -> bool {
    let first = |of: &[&str]| names.iter().position(|name| of.contains(name));
    first(&GENERATORS).is_some_and(|at| first(&WORK).is_none_or(|work| work > at))
}

/// Walks up to the first function whose stage is its own.
fn walk<'a>(names: &[&'a str], router: Router, placed: &mut Placed<'a>) {
    for (at, &name) in names.iter().enumerate() {
        let Some(row) = row(name, router) else {
            continue;
        };
        if placed.cause == Cause::None {
            placed.cause = Cause::from_substage(row.substage);
        }
        let (below, above) = (
            names.get(..=at).unwrap_or(names),
            names.get(at + 1..).unwrap_or_default(),
        );
        let Some(stage) = row.stage else {
            let hook = row
                .substage
                .starts_with("nf.")
                .then(|| hooked(below, above));
            if let Some((stage, substage, by)) = hook.flatten() {
                (placed.stage, placed.substage, placed.decided_by) = (stage, substage, by);
                return;
            }
            continue;
        };
        (placed.stage, placed.substage, placed.decided_by) = (stage, row.substage, name);
        let sends = |name: &&str| name.starts_with("dma_unmap") || name.ends_with("consume_skb");
        if row.mixed && below.iter().any(sends) {
            (placed.stage, placed.substage) = (Stage::Free, "free.txclean");
        }
        placed.estimated = row.mixed;
        if stage != Stage::Other {
            own(above, stage, placed);
        }
        return;
    }
}

/// Lets the callers up to the next stage make the substage another, and give a cause where there is none yet.
fn own(above: &[&str], stage: Stage, placed: &mut Placed<'_>) {
    let stage_of = |name: &str| CATALOGUE.function(name).and_then(|row| row.stage);
    let next = above
        .iter()
        .position(|name| stage_of(name).is_some_and(|other| other != stage));
    let owners = next.and_then(|next| above.get(..=next)).unwrap_or(above);
    if let Some((stage, substage)) = CATALOGUE.owned(placed.substage, owners) {
        (placed.stage, placed.substage) = (stage, substage);
    }
    if placed.cause == Cause::None {
        // A caller of another stage, such as the start of a thread, is no cause of what it calls.
        let rows = owners.iter().filter_map(|name| CATALOGUE.function(name));
        let rows = rows.filter(|row| row.stage.is_none_or(|of| of == stage));
        let mut causes = rows.map(|row| Cause::from_substage(row.substage));
        let first = causes.find(|&cause| cause != Cause::None);
        placed.cause = first.unwrap_or(Cause::None);
    }
}

/// The row of a function, with the bed's own parts as stages of their own on the bed.
fn row(name: &str, router: Router) -> Option<Row> {
    let all: &Catalogue = &CATALOGUE;
    if router == Router::OfHost {
        return all.function(name);
    }
    let mut row = all.program(name).or_else(|| all.function(name))?;
    let own = match row.substage {
        "rx.cpumap" => Some((Stage::VirtualNic, "nic.cpumap")),
        "rx.veth" => Some((Stage::VirtualNic, "nic.veth")),
        "tx.veth" => Some((Stage::Exit, "exit.veth")),
        // A bed's sockets are the generator's.
        "lib.sock" => Some((Stage::Other, "other.genartefact")),
        _ => None,
    };
    if let Some((stage, substage)) = own {
        (row.stage, row.substage) = (Some(stage), substage);
    }
    Some(row)
}

/// The stage of netfilter's work, by the hook it was called from. `below` ends with a function of netfilter.
fn hooked<'a>(below: &[&'a str], above: &[&'a str]) -> Option<(Stage, &'static str, &'a str)> {
    for &name in above {
        if let Some(row) = CATALOGUE.hook(name) {
            return row.stage.map(|stage| (stage, row.substage, name));
        }
        if TAIL_CALLERS.contains(&name) {
            return named(below).or(Some((Stage::Prerouting, "pre.nf", name)));
        }
        // Not called from a hook: the release of a buffer, say, which also ends a connection's reference.
        if CATALOGUE
            .function(name)
            .is_some_and(|row| row.stage.is_some())
        {
            return None;
        }
    }
    let chain = below.iter().find(|name| name.starts_with("nft_do_chain"));
    named(below).or_else(|| chain.map(|&name| (Stage::Postrouting, "post.nf_forward", name)))
}

/// The same by the names of netfilter's functions alone.
fn named<'a>(below: &[&'a str]) -> Option<(Stage, &'static str, &'a str)> {
    below.iter().find_map(|&name| {
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if has(&["_out", "confirm", "masq"]) {
            Some((Stage::Postrouting, "post.nf", name))
        } else if name.ends_with("_in") || has(&["_pre"]) {
            Some((Stage::Prerouting, "pre.nf", name))
        } else {
            None
        }
    })
}
