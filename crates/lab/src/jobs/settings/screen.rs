//! Many settings at once: each turn has about half of them at their other level, as the design says.

use super::tried::{Tried, apart_from, block_difference, in_turns, leave};
use super::{EACH, FIRST_TRIALS, Found, Job, Recorded, beds, singly, together_time};
use crate::clock::Deadline;
use crate::jobs::JobError;
use crate::jobs::turns::Rounds;
use crate::line::cost;
use crate::tune::toggle::{PLACEBO, Toggle};
use mpps_method::Span;
use mpps_method::compare::{Compared, Comparison, ToldBy, is_overloaded, rate};
use mpps_method::interval::Interval;
use mpps_method::saturation::Block;
use mpps_method::screen::{self, AsItStands, Design, Pair, blocks_min, in_one_state, whole_blocks};
use mpps_method::statistics::median;
use mpps_record::{Alias, Interaction, Screen, SettingEffect};

/// A setting worth more than this factor takes turns alone: half of all turns would cost so much more, and errors grow with
/// the cost.
const APART: f64 = 1.5;
/// Turns between two of the bed as it stands.
const CONTROL_EVERY: usize = 6;
/// How often the turns of a block that do not count are taken again.
const AGAIN: usize = 3;
/// The next load of a run that forwarded all of the last one, as a multiple of it.
const MORE: f64 = 1.3;
/// What the placebo's turns with settings alone are called behind its name.
const BESIDE_ALONE: &str = ", beside settings alone";
/// A prediction is never below this share of what the bed costs as it stands.
const COST_MIN: f64 = 0.3;
/// What a turn takes, its switches included.
const SWITCHED: Span = Span::from_millis(550);

/// Least time of a screen with its first trials, its turns alone and so many settings on two beds, and the least of that
/// before the blocks; `None`: settings are too many.
#[must_use]
pub fn least_times(screened: usize, alone: usize, beds: usize) -> Option<[Span; 2]> {
    let design = Design::new(screened)?;
    let tests = alone + design.tests() + beds;
    let turns = design.runs() + design.runs().div_ceil(CONTROL_EVERY);
    let blocks = (blocks_min(tests) * turns) as u64 * SWITCHED.as_nanos();
    let first = (screened + alone) as u64 * FIRST_TRIALS;
    let pairs = Comparison::pairs_min(tests) as u64;
    // The placebo takes turns with them.
    let turned = if alone > 0 { alone as u64 + 1 } else { 0 };
    let before = 2 * (first + turned * pairs) * EACH.as_nanos();
    let after = kept_time(screened).plus(beds::time(beds, pairs));
    let whole = before + blocks + after.as_nanos();
    Some([whole, before].map(Span::from_nanos))
}

/// What is kept of the budget to confirm effects of so many settings and the placebo, one by one and together.
pub(super) fn kept_time(screened: usize) -> Span {
    together_time().plus(singly::time(screened.saturating_sub(1)))
}

