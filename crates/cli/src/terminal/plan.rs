//! The plan in words, for `--dry-run`.

use crate::args::RouteChangesArg;
use crate::args::quantity::FULL;
use crate::plan::{DESTINATIONS, DestinationPlan};
use crate::record::{CHOSEN_ON_BED, Job};
use mpps_lab::bed::BedPlan;
use mpps_lab::jobs::turns::FIXED_SHARE;
use mpps_lab::tester::ReceiverPlace;
use mpps_method::mlr::TRIALS_MAX;
use mpps_method::{LinkSpeed, Span};
use mpps_record::{Plan, Search, Traffic};
use mpps_report::sentence::closeness;
use mpps_report::{number, sentence};
use serde_json::{Value, json};
use std::fmt::{Display, Write};

/// The bed that would be raised.
pub fn bed(plan: &BedPlan) -> String {
    let rows = plan.dut.planned().rows(plan).into_iter();
    rows.map(|(head, text)| format!("{head:<13}{text}\n"))
        .collect()
}

/// The same for programs, with the members of a record's `bed` that are known before it stands.
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

/// What would be done, the bed aside, as the record's first line has it.
pub fn job(job: &Job<'_>, routes: Option<&DestinationPlan>, simulated: bool) -> String {
    let receiver = (!simulated).then(|| receiver(job.receiver));
    // The routes of a table's points stand in the plan itself.
    let routes = job.plan.scale.is_none().then(|| destinations(routes));
    let [receiver, routes] = [receiver, routes].map(Option::unwrap_or_default);
    sent(&job.plan) + &receiver + &routes + &how(job)
}

/// Where the tester would receive.
pub fn receiver(place: Option<ReceiverPlace>) -> String {
    let place = place.map_or(CHOSEN_ON_BED, ReceiverPlace::name);
    row("receiver", place)
}

/// What would be sent.
pub fn sent(plan: &Plan) -> String {
    let traffic = &plan.traffic;
    let plural = |count: u32, noun| number::plural(count as usize, noun);
    let mut flows = plural(traffic.flows, "flow");
    if let Some(frames) = traffic.flow_length_frames {
        let _ = write!(flows, " of {} each, then new ones", plural(frames, "frame"));
    }
    let ways = match traffic.bidirectional {
        true => "both ways",
        false => "one way",
    };
    let Traffic { l4, dscp, seed, .. } = traffic;
    let family = traffic.family.replace("ip", "IP");
    let words = format!("{family}, {l4}, {flows}, {ways}, DSCP {dscp}, seed {seed}");
    let queries = traffic.queries_per_s;
    let queries = queries.map(|per_s| row("management", format!("queries each second: {per_s}")));
    row("frame sizes", plan.frames.join(", "))
        + &row("traffic", words)
        + &queries.unwrap_or_default()
        + &row("ports", &traffic.port)
}

/// What would be searched and measured.
pub fn how(job: &Job<'_>) -> String {
    let plan = &job.plan;
    let mut text = plan.search.as_ref().map(search).unwrap_or_default();
    if let Some(budget) = job.budget {
        let each = match (plan.frames.len(), plan.parts.is_empty()) {
            (_, false) => " for each part of each frame size",
            (1, _) => "",
            _ => " for each frame size",
        };
        text += &row("budget", format!("{budget}{each}"));
    }
    if let Some(lasts) = job.lasts {
        let seconds = lasts.as_nanos().div_ceil(1_000_000_000);
        text += &row("time", format!("about {seconds} s"));
    }
    if let Some(fixed) = plan.fixed.as_ref().filter(|_| job.name == "trial") {
        let trials = number::plural(fixed.trials as usize, "trial");
        let loads = fixed.loads.join(", ");
        text += &row("loads", format!("{loads}, {trials} each"));
    }
    if let Some(scale) = &plan.scale {
        text += &row("table", &scale.table);
        text += &row("next hops", scale.next_hops);
        text += &row("draw", &scale.draw);
    }
    if let Some(measured) = &plan.settings {
        text += &row("measured", measured.settings.join(", "));
    }
    let parts = plan.parts.iter();
    text.extend(parts.map(|part| row("part", sentence::part(part))));
    let pass_rule = plan
        .search
        .as_ref()
        .and_then(|search| search.pass_rule.as_ref());
    if plan.parts.is_empty() && pass_rule != Some(&job.rule) {
        text += &row("rule", &job.rule);
    }
    text
}

