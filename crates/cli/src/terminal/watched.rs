//! A look at a host at its work (`mpps explain --cpus`): one page.

use super::columns;
use super::explained::{WIDTH, tables};
use super::wrap::wrap;
use mpps_record::{ProfileLine, ProfiledLoad, Watched, WatchedCpu, WatchedDrop, WatchedLink};
use mpps_report::number;

/// Rows of drops, and of interfaces without a frame.
const DROPS_MAX: usize = 8;
/// Columns for a function's name.
const FUNCTION_WIDTH: usize = 26;
/// Samples that tell of less of the network's time than this are doubted.
const SEEN_MIN: f64 = 0.9;
/// A CPU with less of its samples is not seen while it idles.
const DUE_MIN: f64 = 0.98;

/// The page: traffic and cost, limit, CPUs, interfaces, drops, the parts of a frame's cost, other tasks, what to doubt.
pub fn page(line: &ProfileLine, watched: &Watched, verbose: bool) -> String {
    let load = line.loads.first();
    let mut text = wrap(&format!("\n{}.\n", traffic(line, watched, load)), WIDTH);
    let limit = line.limit_text.as_deref().unwrap_or_default();
    text += &wrap(&format!("{limit}.\n"), WIDTH);
    text += &format!("\n{}", columns(&cpus(watched), &[]));
    text += &format!("\n{}", columns(&links(watched, verbose), &[0]));
    if !watched.drops.is_empty() {
        text += &format!("\n{}", columns(&drops(watched, verbose), &[1, 2, 3]));
    }
    if let Some(load) = load.filter(|load| !load.stages.is_empty()) {
        text += &tables(load, verbose);
    }
    for remark in remarks(watched, load) {
        text += &wrap(&format!("\n{remark}\n"), WIDTH);
    }
    text
}

pub(super) fn per_second(count: u64, watched: &Watched) -> f64 {
    count as f64 * 1e9 / watched.time_ns.max(1) as f64
}

/// A rate in a sentence; `0` stays a zero.
fn rate(count: u64, watched: &Watched) -> String {
    match count {
        0 => "0".to_owned(),
        _ => number::rate(per_second(count, watched)),
    }
}

/// A rate in a table: `370k`.
pub(super) fn short(count: u64, watched: &Watched) -> String {
    short_rate(per_second(count, watched))
}

/// `0`, `17`, `3.26k`, `370k`, `1.27M`.
pub(super) fn short_rate(rate: f64) -> String {
    let digits = |number: f64| match number {
        _ if number < 10.0 => format!("{number:.2}"),
        _ if number < 100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    };
    match rate {
        _ if rate >= 999_500.0 => digits(rate / 1e6) + "M",
        _ if rate >= 999.5 => digits(rate / 1e3) + "k",
        _ => format!("{rate:.0}"),
    }
}

/// In a table whose head has the sign.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// What came, what went and what a frame cost.
fn traffic(line: &ProfileLine, watched: &Watched, load: Option<&ProfiledLoad>) -> String {
    let named: Vec<String> = line.cpus.iter().map(usize::to_string).collect();
    let seconds = watched.time_ns as f64 / 1e9;
    let of_others = match watched.foreign_packets > watched.frames / 2 {
        true => ", most of them of other network namespaces,",
        false => "",
    };
    let cost = match (load, &line.why) {
        (Some(load), _) => format!(
            "A frame{of_others} cost {:.0} ns of the network's work on these CPUs",
            load.frame_ns.median
        ),
        (None, Some(why)) => format!("What a frame costs is not known: {why}"),
        (None, None) => "What a frame costs is not known".to_owned(),
    };
    let share = match watched.share_of_stack {
        share if share < 0.995 => format!(", {} of them on these CPUs", number::percent(share)),
        _ => String::new(),
    };
    format!(
        "CPU {} for {seconds:.1} s: {} frames/s in{share}, {} out. {cost}",
        named.join(", "),
        rate(watched.rx_frames, watched),
        rate(watched.tx_frames, watched),
    )
}

/// Where each CPU's time went; a dash where only the kernel's own counts are known.
fn cpus(watched: &Watched) -> Vec<[String; 9]> {
    let head = [
        "CPU",
        "idle %",
        "network %",
        "softirq %",
        "tasks %",
        "packets/s",
        "irqs/s",
        "a poll",
        "seen %",
    ];
    let row = |cpu: &WatchedCpu| {
        let dash = || "-".to_owned();
        let ledger = cpu.ledger.as_ref();
        let share = |share: Option<f64>| share.map_or_else(dash, percent);
        let a_poll = ledger.filter(|ledger| ledger.polls > 0);
        let idle = ledger.map_or(1.0 - cpu.busy_share - cpu.steal_share, |ledger| {
            ledger.idle_share
        });
        [
            cpu.cpu.to_string(),
            percent(idle),
            share(ledger.map(mpps_record::CpuLedger::network_share)),
            share(ledger.map(|ledger| ledger.other_softirq_share)),
            share(ledger.map(|ledger| ledger.other_task_share)),
            short(cpu.packets, watched),
            short(cpu.interrupts, watched),
            a_poll.map_or_else(dash, |at| {
                format!("{:.1}", at.polled_frames as f64 / at.polls as f64)
            }),
            share(samples_share(cpu)),
        ]
    };
    let rows = watched.cpus.iter().map(row);
    std::iter::once(head.map(str::to_owned))
        .chain(rows)
        .collect()
}

