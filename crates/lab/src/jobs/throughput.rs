//! The main job: the highest load at which the DUT loses no frame. Read this file first.
//!
//! Overload tells where the search begins. The gate tells whether the DUT is stable. The loop in `search` finds the rate,
//! and `doubt` tells how far the numbers can be trusted.

use super::{JobError, Phase, ResultObserver, SearchedRate, Trials, UnderTest, on_ports, sizes};
use crate::bed::Bed;
use crate::clock::Deadline;
use crate::doubt::{self, Finding};
use crate::line;
use crate::search::link::{self, Link};
use crate::search::measurer::Measurer;
use crate::search::saturation::{self, Saturated};
use crate::search::simulated::SimulatedPair;
use crate::search::{self, gate};
use crate::tester::{PortKind, ReceiverMode, ReceiverPlace, Tester, TesterError, receiver_place};
use crate::traffic::Traffic;
use crate::trial;
use crate::trial::probe;
use mpps_method::saturation::Saturation;
use mpps_method::{FrameSpec, Rate, SearchPlan, Span, Stability};
use mpps_record::ResultLine;

/// What to measure on a raised bed.
#[derive(Clone, Debug)]
pub struct ThroughputPlan {
    /// Frame sizes, each measured by itself.
    pub sizes: Vec<FrameSpec>,
    /// All other properties of the traffic. Its frame sizes are replaced.
    pub traffic: Traffic,
    /// What carries the frames. `None`: whatever both ports around a device can do.
    pub port: Option<PortKind>,
    /// What to search for, and how.
    pub search: SearchPlan,
    /// How long frames are sent at a trial's load before its own, uncounted.
    pub warm_up: Span,
    /// Lowest load.
    pub minimum: Rate,
    /// Highest load, where the user gave one.
    pub maximum: Option<Rate>,
    /// What "percent of link" refers to.
    pub link: Link,
    /// Time for each frame size. When it is spent, the search ends with what it knows. `None`: no limit.
    pub budget: Option<Span>,
    /// Where the tester receives. `None`: at the DUT's exit, if sender and receiver would share a CPU.
    pub receiver: Option<ReceiverPlace>,
}

impl ThroughputPlan {
    /// The plan for this bed. It takes ports and link from the bed where the user named none.
    ///
    /// # Errors
    /// The ports could not be asked.
    pub fn on_bed(&self, bed: &Bed) -> Result<Self, TesterError> {
        Ok(Self {
            traffic: on_ports(bed, &self.traffic, self.port, &self.sizes)?,
            link: self.link.or_of_ports(bed),
            ..self.clone()
        })
    }
}

/// Longest time for overload.
const SATURATION_TIME: Span = Span::from_millis(6_000);
/// Overload takes at most this part of the budget: one fifth.
const SATURATION_SHARE: u64 = 5;

/// How the sizes ended: what ended the run, or else the first error that ended a size; and what the last size's search
/// found.
pub type Ended = (Option<JobError>, Option<SearchedRate>);

/// Measures one frame size after the other. The observer gets the lines of each, one a goal, as soon as they are known.
pub fn measure(
    on: UnderTest<'_>,
    plan: &ThroughputPlan,
    observer: &mut dyn ResultObserver<ResultLine>,
) -> Ended {
    each_size(plan, on.is_simulated(), observer, |frames, trials| {
        measure_size(on, plan, frames, trials)
    })
}