/// What would be searched for.
fn search(search: &Search) -> String {
    let rate = |fps| format!("{} frames/s", number::rate(fps));
    let maximum = search.maximum_fps.map(rate);
    let maximum = maximum.unwrap_or_else(|| "the tester's ceiling".to_owned());
    let (minimum, within) = (rate(search.minimum_fps), closeness(search));
    let mut text = row("search", search.pass_rule.as_deref().unwrap_or_default());
    let trials = search.trials_at_most.filter(|most| *most < TRIALS_MAX);
    if let Some(most) = trials {
        let words = format!("{most} at most; void and not offered ones do not count");
        text += &row("trials", words);
    }
    if search.warm_up_ns > 0 {
        let warm_up = Span::from_nanos(search.warm_up_ns);
        text += &row("warm-up", format!("{warm_up} before each trial"));
    }
    let speed = LinkSpeed::from_bits_per_second(search.link_bits_per_s);
    let link = match search.link_source.as_str() {
        CHOSEN_ON_BED => CHOSEN_ON_BED.to_owned(),
        "given" => format!("{speed} (as given)"),
        source => format!("{speed} ({source})"),
    };
    text += &row("loads", format!("{minimum} to {maximum}"));
    text += &row("resolution", within);
    text + &row("link", link)
}

fn row(head: &str, text: impl Display) -> String {
    format!("{head:<13}{text}\n")
}

/// Which routes would be loaded, and which destinations drawn.
pub fn destinations(plan: Option<&DestinationPlan>) -> String {
    let Some(plan) = plan else {
        return "destinations 1, the tester's own address\n".to_owned();
    };
    let count = plan.count.unwrap_or(DESTINATIONS);
    let at_most = if plan.count.is_none() { " at most" } else { "" };
    let changes = plan.route_changes.as_ref().map(changes);
    let routes = format!(
        "routes       those of {}, by the tester's receiving port\n\
         destinations {}{at_most}, {}\n",
        plan.origin,
        super::grouped(count),
        plan.draw
    );
    routes + &changes.unwrap_or_default()
}

fn changes(asked: &RouteChangesArg) -> String {
    let RouteChangesArg { file, speed } = asked;
    let words = format!(
        "of routes during each trial: {} at {speed}; frames go to prefixes that none withdraws",
        file.display()
    );
    row("changes", words)
}

/// Which counts of a `mpps fib-scale` change. `None`: as many destinations as routes.
pub fn counts(routes: &[u64], destinations: Option<&[u64]>, table: &DestinationPlan) -> String {
    let listed = |counts: &[u64]| -> String {
        let words = counts.iter().map(|&count| match count {
            FULL => "full".to_owned(),
            count => super::grouped(count),
        });
        words.collect::<Vec<_>>().join(", ")
    };
    let destinations = destinations.map_or("as many as routes".to_owned(), listed);
    let changes = table.route_changes.as_ref().map(changes);
    let share = format!(
        "{:.0} % of what the first point forwards, for the cost of a frame at all points",
        100.0 * FIXED_SHARE
    );
    row("routes", listed(routes))
        + &row("destinations", destinations)
        + &row("one load", share)
        + &changes.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;
    use crate::verbs::contract::Measure;

    #[test]
    fn each_goal_says_how_closely_it_is_found() {
        let search = plan("--preset csit").offer;
        let words = how(&search.job());
        assert!(
            words.contains("ceiling\nresolution   0.5 % of the rate, 0.5 % of the rate\n"),
            "{words}"
        );
    }

    #[test]
    fn what_ports_decide_is_chosen_on_the_bed() {
        let lines = |flags: &str| {
            let plan = plan(&format!("{flags} --external eth1,eth2"));
            assert!(plan.bed.asks_ports());
            let words = job(&plan.offer.job().before_ports(), None, false);
            let wanted = |line: &&str| line.starts_with("ports") || line.starts_with("link");
            let lines = words.lines().filter(wanted).map(str::to_owned);
            lines.collect::<Vec<_>>()
        };
        assert_eq!(
            lines(""),
            [
                "ports        chosen on the bed",
                "link         chosen on the bed"
            ]
        );
        assert_eq!(
            lines("--port xdp --link-speed 10GbE"),
            ["ports        xdp", "link         10 Gbit/s (as given)"]
        );
        assert!(!plan("").bed.asks_ports());
    }
}
