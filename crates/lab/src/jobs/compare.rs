//! Which of two set-ups forwards more, and what a frame costs in each: a bed for each of them, all on the same CPUs and
//! standing at once. They take turns with the traffic, A B B A, so that what the machine does meets all of them.

mod forwards;
mod line;

use super::throughput::{self, first_burst};
use super::{JobError, Judged, Observer, Phase, Trials};
use crate::bed::Bed;
use crate::clock::Deadline;
use crate::doubt::{Doubt, frame_doubts, work_doubts};
use crate::line::replayed_file;
use crate::search::measurer::Measurer;
use crate::search::saturation::{
    FIRST_BURST, SENDER_MAX, TRIAL, block, burst, run_at_overload, take_block,
};
use crate::tester::{ReceiverPlace, Tester};
use crate::traffic::Traffic;
use crate::trial;
pub(super) use forwards::is_alike;
pub use forwards::{Forwards, alike, share_loads};
use mpps_linux::clock::monotonic_ns;
use mpps_method::compare::{Compared, Comparison, Measure, Rule, Turn, rate};
use mpps_method::histogram::Histogram;
use mpps_method::turns::TurnOrder;
use mpps_method::{ChangesMade, Offer, Rate, Span, Trial, Verdict};
use mpps_record::{ReplayedFile, SetUpScript};

/// Trials at overload that tell where to begin, for each variant: at least, and at most where all were disturbed.
const FIRST_TRIALS: (u32, u32) = (3, 10);
/// The fixed load, of what the slowest forwards at most. A restless machine slows a DUT by half for seconds. At 70 % the CPU
/// was full in 287 of 573 pairs there. At 40 % it would be in 13, computed from the cost of a frame in these trials
/// (`bench/runs/2026-11-28-xeon-vm-2cpu/compare-aa`).
pub const FIXED_SHARE: f64 = 0.4;

/// One set-up: its bed stands.
#[derive(Clone, Debug)]
pub struct Variant<'bed> {
    /// As the user calls it; the first one's is "a".
    pub name: String,
    /// Its own bed.
    pub bed: &'bed Bed,
    /// What is sent to it, frame sizes and what carries them included.
    pub traffic: Traffic,
}

/// How to compare.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    /// A difference smaller than this share needs not be found.
    pub within: f64,
    /// Time for all of it; it ends earlier where the answer is known.
    pub budget: Span,
    /// Where the testers receive; `None`: as throughput chooses, the same place for all.
    pub receiver: Option<ReceiverPlace>,
}

/// Time for a comparison where nobody says another.
pub const BUDGET: Span = Span::from_millis(120_000);
/// Differences up to this share count as none: the memory of two beds of the same set-up lies in different places. With
/// half of it 2 of 30 comparisons of equal set-ups that gave an interval were called different.
pub const ALIKE: f64 = 0.01;
/// The same where a router has a table of its own: the memory of two full FIBs differs more. Of three comparisons of one
/// table with itself under route changes, one was 3 % apart (`bench/runs/2026-11-24-xeon-vm-2cpu/route-changes`).
pub const ALIKE_WITH_ROUTES: f64 = 0.03;
/// The same for two levels on one bed, whose memory stays where it is.
pub const ALIKE_ON_ONE_BED: f64 = 0.005;

/// What came of one variant.
#[derive(Clone, Debug)]
pub struct Measured {
    /// As the plan calls it.
    pub name: String,
    /// The program that set its bed up.
    pub set_up: Option<SetUpScript>,
    /// The load at overload in the last turn.
    pub overload: Rate,
    /// Its turns, in their order.
    pub turns: Vec<Turn>,
    /// Numbers of its trials: at overload, and at the fixed load.
    pub trials: Vec<[u32; 2]>,
    /// The file of route changes that was replayed into it.
    pub replayed: Option<ReplayedFile>,
    /// Route changes of all its trials, where any were asked for.
    pub route_changes: Option<ChangesMade>,
    /// What to doubt about its trials at the fixed load, each once.
    pub doubts: Vec<Doubt>,
    /// Against the first one; `None` for the first one.
    pub compared: Option<Compared>,
}

