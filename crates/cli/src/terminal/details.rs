//! What `--verbose` adds to the results: how the search decided, where each load failed and why, how evenly frames left.

use super::{Reading, Row, percent};
use mpps_method::headroom::BUSY;
use mpps_method::{LinkSpeed, Rate, Span};
use mpps_record::{Basis, BusyLoad, Evenness, Headroom, Interval, LimitedBy, RunBed, RunLine};
use mpps_report::headline::{least_router_ns, router_part};
use mpps_report::number::busy;
use std::fmt::Write;

/// All of it, a fact a line. The run is `None` where its first line cannot be read.
pub fn details(rows: &[Row<'_>], run: Option<&RunLine>) -> String {
    let plan = run.map(|run| &run.plan);
    let search = plan.and_then(|plan| plan.search.as_ref());
    let place = run.map(|run| &run.bed);
    let speed = search.map(|search| LinkSpeed::from_bits_per_second(search.link_bits_per_s));
    let mut text = String::from("\nDetails\n");
    if let Some(rule) = search.and_then(|search| search.pass_rule.as_ref()) {
        let _ = writeln!(text, "a load passes by this rule: {rule}");
    }
    for row in rows {
        text.extend(loads(row));
        text.extend(link(row, speed));
    }
    text.push_str(&reasons(rows));
    text.push_str(&at_most(rows));
    text.push_str(&costs(rows));
    text.push_str(&exit_programs(rows));
    text.push_str(&ceilings(rows, place));
    let both = match plan {
        Some(plan) if plan.traffic.bidirectional => " of one direction; rates are the sum of both",
        _ => "",
    };
    let source = search.map(|search| search.link_source.as_str());
    let wire = match (source, place) {
        (Some("ports"), _) => "the ports' own link",
        (Some("given"), Some(RunBed::External(_))) => "as given (--link-speed)",
        (_, Some(RunBed::External(_))) => "notional: the ports name no speed (--link-speed)",
        _ => "notional: there is no physical link",
    };
    if let Some(speed) = speed {
        let _ = writeln!(text, "link: {speed}, {wire}{both}");
    }
    text.push_str(
        "Gbit/s are on the wire: frame, preamble and gap (+20 octets); frame sizes include the FCS\n",
    );
    text
}

/// Where a load passed, where the next one failed, and what ended the search.
fn loads(row: &Row<'_>) -> Option<String> {
    let (bound, rate) = match row.reading() {
        Reading::Is(rate) => ("passes ", from_fps(rate)),
        Reading::AtLeast(rate) => ("passes >= ", from_fps(rate)),
        Reading::Unconfirmed(rate) => ("not confirmed: ", from_fps(rate)),
        Reading::Below(_) | Reading::Nothing => return None,
    };
    let told = |words: &str, fps: Option<u64>| {
        let told = fps.map(|fps| format!(", {words} {}", from_fps(fps)));
        told.unwrap_or_default()
    };
    let fails = told("fails", row.lossy_fps);
    let conditional = row.conditional_throughput_fps;
    let conditional = conditional.filter(|_| row.loss_allowed() > 0.0);
    let conditional = told("Conditional Throughput", conditional);
    let (subject, count) = (&row.subject, row.trials);
    let trials = if count == 1 { "trial" } else { "trials" };
    let limit = row.limited_by.as_ref();
    let limit = limit.map_or("nothing", LimitedBy::as_str);
    Some(format!(
        "{subject}: {bound}{rate}{fails}{conditional}; {count} {trials}; the search was ended by: {limit}\n"
    ))
}

/// Share of the link, loss, and the router's work at the load found.
fn link(row: &Row<'_>, speed: Option<LinkSpeed>) -> Option<String> {
    let (share, gbit) = (row.link_share?, row.rate_gbit_per_s?);
    let link = speed.map_or("the link".to_owned(), |speed| speed.to_string());
    let (subject, share) = (&row.subject, percent(share));
    let mut text = format!("{subject}: {share} of {link}, {gbit:.2} Gbit/s");
    if let Some(ratio) = row.loss_ratio {
        let _ = write!(text, ", loss {}", percent(ratio));
    }
    if let Some(share) = row.dut_busiest_cpu_share {
        let _ = write!(text, ", DUT {} busy", busy(share));
    }
    if let Some(ns) = row.dut_busy_ns_per_frame {
        let _ = write!(text, ", {ns:.0} ns a frame in all");
    }
    text.push('\n');
    Some(text)
}

/// Why frames were lost, what the DUT does with a fifth of its CPU left, and how evenly frames were sent.
fn reasons(rows: &[Row<'_>]) -> String {
    once(rows.iter().flat_map(|row| {
        let (frame, subject) = (&row.frame, &row.subject);
        let why = row.why_lost.as_ref().map(|why| {
            // The oldest records have the load that failed only.
            let what = match why.bounds {
                Some(false) => "cause of loss that does not bound the result, at",
                _ => "cause of the loss at",
            };
            format!("{frame}: {what} {}\n", why.text)
        });
        let room = row.headroom.as_ref();
        let room = room.map(|found| format!("{frame}: {}\n", headroom(found)));
        let even = row.evenness.as_ref();
        let even = even.map(|even| format!("{subject}: sent: {}\n", evenness(even)));
        why.into_iter().chain(room).chain(even)
    }))
}

/// The forwarding rate at maximum offered load. The maximum forwarding rate may be that of a lower load.
fn at_most(rows: &[Row<'_>]) -> String {
    once(rows.iter().filter_map(|row| {
        let most = row.overload.at_most.as_ref()?;
        let Interval { low, median, high } = most.forwarding_fps;
        let [low, median, high] = [low, median, high].map(from_fps);
        Some(format!(
            "{}: at the highest load ({}) it forwards {median} ({low} to {high}; RFC 2285 3.6.2)\n",
            row.frame,
            from_fps(most.offered_fps.median)
        ))
    }))
}

/// The parts of a frame's cost with their intervals.
fn costs(rows: &[Row<'_>]) -> String {
    once(rows.iter().filter_map(|row| {
        let cost = row.overload.cost.as_ref()?;
        let ns = |Interval { low, median, high }: Interval<f64>| {
            format!("{median:.0} ns ({low:.0} to {high:.0})")
        };
        let (router, bed) = match least_router_ns(row, cost) {
            Some(_) => (router_part(row, cost), ns(cost.bed_ns)),
            None => (ns(cost.router_ns), ns(cost.bed_ns)),
        };
        Some(format!(
            "{}: a frame costs the router {router}, the bed {bed}\n",
            row.frame
        ))
    }))
}

/// What the receiver at the exit costs the router's CPU, and how that was timed.
fn exit_programs(rows: &[Row<'_>]) -> String {
    once(rows.iter().filter_map(|row| {
        let ns = row.overload.exit_program_ns?;
        let more = row.overload.exit_program_more_ns;
        let more = more.map_or(String::new(), |more| {
            format!(
                ". Through a wire it takes {:.0} ns more ({:.0} to {:.0}), which are in the router's part",
                more.median, more.low, more.high
            )
        });
        Some(format!(
            "{}: the receiver's program at the exit takes {ns:.0} ns a frame, which are in the bed's part. The kernel \
             timed it in trials of its own, with about one reading of the clock{more}\n",
            row.frame
        ))
    }))
}

fn ceilings(rows: &[Row<'_>], place: Option<&RunBed>) -> String {
    let (what, how) = match place {
        Some(RunBed::Simulated { .. }) => ("tester's own ceiling", "as simulated"),
        Some(RunBed::External(_)) => (
            "tester's sender alone",
            "its receiver's ceiling is not proven",
        ),
        _ => ("tester's own ceiling", "at overload"),
    };
    let known = rows.iter().filter(|row| row.tester_ceiling_fps > 0);
    once(known.map(|row| {
        let ceiling = from_fps(row.tester_ceiling_fps);
        format!("{}: {what}: {ceiling} ({how})\n", row.frame)
    }))
}

/// `at 80 % DUT busy: 1.023 Mfps (interpolated between 71 % at 900.0 kfps and 93 % at 1.200 Mfps)`
fn headroom(found: &Headroom) -> String {
    let load = |load: BusyLoad| {
        format!(
            "{} at {}",
            busy(load.busy_share),
            Rate::from_fps(load.rate_fps)
        )
    };
    let basis = match found.basis {
        Basis::Measured => format!("measured, at {}", busy(found.below.busy_share)),
        _ => format!(
            "interpolated between {} and {}",
            load(found.below),
            load(found.above)
        ),
    };
    let rate = Rate::from_fps(found.rate_fps);
    format!("at {} DUT busy: {rate} ({basis})", busy(BUSY))
}

/// `median 96 ns late, 99.9 % 41 us, worst 310 us. Up to 310 frames were sent back to back to catch up (7.6 % of the ring)`
fn evenness(even: &Evenness) -> String {
    let late = [even.late_ns_p50, even.late_ns_p999, even.late_ns_max];
    let [half, most, all] = late.map(rounded);
    let frames = even.catch_up_frames.unwrap_or(0);
    let share = even.ring_share.map_or(String::new(), |share| {
        format!(" ({:.1} % of the ring)", share * 100.0)
    });
    format!(
        "median {half} late, 99.9 % {most}, worst {all}. Up to {frames} frames were sent back to back to catch \
        up{share}"
    )
}

/// To three digits: the histogram knows no more.
fn rounded(ns: u64) -> Span {
    let step = 10_u64.pow(ns.checked_ilog10().unwrap_or(0).saturating_sub(2));
    Span::from_nanos((ns + step / 2) / step * step)
}

/// A rate of a record.
fn from_fps(fps: u64) -> Rate {
    Rate::from_fps(fps as f64)
}

/// `new flows/s: 64: 1 000, imix: 900`; nothing without any.
pub(super) fn listed(what: &str, each: impl Iterator<Item = String>) -> Option<String> {
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("{what}: {}", each.join(", ")))
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

#[cfg(all(test, feature = "measure"))]
mod tests;