/// Settings that cannot stand in the screen take turns, then the others are screened.
pub(super) fn all<'bed>(
    tried: &mut [Tried<'bed>],
    end: Deadline,
    job: &mut Job<'bed, '_>,
    found: &mut Found,
) -> Result<(), JobError> {
    set_apart(tried)?;
    let (alone, mut screened): (Vec<_>, Vec<_>) =
        (tried.iter_mut()).partition(|one| one.alone.is_some() || one.refused.is_some());
    let Some(design) = Design::new(screened.len()) else {
        let why = format!("{} settings are too many for a screen", screened.len());
        return Err(JobError::Setting { id: PLACEBO, why });
    };
    let many = alone.len() + design.tests() + found.beds;
    found.tests = many;
    let [whole, before] = least_times(screened.len(), alone.len(), 0).unwrap_or_default();
    let share = before.as_secs_f64() / whole.as_secs_f64().max(1.0);
    let before = Span::from_secs_f64(job.budget.as_secs_f64() * share);
    let placebo = screened.iter().find(|one| one.is_placebo());
    let placebo = placebo.map(|one| &**one);
    take_turns_alone(alone, placebo, job.deadline(before), job, found)?;
    let mut run = Run::new(&design, &screened);
    let ended = run.all(&mut screened, end, job);
    let (costs, controls) = run.costs();
    let blocks = whole_blocks(&costs);
    let (begun, overloads, seen) = (run.begun, run.overloads, run.seen);
    let stands = median(&controls).map(|ns| AsItStands {
        ns,
        at_second: screened.iter().map(|one| bed_has_second(one)).collect(),
    });
    let result = design.screened(&blocks, stands.as_ref(), job.rule, many);
    let measure = if overloads {
        ToldBy::Rate
    } else {
        ToldBy::Cost
    };
    let tells_rate = job.tells_rate_by_cost();
    for (one, compared) in screened.iter_mut().zip(&result.effects) {
        // Where the tester ended first in one turn, no cost tells a rate.
        one.measure = measure;
        one.screened = Some(Compared {
            rate: compared.rate.filter(|_| tells_rate),
            ..*compared
        });
    }
    let placebos = result.effects.iter().skip(design.factors());
    found
        .placebos
        .extend(placebos.map(|compared| SettingEffect {
            setting: "placebo column".to_owned(),
            name: "A column of the design without a setting".to_owned(),
            placebo: true,
            screened: true,
            difference: Some(block_difference(compared, measure)),
            ..SettingEffect::default()
        }));
    let (early, late) = controls.split_at(controls.len() / 2);
    let drift = median(early).zip(median(late));
    let interactions = result.interactions.iter();
    found.screen = Some(Screen {
        blocks: blocks.len() as u32,
        incomplete_blocks: begun.saturating_sub(blocks.len()) as u32,
        stands_ns: Interval::from_samples(&controls).map(cost),
        stands_turns: controls.len() as u32,
        drift_share: drift.map(|(early, late)| late / early - 1.0),
        tells_interactions: result.tells_interactions,
        interactions: interactions
            .map(|one| interaction(one, &seen.settings))
            .collect(),
        ..seen
    });
    ended
}

/// Turns of those that cannot stand in the screen. The screen's placebos say nothing of turns, so a placebo takes turns
/// with them. It is one of its own, because the screen's takes turns with the largest effects too.
fn take_turns_alone<'bed>(
    alone: Vec<&mut Tried<'bed>>,
    screened: Option<&Tried<'bed>>,
    end: Deadline,
    job: &mut Job<'bed, '_>,
    found: &mut Found,
) -> Result<(), JobError> {
    let is_any = alone.iter().any(|one| one.refused.is_none());
    let Some((screened, one)) = screened.filter(|_| is_any).zip(job.standing.first()) else {
        return Ok(());
    };
    let toggle =
        Toggle::placebo(one.tester.bed).map_err(|why| JobError::Setting { id: PLACEBO, why })?;
    let names = screened.names.each_ref();
    let mut placebo = Tried::together(vec![toggle], names.map(|name| name.clone() + BESIDE_ALONE));
    (placebo.forwards, placebo.measure) = (screened.forwards, screened.measure);
    let mut turned = alone;
    turned.push(&mut placebo);
    let ended = in_turns(turned, found.tests, end, job);
    let effect = placebo.end();
    found.placebos.push(SettingEffect {
        name: effect.name.clone() + BESIDE_ALONE,
        ..effect
    });
    ended
}

fn interaction(found: &screen::Interaction, settings: &[String]) -> Interaction {
    let named = |(one, other): Pair| {
        [one, other].map(|column| settings.get(column).cloned().unwrap_or_default())
    };
    let aliases = found.aliases.iter().map(|(pair, share)| Alias {
        settings: named(*pair),
        share: *share,
    });
    // What cannot act explains nothing.
    let can_act = |alias: &Alias| alias.settings.iter().all(|one| one != PLACEBO);
    Interaction {
        settings: named(found.pair),
        cost_ns: cost(found.ns),
        aliases: aliases.filter(can_act).collect(),
    }
}

