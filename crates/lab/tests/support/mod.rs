//! What the bed tests share: a bed of their own, and the right to say "skipped".

pub mod planted;
pub mod printed;
#[path = "../../../wire/src/template/tests/test_frame.rs"]
pub mod test_frame;
pub mod trials;
pub mod values;

use mpps_lab::bed::Port;
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Side};
use mpps_lab::clock::wait_until;
use mpps_lab::destinations::{DestinationList, Destinations, DrawPlan};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::search::link::Link;
use mpps_lab::tester::Tester;
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_linux::cpu::CpuSet;
use mpps_linux::netns::NetNs;
use mpps_linux::{clock, cpu, kernel};
use mpps_method::destinations::Draw;
use mpps_method::{Accept, Offer, Rate, Resolution, Rules, SearchPlan, Span, Trial};
use mpps_tables::Table;
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ports of a bed, for tests that know which DUT it has.
pub trait PortsOfBed {
    fn port(&self, side: Side) -> &Port;

    fn netns(&self, side: Side) -> &NetNs {
        &self.port(side).netns
    }
}

impl PortsOfBed for Bed {
    fn port(&self, side: Side) -> &Port {
        self.port_at(side).expect("a port that the tester gets at")
    }
}

/// Ends a test that cannot run here, and says what it lacks; `cargo xtask test` counts it as skipped. What the function
/// answers is then its type's own nothing.
macro_rules! skip {
    ($($lacked:tt)+) => {{
        println!("SKIP: needs {}", format_args!($($lacked)+));
        return Default::default();
    }};
}
pub(crate) use skip;

/// Whether bed tests can run here. Root on a kernel that is new enough must: a skip there is a failure.
pub fn can_run() -> bool {
    if kernel::effective_uid() != 0 {
        skip!("root for namespaces and eBPF");
    }
    let release = kernel::release().expect("a kernel has a release");
    if !release.at_least(5, 18) {
        skip!("Linux 5.18 (docs/kernels.md), this is {release:?}");
    }
    true
}

/// Whether bed tests can run here with CPUs of their own for tester and DUT.
pub fn can_run_on_two_cpus() -> bool {
    if !can_run() {
        return false;
    }
    if plan().cpus.shared() {
        skip!("two CPUs");
    }
    true
}

/// As this process found its CPUs: raising a tester moves a thread to the tester's, and a plan made there afterwards
/// would have tester and DUT share one.
pub fn plan() -> BedPlan {
    static AVAILABLE: OnceLock<CpuSet> = OnceLock::new();
    let available = AVAILABLE.get_or_init(|| cpu::available().expect("affinity"));
    BedPlan::usual(CpuSplit::choose(available, None, None).expect("a split"))
}

pub fn bed() -> Bed {
    Bed::raise(&plan()).unwrap_or_else(|error| panic!("raise: {error}"))
}

/// A bed by this plan, with this text as its set-up script.
pub fn bed_set_up(plan: &BedPlan, script: &str) -> Bed {
    let path = std::env::temp_dir().join(format!("mpps-set-up-{}", clock::monotonic_ns()));
    std::fs::write(&path, script).expect("script");
    let raised = Bed::raise(&BedPlan {
        dut_setup: Some(path.clone()),
        ..plan.clone()
    });
    std::fs::remove_file(&path).expect("script");
    raised.unwrap_or_else(|error| panic!("raise: {error}"))
}

/// Whether this program is here; says that it is needed if not.
pub fn has(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        skip!("{program}");
    }
    is_there
}

/// What an nft rule does to every frame that the router forwards, as a step of a script.
pub fn forward_rule(rule: &str) -> String {
    let hook = "type filter hook forward priority filter; policy accept;";
    format!("nft -f - <<EOF\ntable inet test {{\nchain forward {{\n{hook}\n{rule}\n}}\n}}\nEOF\n")
}

pub fn traffic() -> Traffic {
    Traffic::default()
}

/// A coarse search of one frame size within so much time.
pub fn measurement(budget_ms: u64) -> ThroughputPlan {
    ThroughputPlan {
        sizes: vec![trials::frames("64")],
        traffic: traffic(),
        port: None,
        search: SearchPlan::Bisection {
            trial: Span::from_millis(200),
            resolution: Resolution::Fraction(0.1),
            trials_per_load: 1,
            accept: Accept::Any,
        },
        warm_up: Span::ZERO,
        minimum: Rate::from_fps(1_000.0),
        maximum: None,
        link: Link::NOTIONAL,
        budget: Some(Span::from_millis(budget_ms)),
        receiver: None,
    }
}

