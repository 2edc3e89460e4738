//! The picture of `mpps top`: lines that fit a terminal of 80 columns and 24 rows.

use super::watched::{per_second, percent, short, short_rate};
use mpps_record::{CpuLedger, PartCost, ProfileLine, Watched, WatchedCpu, WatchedLink};
use ratatui::style::Stylize;
use ratatui::text::Line;

/// Rows beside those of CPUs, interfaces and parts: title, limit, three heads with an empty line before each, keys.
const FIXED: usize = 9;
/// Rows for the parts of a frame's cost, where there are many CPUs and interfaces.
const PARTS_MIN: usize = 8;
/// Columns of a part's bar, and of a name.
const BAR: usize = 24;
const NAME: usize = 15;
const KEYS: &str = "q quit   p pause   s stages/causes   + - interval";

/// What is shown of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Causes in place of stages.
    pub causes: bool,
    /// Nothing new is shown.
    pub paused: bool,
}

/// The picture in so many rows; all of it with `usize::MAX`.
pub fn picture(look: &ProfileLine, view: View, width: usize, height: usize) -> Vec<Line<'static>> {
    let Some(watched) = &look.watched else {
        return Vec::new();
    };
    let limit = look.limit_text.clone().unwrap_or_default();
    let limit = match look.limited_by {
        Some(_) => Line::from(limit).bold().red(),
        None => Line::from(limit),
    };
    let mut lines = vec![title(look, watched, view), limit];
    let parts = parts(look, view);
    let room = height
        .saturating_sub(FIXED + parts.len().min(PARTS_MIN))
        .max(2);
    // Interfaces have what CPUs leave, at least half.
    let links: Vec<&WatchedLink> = busy_links(watched);
    let for_cpus = room - links.len().min(room / 2);
    let cpus = rows(cpu_rows(watched), for_cpus, "CPUs");
    let links = rows(
        link_rows(&links, watched),
        room - (cpus.len() - 1).min(room - 1),
        "interfaces",
    );
    for mut part in [cpus, links, parts] {
        lines.push(Line::default());
        let rest = part.split_off(1);
        lines.extend(part.into_iter().map(|head| Line::from(head).bold()));
        lines.extend(rest.into_iter().map(Line::from));
    }
    lines.truncate(height.saturating_sub(1).max(2));
    for line in &mut lines {
        // Spans of one piece.
        if let Some(span) = line.spans.first_mut() {
            span.content = span.content.chars().take(width).collect::<String>().into();
        }
    }
    lines
}

/// The keys, for the last row.
pub fn keys() -> Line<'static> {
    Line::from(KEYS).dim()
}

fn title(look: &ProfileLine, watched: &Watched, view: View) -> Line<'static> {
    let seconds = watched.time_ns as f64 / 1e9;
    let cost = look.loads.first().map_or("-".to_owned(), |load| {
        format!("{:.0}", load.frame_ns.median)
    });
    let paused = if view.paused { "  PAUSED" } else { "" };
    Line::from(format!(
        "mpps top  {} frames/s in, {} out  {cost} ns a frame  {seconds:.1} s{paused}",
        short(watched.rx_frames, watched),
        short(watched.tx_frames, watched)
    ))
    .bold()
}

/// The head and as many rows as there is room for; the last one says how many are left out.
fn rows((head, mut rows): (String, Vec<String>), room: usize, noun: &str) -> Vec<String> {
    if rows.len() > room {
        let left = rows.len() - room.saturating_sub(1);
        rows.truncate(room.saturating_sub(1));
        rows.push(format!("... and {left} {noun} with less"));
    }
    rows.insert(0, head);
    rows
}

/// Those with the most of the network's work first, where not all may fit.
fn cpu_rows(watched: &Watched) -> (String, Vec<String>) {
    let head = format!(
        "{:>4} {:>6} {:>6} {:>8} {:>6} {:>9} {:>7} {:>6}  {}",
        "CPU", "busy %", "net %", "softirq%", "task %", "packets/s", "irqs/s", "a poll", "most in"
    );
    let row = |cpu: &&WatchedCpu| {
        let ledger = cpu.ledger.as_ref();
        let share = |share: fn(&CpuLedger) -> f64| {
            ledger.map_or_else(|| "-".to_owned(), |ledger| percent(share(ledger)))
        };
        let busy = ledger.map_or(cpu.busy_share, |ledger| 1.0 - ledger.idle_share);
        let a_poll = ledger.filter(|ledger| ledger.polls > 0);
        let a_poll = a_poll.map_or_else(
            || "-".to_owned(),
            |ledger| format!("{:.1}", ledger.polled_frames as f64 / ledger.polls as f64),
        );
        format!(
            "{:>4} {:>6} {:>6} {:>8} {:>6} {:>9} {:>7} {a_poll:>6}  {}",
            cpu.cpu,
            percent(busy),
            share(CpuLedger::network_share),
            share(|ledger| ledger.other_softirq_share),
            share(|ledger| ledger.other_task_share),
            short(cpu.packets, watched),
            short(cpu.interrupts, watched),
            cpu.top_stage.as_deref().unwrap_or("-")
        )
    };
    let mut cpus: Vec<&WatchedCpu> = watched.cpus.iter().collect();
    let network = |cpu: &WatchedCpu| cpu.ledger.as_ref().map_or(0.0, CpuLedger::network_share);
    cpus.sort_by(|one, other| network(other).total_cmp(&network(one)));
    (head, cpus.iter().map(row).collect())
}

