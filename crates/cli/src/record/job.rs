//! The job of a run: what was asked for.

use super::plan::{search, sent};
use crate::outcome::SUITE;
use crate::words::rule;
use mpps_lab::bed::Bed;
use mpps_lab::jobs::back_to_back::BurstPlan;
use mpps_lab::jobs::compare::ComparePlan;
use mpps_lab::jobs::explain::sweep::SweepPlan;
use mpps_lab::jobs::explain::{ExplainPlan, IN_TURNS};
use mpps_lab::jobs::fib_scale::ScalePlan;
use mpps_lab::jobs::fixed_load::FixedLoadPlan;
use mpps_lab::jobs::lasting::{LastingPlan, Overload};
use mpps_lab::jobs::latency::{LatencyLoad, LatencyPlan};
use mpps_lab::jobs::loss::LossPlan;
use mpps_lab::jobs::recovery::RecoveryPlan;
use mpps_lab::jobs::reset::{self, ResetPlan, SHARE};
use mpps_lab::jobs::settings::SettingsPlan;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::line::whole_fps;
use mpps_lab::search::link::LinkSource;
use mpps_lab::tester::{PortKind, ReceiverPlace, receiver_place};
use mpps_lab::traffic::Traffic;
use mpps_method::{Rate, Span};
use mpps_record::{FixedLoads, MeasuredSettings, Part, Plan, Scale};
use mpps_report::number::{percent_given, percent_or_under as percent, plural};

/// What a plan says of what only the bed can tell.
pub const CHOSEN_ON_BED: &str = "chosen on the bed";

/// What was asked for. A verb adds a constructor here.
pub struct Job<'a> {
    /// The verb.
    pub name: &'static str,
    /// What is sent.
    pub traffic: &'a Traffic,
    /// What carries the frames, where that was asked for.
    port: Option<PortKind>,
    /// Where the tester receives, where that was asked for.
    pub receiver: Option<ReceiverPlace>,
    /// How long trials are and when a load has passed; results of different rules are not compared.
    pub rule: String,
    /// Time, where it is limited.
    pub budget: Option<Span>,
    /// About how long it takes, if no budget limits it and that is known.
    pub lasts: Option<Span>,
    /// The plan as the record's first line has it.
    pub plan: Plan,
}

/// Trials of `mpps explain` for each that is sampled at saturation: with and without the sampler, through the router and
/// through a wire, and two lower loads.
const TURN: u64 = 6;
/// The same of a scenario of the paper: no wire, and one trial at all that the tester can offer.
const SCENARIO: u64 = 5;
/// The same of a point of a sweep, and of a pair of set-ups.
const PAIR: u64 = 2;
/// The time of `mpps explain`, divided by that of its trials: pauses, and void trials that are repeated. From committed
/// runs.
const REPEATED: f64 = 1.4;
/// Points of a sweep, divided by its places: those that met another state of the machine are measured again. From committed
/// runs on shared machines.
const POINTS: f64 = 1.6;

/// How long so many points or sizes take, about: so many trials for each at saturation, and one in which loads take turns,
/// if any does.
fn lasts(offer: &FixedLoadPlan, points: f64, each: u64, in_turns: Span) -> Span {
    let turn = offer.time.as_secs_f64() * each as f64 + in_turns.as_secs_f64();
    Span::from_secs_f64(f64::from(offer.trials) * turn * points * REPEATED)
}

impl<'a> Job<'a> {
    /// One that measures one frame size after the other.
    fn new(name: &'static str, plan: &'a ThroughputPlan, rule: String) -> Self {
        Self {
            name,
            traffic: &plan.traffic,
            port: plan.port,
            receiver: plan.receiver,
            rule,
            budget: plan.budget,
            lasts: None,
            plan: sent(&plan.sizes, &plan.traffic),
        }
    }

