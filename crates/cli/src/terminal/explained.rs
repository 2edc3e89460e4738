//! The profiles of `mpps explain`: a sentence for each frame size, then its time by stage and by cause.

use super::doubts::{Doubted, SIZES};
use super::explained_against::explained_against;
use super::part_table::tables;
use super::watched::page;
use super::wrap::paragraph;
use super::{headed, part};
use crate::exit::Exit;
use crate::outcome::Outcome;
use mpps_record::{Evidence, Hardware, ProfileLine, ProfiledLoad, Run};
use mpps_report::{number, profile};

impl Outcome for Vec<ProfileLine> {
    /// All frame sizes, under the machine they were measured on, then the doubts.
    fn text(&self, _: &Run, machine: &str, verbose: bool) -> String {
        let mut text = format!("Where the time of a frame goes\n\n{machine}\n");
        for size in self {
            text += &size_text(size, verbose);
        }
        text + &Doubted::new(SIZES, self).lines(verbose)
    }

    /// A size without a load has nothing to show, and set-ups with too few pairs were not compared.
    fn exit(&self, _: &Run) -> Exit {
        let says = |size: &ProfileLine| {
            let against = size.against.as_ref();
            let is_apart = against.is_some_and(|against| against.change.is_none());
            !size.loads.is_empty() && !is_apart
        };
        Exit::from_each(self.iter().map(says))
    }
}

fn size_text(size: &ProfileLine, verbose: bool) -> String {
    if let Some(watched) = &size.watched {
        return page(size, watched, verbose);
    }
    let name = number::frame(&size.frame);
    let limit = size.limit_text.as_deref().unwrap_or_default();
    let mut text = match (size.loads.first(), &size.against) {
        (Some(saturated), Some(against)) => {
            explained_against(size, saturated, against, verbose) + &paragraph(format!("{limit}."))
        }
        (Some(saturated), None) => {
            let wire = size.wire.as_deref();
            paragraph(profile::sentence(size) + ".")
                + &tables(
                    saturated,
                    wire.map(|wire| &wire.load),
                    cycles(size),
                    verbose,
                )
        }
        (None, _) => format!("\n{name}: not measured.\n"),
    };
    if size.loads.len() > 1 {
        text += &loads(&size.loads);
    }
    text += &size.evidence.as_ref().map_or(String::new(), evidence);
    text.extend(remarks(size).into_iter().map(paragraph));
    text
}

/// Cycles of a frame, where samples come by cycles.
fn cycles(line: &ProfileLine) -> Option<f64> {
    let hardware = &line.evidence.as_ref()?.hardware;
    let by_cycles = line.clock.as_deref() == Some("cycles");
    hardware.cycles_per_frame.filter(|_| by_cycles)
}

/// How the cost changes with the load.
fn loads(loads: &[ProfiledLoad]) -> String {
    let head = "frames/s;busy;ns a frame;wake-ups a frame;polls a frame;samples see";
    let number = |of: Option<f64>| of.map_or("-".to_owned(), |of| format!("{of:.4}"));
    let rows = loads.iter().map(|load| {
        [
            number::rate(load.forwarding_fps.median),
            number::percent(load.busy_share),
            format!("{:.0}", load.frame_ns.median),
            number(load.wake_ups_per_frame),
            number(load.polls_per_frame),
            load.seen_share.map_or("-".to_owned(), number::percent),
        ]
    });
    part("", head, rows, &[])
}

/// What the router's CPUs did at saturation, what was dropped, and where locks are waited for.
fn evidence(found: &Evidence) -> String {
    let head = "CPU;interrupts/s;polls/s;frames a poll;wake-ups/s;busy";
    let rows = found.cpus.iter().map(|cpu| {
        [
            cpu.cpu.to_string(),
            format!("{:.0}", cpu.interrupts_per_s),
            format!("{:.0}", cpu.polls_per_s),
            cpu.frames_per_poll
                .map_or("-".to_owned(), |frames| format!("{frames:.2}")),
            format!("{:.0}", cpu.wake_ups_per_s),
            number::percent(cpu.busy_share),
        ]
    });
    let mut text = format!("\n{}", headed(head, rows, &[]));
    let drops = found.drops.iter().map(|drops| {
        let reason = drops.reason.as_deref().unwrap_or("-").to_owned();
        let frames = number::spaced(drops.frames);
        let share = number::percent_or_under(drops.share);
        [drops.place.clone(), reason, frames, share]
    });
    let head = "dropped at;reason;frames;of all";
    text += &part("", head, drops, &[0, 1]);
    if let Some(locked) = &found.locks_in {
        let (ns, part) = (locked.ns.median, &locked.part);
        text += &paragraph(format!("Most time in locks: {ns:.0} ns, in {part}."));
    }
    text + &paragraph(hardware(&found.hardware))
}