/// Says of each setting that cannot stand in the screen why it takes turns alone.
fn set_apart(tried: &mut [Tried<'_>]) -> Result<(), JobError> {
    let ids: Vec<&str> = tried.iter().filter_map(Tried::id).collect();
    for one in tried.iter_mut() {
        let [from, to] = one.forwards.map(|forwards| forwards.last);
        let [low, high] = [from.min(to), from.max(to)];
        let with = one.toggles.iter().find_map(|toggle| toggle.with);
        one.alone = match with {
            Some(with) => Some(format!("it needs {with} at both levels")),
            // What cannot act is never worth so much; the screen's turns need it.
            None if one.is_placebo() => None,
            None if low > 0.0 && high > APART * low => Some(format!(
                "its levels were a factor of over {APART} apart at first"
            )),
            None => apart_from(one.id(), &ids)
                .map(|other| format!("nothing is forwarded with it and {other}")),
        };
    }
    // Those that the kernel takes one by one it may refuse together.
    for one in tried.iter_mut().filter(|one| one.alone.is_none()) {
        let refused = one
            .toggles
            .iter_mut()
            .find_map(|toggle| toggle.set(!toggle.bed_has_second()).err());
        if let Some(why) = refused {
            leave(one.toggles.iter_mut())?;
            one.alone = Some(format!("refused together with others: {why}"));
        }
    }
    let all = tried.iter_mut().filter(|one| one.alone.is_none());
    leave(all.flat_map(|one| &mut one.toggles))
}

/// Whether the bed has its second level.
fn bed_has_second(one: &Tried<'_>) -> bool {
    one.toggles.first().is_some_and(Toggle::bed_has_second)
}

/// A screen under way.
struct Run<'a> {
    design: &'a Design,
    /// The most that each run was seen to forward, or is expected to, frames/s.
    most: Vec<f64>,
    /// The same of the bed as it stands.
    stands: f64,
    /// Whether turns count only where the router was offered more than it forwards.
    overloads: bool,
    /// Turns of each run, and after them those of the bed as it stands, in the order of time.
    turns: Vec<Vec<Block>>,
    /// Blocks whose turns were all taken.
    begun: usize,
    seen: Screen,
}