    /// The same at these loads, for so long and so often.
    fn at_loads(mut self, loads: Vec<String>, time: Span, trials: u32) -> Self {
        self.plan.fixed = Some(FixedLoads {
            loads,
            time_ns: time.as_nanos(),
            trials,
        });
        self
    }

    /// `mpps throughput`; what every result is expected to reach.
    pub fn throughput(plan: &'a ThroughputPlan, expected: Option<Rate>) -> Self {
        let mut job = Self::new("throughput", plan, rule(&plan.search));
        job.plan.search = Some(search(plan));
        job.plan.expected_min_fps = expected.map(whole_fps);
        job
    }

    /// `mpps trial`.
    pub fn trial(plan: &'a FixedLoadPlan) -> Self {
        let loads = plan.loads.iter().map(ToString::to_string);
        let job = Self {
            name: "trial",
            traffic: &plan.traffic,
            port: plan.port,
            receiver: plan.receiver,
            rule: format!("trials of {} at given loads", plan.time),
            budget: None,
            lasts: None,
            plan: sent(&plan.sizes, &plan.traffic),
        };
        job.at_loads(loads.collect(), plan.time, plan.trials)
    }

    /// `mpps loss`.
    pub fn loss(plan: &'a LossPlan) -> Self {
        let (measurement, time) = (&plan.measurement, plan.time());
        let rule = format!(
            "trials of {time}, down in steps of {} until two loads in a row lose nothing",
            percent(plan.step)
        );
        let loads = plan.shares().map(percent).collect();
        Self::new("loss", measurement, rule).at_loads(loads, time, 1)
    }

    /// `mpps loss --overload`.
    pub fn lasting(plan: &'a LastingPlan) -> Self {
        let (measurement, lasts) = (&plan.measurement, plan.lasts);
        let load = match plan.overload {
            Overload::Times(factor) => format!("{factor} times the maximum forwarding rate"),
            Overload::Max => "all that the tester can offer".to_owned(),
        };
        let rule = format!(
            "{lasts} of {load}, then {} of half of its maximum",
            plan.after()
        );
        Self::new("loss", measurement, rule).at_loads(vec![load], lasts, 1)
    }

    /// `mpps latency`.
    pub fn latency(plan: &'a LatencyPlan) -> Self {
        let (measurement, time) = (&plan.measurement, plan.time);
        let loads = plan.loads.iter().map(|load| match load {
            LatencyLoad::Share(share) => percent_given(*share),
            LatencyLoad::At(rate) => rate.to_string(),
        });
        let loads: Vec<String> = loads.collect();
        let sleep = match plan.may_sleep {
            true => "idle CPUs may sleep",
            false => "all CPUs kept awake",
        };
        let rule = format!(
            "{}, {time} each through router and wire, {sleep}",
            loads.join(", ")
        );
        let mut job = Self::new("latency", measurement, rule).at_loads(loads, time, 1);
        job.plan.search = plan.searches().then(|| search(measurement));
        job.budget = job.budget.filter(|_| plan.searches());
        job
    }

    /// `mpps back-to-back`.
    pub fn burst(plan: &'a BurstPlan) -> Self {
        let (measurement, repeats) = (&plan.measurement, plan.repeats);
        let longest = measurement.search.final_trial();
        let rule = format!("{repeats} searches, bursts of {longest} at most");
        let loads = vec!["bursts".to_owned()];
        Self::new("back-to-back", measurement, rule).at_loads(loads, longest, repeats)
    }

    /// `mpps recovery`.
    pub fn recovery(plan: &'a RecoveryPlan) -> Self {
        let measurement = &plan.measurement;
        let (overload, after) = (plan.overload, plan.after);
        let rule = format!(
            "{} times {overload} of 110 % of the throughput, then {after} of half of that",
            plan.trials
        );
        let loads = ["110 % of the throughput", "half of that"].map(str::to_owned);
        let mut job = Self::new("recovery", measurement, rule);
        job = job.at_loads(loads.to_vec(), overload, plan.trials);
        job.plan.search = Some(search(measurement));
        job
    }

