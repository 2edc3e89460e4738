//! What a format says of a number is what the record has: cells, gauges and bounds against the raw lines.

use crate::support::{csv, measured, source};
use mpps_record::{ForwardingLimit, Run, read};
use mpps_report::{Gathered, markdown, openmetrics};

/// The measured run, with times of frames, and with this limit at overload.
fn run(limit: ForwardingLimit) -> (Run, Gathered) {
    let mut run = read(measured().as_bytes()).expect("from memory").runs[0].clone();
    for (place, trial) in (1_u64..).zip(&mut run.trials) {
        trial.latency.p50_ns = Some(1_000 * place);
        trial.latency.p99_ns = Some(2_000 * place);
        trial.latency.max_ns = Some(3_000 * place);
    }
    run.results[0].overload.max_forwarding_limited_by = Some(limit);
    let mut text = Vec::new();
    let begin = run.begin.as_ref().expect("a first line");
    text.extend(mpps_record::to_line(&run.name, begin).expect("a line"));
    for trial in &run.trials {
        text.extend(mpps_record::to_line(&run.name, trial).expect("a line"));
    }
    for result in &run.results {
        text.extend(mpps_record::to_line(&run.name, result).expect("a line"));
    }
    let gathered = Gathered::new(vec![source("run.jsonl", &text)]);
    (run, gathered)
}

#[test]
fn cells_are_the_records_values() {
    let (run, all) = run(ForwardingLimit::RouterCpu);
    let text = csv(&all);
    // Verdicts in words may hold commas, so they are quoted: columns before them are counted from the left, others from
    // the right.
    let mut lines = text.split("\r\n");
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let from_right = |name: &str| {
        let place = head.iter().position(|known| *known == name);
        head.len() - place.unwrap_or_else(|| panic!("{name}: {head:?}"))
    };
    for (line, trial) in lines.zip(&run.trials) {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |name: &str| cells[cells.len() - from_right(name)];
        let received: u64 = trial.directions.iter().map(|way| way.received_frames).sum();
        let forwarded: f64 = cell("forwarding_fps").parse().expect("a number");
        let wanted = received as f64 * 1e9 / trial.duration_ns as f64;
        assert!((forwarded - wanted).abs() <= 0.01 * wanted, "{line}");
        assert_eq!(cell("duration_ns"), trial.duration_ns.to_string());
        assert_eq!(cell("received_frames"), received.to_string());
        for (name, value) in [
            ("latency_p50_ns", trial.latency.p50_ns),
            ("latency_p99_ns", trial.latency.p99_ns),
            ("latency_max_ns", trial.latency.max_ns),
        ] {
            assert_eq!(cell(name), value.expect("set above").to_string(), "{name}");
        }
    }
}

/// The value of the first sample of a gauge with this label.
fn gauge(text: &str, name: &str, label: &str) -> f64 {
    let is_it = |line: &&str| line.starts_with(&format!("{name}{{")) && line.contains(label);
    let line = text
        .lines()
        .find(is_it)
        .unwrap_or_else(|| panic!("{name} {label}: {text}"));
    let value = line.rsplit(' ').next().expect("a value");
    value.parse().expect("a number")
}

#[test]
fn gauges_are_the_records_values_in_base_units() {
    let (run, all) = run(ForwardingLimit::RouterCpu);
    let (text, overload) = (openmetrics(&all), &run.results[0].overload);
    let rates = overload.max_forwarding_fps.expect("measured");
    let cost = overload.cost.expect("measured").router_ns;
    for (bound, rate, ns) in [
        ("low", rates.low, cost.low),
        ("median", rates.median, cost.median),
        ("high", rates.high, cost.high),
    ] {
        let label = format!("bound=\"{bound}\"");
        let found = gauge(
            &text,
            "mpps_maximum_forwarding_rate_frames_per_second",
            &label,
        );
        assert!((found - rate as f64).abs() < 0.5, "{bound}: {found}");
        let found = gauge(&text, "mpps_router_frame_cost_seconds", &label);
        assert!((found - ns * 1e-9).abs() < 1e-15, "{bound}: {found}");
    }
    assert!(
        rates.low < rates.high && cost.low < cost.high,
        "else nothing is told apart"
    );
}

#[test]
fn a_rate_of_unknown_limit_is_a_bound_everywhere() {
    for (limit, is_bound) in [
        (ForwardingLimit::RouterCpu, false),
        (ForwardingLimit::Unknown, true),
        (ForwardingLimit::Tester, true),
    ] {
        let (_, all) = run(limit.clone());
        let text = markdown(&all);
        assert_eq!(
            text.contains("forwards at least "),
            is_bound,
            "{limit:?}: {text}"
        );
        let row = text
            .lines()
            .find(|line| line.starts_with("| 64 B |"))
            .expect("its row");
        let cell = row.split('|').nth(2).expect("at overload");
        assert_eq!(cell.contains('≥'), is_bound, "{limit:?}: {row}");
        let reads = format!("reads=\"{}\"", if is_bound { ">=" } else { "=" });
        gauge(
            &openmetrics(&all),
            "mpps_maximum_forwarding_rate_frames_per_second",
            &reads,
        );
    }
}