/// What the PMU counted for a frame, and power.
fn hardware(found: &Hardware) -> String {
    let lacking = "not available here";
    let counts = [
        ("cycles", found.cycles_per_frame),
        ("instructions", found.instructions_per_frame),
        ("LLC misses", found.llc_misses_per_frame),
        ("dTLB misses", found.dtlb_misses_per_frame),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter_map(|(name, count)| Some(format!("{:.2} {name}", (*count)?)))
        .collect();
    let counts = match (&found.no_counters, counts.as_slice()) {
        (Some(why), _) => format!("{lacking}: {why}"),
        (None, []) => lacking.to_owned(),
        (None, counts) => format!("{} a frame", counts.join(", ")),
    };
    let watts = found
        .watts
        .map_or(lacking.to_owned(), |watts| format!("{watts:.1}"));
    let both = found.memory_read_octets_per_frame;
    let both = both.zip(found.memory_written_octets_per_frame);
    let memory = both.map_or(lacking.to_owned(), |(read, written)| {
        format!("{read:.0} octets read and {written:.0} written a frame, by the whole machine")
    });
    format!("Hardware counters: {counts}. Memory traffic: {memory}. Watts: {watts}.")
}

/// What stands below the tables.
fn remarks(size: &ProfileLine) -> Vec<String> {
    let mut lines = Vec::new();
    if size.against.is_none() && size.wire.is_none() && !size.loads.is_empty() {
        lines.push("*: the bed's own, in place of a NIC. RX, allocation, TX and free serve a wire in the router's place too, so `mpps throughput` gives less as the router's part.".to_owned());
    }
    lines.extend(profile::evidence(size));
    lines.extend(size.why.as_ref().map(|why| format!("cut short: {why}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::part_table::part_table;
    use mpps_record::{Interval, PartCost};

    #[test]
    fn cycles_stand_beside_ns_where_samples_are_by_cycles() {
        let ns = |median| Interval {
            low: median,
            median,
            high: median,
        };
        let stage = |part: &str, median| PartCost {
            part: part.to_owned(),
            ns: ns(median),
            samples: 90,
            top: Vec::new(),
        };
        let mut line = ProfileLine {
            clock: Some("cycles".to_owned()),
            loads: vec![ProfiledLoad {
                frame_ns: ns(500.0),
                trials: vec![1, 2, 3],
                stages: vec![stage("RX", 200.0), stage("routing", 300.0)],
                ..ProfiledLoad::default()
            }],
            evidence: Some(Evidence::default()),
            ..ProfileLine::default()
        };
        let hardware = &mut line.evidence.as_mut().expect("evidence").hardware;
        hardware.cycles_per_frame = Some(1_500.0);
        let row = |line: &ProfileLine, name: &str| -> Vec<String> {
            let table = part_table(&line.loads[0], (None, cycles(line)), false, false);
            let row = table.lines().find(|row| row.starts_with(name));
            let row = row.unwrap_or_else(|| panic!("{table}"));
            row.split_whitespace().map(str::to_owned).collect()
        };
        assert!(row(&line, "stage").contains(&"cycles".to_owned()));
        assert_eq!(row(&line, "RX")[..4], ["RX", "200", "counted", "600"]);
        assert_eq!(row(&line, "sum").last().map(String::as_str), Some("1500"));
        line.clock = Some("cpu-clock".to_owned());
        assert!(!row(&line, "stage").contains(&"cycles".to_owned()));
        assert_eq!(row(&line, "RX")[..4], ["RX", "200", "counted", "40"]);
    }

    #[test]
    fn counters_say_what_the_machine_lacks() {
        let mut found = Hardware {
            no_counters: Some("no PMU".to_owned()),
            ..Hardware::default()
        };
        assert_eq!(
            hardware(&found),
            "Hardware counters: not available here: no PMU. Memory traffic: not available here. Watts: not available here."
        );
        found.no_counters = None;
        found.cycles_per_frame = Some(1_979.0);
        found.memory_read_octets_per_frame = Some(130.4);
        found.memory_written_octets_per_frame = Some(63.6);
        found.watts = Some(88.04);
        assert_eq!(
            hardware(&found),
            "Hardware counters: 1979.00 cycles a frame. Memory traffic: 130 octets read and 64 written a frame, by the whole machine. Watts: 88.0."
        );
    }
}
