//! What a terminal says of results below their table, and what `--verbose` adds: how the search decided, where each load
//! failed and why, how evenly frames left.

use crate::headline::{least_router_ns, router_part};
use crate::number::{busy, from_to, percent_or_under as percent, plural, spaced, time};
use crate::row::{Reading, Row};
use mpps_record::{
    Basis, BusyLoad, Evenness, FrameCost, Headroom, Interval, LimitedBy, Overload, ReceiverPlace,
    RunBed, RunLine, Search,
};

/// How a record calls destinations that have no route.
const MISSING: &str = "missing";

/// What the columns stand for, and what a rate means little without.
pub fn notes(rows: &[Row<'_>], begin: Option<&RunLine>) -> Vec<String> {
    let new = |row: &Row<'_>| {
        let new = spaced(row.new_flows_per_s?.round() as u64);
        Some(format!("{}: {new}", row.frame))
    };
    let told = [
        bed(rows),
        state(rows),
        listed("new flows/s", rows.iter().filter_map(new)),
    ];
    let mut told: Vec<String> = told.into_iter().flatten().collect();
    let drawn = begin.and_then(|begin| begin.plan.traffic.destinations.as_ref());
    if let Some(drawn) = drawn {
        let [count, prefixes] = [drawn.distinct, drawn.prefixes].map(spaced);
        told.push(format!(
            "destinations: {count} ({}) from {prefixes} routes of {}",
            drawn.draw, drawn.from
        ));
        if drawn.draw == MISSING {
            told.push("no frame has a route: the rates count frames that the DUT drops for that reason, with none lost earlier".to_owned());
        }
    }
    told
}

/// What the bed's part of a frame's cost is made of.
fn bed(rows: &[Row<'_>]) -> Option<String> {
    let costs = rows.iter().filter(|row| row.overload.cost.is_some());
    let program = costs.clone().filter_map(|row| row.overload.exit_program_ns);
    let program = from_to(program).map(|ns| format!(" (receiver's program: {ns} ns)"));
    let at_port = |row: &&Row<'_>| row.receiver == Some(ReceiverPlace::Port);
    let (port, all) = (costs.clone().filter(at_port).count(), costs.count());
    let exit = || format!("exit{}", program.clone().unwrap_or_default());
    let receiver = match port {
        _ if all == 0 => return None,
        0 => exit(),
        _ if port == all => "cable".to_owned(),
        _ => format!("{} or cable", exit()),
    };
    Some(format!(
        "bed: virtual NIC and {receiver}, measured through a wire"
    ))
}

/// In which state the machine was.
fn state(rows: &[Row<'_>]) -> Option<String> {
    let tens = |ns: f64| (ns / 10.0).round() * 10.0;
    let work = |row: &Row<'_>| row.overload.max_forwarding_work_ns.map(tens);
    let state = |row: &Row<'_>| {
        let apart = tens(row.overload.max_forwarding_cpu_distance_ns?);
        let work = work(row).map_or(String::new(), |ns| format!("/{ns:.0}"));
        Some(format!("{apart:.0}{work} ns ({})", row.subject))
    };
    let and_work = match rows.iter().any(|row| work(row).is_some()) {
        true => "/fixed work",
        false => "",
    };
    let what = format!("state of the machine (CPU distance{and_work})");
    listed(&what, rows.iter().filter_map(state))
}

/// `new flows/s: 64: 1 000, imix: 900`; nothing without any.
fn listed(what: &str, each: impl Iterator<Item = String>) -> Option<String> {
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("{what}: {}", each.join(", ")))
}

