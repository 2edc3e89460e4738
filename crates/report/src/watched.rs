//! A look at a host at its work: the text of `mpps explain --cpus` and `mpps top --once`, and the same tables on the screen
//! of `mpps top`.

use crate::column::On;
use crate::number::{self, Known};
use crate::part_table::tables;
use crate::profile::saturated;
use crate::table::Table;
use crate::told::Told;
use mpps_record::{
    CpuLedger, ProfileLine, ProfiledLoad, Watched, WatchedCpu, WatchedLink, WatchedQueue,
};
use std::cmp::Reverse;

/// Rows of drops.
const DROPS_MAX: usize = 8;
/// Columns for a function's name.
const FUNCTION_WIDTH: usize = 26;
/// Samples that tell of less of the network's time than this are doubted.
const SEEN_MIN: f64 = 0.9;
/// A CPU with less of its samples is not seen while it idles.
const DUE_MIN: f64 = 0.98;

/// Traffic and cost, limit, CPUs, interfaces, drops, the parts of a frame's cost, other tasks, what to doubt.
#[must_use]
pub fn told(line: &ProfileLine, watched: &Watched, on: On) -> Told {
    let parts = saturated(line).map(|load| tables(load, (None, None), on));
    let tables = counts(watched, on).into_iter();
    let tables = tables.chain(parts.into_iter().flatten());
    Told {
        sentences: sentences(line, watched).into(),
        tables: tables.map(|table| (String::new(), table)).collect(),
        remarks: remarks(line, watched),
    }
}

/// What came, what went and what a frame cost; then the limit. No stop at their ends.
#[must_use]
pub fn sentences(line: &ProfileLine, watched: &Watched) -> [String; 2] {
    let of_others = match watched.foreign_packets > watched.frames / 2 {
        true => ". No interface here counted most of these frames",
        false => "",
    };
    let cost = match (line.loads.first(), &line.why) {
        (Some(load), _) => format!(
            "A frame cost {:.0} ns of the network's work on these CPUs{of_others}",
            load.frame_ns.median
        ),
        (None, why) => format!(
            "The cost of a frame is not known: {}",
            why.as_deref().unwrap_or("no reason is given")
        ),
    };
    let share = match watched.frames_share.unwrap_or(watched.share_of_stack) {
        share if share < 0.995 => format!(", {} of them on these CPUs", number::percent(share)),
        _ => String::new(),
    };
    let traffic = format!(
        "{} for {:.1} s: {} frames/s in{share}, {} out. {cost}",
        number::cpus(&line.cpus),
        watched.time_ns as f64 / 1e9,
        rate(watched.rx_frames, watched),
        rate(watched.tx_frames, watched),
    );
    [traffic, line.limit_text.clone().unwrap_or_default()]
}

/// Tables of all that was counted, the busiest first.
#[must_use]
pub fn counts(watched: &Watched, on: On) -> Vec<Table> {
    let drops = (!watched.drops.is_empty()).then(|| drops(watched, on));
    let tables = [cpus(watched), links(watched, on)];
    tables.into_iter().chain(drops).collect()
}

/// With columns of words at these places.
fn table<const N: usize>(
    head: &str,
    rows: impl Iterator<Item = [String; N]>,
    left: &[usize],
) -> Table {
    Table {
        left: left.to_vec(),
        ..Table::new(head, rows.map(Vec::from))
    }
}

/// Per second: `370k`.
fn rate(count: u64, watched: &Watched) -> String {
    let per_second = count as f64 * 1e9 / watched.time_ns.max(1) as f64;
    match per_second {
        _ if per_second < 99.5 => format!("{per_second:.0}"),
        _ => Known::three(per_second).short(),
    }
}

/// Where each CPU's time went; a dash where only the kernel's own counts are known.
fn cpus(watched: &Watched) -> Table {
    let head = "CPU;idle %;net %;softirq %;tasks %;packets/s;irqs/s;a poll;most in";
    let row = |cpu: &&WatchedCpu| {
        let known = |text: fn(&CpuLedger) -> String| cpu.ledger.as_ref().map(text);
        let cells = [
            Some(cpu.cpu.to_string()),
            Some(percent(cpu.idle_share())),
            known(|ledger| percent(ledger.network_share())),
            known(|ledger| percent(ledger.other_softirq_share)),
            known(|ledger| percent(ledger.other_task_share)),
            Some(rate(cpu.packets, watched)),
            Some(rate(cpu.interrupts, watched)),
            known(|ledger| match ledger.polls {
                0 => "-".to_owned(),
                polls => format!("{:.1}", ledger.polled_frames as f64 / polls as f64),
            }),
            cpu.top_stage.clone(),
        ];
        cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned()))
    };
    let mut cpus: Vec<&WatchedCpu> = watched.cpus.iter().collect();
    cpus.sort_by(|one, other| other.network_share().total_cmp(&one.network_share()));
    table(head, cpus.iter().map(row), &[8])
}