/// Measures each size. A disturbance stands at its size only; an error that ends the run leaves no result of its size.
fn each_size(
    plan: &ThroughputPlan,
    simulated: bool,
    observer: &mut dyn ResultObserver<ResultLine>,
    mut find: impl FnMut(&FrameSpec, &mut Trials<'_>) -> Result<Vec<Finding>, JobError>,
) -> Ended {
    let budget = plan.budget.filter(|_| !simulated);
    let mut searched = None;
    let ended = sizes::each_size(&plan.sizes, budget, observer, |frames, trials| {
        let found = find(frames, trials);
        let findings = found.as_deref().unwrap_or_default();
        searched = SearchedRate::from_findings(findings).ok();
        match found {
            Ok(findings) => (result_lines(&findings, plan, trials), None),
            Err(error) if error.is_of_one_size() => {
                let why = error.to_string();
                let lines = line::results_not_measured(frames, &plan.search, simulated, &why);
                let kept = Some(error).filter(|error| !error.is_disturbance());
                (lines, kept)
            }
            Err(error) => (Vec::new(), Some(error)),
        }
    });
    (ended, searched)
}

/// The lines of findings, all of which stand on the same trials.
pub(super) fn result_lines(
    findings: &[Finding],
    plan: &ThroughputPlan,
    trials: &Trials<'_>,
) -> Vec<ResultLine> {
    let line = |finding| {
        line::result(
            finding,
            &plan.traffic,
            &plan.link,
            trials.numbers_by_phase(),
        )
    };
    findings.iter().map(line).collect()
}

/// Measures one frame size of the plan. Returns one finding for each goal.
fn measure_size(
    on: UnderTest<'_>,
    plan: &ThroughputPlan,
    frames: &FrameSpec,
    trials: &mut Trials<'_>,
) -> Result<Vec<Finding>, JobError> {
    after_overload(on, plan, frames, trials, |at| find_with_cost(plan, at))
}

/// Completes the parts of a frame's cost, then searches.
fn find_with_cost(plan: &ThroughputPlan, at: Overloaded<'_, '_>) -> Result<Vec<Finding>, JobError> {
    let saturated = saturation::time_exit(at.measurer, at.saturated)?;
    find(at.measurer, plan, saturated, at.deadline, at.trials)
}

/// What a size is measured with once overload is known.
pub(super) struct Overloaded<'a, 't> {
    /// Runs its trials.
    pub measurer: &'a mut dyn Measurer,
    /// What overload told.
    pub saturated: Saturated,
    /// When its time is spent.
    pub deadline: Deadline,
    /// Its trials.
    pub trials: &'a mut Trials<'t>,
}

/// Measures overload with one frame size, then the rest in what that left of the budget. The ceiling of a simulated pair is
/// known, and nothing limits its time.
pub(super) fn after_overload<T>(
    on: UnderTest<'_>,
    plan: &ThroughputPlan,
    frames: &FrameSpec,
    trials: &mut Trials<'_>,
    rest: impl FnOnce(Overloaded<'_, '_>) -> Result<T, JobError>,
) -> Result<T, JobError> {
    match on {
        UnderTest::Bed(bed) => {
            let deadline = Deadline::after(plan.budget);
            let (mut tester, saturated) = saturate(bed, plan, frames, |_| Ok(()), trials)?;
            tester.warm_up = plan.warm_up;
            rest(Overloaded {
                measurer: &mut tester,
                saturated,
                deadline,
                trials,
            })
        }
        UnderTest::Simulated(router) => {
            let mut pair = SimulatedPair::new(frames.clone(), router);
            rest(Overloaded {
                measurer: &mut pair,
                saturated: saturation::simulate(&router),
                deadline: Deadline::NEVER,
                trials,
            })
        }
    }
}

/// Raises a tester for one frame size, runs `before` with it, and measures overload in its part of the budget.
pub(super) fn saturate<'a>(
    bed: &'a Bed,
    plan: &ThroughputPlan,
    frames: &FrameSpec,
    before: impl Fn(&mut Tester<'_>) -> Result<(), JobError>,
    trials: &mut Trials<'_>,
) -> Result<(Tester<'a>, Saturated), JobError> {
    let traffic = plan.traffic.with_frames(frames);
    let longest = plan.search.longest_trial().max(plan.warm_up);
    let frames_max = saturation::SENDER_MAX
        .frames_in(trial::longest(longest))
        .max(1);
    let share = |budget: Span| Span::from_nanos(budget.as_nanos() / SATURATION_SHARE);
    let time = plan.budget.map_or(SATURATION_TIME, share);
    let overload = |tester: &mut Tester<'_>| {
        before(tester)?;
        saturation::measure(tester, time.min(SATURATION_TIME), trials)
    };
    let (mut tester, saturated) = raise(bed, &traffic, frames_max, plan.receiver, overload)?;
    tester.forwards_at_most = saturated.undisturbed_maximum();
    Ok((tester, saturated))
}

/// Raises a tester for trials of at most `frames_max` frames, probes the DUT with it, and runs `first`. Where the user
/// named no place, the tester receives at the DUT's exit if every frame can be seen there.
pub(crate) fn raise<'a, T>(
    bed: &'a Bed,
    traffic: &Traffic,
    frames_max: u64,
    receiver: Option<ReceiverPlace>,
    mut first: impl FnMut(&mut Tester<'_>) -> Result<T, JobError>,
) -> Result<(Tester<'a>, T), JobError> {
    let mut receiving_at = |receiver| {
        let traffic = Traffic {
            receiver,
            ..traffic.clone()
        };
        // The measured latency of a polled frame would contain the wait for a timer.
        let mode = match traffic.all_timed {
            true => ReceiverMode::Interrupt,
            false => ReceiverMode::Polled,
        };
        let mut tester = Tester::raise(bed, &traffic, frames_max, mode)?;
        probe::probe(&mut tester)?;
        let measured = first(&mut tester)?;
        Ok::<_, JobError>((tester, measured))
    };
    let place = match receiver {
        Some(place) => place,
        None => receiver_place(bed, traffic)?,
    };
    match receiving_at(place) {
        Err(error) if receiver.is_none() && error.is_past_exit() => {
            receiving_at(ReceiverPlace::Port)
        }
        measured => measured,
    }
}

