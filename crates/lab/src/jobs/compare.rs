//! Which of two set-ups forwards more, and what a frame costs in each: a bed for each of them. All stand at once, with the
//! same CPUs of the tester. They take turns with the traffic, A B B A, so that what the machine does meets all of them.

mod line;

use super::throughput::{self, first_burst};
use super::turns::{self, First, Progress, TakesTurns};
use super::{JobError, Judged, Observer, Phase, Trials};
use crate::bed::Bed;
use crate::clock::Deadline;
use crate::doubt::{Doubt, frame_doubts, work_doubts};
use crate::line::replayed_file;
use crate::search::measurer::{Measurer, Surroundings};
use crate::search::saturation::{
    self, FIRST_BURST, SENDER_MAX, TRIAL, block, burst, little_more, through,
};
use crate::tester::{ReceiverPlace, Tester, TesterError};
use crate::traffic::Traffic;
use crate::trial;
use mpps_method::compare::{Compared, Rule, ToldBy, Turn};
use mpps_method::histogram::Histogram;
use mpps_method::{Offer, Rate, RouteChanges, Span, Trial, Verdict};
use mpps_record::{ReplayedFile, SetUpScript};

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
    /// Whether all take turns until the time is spent: what changes do together is told by rounds of all variants.
    pub whole_rounds: bool,
}

impl ComparePlan {
    /// How the others are compared with the first one, by what tells them apart.
    #[must_use]
    pub const fn rule(&self, measure: ToldBy, have_routes: bool) -> Rule {
        Rule {
            measure,
            within: self.within,
            alike: alike(have_routes),
        }
    }
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

/// Differences up to this share count as none between set-ups on beds of their own.
#[must_use]
pub const fn alike(have_routes: bool) -> f64 {
    if have_routes {
        ALIKE_WITH_ROUTES
    } else {
        ALIKE
    }
}

/// What came of one variant.
#[derive(Clone, Debug, Default)]
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
    pub route_changes: Option<RouteChanges>,
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
    /// How they were compared.
    pub rule: Rule,
    /// The load that all carry.
    pub fixed: Rate,
    /// Where the testers received.
    pub receiver: Option<ReceiverPlace>,
    /// What ended it early.
    pub error: Option<JobError>,
}

/// A variant under way.
pub(super) struct Standing<'bed> {
    pub(super) progress: Progress,
    pub(super) tester: Tester<'bed>,
    /// As much as the sender can, frames/s.
    sends: Rate,
    route_changes: Option<RouteChanges>,
    judged: Vec<(Trial, Verdict)>,
}

impl Standing<'_> {
    /// Adds the route changes of a trial.
    fn add_changes(&mut self, trial: &Trial) {
        if let Some(made) = &trial.route_changes {
            self.route_changes.get_or_insert_default().add(made);
        }
    }
}

impl TakesTurns<Trials<'_>> for Standing<'_> {
    type Error = JobError;
    const FIRST_TRIALS: (u32, u32) = (3, 10);

    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn first(&mut self, load: Option<Rate>, trials: &mut Trials<'_>) -> Result<First, JobError> {
        trials.turn_of(&self.progress.name);
        let trial = match load {
            None => at_overload(&mut self.tester, self.sends, burst, trials)?,
            Some(load) => at_overload(&mut self.tester, load, trial::run_overload, trials)?,
        };
        self.add_changes(&trial);
        let (ledger, received) = (trial.ledger(), trial.counts().received);
        let whole = Rate::from_frames(received, trial.duration).unwrap_or_default();
        Ok(First {
            block: block(trial),
            whole_fps: whole.fps(),
            lost_nothing: ledger.lost_nic_ring + ledger.lost_in_dut == 0,
        })
    }

