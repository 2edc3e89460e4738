//! The plan in words, for `--dry-run`.

use crate::args::quantity::FULL;
use crate::plan::{DESTINATIONS, DestinationPlan, FibScalePlan};
use crate::{record, words};
use mpps_lab::bed::BedPlan;
use mpps_lab::jobs::fixed_load::FixedLoadPlan;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::search::link::LinkSource;
use mpps_lab::tester::ReceiverPlace;
use mpps_lab::traffic::Traffic;
use mpps_method::mlr::TRIALS_MAX;
use mpps_method::{FrameSpec, SearchPlan, Span};
use mpps_report::number;
use serde_json::{Value, json};
use std::fmt::Write;

/// The bed that would be raised.
#[must_use]
pub fn bed(plan: &BedPlan) -> String {
    let rows = plan.dut.planned().rows(plan).into_iter();
    rows.map(|(head, text)| format!("{head:<13}{text}\n"))
        .collect()
}

/// The same for programs, with the members of a record's `bed` that are known before it stands.
#[must_use]
pub fn bed_json(plan: &BedPlan) -> Value {
    let dut = plan.dut.planned();
    json!({
        "kind": dut.bed_name(),
        "name": plan.name,
        "nic": plan.nic.name(),
        "queues": plan.queues,
        "rx_ring_frames": plan.rx_ring,
        "rss": plan.rss.name(),
        "kernel_interfaces": plan.interfaces.name(),
        "dut_cpus": plan.cpus.dut,
        "tester_cpus": plan.cpus.tester,
        "cpus_shared": plan.cpus.shared(),
        "filters": plan.filters,
        "dut_setup": plan.dut_setup.as_ref().map(|path| path.to_string_lossy()),
        "external_ports": dut.host_ports(),
    })
}

/// What a calibration would send, and what it would plant.
#[must_use]
pub fn calibration(traffic: &Traffic) -> String {
    format!(
        "traffic      IPv4, frames of {}, {}, one way, seed {}\n\
         faults       loss, duplicates, reordering, a policer, the receive ring, a cost, a delay: one after the other\n",
        traffic.frames,
        flows(traffic),
        traffic.seed
    )
}

/// What would be measured on a bed.
#[must_use]
pub fn measurement(plan: &ThroughputPlan) -> String {
    let budget = plan.budget.map_or(String::new(), |budget| {
        format!("budget       {budget} for each frame size\n")
    });
    sent(plan) + &search(plan) + &budget
}

/// What would be measured on a simulated pair, which has no receiver to place and no budget.
#[must_use]
pub fn simulation(plan: &ThroughputPlan) -> String {
    traffic(&plan.traffic, &plan.sizes) + &search(plan)
}

/// What would be sent on a bed, and where it would be received.
#[must_use]
pub fn sent(plan: &ThroughputPlan) -> String {
    traffic(&plan.traffic, &plan.sizes) + &receiver(plan.receiver)
}

/// Where the tester would receive.
#[must_use]
pub fn receiver(place: Option<ReceiverPlace>) -> String {
    let place = place.map_or("chosen on the bed", ReceiverPlace::name);
    format!("receiver     {place}\n")
}

/// What would be sent.
#[must_use]
pub fn traffic(traffic: &Traffic, sizes: &[FrameSpec]) -> String {
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    let ways = if traffic.bidirectional {
        "both ways"
    } else {
        "one way"
    };
    let family = if traffic.ipv6 { "IPv6" } else { "IPv4" };
    let mut text = String::new();
    let _ = writeln!(text, "frame sizes  {}", sizes.join(", "));
    let _ = writeln!(
        text,
        "traffic      {family}, {}, {}, {ways}, DSCP {}, seed {}",
        traffic.transport,
        flows(traffic),
        traffic.dscp,
        traffic.seed
    );
    if let Some(per_s) = traffic.queries_per_s {
        let _ = writeln!(text, "management   queries each second: {per_s}");
    }
    let _ = writeln!(text, "ports        {}", traffic.port.name());
    text
}

