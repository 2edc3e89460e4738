//! Profiles of `mpps explain`: a sentence for each frame size, then its time by stage and by cause.

use super::TrialPlot;
use super::described::{About, Answered, Described};
use crate::chart::Chart;
use crate::column::{self, On, TableRow, columns};
use crate::gauges::{Gauges, Labels, NS, with};
use crate::part_table;
use crate::profile::{evidence, saturated, section, sentence};
use crate::profile_change;
use crate::stage::is_beds;
use crate::table::Table;
use crate::told::Told;
use crate::watched;
use crate::{number, plots, published};
use maud::{Markup, html};
use mpps_record::{Evidence, Hardware, ProfileLine, ProfiledLoad, Run};

impl Described for ProfileLine {
    const PURPOSE: &'static str = "Where the time of a frame goes, and what limits the router.";
    const IS_PROSE: bool = true;
    const HIDDEN: &'static [TrialPlot] = &[TrialPlot::Search, TrialPlot::Latency];

    fn title(&self) -> String {
        "Where the time of a frame goes".to_owned()
    }

    fn about(&self) -> About<'_> {
        (vec![("frame", &self.frame)], self.why.as_deref())
    }

    fn sentence(&self) -> String {
        sentence(self)
    }

    fn rows(&self, on: On) -> Vec<TableRow> {
        let wire = self.wire.as_ref().map(|wire| &wire.load);
        let parts = [false, true].map(|causes| {
            let rows = |load| part_table::rows(load, (wire, cycles(self)), causes, on);
            saturated(self).map_or(Vec::new(), rows)
        });
        parts.concat()
    }

    fn told(lines: &[Self], _: &Run, verbose: bool) -> Vec<Told> {
        let on = On::terminal(verbose);
        lines.iter().map(|line| told(line, on)).collect()
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        let Some(load) = saturated(self) else {
            return;
        };
        let stage = (
            "mpps_stage_cost_seconds",
            "CPU time of a frame in a stage, with its interval: at overload on a bed, or at the load that explain --cpus saw. The label of says whose stage it is.",
        );
        for part in &load.stages {
            let of = if is_beds(&part.part) { "bed" } else { "router" };
            let labels = with(labels, &[("stage", &part.part), ("of", of)]);
            gauges.add_interval(stage, &labels, Some(part.ns), NS);
        }
        let cause = (
            "mpps_cause_cost_seconds",
            "CPU time of a frame by cause, with its interval: at overload on a bed, or at the load that explain --cpus saw.",
        );
        for part in &load.causes {
            let labels = with(labels, &[("cause", &part.part)]);
            gauges.add_interval(cause, &labels, Some(part.ns), NS);
        }
        gauges.add(
            "mpps_unclassified_ratio",
            "Part of the time of a frame that no rule places in a stage.",
            labels,
            Some(load.unclassified_share),
        );
        gauges.add(
            "mpps_predicted_forwarding_rate_frames_per_second",
            "Maximum forwarding rate that the cost at lower loads predicts.",
            labels,
            self.model.as_ref().map(|model| model.predicted_fps),
        );
    }

    fn charts(lines: &[Self], _: &Run) -> Vec<Option<Chart>> {
        let charts = |line| [plots::stages(line), plots::by_load(line)];
        lines.iter().flat_map(charts).collect()
    }

    fn section(&self) -> Option<Markup> {
        Some(html! { (section(self)) (published::section(self)) })
    }

    /// A size without a load has nothing to show, and set-ups with too few pairs were not compared.
    fn answered(&self) -> Answered {
        let against = self.against.as_ref();
        let is_apart = against.is_some_and(|against| against.change.is_none());
        Answered::if_measured(!self.loads.is_empty() && !is_apart)
    }
}