    /// `mpps reset`.
    pub fn reset(plan: &'a ResetPlan) -> Self {
        let (measurement, time, hold) = (&plan.measurement, plan.time, plan.away.hold);
        let process = plan.away.process.as_ref().map_or(String::new(), |process| {
            format!(
                " ({}, started by {})",
                process.name,
                process.start.display()
            )
        });
        let share = || format!("{} of the maximum forwarding rate", percent(SHARE));
        let load = plan.rate.map_or_else(share, |rate| rate.to_string());
        let parts: Vec<&str> = plan
            .parts
            .iter()
            .map(|part| reset::Part::name(*part))
            .collect();
        let parts = match parts[..] {
            [] => "all that the bed has".to_owned(),
            _ => parts.join(", "),
        };
        let rule = format!(
            "{} each of {parts}{process}, held for {hold}, in {time} at {load}",
            plan.trials
        );
        let mut job = Self::new("reset", measurement, rule).at_loads(vec![load], time, plan.trials);
        job.budget = None;
        job
    }

    /// `mpps explain`.
    pub fn explain(plan: &'a ExplainPlan) -> Self {
        let (offer, burn) = (&plan.offer, plan.burn_ns);
        let burnt = burn.map_or(String::new(), |ns| format!(", with {ns} ns burnt a frame"));
        Self {
            name: "explain",
            rule: format!(
                "{} trials of {} at saturation with the sampler and without it in turns, then lower loads{burnt}",
                offer.trials, offer.time
            ),
            lasts: Some(lasts(offer, offer.sizes.len() as f64, TURN, IN_TURNS)),
            ..Self::trial(offer)
        }
    }

    /// `mpps explain --against`, of the explained set-up; how long the other one burns for each frame.
    pub fn explain_against(plan: &'a ExplainPlan, burns: Option<u64>) -> Self {
        let offer = &plan.offer;
        let burnt = |ns: Option<u64>| ns.map_or("none".to_owned(), |ns| format!("{ns} ns"));
        let both = match (plan.burn_ns, burns) {
            (None, None) => String::new(),
            (own, other) => format!(", burnt a frame: {} and {}", burnt(own), burnt(other)),
        };
        Self {
            rule: format!(
                "{} pairs of sampled trials of {} at saturation, one of each set-up{both}",
                offer.trials, offer.time
            ),
            lasts: Some(lasts(offer, 1.0, PAIR, Span::ZERO)),
            ..Self::explain(plan)
        }
    }

    /// `mpps explain --sweep`, or `--paper-tables`.
    pub fn sweep(plan: &'a SweepPlan) -> Self {
        let offer = &plan.explain.offer;
        let over = match plan.axis {
            None => "in the scenarios of tables I to V of Raumer et al. (2015)".to_owned(),
            Some(axis) if plan.steps.is_empty() => {
                format!("over {}: each count there is", axis.name())
            }
            Some(axis) => {
                let places = plan.steps.iter().map(|step| step.value.to_string());
                format!(
                    "over {}: {}",
                    axis.name(),
                    places.collect::<Vec<_>>().join(", ")
                )
            }
        };
        let mut job = Self::explain(&plan.explain);
        job.rule = format!(
            "{} trials of {} at saturation with the sampler and without it in turns, {over}; in a shuffled order, the first again at the end",
            offer.trials, offer.time
        );
        job.plan.scale = plan.scale.as_ref().map(table);
        // The first point is measured again at the end. How many cores there are only the bed can tell.
        let (each, in_turns) = match plan.axis {
            Some(_) => (PAIR, Span::ZERO),
            None => (SCENARIO, IN_TURNS),
        };
        let places = Some(plan.steps.len()).filter(|places| *places > 0);
        job.lasts = places.map(|places| lasts(offer, (places + 1) as f64 * POINTS, each, in_turns));
        job
    }

