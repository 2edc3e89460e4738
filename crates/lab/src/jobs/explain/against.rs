//! What each stage and cause takes more in one set-up than in another: both stand on beds of their own and take turns with
//! sampled trials at saturation, A B B A, with the load of `compare`. Differences are taken within neighbouring pairs.

use super::load::Saturated;
use super::look::{Look, interrupted};
use super::paired::{Paired, change};
use super::split::Stacks;
use super::{burn, burnt, limit};
use crate::doubt::{self, ProfileDoubts};
use crate::jobs::compare::{self, ALIKE, Standing, Variant};
use crate::jobs::sizes;
use crate::jobs::turns::{find_rates, share_loads};
use crate::jobs::{JobError, ResultObserver, Trials};
use crate::line::{self, interval};
use crate::profile::Completeness;
use crate::search::measurer::Measurer;
use crate::tester::{ReceiverPlace, TesterError};
use mpps_method::Span;
use mpps_method::compare::{Compared, Comparison, Rule, ToldBy};
use mpps_record::{Doubt, Interval, ProfileLine, ProfiledAgainst};

/// One set-up.
#[derive(Clone, Debug)]
pub struct Side<'bed> {
    /// Its bed and traffic.
    pub variant: Variant<'bed>,
    /// Its own flags as typed.
    pub flags: Vec<String>,
    /// A program on its path spins so long for each frame, ns.
    pub burn_ns: Option<u64>,
}

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub struct AgainstPlan {
    /// Length of each trial.
    pub time: Span,
    /// Pairs of trials that count.
    pub pairs: u32,
    /// Where the testers receive; `None`: as throughput chooses, the same place for both.
    pub receiver: Option<ReceiverPlace>,
}

/// Explains the second set-up against the first. Returns what ended it early.
pub fn measure(
    sides: &[Side<'_>; 2],
    plan: AgainstPlan,
    observer: &mut dyn ResultObserver<ProfileLine>,
) -> Option<JobError> {
    let [against, explained] = sides;
    let frames = &explained.variant.traffic.frames;
    sizes::each_size(std::slice::from_ref(frames), None, observer, |_, trials| {
        let mut line = ProfileLine {
            frame: frames.to_string(),
            burnt_ns: explained.burn_ns,
            cpus: explained.variant.bed.plan().cpus.dut.clone(),
            against: Some(Box::new(ProfiledAgainst {
                explained: explained.variant.name.clone(),
                name: against.variant.name.clone(),
                flags: against.flags.clone(),
                burnt_ns: against.burn_ns,
                ..ProfiledAgainst::default()
            })),
            ..ProfileLine::default()
        };
        let error = measure_both(sides, plan, &mut line, trials).err();
        if let Some(other) = &mut line.against {
            other.set_up = against.variant.bed.set_up_script();
        }
        line.why = error.as_ref().map(ToString::to_string);
        (Some(line), error)
    })
}

fn measure_both(
    sides: &[Side<'_>; 2],
    plan: AgainstPlan,
    line: &mut ProfileLine,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let variants = sides.each_ref().map(|side| side.variant.clone());
    let mut standing = compare::raise(&variants, plan.receiver)?;
    if standing
        .iter()
        .any(|one| one.tester.dut_threads().is_empty())
    {
        return Err(JobError::NoThreads);
    }
    let burning = standing.iter().zip(sides);
    let burning = burning.map(|(one, side)| burn(&one.tester, side.burn_ns));
    let burning = burning.collect::<Result<Vec<_>, TesterError>>()?;
    let cpus = &sides[0].variant.bed.plan().cpus;
    let look = Look::new(cpus, None)?;
    let tested = look.test()?;
    let measure = find_rates(&mut standing, trials)?;
    let rule = Rule {
        measure,
        // Nobody looks before the end.
        within: 0.0,
        alike: ALIKE,
    };
    let mut paired = Paired::new(look, Comparison::new(rule));
    let ended = paired.take(plan.pairs, |paired, order| {
        share_loads(standing.iter_mut().map(|one| &mut one.progress.forwards));
        let both = order.both(|at| {
            let Standing {
                progress, tester, ..
            } = &mut standing[at];
            let turn = (&*progress.name, &mut progress.forwards);
            paired.trial(tester, turn, plan.time, trials)
        });
        both.map(Some)
    });
    let turns = Turns {
        standing,
        paired,
        measure,
    };
    ended.and(turns.tell(&tested, line))?;
    let burnt = burning.iter().map(|burning| burnt(burning.as_ref()));
    if let [against, own] = burnt.collect::<Result<Vec<_>, _>>()?[..] {
        line.burnt_measured_ns = own;
        if let Some(other) = &mut line.against {
            other.burnt_measured_ns = against;
        }
    }
    Ok(())
}

/// Both set-ups while they take turns: first the one that the other is compared with.
struct Turns<'bed> {
    standing: Vec<Standing<'bed>>,
    paired: Paired,
    /// What tells both apart.
    measure: ToldBy,
}

impl Turns<'_> {
    /// What the trials of one set-up say that count.
    fn found(&mut self, at: usize, tested: &[Completeness]) -> Result<ProfileLine, JobError> {
        let stacks = Stacks::mean(&mut self.paired.kept[at]).folded();
        let tried = &self.paired.kept[at];
        let tester = &self.standing[at].tester;
        let saturated = Saturated::new(tried)?;
        let limited_by = limit::limited_by(&saturated, tester);
        let is_cpu = limit::is_cpu(limited_by, &saturated);
        let line = ProfileLine {
            receiver: Some(tester.traffic.receiver.into()),
            limited_by: Some(limited_by.into()),
            limit_text: Some(limit::in_words(&saturated, None, false, limited_by)),
            clock: tried.iter().find_map(|one| one.clock.map(str::to_owned)),
            interrupted_share: interrupted(tested),
            loads: vec![saturated.load],
            stacks,
            ..ProfileLine::default()
        };
        let trials = tried.iter();
        let trials = trials.map(|one| (one.judged.trial.clone(), one.judged.verdict));
        let doubts = doubt::profile_doubts(&ProfileDoubts {
            around: &tester.surroundings(),
            line: &line,
            tested,
            is_cpu,
            void: (self.paired.void, self.paired.void + tried.len() as u32),
            // Each pair is of one distance.
            elsewhere: &[],
            throttled: self.paired.look.throttled,
            why_timer: self.paired.look.why_timer.as_deref(),
            trials: &trials.collect::<Vec<_>>(),
        });
        Ok(ProfileLine {
            doubts: line::doubts(&doubts),
            ..line
        })
    }

    /// Tells what the pairs that count say.
    fn tell(mut self, tested: &[Completeness], line: &mut ProfileLine) -> Result<(), JobError> {
        if self.paired.kept[0].is_empty() {
            let Paired {
                void,
                apart,
                comparison,
                ..
            } = self.paired;
            return Err(nothing_counts(void, apart, &comparison.end()));
        }
        let (base, own) = (self.found(0, tested)?, self.found(1, tested)?);
        let base_load = base.loads.into_iter().next().unwrap_or_default();
        let Paired {
            kept,
            comparison,
            void,
            apart,
            ..
        } = self.paired;
        let change = change(&kept, base_load.router_ns, base_load.frame_ns.median, ALIKE);
        let compared = comparison.end();
        let mut against = line.against.take().unwrap_or_default();
        against.load = base_load;
        against.stacks = base.stacks;
        against.change = change;
        against.rate_change = rate_change(self.measure, &compared);
        against.pairs = compared.pairs;
        against.pairs.disturbed += void;
        against.pairs.distance += apart;
        let mut doubts = own.doubts;
        let others = doubts_only_of(&against.name, base.doubts, &doubts);
        doubts.extend(others);
        let begun = std::mem::take(line);
        *line = ProfileLine {
            frame: begun.frame,
            burnt_ns: begun.burnt_ns,
            cpus: begun.cpus,
            against: Some(against),
            doubts,
            ..own
        };
        Ok(())
    }
}