/// One frame size.
fn told(line: &ProfileLine, on: On) -> Told {
    if let Some(watched) = &line.watched {
        return watched::told(line, watched, on);
    }
    let wire = line.wire.as_ref().map(|wire| &wire.load);
    let mut sentences = vec![sentence(line)];
    let (mut tables, mut remarks) = (Vec::new(), Vec::new());
    match (line.loads.first(), &line.against) {
        (Some(own), Some(against)) => {
            let told = profile_change::against(against);
            sentences = vec![format!("{}: {told}", number::frame(&line.frame))];
            sentences.extend(line.limit_text.clone());
            tables = part_table::against(own, against, on);
            let (pairs, left_out) = (&against.pairs, against.pairs.left_out());
            remarks.extend(against.change.as_ref().map(|_| {
                format!(
                    "*: the bed's own. Intervals of all stages hold together in 19 of 20 comparisons, and those of all \
                     causes. {} pairs of neighbouring trials count, {left_out} do not.",
                    pairs.counted
                )
            }));
        }
        (Some(load), None) => {
            tables = part_table::tables(load, (wire, cycles(line)), on);
            remarks.extend(wire.is_none().then(|| {
                "*: the bed's own, in place of a NIC. RX, allocation, TX and free serve a wire in the router's place \
                 too, so `mpps throughput` gives less as the router's part."
                    .to_owned()
            }));
        }
        (None, _) => {}
    }
    if line.loads.len() > 1 {
        let rows: Vec<TableRow> = line.loads.iter().map(load_row).collect();
        tables.push(column::table(&rows, on));
    }
    if let Some(found) = &line.evidence {
        tables.extend(evidence_tables(found, on));
        remarks.extend(found.locks_in.as_ref().map(|locked| {
            let (ns, part) = (locked.ns.median, &locked.part);
            format!("Most time in locks: {ns:.0} ns, in {part}.")
        }));
        remarks.push(hardware(&found.hardware));
    }
    remarks.extend(evidence(line));
    // Without a load the sentence says why.
    let why = line.why.as_ref().filter(|_| !line.loads.is_empty());
    remarks.extend(why.map(|why| format!("cut short: {why}")));
    Told {
        sentences,
        tables: tables
            .into_iter()
            .map(|table| (String::new(), table))
            .collect(),
        remarks,
    }
}

/// Cycles of a frame, where samples come by cycles.
fn cycles(line: &ProfileLine) -> Option<f64> {
    let hardware = &line.evidence.as_ref()?.hardware;
    let by_cycles = line.clock.as_deref() == Some("cycles");
    hardware.cycles_per_frame.filter(|_| by_cycles)
}

/// How the cost changes with the load.
fn load_row(load: &ProfiledLoad) -> TableRow {
    let number = |of: Option<f64>| of.map(|of| format!("{of:.4}"));
    let columns = columns! {
        text "frames/s" number::rate(load.forwarding_fps.median);
        share "busy" load.busy_share;
        whole "ns a frame" load.frame_ns.median;
        text "wake-ups a frame" number(load.wake_ups_per_frame);
        text "polls a frame" number(load.polls_per_frame);
        share "samples see" load.seen_share;
    };
    TableRow::new(0.0, columns)
}

/// What the router's CPUs did at saturation, and what was dropped.
fn evidence_tables(found: &Evidence, on: On) -> Vec<Table> {
    let cpus = found.cpus.iter().map(|cpu| {
        columns! {
            text "CPU" cpu.cpu.to_string();
            whole "interrupts/s" cpu.interrupts_per_s;
            whole "polls/s" cpu.polls_per_s;
            text "frames a poll" cpu.frames_per_poll.map(|frames| format!("{frames:.2}"));
            whole "wake-ups/s" cpu.wake_ups_per_s;
            share "busy" cpu.busy_share;
        }
    });
    let drops = found.drops.iter().map(|drops| {
        columns! {
            words "dropped at" drops.place.clone();
            words "reason" drops.reason.clone();
            count "frames" drops.frames;
            share "of all" drops.share;
        }
    });
    let row = |columns| TableRow::new(0.0, columns);
    let tables: [Vec<TableRow>; 2] = [cpus.map(row).collect(), drops.map(row).collect()];
    let there = tables.iter().filter(|rows| !rows.is_empty());
    there.map(|rows| column::table(rows, on)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
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
            let table = column::table(&line.rows(On::Screen), On::Screen);
            let mut rows = std::iter::once(&table.head).chain(&table.rows);
            rows.find(|row| row[0] == name).expect("a row").clone()
        };
        assert!(row(&line, "stage").contains(&"cycles".to_owned()));
        assert_eq!(row(&line, "RX")[..4], ["RX", "200", "counted", "600"]);
        assert_eq!(
            row(&line, "sum")[1..5],
            ["500", "counted", "1 500", "100 %"]
        );
        line.clock = Some("cpu-clock".to_owned());
        assert!(!row(&line, "stage").contains(&"cycles".to_owned()));
        assert_eq!(row(&line, "RX")[..4], ["RX", "200", "counted", "40 %"]);
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
