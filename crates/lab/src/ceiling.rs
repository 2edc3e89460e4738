//! The tester's own ceiling: how many frames a second it can send and receive without a loss of its own,
//! on the trial's CPUs, with the frames the receiver will really get: skbs through the virtual NIC and
//! a wire in place of the router.
//!
//! Around a device of somebody else's there is no wire to lay: then only what the sender can do is known, and
//! that the receiver can do as much is a doubt. What the device loses meanwhile is no matter.

use crate::doubt::{Doubt, Finding};
use crate::jobs::throughput;
use crate::jobs::{JobError, Observer, Phase};
use crate::tester::{Tester, Wire};
use crate::trial;
use mpps_method::{
    Accept, Bisection, Ceiling, CouldNotMeasure, Counts, Goal, GoalResult, Outcome, Rate,
    Resolution, Rules, Search, Shortfall, Span, Step, Verdict,
};

/// No sender of ours is faster on any machine we know; bounds memory, not results.
pub const SENDER_MAX: Rate = Rate::from_fps(12_000_000.0);
/// Frames of each burst that says where to begin.
const BURST: u64 = 300_000;
/// So many of them: the machine's slow moments are not the tester's.
const BURSTS: u32 = 3;
/// A first load that passes is no ceiling: so much more is offered next.
const CLIMB: f64 = 1.25;
/// What flat out is a rate, evenly paced is rarely less than this share of it: the search looks there first, and below
/// only where nothing passes.
const LIKELY: f64 = 0.5;
/// Below this share of what went flat out there is no ceiling, but a tester that does not work.
const LEAST: f64 = 1.0 / 64.0;
/// The higher a load, the shorter the pauses that void its trials: where too many are void, this share of it is tried.
const CALMER: f64 = 0.75;
/// How often at most.
const CALMED_MAX: u32 = 2;
/// Trials of a load, one of which must pass: a machine may be slow for half of the time, and that is not the tester's limit.
const TRIALS: u32 = 5;
/// Closeness of the ceiling: it is a bound, not a result.
const RESOLUTION: f64 = 0.05;
/// Below this share of a ceiling found at another time no result feels it: it is known to 5 %, and machines were seen to
/// drift by 8 % in half an hour.
const FAR_BELOW: f64 = 0.85;
/// A trial of the ceiling is no longer than this.
const TRIAL_MAX: Span = Span::from_millis(500);

/// Finds the ceiling for this tester's traffic.
///
/// # Errors
/// The tester or the record failed.
pub fn find(
    tester: &mut Tester<'_>,
    trial: Span,
    observer: &mut dyn Observer,
) -> Result<Rate, JobError> {
    if tester.bed.plan().is_external() {
        return sender_alone(tester, trial, observer);
    }
    let _wire = Wire::lay(tester.bed, &tester.ways())?;
    let mut look = Look::from(flat_out(tester)?);
    loop {
        let goal = goal(look.highest, look.share, trial);
        let outcome = throughput::search(tester, goal, Phase::Ceiling, observer)?;
        if let Some(ceiling) = look.learn(outcome).map_err(JobError::NoCeiling)? {
            return Ok(ceiling);
        }
    }
}

/// Where the ceiling is looked for next, by what the searches said so far.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Look {
    /// The highest load of the next search.
    highest: Rate,
    /// Its lowest, as a share of that.
    share: f64,
    /// The highest load of a search that passed even that.
    passed: Option<Rate>,
    /// How often a calmer load was tried.
    calmed: u32,
}

impl Look {
    fn from(flat_out: Rate) -> Self {
        Self {
            highest: flat_out,
            share: LIKELY,
            passed: None,
            calmed: 0,
        }
    }

    /// The ceiling, if this was the last search; `Err` when there is none to be found.
    fn learn(&mut self, outcome: Outcome) -> Result<Option<Rate>, Outcome> {
        match outcome {
            Outcome::Found { lossless, .. }
                if lossless < self.highest || self.highest >= SENDER_MAX =>
            {
                return Ok(Some(lossless));
            }
            Outcome::Found { .. } => {
                self.passed = Some(self.highest);
                self.highest = higher(self.highest);
            }
            // What passed before is a ceiling, if not the highest there is.
            Outcome::NoneLossless { .. }
            | Outcome::CouldNotMeasure {
                why: CouldNotMeasure::TooManyVoided(_),
                ..
            } if self.passed.is_some() => return Ok(self.passed),
            Outcome::NoneLossless { .. } if self.share > LEAST => self.share = LEAST,
            Outcome::CouldNotMeasure {
                why: CouldNotMeasure::TooManyVoided(_),
                ..
            } if self.calmed < CALMED_MAX => {
                self.calmed += 1;
                self.highest = Rate::from_fps(self.highest.fps() * CALMER);
            }
            other => return Err(other),
        }
        Ok(None)
    }
}

