//! The table of results: one row a frame size, then what was not measured but follows, and the
//! tester's own ceiling.

use super::{grouped, rule};
use crate::figures::{Figures, Limit, Reading};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_method::claim::FINAL_TRIAL;
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

/// The whole table, with what its columns mean.
#[must_use]
pub fn table(rows: &[Figures], plan: &ThroughputPlan) -> String {
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
    let mut text = format!("{}\n\n", title(rows, plan));
    line(&mut text, &HEAD.map(str::to_owned), &widths);
    for row in &cells {
        line(&mut text, row, &widths);
    }
    text.push('\n');
    for row in rows {
        text.extend(remark(row));
    }
    ceilings(&mut text, rows);
    let both = if plan.traffic.bidirectional {
        " of one direction; rates are the sum of both"
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "* of {}, notional: this bed has no wire{both}",
        plan.link
    );
    text.push_str(
        "** on the wire: frame, preamble and gap (+20 octets); frame sizes include the FCS\n",
    );
    text
}

/// `Throughput` only where every row may be called that.
fn title(rows: &[Figures], plan: &ThroughputPlan) -> String {
    let all = !rows.is_empty() && rows.iter().all(|row| row.label == Some("Throughput"));
    let trials = format!("{} trials, {}", plan.trial, rule(plan));
    if all {
        return format!("Throughput (RFC 2544 section 26.1: zero loss in {trials})");
    }
    if plan.trial < FINAL_TRIAL {
        format!("Estimate ({trials}; zero loss, but a Throughput needs {FINAL_TRIAL}: --time 60)")
    } else {
        format!("Rates at zero loss ({trials})")
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
        row.frames.clone(),
        percent(row.link_share, 1),
        number(row.gbit_per_s, 2),
        rate(row.reading),
        row.loss_ratio.map_or("-".to_owned(), loss),
        percent(row.busy_share, 0),
        number(row.busy_ns_per_frame, 0),
        row.limited_by.map_or("-", Limit::name).to_owned(),
    ]
}

fn rate(reading: Reading) -> String {
    let frames = |rate: mpps_method::Rate| grouped(rate.fps().round() as u64);
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

/// What a row that the tester ended says beyond its rate.
fn remark(row: &Figures) -> Option<String> {
    let Reading::AtLeast(rate) = row.reading else {
        return None;
    };
    let busy = row.busy_share.map_or(String::new(), |busy| {
        format!(", DUT {:.0} % busy", busy * 100.0)
    });
    let estimate = row.estimate.map_or(String::new(), |estimate| {
        format!(", Estimate {estimate} from its busy time")
    });
    let limit = match row.limited_by? {
        Limit::Tester => "the tester could do no more",
        Limit::Link => "the link carries no more",
        Limit::MaxRate => "--max-rate allowed no more",
        Limit::Dut => return None,
    };
    Some(format!(
        "{}: >= {rate}{busy}{estimate}; {limit}\n",
        row.frames
    ))
}

fn ceilings(text: &mut String, rows: &[Figures]) {
    let each: Vec<String> = rows
        .iter()
        .map(|row| format!("{}: {}", row.frames, row.ceiling))
        .collect();
    let _ = writeln!(
        text,
        "tester's own ceiling: {} (a wire in place of the router)",
        each.join(", ")
    );
}

#[cfg(test)]
mod tests;