/// In a table whose head has the sign.
fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn links(watched: &Watched, on: On) -> Table {
    let verbose = on == On::Details;
    let counts =
        |link: &WatchedLink| [link.rx_frames, link.tx_frames, link.rx_drops, link.tx_drops];
    let events = |link: &WatchedLink| counts(link).iter().sum::<u64>();
    let mut links: Vec<&WatchedLink> = watched.links.iter().collect();
    links.retain(|link| verbose || events(link) > 0);
    links.sort_by_key(|link| Reverse(events(link)));
    let rows = |link: &WatchedLink| {
        let [rx, tx, lost_in, lost_out] = counts(link).map(|count| rate(count, watched));
        let all = [link.name.clone(), rx, tx, lost_in, lost_out];
        // One queue has what its interface has.
        let has_several = link.queues.len() > 1 || verbose;
        let queue = |queue: &WatchedQueue| {
            let [rx, tx] = [queue.rx_frames, queue.tx_frames]
                .map(|count| count.map_or_else(String::new, |count| rate(count, watched)));
            [
                format!("  queue {}", queue.queue),
                rx,
                tx,
                String::new(),
                String::new(),
            ]
        };
        let queues = link.queues.iter().filter(|_| has_several).map(queue);
        std::iter::once(all).chain(queues).collect::<Vec<_>>()
    };
    let none = ["none had a frame", "", "", "", ""].map(str::to_owned);
    let none = links.is_empty().then_some(none);
    let head = "interface;in/s;out/s;lost in/s;lost out/s";
    table(
        head,
        links.iter().flat_map(|link| rows(link)).chain(none),
        &[0],
    )
}

fn drops(watched: &Watched, on: On) -> Table {
    let most = if on == On::Details {
        usize::MAX
    } else {
        DROPS_MAX
    };
    let rows = watched.drops.iter().take(most).map(|drop| {
        let function = drop.function.as_deref().unwrap_or("-");
        [
            rate(drop.frames, watched),
            drop.link.clone().unwrap_or_else(|| "-".to_owned()),
            drop.reason.clone(),
            function.chars().take(FUNCTION_WIDTH).collect(),
        ]
    });
    table("dropped/s;at;reason;in", rows, &[1, 2, 3])
}

/// The CPUs that gave few of their samples.
fn few_samples(watched: &Watched) -> Option<String> {
    let came = |cpu: &WatchedCpu| {
        let due = cpu.samples_due.filter(|&due| due >= 1.0)?;
        Some((cpu.cpu, cpu.samples as f64 / due)).filter(|(_, came)| *came < DUE_MIN)
    };
    let (cpus, came): (Vec<usize>, Vec<f64>) = watched.cpus.iter().filter_map(came).unzip();
    let least = came.into_iter().min_by(f64::total_cmp)?;
    let (least, at_least) = (
        number::percent(least),
        if cpus.len() > 1 { "at least " } else { "" },
    );
    Some(format!(
        "{} gave {at_least}{least} of the samples that were due: this machine gives fewer while a CPU idles.",
        number::cpus(&cpus)
    ))
}

/// What is below the tables: other tasks, what was lost at the CPUs, how much samples saw.
#[must_use]
pub fn remarks(line: &ProfileLine, watched: &Watched) -> Vec<String> {
    let doubted = |lack| format!("To doubt: {lack}.");
    let mut told: Vec<String> = watched.lacks.iter().map(doubted).collect();
    let share = |task: &mpps_record::WatchedTask| {
        format!("{} {}", task.name, number::percent(task.cpu_share))
    };
    let tasks: Vec<String> = watched.tasks.iter().map(share).collect();
    told.extend((!tasks.is_empty()).then(|| {
        let tasks = tasks.join(", ");
        format!("Other tasks took these shares of one CPU: {tasks}.")
    }));
    for cpu in &watched.cpus {
        if cpu.backlog_drops + cpu.squeezed > 0 {
            told.push(format!(
                "CPU {}: {} packets dropped because its backlog was full; {} times work was left at the end of a soft interrupt.",
                cpu.cpu,
                number::spaced(cpu.backlog_drops),
                number::spaced(cpu.squeezed)
            ));
        }
    }
    told.extend(few_samples(watched));
    if watched.foreign_packets > 0 {
        told.push(format!(
            "Among the frames are {} packets/s that no interface here counted: of other network namespaces or the loopback, or \
             taken twice (IPsec, a redirect). Their time cannot be told apart.",
            rate(watched.foreign_packets, watched)
        ));
    }
    match saturated(line) {
        Some(load) => told.push(samples(load)),
        None if line.loads.is_empty() => {}
        None => told.push("Too few samples to split the cost.".to_owned()),
    }
    told
}

fn samples(load: &ProfiledLoad) -> String {
    let seen = load.seen_share.map_or(String::new(), |seen| {
        let doubt = match seen < SEEN_MIN {
            true => ", so the split may be of the busiest moments only",
            false => "",
        };
        let seen = number::percent(seen);
        format!(" cover {seen} of the network's time{doubt}")
    });
    format!(
        "{} samples{seen}; {} of it came late, because interrupts were off; no rule places {}.",
        number::spaced(load.samples),
        number::percent(load.shadow_share),
        number::percent(load.unclassified_share)
    )
}