impl<'a> Run<'a> {
    fn new(design: &'a Design, tried: &[&mut Tried<'_>]) -> Self {
        // What a frame takes at each level, and how much more at the other level than the bed's.
        let ns = |most: f64| 1e9 / most.max(1.0);
        let stands = tried
            .iter()
            .map(|one| one.forwards[usize::from(bed_has_second(one))].most)
            .fold(0.0, f64::max);
        let predicted = |run: usize| {
            let more = tried.iter().enumerate().map(|(column, one)| {
                let of_bed = bed_has_second(one);
                let is_other = design.is_second(run, column) != of_bed;
                let at = |is_second: bool| ns(one.forwards[usize::from(is_second)].most);
                let more = at(!of_bed) - at(of_bed);
                if is_other { more } else { 0.0 }
            });
            let cost = ns(stands) + more.sum::<f64>();
            1e9 / cost.max(COST_MIN * ns(stands))
        };
        Self {
            most: (0..design.runs()).map(predicted).collect(),
            stands,
            overloads: tried.iter().all(|one| one.measure == ToldBy::Rate),
            turns: vec![Vec::new(); design.runs() + 1],
            begun: 0,
            seen: Screen {
                settings: tried
                    .iter()
                    .filter_map(|one| Some(one.toggles.first()?.id.to_owned()))
                    .collect(),
                columns: design.columns() as u32,
                runs: design.runs() as u32,
                ..Screen::default()
            },
            design,
        }
    }

    /// Blocks until the time is spent.
    fn all(
        &mut self,
        tried: &mut [&mut Tried<'_>],
        end: Deadline,
        job: &mut Job<'_, '_>,
    ) -> Result<(), JobError> {
        let mut rounds = Rounds::new(end);
        for number in 0.. {
            let runs = 0..self.design.runs();
            let is_recorded = runs
                .into_iter()
                .any(|run| job.earlier.has(&self.name(number, run)));
            if !rounds.begin() && !is_recorded {
                break;
            }
            let block = self.block(number, tried, job);
            // The bed is left as it was, whatever happened.
            leave(tried.iter_mut().flat_map(|one| &mut one.toggles))?;
            block?;
            self.begun += 1;
        }
        Ok(())
    }

    /// A run as its turns are called: its block from 1, its row from 1, and whether levels are exchanged.
    fn name(&self, block: usize, run: usize) -> String {
        let half = self.design.runs() / 2;
        let exchanged = if run < half { "" } else { ", exchanged" };
        format!("screen {}, run {}{exchanged}", block + 1, run % half + 1)
    }

    /// All runs of a block. Those that lack a turn in the state of most are taken again.
    fn block(
        &mut self,
        number: usize,
        tried: &mut [&mut Tried<'_>],
        job: &mut Job<'_, '_>,
    ) -> Result<(), JobError> {
        let order = self.design.order(number, job.seed);
        let mut wanted = order.clone();
        for pass in 0..=AGAIN {
            for (place, run) in wanted.iter().copied().enumerate() {
                if pass == 0 && place % CONTROL_EVERY == 0 {
                    self.control(number, tried, job)?;
                }
                let level = |column, _: &Toggle<'_>| self.design.is_second(run, column);
                let turn = turn(tried, level, &self.name(number, run), self.most[run], job)?;
                self.add(turn, run);
            }
            let (costs, _) = self.costs();
            wanted = order.clone();
            wanted.retain(|run| costs[*run].len() <= number);
        }
        Ok(())
    }

    /// A turn of the bed as it stands.
    fn control(
        &mut self,
        number: usize,
        tried: &mut [&mut Tried<'_>],
        job: &mut Job<'_, '_>,
    ) -> Result<(), JobError> {
        let name = format!("screen {}, as it stands", number + 1);
        let turn = turn(
            tried,
            |_, toggle| toggle.bed_has_second(),
            &name,
            self.stands,
            job,
        )?;
        self.stands = self.stands.max(turn.forwarded());
        self.add(turn, self.design.runs());
        Ok(())
    }

    /// Keeps a turn of a run, or of the bed as it stands, where it was undisturbed.
    fn add(&mut self, turn: Recorded, run: usize) {
        let block = turn.overload;
        let Some(fps) = rate(&block) else {
            self.seen.disturbed += 1;
            return;
        };
        let is_short = self.overloads && !is_overloaded(&block, fps);
        self.expect(run, if is_short { MORE * fps } else { fps });
        self.turns[run].push(block);
    }

    /// Offers the next turns of a run as much as it takes to overload a router that forwards this rate, fps.
    fn expect(&mut self, run: usize, fps: f64) {
        if let Some(most) = self.most.get_mut(run) {
            *most = most.max(fps);
        }
    }

    /// What turns so far cost, ns: by run, and with the bed as it stands. All are judged anew, because their state is one.
    fn costs(&mut self) -> (Vec<Vec<f64>>, Vec<f64>) {
        let found = in_one_state(&self.turns, self.overloads);
        self.seen.distance = found.elsewhere;
        self.seen.not_overloaded = found.short.len() as u32;
        self.seen.round_trip_ns = found.at.map(|at| at.round_trip_ns);
        self.seen.work_ns = found.at.and_then(|at| at.work_ns);
        for (run, fps) in found.short {
            self.expect(run, MORE * fps);
        }
        let mut costs = found.costs;
        let controls = costs.pop().unwrap_or_default();
        (costs, controls)
    }
}

/// A trial with each setting at its level, unless an earlier run had it.
fn turn(
    tried: &mut [&mut Tried<'_>],
    is_second: impl Fn(usize, &Toggle<'_>) -> bool,
    name: &str,
    most: f64,
    job: &mut Job<'_, '_>,
) -> Result<Recorded, JobError> {
    for (column, one) in tried
        .iter_mut()
        .enumerate()
        .filter(|_| !job.earlier.has(name))
    {
        for toggle in &mut one.toggles {
            let is_second = is_second(column, toggle);
            toggle
                .set(is_second)
                .map_err(|why| JobError::Setting { id: toggle.id, why })?;
        }
    }
    job.overload(0, name, most)
}