/// What would be searched for.
fn search(plan: &ThroughputPlan) -> String {
    let maximum = plan
        .maximum
        .map_or("the tester's ceiling".to_owned(), |rate| rate.to_string());
    let mut text = String::new();
    let _ = writeln!(text, "search       {}", words::rule(&plan.search));
    if let SearchPlan::Mlr { trials_at_most, .. } = plan.search
        && trials_at_most < TRIALS_MAX
    {
        let _ = writeln!(
            text,
            "trials       {trials_at_most} at most; void and not offered ones do not count"
        );
    }
    if plan.warm_up > Span::ZERO {
        let _ = writeln!(text, "warm-up      {} before each trial", plan.warm_up);
    }
    let _ = writeln!(
        text,
        "loads        {} to {maximum}, found to {}",
        plan.minimum,
        words::closeness(&record::search(plan))
    );
    let whose = match plan.link.source {
        LinkSource::Notional => "notional, unless real ports say otherwise",
        LinkSource::Given => "as given",
        LinkSource::Ports => "the ports'",
    };
    let _ = writeln!(text, "link         {} ({whose})", plan.link.speed);
    text
}

fn flows(traffic: &Traffic) -> String {
    let plural = |count: u32, noun| number::plural(count as usize, noun);
    let count = traffic.flows;
    match traffic.flow_length {
        None => plural(count, "flow"),
        Some(frames) => format!(
            "{} of {} each, then new ones",
            plural(count, "flow"),
            plural(frames, "frame")
        ),
    }
}

/// Which routes would be loaded, and which destinations drawn.
#[must_use]
pub fn destinations(plan: Option<&DestinationPlan>) -> String {
    let Some(plan) = plan else {
        return "destinations 1, the tester's own address\n".to_owned();
    };
    let count = plan.count.unwrap_or(DESTINATIONS);
    let at_most = if plan.count.is_none() { " at most" } else { "" };
    let changes = plan.route_changes.as_ref().map(|asked| {
        format!(
            "changes      of routes during each trial: {} at {}; frames go to prefixes that none withdraws\n",
            asked.file.display(),
            asked.speed
        )
    });
    let routes = format!(
        "routes       those of {}, by the tester's receiving port\n\
         destinations {}{at_most}, {}\n",
        plan.origin,
        super::grouped(count),
        plan.draw
    );
    routes + &changes.unwrap_or_default()
}

/// The largest table of a `mpps fib-scale`, and which counts change.
#[must_use]
pub fn fib_scale(plan: &FibScalePlan) -> String {
    let table = match &plan.table {
        Some(path) => path.display().to_string(),
        None => {
            let (v4, v6) = plan.synthetic();
            format!("synthetic, {} prefixes", super::grouped(v4 + v6))
        }
    };
    let listed = |counts: &[u64]| -> String {
        let words = counts.iter().map(|&count| match count {
            FULL => "full".to_owned(),
            count => super::grouped(count),
        });
        words.collect::<Vec<_>>().join(", ")
    };
    let destinations = if plan.coupled {
        "as many as routes".to_owned()
    } else {
        listed(&plan.destinations)
    };
    format!(
        "table        {table}\nroutes       {}\nnext hops    {}\ndestinations {destinations}\ndraw         {}\n",
        listed(&plan.routes),
        plan.next_hops,
        plan.draw
    )
}

/// Fixed loads.
#[must_use]
pub fn fixed_load(plan: &FixedLoadPlan) -> String {
    let mut text = String::new();
    for frames in &plan.sizes {
        for load in &plan.loads {
            let (trials, time) = (plan.trials, plan.time);
            let _ = writeln!(text, "offer        {frames}: {load}, {trials} x {time}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fib_scale_plan_for_tests as scale;
    use crate::plan::tests::plan;

    #[test]
    fn each_goal_says_how_closely_it_is_found() {
        assert_eq!(
            words::closeness(&record::search(&plan("--preset csit").measurement)),
            "0.5 % of the rate, 0.5 % of the rate"
        );
    }

    #[test]
    fn a_dry_run_says_which_counts_change() {
        assert_eq!(
            fib_scale(&scale("--routes 0,1k,full --destinations 1,1M").expect("a plan")),
            "table        synthetic, 1 000 000 prefixes\nroutes       0, 1 000, full\nnext hops    64\n\
             destinations 1, 1 000 000\n\
             draw         per-prefix\n"
        );
        let coupled = scale("--coupled --table rib --draw zipf:1").expect("a plan");
        let coupled = fib_scale(&coupled);
        assert!(
            coupled.contains("table        rib\n")
                && coupled.contains("as many as routes\ndraw         zipf:1"),
            "{coupled}"
        );
    }
}
