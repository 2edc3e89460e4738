//! The job of a run: what was asked for.

use super::plan::{search, sent};
use mpps_lab::bed::Bed;
use mpps_lab::jobs::compare::ComparePlan;
use mpps_lab::jobs::fib_scale::ScalePlan;
use mpps_lab::jobs::fixed_load::FixedLoadPlan;
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::search::link::LinkSource;
use mpps_lab::tester::{PortKind, ReceiverPlace, receiver_place};
use mpps_lab::traffic::Traffic;
use mpps_method::{FrameSpec, Span};
use mpps_record::{FixedLoads, Plan, Scale};
use mpps_report::number::percent_or_under as percent;

/// What a plan says of what only the bed can tell.
pub const CHOSEN_ON_BED: &str = "chosen on the bed";

/// What was asked for.
pub struct Job<'a> {
    /// The verb.
    pub name: &'static str,
    /// Frame sizes.
    pub sizes: &'a [FrameSpec],
    /// What is sent.
    pub traffic: &'a Traffic,
    /// What carries the frames, where that was asked for.
    pub port: Option<PortKind>,
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

impl<'a> Job<'a> {
    /// A verb that measures one frame size after the other.
    pub fn new(name: &'static str, plan: &'a ThroughputPlan, rule: String) -> Self {
        Self {
            sizes: &plan.sizes,
            port: plan.port,
            budget: plan.budget,
            plan: sent(&plan.sizes, &plan.traffic),
            ..Self::of_traffic(name, &plan.traffic, plan.receiver, rule)
        }
    }

    /// A verb that sends this traffic, of one frame size.
    pub fn of_traffic(
        name: &'static str,
        traffic: &'a Traffic,
        receiver: Option<ReceiverPlace>,
        rule: String,
    ) -> Self {
        let sizes = std::slice::from_ref(&traffic.frames);
        Self {
            name,
            sizes,
            traffic,
            port: None,
            receiver,
            rule,
            budget: None,
            lasts: None,
            plan: sent(sizes, traffic),
        }
    }

    /// `mpps trial`, and what is built on its trials.
    pub fn at_given_loads(plan: &'a FixedLoadPlan) -> Self {
        let loads = plan.loads.iter().map(ToString::to_string);
        let rule = format!("trials of {} at given loads", plan.time);
        let job = Self {
            sizes: &plan.sizes,
            port: plan.port,
            plan: sent(&plan.sizes, &plan.traffic),
            ..Self::of_traffic("trial", &plan.traffic, plan.receiver, rule)
        };
        job.at_loads(loads.collect(), plan.time, plan.trials)
    }

    /// The same at these loads, for so long and so often.
    pub fn at_loads(mut self, loads: Vec<String>, time: Span, trials: u32) -> Self {
        self.plan.fixed = Some(FixedLoads {
            loads,
            time_ns: time.as_nanos(),
            trials,
        });
        self
    }

    /// The same with a search for the rate without loss.
    pub fn searching(mut self, plan: &ThroughputPlan) -> Self {
        self.plan.search = Some(search(plan));
        self
    }

    /// The same at points that have parts of a table.
    pub fn with_table(mut self, scale: &ScalePlan) -> Self {
        self.plan.scale = Some(Scale {
            table: scale.from.clone(),
            draw: scale.draw.to_string(),
            next_hops: scale.next_hops.into(),
        });
        self
    }

    /// `mpps compare`, of the first variant.
    pub fn compare(traffic: &'a Traffic, plan: &ComparePlan) -> Self {
        let within = percent(plan.within);
        let rule = format!(
            "pairs of turns, each at overload and at one fixed load, until each difference of {within} is found or excluded"
        );
        Self {
            budget: Some(plan.budget),
            ..Self::of_traffic("compare", traffic, plan.receiver, rule)
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