/// A table of both families with prefixes in prefixes.
pub fn table() -> Table {
    let prefixes = [
        "20.0.0.0/8",
        "20.16.0.0/12",
        "30.1.2.0/24",
        "40.0.0.0/23",
        "2a00::/24",
        "2a00:1::/32",
        "2a01:2:3::/48",
    ];
    Table::from_prefixes(prefixes.iter().map(|text| text.parse().expect("a prefix")))
}

/// Rules that no machine breaks: for what a trial is whatever disturbed it.
pub fn any_machine() -> Rules {
    Rules {
        steal_max: f64::INFINITY,
        others_max: f64::INFINITY,
        disturbed_max: f64::INFINITY,
        ..Rules::default()
    }
}

pub fn destinations(draw: Draw, count: u64, ipv6: bool, flows: u32) -> Destinations {
    let wish = DrawPlan {
        draw,
        count,
        ipv6,
        flows,
        seed: 9,
    };
    Destinations::draw(&table(), "a test", &wish).expect("enough")
}

/// As a draw of millions would have it, but few: five blocks of 16 addresses.
pub fn blocks(ipv6: bool) -> Destinations {
    let mut few = destinations(Draw::PerPrefix, 5, ipv6, 1);
    let list = match few.list.as_ref() {
        DestinationList::V4(list) => {
            DestinationList::V4(list.iter().map(|far| far & !15).collect())
        }
        DestinationList::V6(list) => {
            DestinationList::V6(list.iter().map(|far| far & !15).collect())
        }
    };
    (few.list, few.block_bits) = (list.into(), 4);
    few
}

/// A trial in whose middle another program has `cpu` at the highest real-time priority for a while.
pub fn hogged(tester: &mut Tester<'_>, cpu: usize, for_ns: u64, offer: &Offer) -> Trial {
    hogged_between(tester, cpu, for_ns, offer).0
}

/// The same; also when the other program had the CPU by its own account, in ns of the monotonic clock.
pub fn hogged_between(
    tester: &mut Tester<'_>,
    cpu: usize,
    for_ns: u64,
    offer: &Offer,
) -> (Trial, Range<u64>) {
    let hog = hog().expect("sh");
    beside(hog, tester, cpu, for_ns, offer)
}

/// The same with a program of the router's own.
pub fn hogged_by_router(tester: &mut Tester<'_>, cpu: usize, for_ns: u64, offer: &Offer) -> Trial {
    let hog = tester.bed.netns(Side::B).run(hog);
    let hog = hog.expect("the router's namespace").expect("sh");
    beside(hog, tester, cpu, for_ns, offer).0
}

fn hog() -> std::io::Result<Child> {
    Command::new("sh")
        .args(["-c", "read go; while :; do :; done"])
        .stdin(Stdio::piped())
        .spawn()
}

/// A trial begins after 0.04 s on a fast machine and 0.4 s on a slow one, when speeds and distances are timed. The other
/// program comes at one of these times after each other.
const HOG_AFTER_MS: [u64; 5] = [400, 300, 500, 200, 600];
static TRIES: AtomicUsize = AtomicUsize::new(0);

fn beside(
    mut hog: Child,
    tester: &mut Tester<'_>,
    cpu: usize,
    for_ns: u64,
    offer: &Offer,
) -> (Trial, Range<u64>) {
    let pid = i32::try_from(hog.id()).expect("a pid");
    cpu::pin_task(pid, &CpuSet::single(cpu)).expect("pin");
    cpu::set_fifo(pid, 99).expect("FIFO");
    std::thread::scope(|scope| {
        let after_ms = HOG_AFTER_MS[TRIES.fetch_add(1, Ordering::Relaxed) % HOG_AFTER_MS.len()];
        let middle = clock::monotonic_ns() + after_ms * 1_000_000;
        let hogging = scope.spawn(move || {
            wait_until(middle);
            // It may take the CPU that this thread is on.
            let from = clock::monotonic_ns();
            drop(hog.stdin.take());
            wait_until(middle + for_ns);
            hog.kill().expect("kill");
            let to = clock::monotonic_ns();
            hog.wait().expect("wait");
            from..to
        });
        let trial = trial::run(tester, offer).unwrap_or_else(|error| panic!("trial: {error}"));
        (trial, hogging.join().expect("the other program"))
    })
}