/// Why no pair counts: so many were void, and others could not be compared.
fn nothing_counts(void: u32, apart: u32, compared: &Compared) -> JobError {
    match apart + compared.pairs.left_out() {
        0 => JobError::AllVoid { trials: 2 * void },
        apart => JobError::PairsApart {
            pairs: void + apart,
        },
    }
}

/// What the explained one forwards more. `None` where both forwarded what the tester sent: that is the tester's rate.
fn rate_change(measure: ToldBy, compared: &Compared) -> Option<Interval<f64>> {
    let rate = compared.rate.filter(|_| measure == ToldBy::Rate);
    rate.map(interval)
}

/// The doubts of the set-up of this name. What was seen alike in the other one is told once.
fn doubts_only_of(name: &str, mut doubts: Vec<Doubt>, of_other: &[Doubt]) -> Vec<Doubt> {
    let is_told =
        |doubt: &Doubt, known: &Doubt| (&doubt.name, &doubt.seen) == (&known.name, &known.seen);
    doubts.retain(|doubt| !of_other.iter().any(|known| is_told(doubt, known)));
    for doubt in &mut doubts {
        doubt.seen = format!("{name}: {}", doubt.seen);
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::Pairs;

    #[test]
    fn without_a_pair_it_says_how_many_there_were() {
        let left_out = |distance| Compared {
            pairs: Pairs {
                distance,
                ..Pairs::default()
            },
            ..Compared::default()
        };
        let void = nothing_counts(6, 0, &left_out(0)).to_string();
        assert!(void.starts_with("12 trials in a row were void"), "{void}");
        let apart = nothing_counts(1, 3, &left_out(2)).to_string();
        assert!(apart.starts_with("too few of 6 pairs count"), "{apart}");
    }

    #[test]
    fn only_what_both_show_alike_is_told_once() {
        let doubt = |name: &str, seen: &str| Doubt {
            name: name.to_owned(),
            seen: seen.to_owned(),
            ..Doubt::default()
        };
        let own = [doubt("voids", "1 of 9"), doubt("timer", "by a timer")];
        let base = [doubt("voids", "8 of 9"), doubt("timer", "by a timer")];
        let told = doubts_only_of("napi", base.to_vec(), &own);
        assert_eq!(told, [doubt("voids", "napi: 8 of 9")]);
    }

    #[test]
    fn the_testers_rate_is_no_change_of_the_routers() {
        let compared = Compared {
            rate: Some(mpps_method::Interval {
                low: -0.01,
                middle: 0.0,
                high: 0.01,
            }),
            ..Compared::default()
        };
        assert_eq!(rate_change(ToldBy::Cost, &compared), None);
        let found = rate_change(ToldBy::Rate, &compared).expect("a rate");
        assert_eq!((found.low, found.high), (-0.01, 0.01));
    }
}