/// Whether a ceiling that was found at another time may have bounded one of these results.
#[must_use]
pub fn may_bound(known: Rate, findings: &[Finding]) -> bool {
    findings.iter().any(|finding| {
        let short = |doubt: &Doubt| matches!(doubt, Doubt::NotOffered { .. });
        let near = match finding.outcome {
            Outcome::Found { lossless, .. } => lossless.fps() > FAR_BELOW * known.fps(),
            Outcome::NoneLossless { .. } | Outcome::CouldNotMeasure { .. } => false,
        };
        near || finding.doubts.iter().any(short)
    })
}

/// Whether two ceilings are the same one, as closely as one is found.
#[must_use]
pub fn alike(one: Rate, other: Rate) -> bool {
    (one.fps() - other.fps()).abs() <= RESOLUTION * other.fps()
}

/// Where to begin: what comes back of the best of some unpaced bursts, for then sender, wire and receiver all run flat
/// out. Only a starting point; what it is too high or too low by, the search finds.
fn flat_out(tester: &mut Tester<'_>) -> Result<Rate, JobError> {
    let mut best = 0.0_f64;
    for _ in 0..BURSTS {
        let burst = trial::run_burst(tester, BURST)?;
        best = best.max(burst.forwarding_rate().unwrap_or_default().fps());
    }
    Ok(Rate::from_fps(best).min(SENDER_MAX))
}

/// A ceiling between this share of `maximum` and `maximum`.
fn goal(maximum: Rate, least_share: f64, trial: Span) -> Goal {
    Goal {
        trial: trial.min(TRIAL_MAX),
        resolution: Resolution::Fraction(RESOLUTION),
        trials_per_load: TRIALS,
        accept: Accept::Any,
        maximum: Ceiling::Tester(maximum),
        minimum: Rate::from_fps(maximum.fps() * least_share),
    }
}

/// The highest load that the sender offers as it is asked to.
fn sender_alone(
    tester: &mut Tester<'_>,
    trial: Span,
    observer: &mut dyn Observer,
) -> Result<Rate, JobError> {
    let highest = taken_at_once(tester)?;
    let mut search = Offered(Bisection::new(goal(highest, LEAST, trial))?);
    match throughput::search_by(tester, &mut search, Phase::Ceiling, observer)? {
        Outcome::Found { lossless, .. } => Ok(lossless),
        // A machine too restless to find the pace: what bursts took bounds it from above, and a load between the two
        // that is not offered takes none of the search's trials.
        Outcome::CouldNotMeasure {
            why: CouldNotMeasure::TooManyVoided(_),
            ..
        } => Ok(highest),
        outcome => Err(JobError::NoCeiling(outcome)),
    }
}

/// A search to which loss behind the sender is no loss.
struct Offered(Bisection);

impl Search for Offered {
    fn next(&mut self) -> Step {
        self.0.next()
    }

    fn learn(&mut self, verdict: &Verdict, counts: &Counts) {
        let &Counts {
            unsent, intended, ..
        } = counts;
        let short = unsent as f64 > Rules::default().unsent_max * intended as f64;
        let unsent = Shortfall::UnsentAboveBound { unsent, intended };
        let sender_s = match verdict {
            Verdict::Lossy { .. } if short => &Verdict::NotOffered(unsent),
            Verdict::Lossy { .. } | Verdict::NotOffered(Shortfall::LostAtReceiver(_)) => {
                &Verdict::Lossless
            }
            other => other,
        };
        self.0.learn(sender_s, counts);
    }

    fn found_so_far(&self) -> Vec<GoalResult> {
        self.0.found_so_far()
    }
}

/// What the sender's port takes of the best of some unpaced bursts: no pace is faster.
fn taken_at_once(tester: &mut Tester<'_>) -> Result<Rate, JobError> {
    let mut best = Rate::default();
    for _ in 0..BURSTS {
        let burst = trial::run_burst(tester, BURST)?;
        let taken = burst.counts().sent - burst.ledger().lost_before_nic.min(burst.counts().sent);
        best = best.max(Rate::of(taken, burst.duration).unwrap_or_default());
    }
    if best == Rate::default() {
        return Err(JobError::NoBurst("the port took no frame", BURST));
    }
    Ok(best.min(SENDER_MAX))
}

