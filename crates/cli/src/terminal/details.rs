//! What `--verbose` adds to the results: how the search decided, where each load failed and why, how evenly frames left.

use super::report::Place;
use super::rule;
use crate::figures::{Figures, Reading};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::search::link::LinkSource;
use mpps_method::LimitedBy;
use std::fmt::Write;

/// All of it, a fact a line.
#[must_use]
pub fn details(rows: &[Figures], plan: &ThroughputPlan, place: Place<'_>) -> String {
    let mut text = format!("\nDetails\na load passes: {}\n", rule(&plan.search));
    for row in rows {
        text.extend(search(row));
        text.extend(link(row, plan));
    }
    text.push_str(&reasons(rows));
    text.push_str(&exit_programs(rows));
    text.push_str(&ceilings(rows, place));
    let both = if plan.traffic.bidirectional {
        " of one direction; rates are the sum of both"
    } else {
        ""
    };
    let wire = match (plan.link.source, place) {
        (LinkSource::Ports, _) => "the ports' own link",
        (LinkSource::Given, Place::Device) => "as given (--link-speed)",
        (LinkSource::Notional, Place::Device) => "notional: the ports name no speed (--link-speed)",
        (_, Place::Bed | Place::Simulated(_)) => "notional: there is no wire",
    };
    let _ = writeln!(text, "link: {}, {wire}{both}", plan.link.speed);
    text.push_str(
        "Gbit/s are on the wire: frame, preamble and gap (+20 octets); frame sizes include the FCS\n",
    );
    text
}

/// Where a load passed, where the next one failed, and what ended the search.
fn search(row: &Figures) -> Option<String> {
    let (bound, rate) = match row.reading {
        Reading::Is(rate) => ("", rate),
        Reading::AtLeast(rate) => (">= ", rate),
        Reading::Below(_) | Reading::Nothing => return None,
    };
    let fails = row
        .fails_at
        .map_or(String::new(), |fails| format!(", fails {fails}"));
    let conditional = row.conditional_throughput.map_or(String::new(), |rate| {
        format!(", Conditional Throughput {rate}")
    });
    let (subject, count) = (&row.subject, row.trials);
    let trials = if count == 1 { "trial" } else { "trials" };
    let limit = row.limited_by.map_or("nothing", LimitedBy::name);
    Some(format!(
        "{subject}: passes {bound}{rate}{fails}{conditional}; {count} {trials}; the search was ended by: {limit}\n"
    ))
}

/// Share of the link, loss, and the router's work at the load found.
fn link(row: &Figures, plan: &ThroughputPlan) -> Option<String> {
    let (share, gbit) = (row.link_share?, row.gbit_per_s?);
    let mut text = format!(
        "{}: {:.1} % of {}, {gbit:.2} Gbit/s",
        row.subject,
        share * 100.0,
        plan.link.speed
    );
    if let Some(ratio) = row.loss_ratio {
        let _ = write!(text, ", loss {}", loss(ratio));
    }
    if let Some(busy) = row.busy_share {
        let _ = write!(text, ", DUT {:.0} % busy", busy.min(1.0) * 100.0);
    }
    if let Some(ns) = row.busy_ns_per_frame {
        let _ = write!(text, ", {ns:.0} ns a frame in all");
    }
    text.push('\n');
    Some(text)
}

/// Zero is exactly zero; what is not zero never prints as zero.
fn loss(ratio: f64) -> String {
    let percent = ratio * 100.0;
    if ratio == 0.0 {
        "0".to_owned()
    } else if percent < 0.01 {
        "< 0.01 %".to_owned()
    } else {
        format!("{percent:.2} %")
    }
}

/// Why frames were lost, what the DUT does with a fifth of its CPU left, and how evenly frames were sent.
fn reasons(rows: &[Figures]) -> String {
    let said = rows.iter().flat_map(|row| {
        let why = row
            .why_lost
            .as_ref()
            .map(|why| format!("{}: {why}\n", row.frames));
        let headroom = row
            .headroom
            .map(|headroom| format!("{}: {headroom}\n", row.frames));
        let even = row
            .evenness
            .map(|even| format!("{}: sent: {even}\n", row.subject));
        why.into_iter().chain(headroom).chain(even)
    });
    once(said)
}

/// What the receiver at the exit costs the router's CPU, and how that was timed.
fn exit_programs(rows: &[Figures]) -> String {
    let told = rows.iter().filter_map(|row| {
        let ns = row.saturated.exit_program_ns?;
        Some(format!(
            "{}: the receiver's program at the exit: {ns:.0} ns a frame of the bed's part, timed by the kernel in bursts \
             of its own (with about one reading of the clock)\n",
            row.frames
        ))
    });
    once(told)
}

fn ceilings(rows: &[Figures], place: Place<'_>) -> String {
    let (what, how) = match place {
        Place::Simulated(_) => ("tester's own ceiling", "as simulated"),
        Place::Bed => ("tester's own ceiling", "at overload"),
        Place::Device => (
            "tester's sender alone",
            "its receiver's ceiling is not proven",
        ),
    };
    let known = rows.iter().filter(|row| row.ceiling.fps() > 0.0);
    once(known.map(|row| format!("{}: {what}: {} ({how})\n", row.frames, row.ceiling)))
}

/// Several goals of one size have these in common: each line once.
pub(super) fn once(lines: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for line in lines {
        if !text.lines().any(|before| before == line.trim_end()) {
            text.push_str(&line);
        }
    }
    text
}

#[cfg(test)]
mod tests;