/// The busiest first; those without a frame are left out.
fn busy_links(watched: &Watched) -> Vec<&WatchedLink> {
    let events =
        |link: &WatchedLink| link.rx_frames + link.tx_frames + link.rx_drops + link.tx_drops;
    let mut links: Vec<&WatchedLink> = watched
        .links
        .iter()
        .filter(|link| events(link) > 0)
        .collect();
    links.sort_by_key(|link| std::cmp::Reverse(events(link)));
    links
}

fn link_rows(links: &[&WatchedLink], watched: &Watched) -> (String, Vec<String>) {
    let head = format!(
        "{:<15} {:>8} {:>8} {:>8}  {}",
        "interface", "in/s", "out/s", "drops/s", "most dropped for"
    );
    let row = |link: &&WatchedLink| {
        let at = |drop: &&mpps_record::WatchedDrop| drop.link.as_ref() == Some(&link.name);
        let dropped: u64 = watched
            .drops
            .iter()
            .filter(at)
            .map(|drop| drop.frames)
            .sum();
        // The most frequent stands first.
        let reason = watched.drops.iter().find(at).map_or_else(
            || {
                if link.rx_drops > 0 {
                    "lost while receiving"
                } else {
                    ""
                }
                .to_owned()
            },
            |drop| drop.reason.clone(),
        );
        format!(
            "{:<15} {:>8} {:>8} {:>8}  {reason}",
            link.name,
            short(link.rx_frames, watched),
            short(link.tx_frames, watched),
            short_rate(per_second(
                dropped.max(link.rx_drops + link.tx_drops),
                watched
            )),
        )
    };
    (head, links.iter().map(row).collect())
}

/// A bar for each part of a frame's cost, the head first.
fn parts(look: &ProfileLine, view: View) -> Vec<String> {
    let name = if view.causes { "cause" } else { "stage" };
    let head = format!("{name:<NAME$} {:>6} {:>7}", "share", "ns");
    let Some(load) = look.loads.first().filter(|load| !load.stages.is_empty()) else {
        let why = look.why.as_deref().unwrap_or("too few samples");
        let lacks = look
            .watched
            .iter()
            .flat_map(|watched| watched.lacks.clone());
        return [head, format!("no cost of a frame by {name}: {why}")]
            .into_iter()
            .chain(lacks)
            .collect();
    };
    let all = if view.causes {
        &load.causes
    } else {
        &load.stages
    };
    let whole = load.frame_ns.median.max(f64::MIN_POSITIVE);
    let row = |part: &PartCost| {
        let share = part.ns.median / whole;
        let filled = ((share * BAR as f64).round() as usize).min(BAR);
        let bar = "#".repeat(filled);
        let top = part.top.first().map_or("", |top| top.function.as_str());
        format!(
            "{:<NAME$} {:>5}% {:>7.0} {bar:<BAR$} {top}",
            part.part.chars().take(NAME).collect::<String>(),
            percent(share),
            part.ns.median
        )
    };
    let shown = all.iter().filter(|part| part.samples > 0);
    std::iter::once(head).chain(shown.map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{Interval, ProfiledLoad};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::widgets::Paragraph;

    /// A host with so many CPUs and interfaces, and ten parts of a frame's cost.
    fn look(cpus: usize, links: usize) -> ProfileLine {
        let cpu = |cpu| WatchedCpu {
            cpu,
            ledger: Some(CpuLedger {
                idle_share: 1.0 - cpu as f64 / 100.0,
                net_softirq_share: cpu as f64 / 100.0,
                ..CpuLedger::default()
            }),
            ..WatchedCpu::default()
        };
        let link = |number| WatchedLink {
            name: format!("eth{number}"),
            rx_frames: 1_270_000 + number,
            ..WatchedLink::default()
        };
        let part = |number: usize| PartCost {
            part: format!("part {number}"),
            ns: Interval {
                low: 50.0,
                median: 50.0,
                high: 50.0,
            },
            samples: 1,
            ..PartCost::default()
        };
        let parts: Vec<PartCost> = (0..10).map(part).collect();
        let mut load = ProfiledLoad {
            stages: parts.clone(),
            causes: parts[..3].to_vec(),
            ..ProfiledLoad::default()
        };
        load.frame_ns.median = 500.0;
        ProfileLine {
            watched: Some(Watched {
                time_ns: 1_000_000_000,
                cpus: (0..cpus).map(cpu).collect(),
                links: (0..links as u64).map(link).collect(),
                ..Watched::default()
            }),
            loads: vec![load],
            ..ProfileLine::default()
        }
    }

    const VIEW: View = View {
        causes: false,
        paused: false,
    };

    #[test]
    fn many_cpus_and_links_fit_80_by_24() {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
        let lines = picture(&look(64, 40), VIEW, 80, 24);
        assert!(lines.len() < 24, "{}", lines.len());
        terminal
            .draw(|frame| frame.render_widget(Paragraph::new(lines), frame.area()))
            .expect("drawn");
        let shown = terminal.backend().to_string();
        for part in [
            "  63 ",
            "CPUs with less",
            "eth39",
            "1.27M",
            "part 0",
            "10.0%",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn a_picture_as_text_leaves_nothing_out() {
        let text = |view| -> String {
            let lines = picture(&look(64, 40), view, 80, usize::MAX);
            lines.iter().map(|line| format!("{line}\n")).collect()
        };
        let shown = text(VIEW);
        assert!(
            !shown.contains("with less") && shown.contains("part 9"),
            "{shown}"
        );
        let causes = text(View {
            causes: true,
            ..VIEW
        });
        assert!(
            causes.contains("part 2") && !causes.contains("part 9"),
            "{causes}"
        );
    }
}