fn higher(rate: Rate) -> Rate {
    Rate::from_fps(rate.fps() * CLIMB).min(SENDER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Report;
    use crate::jobs::throughput::ThroughputPlan;
    use crate::link::{Link, LinkSource};
    use crate::traffic::Traffic;
    use mpps_method::simulate::Properties;
    use mpps_method::{LimitedBy, LinkSpeed, SearchPlan, Void};

    struct Nobody;

    impl Observer for Nobody {
        fn trial(&mut self, _: &Report<'_>) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// What is found of a router of 1 Mfps by a tester of so many.
    fn findings(tester_fps: f64) -> Vec<Finding> {
        let router = Properties {
            tester_ceiling: Some(Rate::from_fps(tester_fps)),
            ..Properties::ideal(Rate::from_fps(1e6))
        };
        let traffic = Traffic::default();
        let plan = ThroughputPlan {
            sizes: vec![traffic.frames.clone()],
            traffic,
            search: SearchPlan::Bisection {
                trial: Span::from_millis(100),
                resolution: Resolution::Fraction(0.01),
                trials_per_load: 3,
                accept: Accept::Any,
            },
            warm_up: Span::ZERO,
            minimum: Rate::from_fps(1e4),
            maximum: None,
            link: Link {
                speed: LinkSpeed::from_bits_per_second(10_000_000_000),
                source: LinkSource::Notional,
            },
        };
        throughput::simulate(router, &plan, &mut Nobody).expect("found")
    }

    fn mfps(mfps: f64) -> Rate {
        Rate::from_fps(mfps * 1e6)
    }

    fn found(at: f64) -> Outcome {
        Outcome::Found {
            lossless: mfps(at),
            lossy: None,
            limited_by: LimitedBy::Tester,
            trials: 1,
            voided: 0,
        }
    }

    fn none() -> Outcome {
        Outcome::NoneLossless {
            lowest: mfps(0.5),
            trials: 4,
            voided: 0,
        }
    }

    fn voided() -> Outcome {
        Outcome::CouldNotMeasure {
            why: CouldNotMeasure::TooManyVoided(Void::Stall {
                cpu: 1,
                longest: Span::from_millis(3),
                bound: Span::from_millis(2),
            }),
            trials: 13,
            voided: 13,
        }
    }

    #[test]
    fn what_did_not_pass_at_the_top_is_the_ceiling_and_what_passed_there_is_climbed_from() {
        let mut look = Look::from(mfps(1.6));
        assert_eq!(look.learn(found(1.2)), Ok(Some(mfps(1.2))));
        assert_eq!(look.learn(found(1.6)), Ok(None));
        assert_eq!((look.highest, look.passed), (mfps(2.0), Some(mfps(1.6))));
        // Higher up it was too restless, or nothing passed: what is known stands.
        assert_eq!(look.learn(voided()), Ok(Some(mfps(1.6))));
        assert_eq!(look.learn(none()), Ok(Some(mfps(1.6))));
        let mut look = Look::from(SENDER_MAX);
        assert_eq!(look.learn(found(12.0)), Ok(Some(SENDER_MAX)));
    }

    #[test]
    fn a_restless_machine_is_asked_for_less_and_a_weak_tester_for_much_less_before_it_is_given_up()
    {
        let mut look = Look::from(mfps(1.6));
        assert_eq!(look.learn(voided()), Ok(None));
        assert_eq!(look.learn(voided()), Ok(None));
        assert_eq!((look.highest.fps() / 1e6 * 10.0).round(), 9.0);
        assert_eq!(look.learn(voided()), Err(voided()));
        let mut look = Look::from(mfps(1.6));
        assert_eq!(look.learn(none()), Ok(None));
        assert_eq!((look.highest, look.share), (mfps(1.6), LEAST));
        assert_eq!(look.learn(none()), Err(none()));
    }

    #[test]
    fn a_ceiling_of_another_time_decides_no_result() {
        let known = |fps| Rate::from_fps(fps);
        let of_dut = findings(3e6);
        assert!(!may_bound(known(3e6), &of_dut));
        // The ceiling drifts by less than what is between 85 and 100 %.
        assert!(may_bound(known(1.1e6), &of_dut));
        assert!(may_bound(known(8e5), &findings(8e5)), "the tester's limit");
        assert!(alike(known(1.04e6), known(1e6)) && !alike(known(1.06e6), known(1e6)));
        assert!(!alike(known(0.9e6), known(1e6)));
    }
}