/// What came of all.
#[derive(Debug)]
pub struct Outcome {
    /// In the plan's order.
    pub variants: Vec<Measured>,
    /// What tells them apart.
    pub measure: Measure,
    /// Differences up to this share count as none.
    pub alike: f64,
    /// The load that all carry.
    pub fixed: Rate,
    /// Where the testers received.
    pub receiver: Option<ReceiverPlace>,
    /// What ended it early.
    pub error: Option<JobError>,
}

/// A variant under way.
pub(super) struct Standing<'bed> {
    pub(super) name: String,
    pub(super) tester: Tester<'bed>,
    /// As much as the sender can, frames/s.
    pub sends: Rate,
    pub(super) forwards: Forwards,
    pub(super) turns: Vec<Turn>,
    trials: Vec<[u32; 2]>,
    route_changes: Option<ChangesMade>,
    judged: Vec<(Trial, Verdict)>,
    comparison: Option<Comparison>,
}

impl Standing<'_> {
    /// Adds the route changes of a trial.
    fn add_changes(&mut self, trial: &Trial) {
        let both = self.route_changes.into_iter().chain(trial.route_changes);
        self.route_changes = both.reduce(|sum, more| sum.plus(&more));
    }

    /// A trial at overload and one at the fixed load.
    fn turn(&mut self, fixed: Rate, trials: &mut Trials<'_>) -> Result<(), JobError> {
        trials.turn_of(&self.name);
        let load = self.forwards.overload();
        // Through the router there is always a trial.
        let overload =
            run_at_overload(&mut self.tester, load, Phase::Overload, trials)?.unwrap_or_default();
        let at_overload = trials.last_number();
        let offer = Offer::new(fixed, TRIAL);
        let trial = trial::run(&mut self.tester, &offer)?;
        let Judged {
            number,
            mut trial,
            verdict,
        } = (self.tester).judge(Phase::Fixed, offer, trial, trials)?;
        self.add_changes(&overload);
        self.add_changes(&trial);
        self.turns.push(Turn {
            overload: block(overload),
            fixed: take_block(&mut trial),
        });
        self.trials.push([at_overload, number]);
        // No doubt reads it, and it is large.
        trial.lateness = Histogram::default();
        // Doubts about them come from all trials, those at overload too.
        trial.route_changes = None;
        self.judged.push((trial, verdict));
        Ok(())
    }
}

/// About where work was done and what came of the frames, over all trials at the fixed load.
fn doubts(judged: &[(Trial, Verdict)], cpus_shared: bool) -> Vec<Doubt> {
    let mut doubts = work_doubts(judged, cpus_shared);
    doubts.extend(frame_doubts(judged));
    doubts
}

/// Compares each variant with the first one.
///
/// # Errors
/// No comparison can begin. An error of a later trial is told with what was found until then.
pub fn measure(
    variants: &[Variant<'_>],
    plan: &ComparePlan,
    observer: &mut dyn Observer,
) -> Result<Outcome, JobError> {
    let deadline = Deadline::after(Some(plan.budget));
    let mut trials = Trials::new(observer);
    let mut standing = raise(variants, plan.receiver)?;
    let measure = find_rates(&mut standing, &mut trials)?;
    let has_routes = |variant: &Variant<'_>| variant.traffic.destinations.is_some();
    let alike = alike(variants.iter().any(has_routes));
    let rule = Rule {
        measure,
        within: plan.within,
        alike,
    };
    let comparisons = comparisons(rule, standing.len());
    for (variant, comparison) in standing.iter_mut().zip(comparisons) {
        variant.comparison = comparison;
    }
    let slowest = standing.iter().map(|variant| variant.forwards.most);
    let fixed = Rate::from_fps(slowest.fold(f64::INFINITY, f64::min) * FIXED_SHARE);
    let ended = in_turns(&mut standing, fixed, deadline, &mut trials);
    let first = standing.first();
    let receiver = first.map(|variant| variant.tester.traffic.receiver);
    let measured = |variant: Standing<'_>| Measured {
        doubts: doubts(&variant.judged, variant.tester.bed.plan().cpus.shared()),
        overload: variant.forwards.overload(),
        set_up: variant.tester.bed.set_up_script(),
        replayed: (variant.tester.traffic.route_changes.as_deref()).map(replayed_file),
        name: variant.name,
        turns: variant.turns,
        trials: variant.trials,
        route_changes: variant.route_changes,
        compared: variant.comparison.map(Comparison::end),
    };
    Ok(Outcome {
        variants: standing.into_iter().map(measured).collect(),
        measure,
        alike,
        fixed,
        receiver,
        error: ended.err(),
    })
}