/// All that `--verbose` adds, a fact a line. Several goals of one size have some in common: those stand once.
pub fn details(rows: &[Row<'_>], begin: Option<&RunLine>) -> Vec<String> {
    let search = begin.and_then(|begin| begin.plan.search.as_ref());
    let rule = search.and_then(|search| search.pass_rule.as_ref());
    let rule = rule.map(|rule| format!("a load passes by this rule: {rule}"));
    let mut told: Vec<String> = std::iter::once("Details".to_owned()).chain(rule).collect();
    for row in rows {
        told.extend(loads(row));
        told.extend(link(row, search));
    }
    let place = begin.map(|begin| &begin.bed);
    for row in rows {
        let (frame, overload) = (&row.frame, &row.overload);
        let own = [
            why_lost(row),
            row.headroom.as_ref().map(headroom),
            overload.at_most.as_ref().map(|most| {
                let Interval { low, median, high } = most.forwarding_fps;
                let [offered, median] = [most.offered_fps.median, median].map(fps);
                let [low, high] = [low, high].map(spaced);
                format!("at the highest load ({offered}) it forwards {median} ({low} to {high}; RFC 2285 3.6.2)")
            }),
            overload.cost.as_ref().map(|known| cost(row, known)),
            exit_program(overload),
            (row.tester_ceiling_fps > 0).then(|| ceiling(row, place)),
        ];
        let even = row.evenness.as_ref();
        let even = even.map(|even| format!("{}: {}", row.subject, evenness(even)));
        let own = own
            .into_iter()
            .flatten()
            .map(|told| format!("{frame}: {told}"));
        for line in own.chain(even) {
            if !told.contains(&line) {
                told.push(line);
            }
        }
    }
    told.extend(search.map(|search| wire(search, begin)));
    told.push(
        "Gbit/s are on the wire: frame, preamble and gap (+20 octets); frame sizes include the FCS"
            .to_owned(),
    );
    told
}

/// Where a load passed, where the next one failed, and what ended the search.
fn loads(row: &Row<'_>) -> Option<String> {
    let bound = match row.reading() {
        Reading::Is(_) => "passes",
        Reading::AtLeast(_) => "passes >=",
        Reading::Unconfirmed(_) => "not confirmed:",
        Reading::Below(_) | Reading::Nothing => return None,
    };
    let told = |words: &str, rate: Option<u64>| {
        rate.map_or(String::new(), |rate| format!(", {words} {}", fps(rate)))
    };
    let fails = told("fails", row.lossy_fps);
    let conditional = row.conditional_throughput_fps;
    let conditional = conditional.filter(|_| row.loss_allowed() > 0.0);
    let limit = row.limited_by.as_ref();
    Some(format!(
        "{}: {bound} {}{fails}{}; {}; the search was ended by: {}",
        row.subject,
        fps(row.reading().rate()?),
        told("Conditional Throughput", conditional),
        plural(row.trials as usize, "trial"),
        limit.map_or("nothing", LimitedBy::as_str)
    ))
}

/// Share of the link, loss, and the router's work at the load found.
fn link(row: &Row<'_>, search: Option<&Search>) -> Option<String> {
    let (share, gbit) = (percent(row.link_share?), row.rate_gbit_per_s?);
    let link = search.map_or("the link".to_owned(), speed);
    let found = [
        row.loss_ratio
            .map(|ratio| format!(", loss {}", percent(ratio))),
        (row.dut_busiest_cpu_share).map(|share| format!(", DUT {} busy", busy(share))),
        (row.dut_busy_ns_per_frame).map(|ns| format!(", {ns:.0} ns a frame in all")),
    ];
    let found: String = found.into_iter().flatten().collect();
    Some(format!(
        "{}: {share} of {link}, {gbit:.2} Gbit/s{found}",
        row.subject
    ))
}

fn speed(search: &Search) -> String {
    format!("{} Gbit/s", search.link_bits_per_s as f64 / 1e9)
}

/// What the link is.
fn wire(search: &Search, begin: Option<&RunLine>) -> String {
    let is_external = begin.is_some_and(|begin| matches!(begin.bed, RunBed::External(_)));
    let wire = match (search.link_source.as_str(), is_external) {
        ("ports", _) => "the ports' own link",
        ("given", true) => "as given (--link-speed)",
        (_, true) => "notional: the ports name no speed (--link-speed)",
        _ => "notional: there is no physical link",
    };
    let both = match begin.is_some_and(|begin| begin.plan.traffic.bidirectional) {
        true => " of one direction; rates are the sum of both",
        false => "",
    };
    format!("link: {}, {wire}{both}", speed(search))
}

fn why_lost(row: &Row<'_>) -> Option<String> {
    let why = row.why_lost.as_ref()?;
    // The oldest records have the load that failed only.
    let what = match why.bounds {
        Some(false) => "cause of loss that does not bound the result, at",
        _ => "cause of the loss at",
    };
    Some(format!("{what} {}", why.text))
}

/// The parts of a frame's cost with their intervals.
fn cost(row: &Row<'_>, cost: &FrameCost) -> String {
    let ns = |Interval { low, median, high }: Interval<f64>| {
        format!("{median:.0} ns ({low:.0} to {high:.0})")
    };
    let router = match least_router_ns(row, cost) {
        Some(_) => router_part(row, cost),
        None => ns(cost.router_ns),
    };
    format!(
        "a frame costs the router {router}, the bed {}",
        ns(cost.bed_ns)
    )
}

/// What the receiver at the exit costs the router's CPU, and how that was timed.
fn exit_program(overload: &Overload) -> Option<String> {
    let ns = overload.exit_program_ns?;
    let more = overload.exit_program_more_ns;
    let more = more.map_or(String::new(), |Interval { low, median, high }| {
        format!(". Through a wire it takes {median:.0} ns more ({low:.0} to {high:.0}), which are in the router's part")
    });
    Some(format!(
        "the receiver's program at the exit takes {ns:.0} ns a frame, which are in the bed's part. The kernel timed it in \
         trials of its own, with about one reading of the clock{more}"
    ))
}

fn ceiling(row: &Row<'_>, place: Option<&RunBed>) -> String {
    let (what, how) = match place {
        Some(RunBed::Simulated { .. }) => ("tester's own ceiling", "as simulated"),
        Some(RunBed::External(_)) => (
            "tester's sender alone",
            "its receiver's ceiling is not proven",
        ),
        _ => ("tester's own ceiling", "at overload"),
    };
    format!("{what}: {} ({how})", fps(row.tester_ceiling_fps))
}

/// `at 80 % DUT busy: 1 023 000 frames/s (interpolated between 71 % at 900 000 frames/s and 93 % at 1 200 000 frames/s)`
fn headroom(found: &Headroom) -> String {
    // What the router is left with at that load (docs/method.md).
    const BUSY: f64 = 0.8;
    let rate = |rate: f64| fps(rate.round() as u64);
    let load = |load: BusyLoad| format!("{} at {}", busy(load.busy_share), rate(load.rate_fps));
    let basis = match found.basis {
        Basis::Measured => format!("measured, at {}", busy(found.below.busy_share)),
        _ => format!(
            "interpolated between {} and {}",
            load(found.below),
            load(found.above)
        ),
    };
    format!(
        "at {} DUT busy: {} ({basis})",
        busy(BUSY),
        rate(found.rate_fps)
    )
}

/// `sent: median 96 ns late, 99.9 % 41 µs, worst 310 µs. Up to 310 frames were sent back to back to catch up (7.6 % of the ring)`
fn evenness(even: &Evenness) -> String {
    let late = [even.late_ns_p50, even.late_ns_p999, even.late_ns_max];
    let [half, most, all] = late.map(|ns| time(ns as f64));
    let frames = even.catch_up_frames.unwrap_or(0);
    let share = even.ring_share.map_or(String::new(), |share| {
        format!(" ({:.1} % of the ring)", share * 100.0)
    });
    format!(
        "sent: median {half} late, 99.9 % {most}, worst {all}. Up to {frames} frames were sent back to back to catch up{share}"
    )
}

/// A rate with all its digits.
fn fps(rate: u64) -> String {
    format!("{} frames/s", spaced(rate))
}