/// A burst, for [`raise`]: merged frames are seen in it at first, because single ones, as the probe's, are not merged.
/// Returns what the sender can.
pub(super) fn first_burst(tester: &mut Tester<'_>) -> Result<Rate, JobError> {
    let burst = trial::run_burst(tester, saturation::FIRST_BURST)?;
    burst.check_exit().map_err(JobError::PastExit)?;
    Ok(saturation::taken_by_port(&burst))
}

/// Searches by the plan below the tester's ceiling. Returns one finding for each goal.
pub(super) fn find(
    measurer: &mut dyn Measurer,
    plan: &ThroughputPlan,
    saturated: Saturated,
    deadline: Deadline,
    trials: &mut Trials<'_>,
) -> Result<Vec<Finding>, JobError> {
    let ceiling = saturated.ceiling;
    let highest = plan.maximum.map_or(ceiling, |maximum| maximum.min(ceiling));
    let gated = gate::pass(measurer, highest, trials)?;
    if gated.stability == Stability::Silent {
        return Err(JobError::Silent);
    }
    let line = measurer.surroundings().line_rate;
    let range = (plan.minimum, link::highest(highest, line));
    let mut search = (plan.search).begin(range.0, range.1, start(&saturated))?;
    let state = saturated.at_overload().and_then(Saturation::state);
    let found = search::run(
        measurer,
        search.as_mut(),
        Phase::Search,
        state,
        deadline,
        trials,
    )?;
    let allowed = doubt::highest_allowed(plan.maximum, ceiling, &plan.search);
    let weigh = |searched: search::Searched| {
        let saturated = saturated.with_search(&searched.trials);
        doubt::weigh(measurer, &saturated, &gated, searched, allowed)
    };
    Ok(found.into_iter().map(weigh).collect())
}