/// None of the first variant, and one of each other one: all of them together hold in 19 of 20 runs.
fn comparisons(rule: Rule, variants: usize) -> impl Iterator<Item = Option<Comparison>> {
    let others = variants.saturating_sub(1);
    let one = move |place: usize| (place > 0).then(|| Comparison::one_of(rule, others));
    (0..variants).map(one)
}

/// A tester on each bed. All receive at the same place, because what a frame costs differs between the two.
pub(super) fn raise<'bed>(
    variants: &[Variant<'bed>],
    receiver: Option<ReceiverPlace>,
) -> Result<Vec<Standing<'bed>>, JobError> {
    let frames_max = SENDER_MAX.frames_in(TRIAL).max(FIRST_BURST);
    let mut standing = Vec::new();
    for Variant { name, bed, traffic } in variants {
        let (tester, sends) = throughput::raise(bed, traffic, frames_max, receiver, first_burst)?;
        standing.push(Standing {
            name: name.clone(),
            tester,
            sends,
            forwards: Forwards::default(),
            turns: Vec::new(),
            trials: Vec::new(),
            route_changes: None,
            judged: Vec::new(),
            comparison: None,
        });
    }
    let mut places = standing.iter().map(|one| one.tester.traffic.receiver);
    let first = places.next();
    if places.any(|place| Some(place) != first) {
        drop(standing);
        return raise(variants, Some(ReceiverPlace::Port));
    }
    Ok(standing)
}