    fn turn(&mut self, fixed: Rate, trials: &mut Trials<'_>) -> Result<(Turn, [u32; 2]), JobError> {
        let Progress { name, forwards, .. } = &self.progress;
        let (at_overload, overload) = overload(&mut self.tester, name, forwards.most, trials)?;
        let offer = Offer::new(fixed, TRIAL);
        let trial = trial::run(&mut self.tester, &offer)?;
        let Judged {
            number,
            mut trial,
            verdict,
        } = (self.tester).judge(Phase::Fixed, offer, trial, trials)?;
        self.add_changes(&overload);
        self.add_changes(&trial);
        let turn = Turn {
            overload: block(overload),
            fixed: block(&trial),
        };
        // No doubt reads them, and they are large.
        trial.lateness = Histogram::default();
        trial.windows = Vec::new();
        // Doubts about them come from all trials, those at overload too.
        trial.route_changes = None;
        self.judged.push((trial, verdict));
        Ok((turn, [at_overload, number]))
    }
}

/// A trial of this turn, at a little more than the router was seen to forward, with its number.
pub(super) fn overload(
    tester: &mut Tester<'_>,
    turn: &str,
    most: f64,
    trials: &mut Trials<'_>,
) -> Result<(u32, Trial), JobError> {
    trials.turn_of(turn);
    tester.forwards_at_most = Some(Rate::from_fps(most));
    let trial = at_overload(tester, little_more(most), trial::run_overload, trials)?;
    Ok((trials.last_number(), trial))
}

/// One trial at this overload, which `run` carries out.
fn at_overload(
    tester: &mut Tester<'_>,
    load: Rate,
    run: fn(&mut Tester<'_>, &Offer) -> Result<Trial, TesterError>,
    trials: &mut Trials<'_>,
) -> Result<Trial, JobError> {
    let judged = through(
        tester,
        Phase::Overload,
        saturation::overload(load),
        trials,
        run,
    )?;
    // Through the router there is always a trial.
    Ok(judged.map(|judged| judged.trial).unwrap_or_default())
}

/// About where work was done and what came of the frames, over all trials at the fixed load.
fn doubts(judged: &[(Trial, Verdict)], around: &Surroundings) -> Vec<Doubt> {
    let mut doubts = work_doubts(judged, around.cpus_shared);
    doubts.extend(frame_doubts(judged, around.ring_frames));
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
    let until = (Deadline::after(Some(plan.budget)), plan.whole_rounds);
    let mut trials = Trials::new(observer);
    let mut standing = raise(variants, plan.receiver)?;
    let measure = turns::find_rates(&mut standing, &mut trials)?;
    let has_routes = |variant: &Variant<'_>| variant.traffic.destinations.is_some();
    let rule = plan.rule(measure, variants.iter().any(has_routes));
    let (fixed, ended) = turns::compare(&mut standing, rule, until, &mut trials);
    let first = standing.first();
    let receiver = first.map(|variant| variant.tester.traffic.receiver);
    let measured = |variant: Standing<'_>| Measured {
        doubts: doubts(&variant.judged, &variant.tester.surroundings()),
        set_up: variant.tester.bed.set_up_script(),
        replayed: (variant.tester.traffic.route_changes.as_deref()).map(replayed_file),
        route_changes: variant.route_changes,
        ..variant.progress.end()
    };
    Ok(Outcome {
        variants: standing.into_iter().map(measured).collect(),
        rule,
        fixed,
        receiver,
        error: ended.err(),
    })
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
            progress: Progress::new(name),
            tester,
            sends,
            route_changes: None,
            judged: Vec::new(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{Counts, Direction};

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
        let seen: Vec<String> = doubts(&judged, &Surroundings::default())
            .into_iter()
            .map(|doubt| doubt.seen)
            .collect();
        let expected = [
            "7 foreign frames reached the receiver",
            "5 of 2000 frames arrived a second time",
        ];
        assert_eq!(seen, expected);
        assert_eq!(doubts(&judged[..0], &Surroundings::default()).len(), 0);
    }

    #[test]
    fn tables_widen_what_counts_as_none() {
        assert_eq!([false, true].map(alike), [ALIKE, ALIKE_WITH_ROUTES]);
    }
}