/// The load at which the search begins is the maximum forwarding rate, if the DUT limits it. It is a lower rate in other
/// states of the machine if these had much of the time: a trial often meets several.
fn start(saturated: &Saturated) -> Option<Rate> {
    let maximum = saturated.at_overload().filter(|_| saturated.overloaded)?;
    let middle = maximum.forwarding.middle;
    let elsewhere = maximum.rate_in_other_states().unwrap_or(middle);
    Some(Rate::from_fps(middle.min(elsewhere)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::{Observer, Report};
    use crate::search::exit_program::{ExitProgram, RunTrial};
    use crate::search::measurer::Surroundings;
    use mpps_method::interval::Interval;
    use mpps_method::saturation::FrameCost;
    use mpps_method::simulate::Properties;
    use mpps_method::{Accept, Offer, Resolution, Rules, Trial};
    use std::io;

    #[derive(Default)]
    struct Seen {
        numbers: Vec<u32>,
        failed: Vec<String>,
    }

    impl Observer for Seen {
        fn trial(&mut self, report: &Report<'_>) -> io::Result<()> {
            self.numbers.push(report.number);
            Ok(())
        }

        fn last_number(&self) -> u32 {
            self.numbers.last().copied().unwrap_or_default()
        }
    }

    impl ResultObserver<ResultLine> for Seen {
        fn result(&mut self, line: &ResultLine) -> io::Result<()> {
            assert!(line.why.is_some(), "sizes that do not fail find nothing");
            self.failed.push(line.frame.clone());
            Ok(())
        }
    }

    fn plan(sizes: &str) -> ThroughputPlan {
        ThroughputPlan {
            sizes: FrameSpec::parse_list(sizes).expect("sizes"),
            traffic: Traffic::default(),
            port: None,
            search: SearchPlan::Bisection {
                trial: Span::from_millis(100),
                resolution: Resolution::Fraction(0.2),
                trials_per_load: 1,
                accept: Accept::Any,
            },
            warm_up: Span::ZERO,
            minimum: Rate::from_fps(500.0),
            maximum: None,
            link: Link::NOTIONAL,
            budget: None,
            receiver: None,
        }
    }

    /// Four sizes, of which each ends so; a trial before each end.
    fn measured(mut ends: Vec<Result<(), JobError>>) -> (Option<JobError>, Seen) {
        let plan = plan("64,128,256,512");
        let mut seen = Seen::default();
        let (error, _) = each_size(&plan, false, &mut seen, |frames, trials| {
            let offer = Offer::new(plan.minimum, Span::from_millis(100));
            let (rules, trial) = Default::default();
            trials.judged(Phase::Search, frames, offer, &rules, trial)?;
            ends.remove(0).map(|()| Vec::new())
        });
        (error, seen)
    }

    /// A simulated pair that has a program at the exit.
    struct WithExit(SimulatedPair);

    impl Measurer for WithExit {
        fn frames(&self) -> &FrameSpec {
            self.0.frames()
        }

        fn trial(&mut self, offer: &Offer) -> Result<Trial, TesterError> {
            self.0.trial(offer)
        }

        fn burst(&mut self, frames: u64) -> Result<Trial, TesterError> {
            self.0.burst(frames)
        }

        fn exit_program(
            &mut self,
            loads: [Rate; 2],
            _distance_ns: Option<f64>,
            _run: RunTrial,
        ) -> Result<Option<ExitProgram>, TesterError> {
            Ok(Some(ExitProgram {
                router_ns: loads[0].fps(),
                more_ns: Interval::from_value(30.0),
            }))
        }

        fn rules(&self, offer: &Offer) -> Rules {
            self.0.rules(offer)
        }

        fn surroundings(&self) -> Surroundings {
            self.0.surroundings()
        }
    }

    #[test]
    fn the_exit_program_is_timed_before_the_search() {
        let plan = plan("64");
        let router = Properties::ideal(Rate::from_fps(1e6));
        let cost = FrameCost {
            bed_ns: Interval::from_value(430.0),
            ..FrameCost::default()
        };
        let mut seen = Seen::default();
        let at = Overloaded {
            measurer: &mut WithExit(SimulatedPair::new(plan.sizes[0].clone(), router)),
            saturated: Saturated {
                cost: Some(cost),
                wire_carries: Some(Rate::from_fps(2e6)),
                ..saturation::simulate(&router)
            },
            deadline: Deadline::NEVER,
            trials: &mut Trials::new(&mut seen),
        };
        let found = find_with_cost(&plan, at).expect("a rate");
        let saturated = &found[0].saturated;
        let program = saturated.exit_program.expect("timed");
        assert_eq!(program.router_ns, 1.1e6, "at little more than it forwards");
        let bed_ns = saturated.cost.map(|cost| cost.bed_ns.middle);
        assert_eq!(bed_ns, Some(400.0));
    }

    fn stopped() -> JobError {
        JobError::Probe(probe::ProbeError::Stopped {
            direction: 0,
            hop: probe::Hop::Dut,
            sent: 100,
            received: 0,
            down: Vec::new(),
        })
    }

    #[test]
    fn a_size_that_fails_takes_no_other_away() {
        let void = JobError::AllVoid { trials: 9 };
        let (error, seen) = measured(vec![Err(void), Ok(()), Err(stopped()), Ok(())]);
        assert_eq!(seen.failed, ["64", "256"]);
        assert_eq!(seen.numbers, [1, 2, 3, 4]);
        assert!(matches!(error, Some(JobError::Probe(_))));
    }

    #[test]
    fn an_end_of_the_run_is_graver_than_of_a_size() {
        let interrupt = JobError::Tester(TesterError::Interrupted);
        let (error, seen) = measured(vec![Err(stopped()), Ok(()), Err(interrupt)]);
        assert_eq!(seen.failed, ["64"], "the others are no results");
        assert!(error.expect("an end").is_interrupt());
    }

    #[test]
    fn a_search_begins_where_the_machine_often_is() {
        let begins = |other_state_share: f64, fps: f64| {
            let maximum = Saturation {
                forwarding: Interval {
                    low: 1.5e6,
                    middle: 1.6e6,
                    high: 1.7e6,
                },
                other_state_share,
                other_state_fps: Some(fps),
                ..Saturation::default()
            };
            let saturated = Saturated {
                at_most: Some(maximum),
                overloaded: true,
                ..Saturated::default()
            };
            start(&saturated).map(Rate::fps)
        };
        assert_eq!(begins(0.75, 1.05e6), Some(1.05e6));
        assert_eq!(begins(0.1, 1.05e6), Some(1.6e6), "seldom");
        assert_eq!(begins(0.75, 1.5e6), Some(1.6e6), "hardly slower");
        assert_eq!(begins(0.75, 1.9e6), Some(1.6e6), "faster there");
    }
}
