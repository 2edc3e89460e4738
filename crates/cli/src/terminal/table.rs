//! The table of results: one row a frame size, then what was not measured but follows, and the
//! tester's own ceiling.

mod notes;

use super::{grouped, rule};
use crate::figures::{Figures, Limit, Reading};
use crate::record::Comparability;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::link::LinkSource;
use mpps_method::Rate;
use mpps_method::claim::FINAL_TRIAL;
use mpps_method::simulate::Properties;
use std::fmt::Write;

const HEAD: [&str; 8] = [
    "frame size",
    "% of link*",
    "Gbit/s**",
    "frames/s",
    "loss",
    "DUT busy %",
    "ns per frame",
    "limited by",
];

/// Where results are from.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// A router of ours.
    Bed,
    /// A device of somebody else's between real ports.
    Device,
    /// A simulated pair.
    Simulated(&'a Properties),
}

/// The whole table, with what its columns mean; of a simulated pair, with how that is written.
#[must_use]
pub fn table(rows: &[Figures], plan: &ThroughputPlan, place: Place<'_>) -> String {
    let cells: Vec<[String; 8]> = rows.iter().map(cells).collect();
    let width = |column: usize| {
        let widest = cells
            .iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0);
        widest.max(HEAD[column].len())
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut text = notes::unstable(rows);
    if let Place::Simulated(pair) = place {
        let _ = writeln!(text, "SIMULATED, nothing was measured: {pair}");
    }
    let _ = writeln!(text, "{}\n", title(rows, plan));
    line(&mut text, &HEAD.map(str::to_owned), &widths);
    for row in &cells {
        line(&mut text, row, &widths);
    }
    text.push('\n');
    for row in rows {
        text.extend(remark(row));
    }
    text.push_str(&notes::reasons(rows));
    ceilings(&mut text, rows, place);
    text.push_str(&traffic_remarks(rows, plan));
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
    let _ = writeln!(text, "* of {}, {wire}{both}", plan.link.speed);
    text.push_str(
        "** on the wire: frame, preamble and gap (+20 octets); frame sizes include the FCS\n",
    );
    text
}

/// How many flows began, and where frames went: a rate means little without.
fn traffic_remarks(rows: &[Figures], plan: &ThroughputPlan) -> String {
    let mut text = String::new();
    let new = |row: &Figures| Some((row.frames.clone(), row.new_flows_per_s?));
    let each: Vec<String> = rows
        .iter()
        .filter_map(new)
        .map(|(frames, new)| format!("{frames}: {}", grouped(new.round() as u64)))
        .collect();
    if !each.is_empty() {
        let _ = writeln!(text, "new flows/s: {}", each.join(", "));
    }
    if let Some(destinations) = &plan.traffic.destinations {
        let count = grouped(destinations.distinct);
        let (draw, from) = (destinations.draw, &destinations.from);
        let prefixes = grouped(destinations.prefixes as u64);
        let _ = writeln!(
            text,
            "destinations: {count} ({draw}) from {prefixes} routes of {from}"
        );
    }
    if plan.traffic.missing() {
        text.push_str("no frame has a route: rates are of frames that the DUT drops for that, none lost before\n");
    }
    text
}

/// What results may be compared by.
#[must_use]
pub fn comparability(key: &Comparability) -> String {
    format!("comparable with: {key}\n")
}

/// `Throughput` only where every row may be called that.
fn title(rows: &[Figures], plan: &ThroughputPlan) -> String {
    let all = !rows.is_empty() && rows.iter().all(|row| row.label == Some("Throughput"));
    let trials = rule(&plan.search);
    if all {
        return format!("Throughput (RFC 2544 section 26.1: {trials})");
    }
    if plan.search.final_trial() < FINAL_TRIAL {
        format!("Estimate ({trials}; a Throughput needs {FINAL_TRIAL}: --preset rfc2544)")
    } else {
        format!("Rates ({trials})")
    }
}