fn links(watched: &Watched, verbose: bool) -> Vec<[String; 5]> {
    let head = ["interface", "in/s", "out/s", "lost in/s", "lost out/s"].map(str::to_owned);
    let lives = |link: &&WatchedLink| {
        verbose || link.rx_frames + link.tx_frames + link.rx_drops + link.tx_drops > 0
    };
    let row = |link: &WatchedLink| {
        [
            link.name.clone(),
            short(link.rx_frames, watched),
            short(link.tx_frames, watched),
            short(link.rx_drops, watched),
            short(link.tx_drops, watched),
        ]
    };
    let mut rows = vec![head];
    rows.extend(watched.links.iter().filter(lives).map(row));
    if rows.len() == 1 {
        rows.push(["none had a frame", "", "", "", ""].map(str::to_owned));
    }
    rows
}

fn drops(watched: &Watched, verbose: bool) -> Vec<[String; 4]> {
    let head = ["dropped/s", "at", "reason", "in"].map(str::to_owned);
    let row = |drop: &WatchedDrop| {
        let function = drop.function.as_deref().unwrap_or("-");
        [
            short(drop.frames, watched),
            drop.link.clone().unwrap_or_else(|| "-".to_owned()),
            drop.reason.clone(),
            function.chars().take(FUNCTION_WIDTH).collect(),
        ]
    };
    let most = if verbose { usize::MAX } else { DROPS_MAX };
    let rows = watched.drops.iter().take(most).map(row);
    std::iter::once(head).chain(rows).collect()
}

/// What is below the tables: other tasks, what was lost at the CPUs, how much samples saw.
fn remarks(watched: &Watched, load: Option<&ProfiledLoad>) -> Vec<String> {
    let mut told = Vec::new();
    let tasks: Vec<String> = (watched.tasks.iter())
        .map(|task| format!("{} {}", task.name, number::percent(task.cpu_share)))
        .collect();
    if !tasks.is_empty() {
        told.push(format!(
            "Not the network's, shares of one CPU: {}.",
            tasks.join(", ")
        ));
    }
    for cpu in watched
        .cpus
        .iter()
        .filter(|cpu| cpu.backlog_drops + cpu.squeezed > 0)
    {
        told.push(format!(
            "CPU {}: {} packets dropped because its backlog was full; {} times work was left at the end of a soft interrupt.",
            cpu.cpu,
            number::spaced(cpu.backlog_drops),
            number::spaced(cpu.squeezed)
        ));
    }
    if watched.foreign_packets > 0 {
        told.push(format!(
            "Among the frames are {} packets/s of other network namespaces: their time cannot be told apart.",
            rate(watched.foreign_packets, watched)
        ));
    }
    if let Some(load) = load {
        told.push(split_of(load));
    }
    for cpu in &watched.cpus {
        let Some(share) = samples_share(cpu).filter(|&share| share < DUE_MIN) else {
            continue;
        };
        told.push(format!(
            "CPU {} gave {} of the samples that were due: this machine gives fewer while a CPU idles.",
            cpu.cpu,
            number::percent(share)
        ));
    }
    told.extend(watched.lacks.iter().map(|lack| format!("Lacking: {lack}.")));
    told
}

/// The samples that came, of those that should have.
fn samples_share(cpu: &WatchedCpu) -> Option<f64> {
    let due = cpu.samples_due.filter(|&due| due >= 1.0)?;
    Some((cpu.samples as f64 / due).min(1.0))
}

fn split_of(load: &ProfiledLoad) -> String {
    if load.stages.is_empty() {
        return "Too few samples to split the cost.".to_owned();
    }
    let seen = load.seen_share.map_or(String::new(), |seen| {
        let doubt = match seen < SEEN_MIN {
            true => ", so the split may be of the busiest moments only",
            false => "",
        };
        format!(
            " tell of {} of the network's time{doubt}",
            number::percent(seen)
        )
    });
    format!(
        "{} samples{seen}; {} of it came late, because interrupts were off; no rule places {}.",
        number::spaced(load.samples),
        number::percent(load.shadow_share),
        number::percent(load.unclassified_share)
    )
}