/// What each forwards at most, and what tells them apart: the rate, if all lost frames at the most that the sender can.
pub(super) fn find_rates(
    standing: &mut [Standing<'_>],
    trials: &mut Trials<'_>,
) -> Result<Measure, JobError> {
    let (mut ends_first, mut known) = (false, 0);
    for round in 0..FIRST_TRIALS.1 {
        if round >= FIRST_TRIALS.0 && known >= standing.len() {
            break;
        }
        known = 0;
        for variant in standing.iter_mut() {
            trials.turn_of(&variant.name);
            let load = variant.forwards.next();
            let trial = match round {
                0 => burst(&mut variant.tester, variant.sends, Phase::Overload, trials)?,
                _ => run_at_overload(&mut variant.tester, load, Phase::Overload, trials)?,
            };
            let trial = trial.unwrap_or_default();
            variant.add_changes(&trial);
            let ledger = trial.ledger();
            ends_first |= round == 0 && ledger.lost_nic_ring + ledger.lost_in_dut == 0;
            let counts = trial.counts();
            let whole = Rate::from_frames(counts.received, trial.duration).unwrap_or_default();
            let forwards = &mut variant.forwards;
            forwards.learn(&block(trial), whole.fps(), ends_first);
            known += usize::from(forwards.is_known);
        }
    }
    set_loads(standing);
    Ok(match ends_first {
        true => Measure::Cost,
        false => Measure::Rate,
    })
}

/// Raises loads to what was seen to be forwarded.
pub(super) fn follow(standing: &mut [Standing<'_>]) {
    for variant in standing.iter_mut() {
        let last = variant.turns.last().and_then(|turn| rate(&turn.overload));
        variant.forwards.raise_to(last.unwrap_or(0.0));
    }
    set_loads(standing);
}

/// Variants about as fast as the first one get its load, and each tester learns what its router forwards.
fn set_loads(standing: &mut [Standing<'_>]) {
    share_loads(standing.iter_mut().map(|variant| &mut variant.forwards));
    for variant in standing.iter_mut() {
        variant.tester.forwards_at_most = Some(Rate::from_fps(variant.forwards.most));
    }
}

/// Turns until each comparison has ended or the time is spent.
fn in_turns(
    standing: &mut [Standing<'_>],
    fixed: Rate,
    deadline: Deadline,
    trials: &mut Trials<'_>,
) -> Result<(), JobError> {
    let mut took = Span::ZERO;
    for half_round in 0_u64.. {
        let ended = |variant: &mut Standing<'_>| {
            let comparison = variant.comparison.as_mut();
            comparison.is_some_and(Comparison::is_done)
        };
        let mut wanted: Vec<&mut Standing<'_>> = standing.iter_mut().collect();
        wanted.retain_mut(|variant| !ended(variant));
        if wanted.len() < 2 || !deadline.leaves(took) {
            break;
        }
        let begun_ns = monotonic_ns();
        let order = TurnOrder::from_half_round(half_round);
        order.arrange(&mut wanted);
        for variant in &mut wanted {
            variant.turn(fixed, trials)?;
        }
        order.arrange(&mut wanted);
        let mut turned = wanted.into_iter();
        let base = turned.next().and_then(|first| first.turns.last());
        for variant in turned {
            let pair = base.zip(variant.turns.last());
            if let Some((comparison, (base, turn))) = variant.comparison.as_mut().zip(pair) {
                comparison.add(base, turn);
            }
        }
        follow(standing);
        took = Span::from_nanos(monotonic_ns() - begun_ns);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::saturation::{Block, Window};
    use mpps_method::{Counts, Direction};

    #[test]
    fn comparisons_of_a_run_are_told_together() {
        let rule = Rule {
            measure: Measure::Rate,
            within: 0.02,
            alike: ALIKE,
        };
        let turn = |forwarded| Turn {
            overload: Block {
                sent: Rate::from_fps(3e6),
                windows: vec![
                    Window {
                        duration: Span::from_millis(10),
                        forwarded,
                        ..Window::default()
                    };
                    20
                ],
                ..Block::default()
            },
            ..Turn::default()
        };
        // With two others each may be wrong half as often, which 8 pairs cannot show.
        for (variants, wanted) in [(2, 8), (3, 12), (8, 12)] {
            let mut all: Vec<_> = comparisons(rule, variants).collect();
            assert!(all[0].is_none() && all.len() == variants);
            let last = all.pop().flatten();
            let mut last = last.expect("a comparison");
            let mut pairs = 0;
            while pairs < 20 && !last.look() {
                last.add(&turn(10_000), &turn(8_000));
                pairs += 1;
            }
            assert_eq!(pairs, wanted, "{variants} variants");
        }
    }

    #[test]
    fn doubts_are_about_all_trials() {
        // Of 1000 frames each.
        let trial = |foreign, duplicated| {
            let counts = Counts {
                sent: 1_000,
                received: 1_000,
                foreign,
                duplicated,
                ..Counts::default()
            };
            let way = Direction {
                counts,
                ..Direction::default()
            };
            let trial = Trial {
                directions: vec![way],
                ..Trial::default()
            };
            (trial, Verdict::Lossless)
        };
        let judged = [trial(0, 2), trial(7, 3)];
        let seen: Vec<String> = doubts(&judged, false)
            .into_iter()
            .map(|doubt| doubt.seen)
            .collect();
        let expected = [
            "7 foreign frames reached the receiver",
            "5 of 2000 frames arrived a second time",
        ];
        assert_eq!(seen, expected);
        assert_eq!(doubts(&judged[..0], false).len(), 0);
    }
}