fn line(text: &mut String, cells: &[String; 8], widths: &[usize; 8]) {
    let last = cells.len() - 1;
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        match column {
            0 => text.extend([format!("{cell:<width$}")]),
            _ if column == last => text.extend([format!("  {cell}")]),
            _ => text.extend([format!("  {cell:>width$}")]),
        }
    }
    text.push('\n');
}

fn cells(row: &Figures) -> [String; 8] {
    let number = |value: Option<f64>, digits: usize| {
        value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let percent =
        |share: Option<f64>, digits: usize| number(share.map(|share| share * 100.0), digits);
    [
        row.subject.clone(),
        percent(row.link_share, 1),
        number(row.gbit_per_s, 2),
        rate(row.reading),
        row.loss_ratio.map_or("-".to_owned(), loss),
        percent(row.busy_share, 0),
        number(row.busy_ns_per_frame, 0),
        limited_by(row),
    ]
}

/// What limits, and that it may be chance.
fn limited_by(row: &Figures) -> String {
    let limit = row.limited_by.map_or("-", Limit::name);
    let unstable = row.unstable.map_or("", |_| ", unstable");
    format!("{limit}{unstable}")
}

fn rate(reading: Reading) -> String {
    let frames = |rate: Rate| grouped(rate.fps().round() as u64);
    match reading {
        Reading::Is(rate) => frames(rate),
        Reading::AtLeast(rate) => format!(">= {}", frames(rate)),
        Reading::Below(rate) => format!("< {}", frames(rate)),
        Reading::Nothing => "not measured".to_owned(),
    }
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

/// What a row says beyond its figures: where the DUT fails, or what ended the search before that.
fn remark(row: &Figures) -> Option<String> {
    let what = match row.reading {
        Reading::Is(rate) => is(row, rate),
        Reading::AtLeast(rate) => at_least(row, rate)?,
        Reading::Below(_) | Reading::Nothing => return None,
    };
    let trials = if row.trials == 1 { "trial" } else { "trials" };
    let (subject, count) = (&row.subject, row.trials);
    Some(format!("{subject}: {what}; {count} {trials}\n"))
}

fn is(row: &Figures, rate: Rate) -> String {
    let fails = row
        .fails_at
        .map_or(String::new(), |fails| format!(", fails {fails}"));
    let conditional = row.conditional_throughput.map_or(String::new(), |rate| {
        format!(", Conditional Throughput {rate}")
    });
    format!("passes {rate}{fails}{conditional}")
}

fn at_least(row: &Figures, rate: Rate) -> Option<String> {
    let busy = row.busy_share.map_or(String::new(), |busy| {
        format!(", DUT {:.0} % busy", busy * 100.0)
    });
    let limit = match row.limited_by? {
        Limit::Tester => "the tester could do no more",
        Limit::Link => "the link carries no more",
        Limit::MaxRate => "--max-rate allowed no more",
        Limit::Disturbed => "the machine was too disturbed to offer more",
        Limit::Trials => "the trials allowed ended before it failed",
        Limit::Pause => "it lost frames there at moments only, not to the end",
        Limit::SharedCpu => "it got what the tester left of their CPU",
        Limit::Dut => return None,
    };
    let fails = row
        .fails_at
        .map_or(String::new(), |fails| format!(", fails {fails}"));
    Some(format!(">= {rate}{fails}{busy}; {limit}"))
}

fn ceilings(text: &mut String, rows: &[Figures], place: Place<'_>) {
    // Of a size with several goals once.
    let mut each: Vec<String> = rows
        .iter()
        .map(|row| format!("{}: {}", row.frames, row.ceiling))
        .collect();
    each.dedup();
    let (what, how) = match place {
        Place::Simulated(_) => ("tester's own ceiling", "as simulated"),
        Place::Bed => ("tester's own ceiling", "a wire in place of the router"),
        Place::Device => (
            "tester's sender alone",
            "its receiver's ceiling is not proven",
        ),
    };
    let _ = writeln!(text, "{what}: {} ({how})", each.join(", "));
}

#[cfg(test)]
mod tests;