    /// `mpps rfc2544`: these parts, and what every rate without loss is expected to reach.
    pub fn suite(plan: &'a ThroughputPlan, expected: Option<Rate>, parts: Vec<Part>) -> Self {
        let rules = parts
            .iter()
            .map(|part| format!("{}: {}", part.verb, part.rule));
        let rules: Vec<String> = rules.collect();
        let mut job = Self::throughput(plan, expected);
        (job.name, job.rule) = (SUITE, rules.join("; "));
        job.plan.parts = parts;
        job
    }

    /// `mpps compare`, of the first variant.
    pub fn compare(traffic: &'a Traffic, plan: &ComparePlan) -> Self {
        Self {
            name: "compare",
            traffic,
            port: None,
            receiver: plan.receiver,
            rule: format!(
                "pairs of turns, each at overload and at one fixed load, until each difference of {} is found or excluded",
                percent(plan.within)
            ),
            budget: Some(plan.budget),
            lasts: None,
            plan: sent(std::slice::from_ref(&traffic.frames), traffic),
        }
    }

    /// `mpps tune measure` of these settings.
    pub fn settings(plan: &'a SettingsPlan, ids: &[&str]) -> Self {
        let (within, count) = (percent(plan.how.within), plural(ids.len(), "setting"));
        let mut job = Self::compare(&plan.traffic, &plan.how);
        (job.name, job.budget) = ("tune", None);
        job.rule = match plan.is_screen {
            true => format!(
                "blocks of turns of {count} and a placebo, many switched at once, at overload"
            ),
            false => format!(
                "pairs of turns of {count} and a placebo at overload, until each difference of {within} is found or excluded"
            ),
        };
        job.plan.settings = Some(MeasuredSettings {
            settings: ids.iter().map(ToString::to_string).collect(),
            screen: plan.is_screen,
            within_share: plan.how.within,
            budget_ns: plan.how.budget.as_nanos(),
        });
        job
    }

    /// `mpps fib-scale`; beside overload a search for the rate without loss, where the plan has one.
    pub fn fib_scale(scale: &'a ScalePlan) -> Self {
        let plan = &scale.throughput;
        let mut job = Self::new("fib-scale", plan, "overload".to_owned());
        (job.receiver, job.budget) = (None, plan.budget.filter(|_| scale.search));
        if scale.search {
            job.rule = rule(&plan.search);
            job.plan.search = Some(search(plan));
        }
        job.plan.scale = Some(table(scale));
        job
    }

    /// `mpps calibrate`, with this traffic.
    pub fn calibrate(traffic: &'a Traffic, receiver: Option<ReceiverPlace>) -> Self {
        Self {
            name: "calibrate",
            traffic,
            port: None,
            receiver,
            rule: "calibration".to_owned(),
            budget: None,
            lasts: None,
            plan: sent(std::slice::from_ref(&traffic.frames), traffic),
        }
    }

    /// The same before the ports around a device were asked what they carry.
    pub fn before_ports(mut self) -> Self {
        if self.port.is_none() {
            CHOSEN_ON_BED.clone_into(&mut self.plan.traffic.port);
        }
        if let Some(search) = &mut self.plan.search
            && search.link_source != LinkSource::Given.name()
        {
            CHOSEN_ON_BED.clone_into(&mut search.link_source);
        }
        self
    }

    /// The verb, and the plan for the record's first line.
    pub(super) fn planned(&self) -> (&'static str, Plan) {
        (self.name, self.plan.clone())
    }

    /// Where the tester receives: as asked for, or as it chooses by itself on this bed.
    pub(super) fn receiver_on(&self, bed: &Bed) -> Option<ReceiverPlace> {
        let chosen = || receiver_place(bed, self.traffic).ok();
        self.receiver.or_else(chosen)
    }
}

/// The largest table of a job whose points have parts of it.
fn table(scale: &ScalePlan) -> Scale {
    Scale {
        table: scale.from.clone(),
        draw: scale.draw.to_string(),
        next_hops: scale.next_hops.into(),
    }
}
