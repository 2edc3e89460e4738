//! Settings of the catalogue that are switched on a bed while it is measured.

use crate::support;
use crate::switches::{row, settings_of};
use mpps_lab::bed::Bed;
use mpps_lab::clock::{Deadline, monotonic_ns};
use mpps_lab::jobs::compare::{ComparePlan, Variant};
use mpps_lab::jobs::settings::{self, Earlier, Outcome, Recorded, SettingsPlan, beds};
use mpps_lab::jobs::{Observer, Report};
use mpps_lab::traffic::Traffic;
use mpps_lab::tune::toggle::{PLACEBO, Toggle};
use mpps_method::saturation::{Block, Window};
use mpps_method::screen::Design;
use mpps_method::statistics::median;
use mpps_method::tune::{Kind, Template};
use mpps_method::{FrameSpec, Rate, Span};
use mpps_record::{EffectsLine, Finding, SettingEffect};
use std::collections::BTreeMap;

/// Costs of a frame by the level that was on.
#[derive(Default)]
struct Seen {
    turn: String,
    costs: BTreeMap<String, Vec<f64>>,
    trials: u32,
    /// No more trials than these.
    most: Option<u32>,
}

/// What the job ends with after the most trials.
const ENOUGH: &str = "these are enough";

impl Observer for Seen {
    fn trial(&mut self, report: &Report<'_>) -> std::io::Result<()> {
        let costs = self.costs.entry(self.turn.clone()).or_default();
        costs.extend(report.trial.ns_per_frame());
        self.trials += 1;
        match self.most {
            Some(most) if self.trials == most => Err(std::io::Error::other(ENOUGH)),
            _ => Ok(()),
        }
    }

    fn last_number(&self) -> u32 {
        self.trials
    }

    fn turn_begins(&mut self, variant: &str) {
        variant.clone_into(&mut self.turn);
    }
}

#[test]
fn rules_are_switched_and_taken_back() {
    if !support::can_run() {
        return;
    }
    if !support::has("nft") {
        return;
    }
    let bed = support::bed();
    let before = settings_of(&bed);
    let mut filter = Toggle::new(row("rp_filter"), &bed).expect("a switch");
    // The bed has what is advised, so the other level is the one to go away from.
    assert_eq!((filter.from.as_str(), filter.to.as_str()), ("1", "0"));
    assert_eq!(settings_of(&bed), before);
    filter.set(false).expect("set");
    assert!(settings_of(&bed).contains("ipv4/conf/mB/rp_filter:1"));
    filter.leave().expect("left");
    let plan = SettingsPlan {
        rows: vec![row("forward_rules"), row("lro")],
        ..plan()
    };
    let mut seen = Seen::default();
    let outcome = settings::measure(&bed, &plan, Earlier::default(), &mut seen);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(settings_of(&bed), before, "all is as it was");
    assert!(
        outcome.error.is_none() && outcome.line.tests == 2,
        "{outcome:?}"
    );
    let effects = &outcome.line.effects;
    let ids: Vec<&str> = effects
        .iter()
        .map(|effect| effect.setting.as_str())
        .collect();
    assert!(
        ids.contains(&PLACEBO) && ids.contains(&"forward_rules"),
        "{ids:?}"
    );
    let inert = effects.iter().find(|effect| effect.setting == "lro");
    let why = inert.and_then(|effect| effect.inert.as_ref());
    assert!(why.is_some(), "{inert:?}");
    let cost = |turn: &str| median(&seen.costs[turn]).expect("a trial");
    let (none, rules) = (
        cost("forward_rules none, first trials"),
        cost("forward_rules 100 in a list, first trials"),
    );
    assert!(rules > none + 200.0, "{none} {rules}");
    screen_without_time(&bed, plan, &before);
}

/// An overload of which so much was forwarded, undisturbed, frames/s.
fn forwarded(fps: f64) -> Recorded {
    let window = Window {
        duration: Span::from_millis(10),
        forwarded: (fps / 100.0) as u64,
        disturbed: false,
        ..Window::default()
    };
    let overload = Block {
        sent: Rate::from_fps(1.2 * fps),
        lost: 0.0,
        windows: vec![window; 30],
        ..Block::default()
    };
    Recorded {
        overload,
        whole_fps: fps,
        ..Recorded::default()
    }
}

/// With first trials of an earlier run, and no time for a turn: who stands in the screen is settled by switching.
fn screen_without_time(bed: &Bed, plan: SettingsPlan, before: &str) {
    let mut earlier = Earlier::default();
    for (turn, fps) in [
        ("forward_rules none", 2.1e6),
        ("forward_rules 100 in a list", 1e6),
        ("rp_filter 1", 1.9e6),
        ("rp_filter 0", 2e6),
        ("placebo 60", 2e6),
        ("placebo 61", 2e6),
    ] {
        // The first is faster, as before the kernel's tables are full: the last one counts. A placebo's may have met
        // another state of the machine.
        let last = if turn == "placebo 61" { 1.2e6 } else { fps };
        for fps in [2.1e6, fps, last] {
            earlier.add(format!("{turn}, first trials"), forwarded(fps));
        }
        let beside = match turn.starts_with(PLACEBO) {
            true => ", beside settings alone",
            false => "",
        };
        if !turn.starts_with("rp_filter") {
            earlier.add(format!("{turn}{beside}"), forwarded(fps));
        }
    }
    let plan = SettingsPlan {
        rows: vec![row("forward_rules"), row("rp_filter")],
        is_screen: true,
        ..plan
    };
    let mut seen = Seen::default();
    let outcome = settings::measure(bed, &plan, earlier, &mut seen);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.error.is_none(), "{outcome:?}");
    assert!(seen.costs.is_empty(), "{:?}", seen.costs.keys());
    let screen = outcome.line.screen.expect("a screen");
    assert_eq!(screen.settings, ["rp_filter", PLACEBO]);
    assert_eq!(screen.blocks, 0);
    let turns = (outcome.line.effects.iter())
        .map(|effect| (&*effect.setting, effect.from_trials.len()))
        .filter(|(_, turns)| *turns > 0);
    let turns: BTreeMap<&str, usize> = turns.collect();
    let both = BTreeMap::from([("forward_rules", 1), (PLACEBO, 1)]);
    assert_eq!(turns, both, "the placebo is beside it");
    let mut alone = (outcome.line.effects.iter()).filter_map(|effect| effect.alone.as_deref());
    assert_eq!(
        alone.next(),
        Some("its levels were a factor of over 1.5 apart at first")
    );
    assert_eq!(alone.next(), None);
    assert_eq!(settings_of(bed), before);
}

/// What a disturbed turn forwards.
const DISTURBED_FPS: f64 = 1.9e6;

/// What came of a screen with a setting that is worth a fifth of a frame's cost. Earlier runs had all turns: the screen's, and
/// those behind it, where the placebo forwarded this at its second level.
fn screened(bed: &Bed, placebo_fps: f64) -> EffectsLine {
    let mut earlier = Earlier::default();
    let mut add = |turn: String, fps: f64| {
        let mut trial = forwarded(fps);
        trial.overload.ns_per_frame = Some(1e9 / fps);
        for window in &mut trial.overload.windows {
            window.disturbed = fps == DISTURBED_FPS;
        }
        earlier.add(turn, trial);
    };
    let levels = [1.6e6, 2e6];
    for (turn, fps, own_fps) in [
        ("rp_filter 1", levels[0], levels[0]),
        ("rp_filter 0", levels[1], levels[1]),
        ("placebo 60", 2e6, 2e6),
        ("placebo 61", 2e6, placebo_fps),
    ] {
        (0..3).for_each(|_| add(format!("{turn}, first trials"), fps));
        (0..12).for_each(|_| add(turn.to_owned(), own_fps));
    }
    let design = Design::new(2).expect("a design");
    let half = design.runs() / 2;
    for block in 1..=12 {
        for run in 0..design.runs() {
            let exchanged = if run < half { "" } else { ", exchanged" };
            let turn = format!("screen {block}, run {}{exchanged}", run % half + 1);
            add(turn, levels[usize::from(design.is_second(run, 0))]);
        }
        // The bed has the second level.
        let stands = format!("screen {block}, as it stands");
        (0..half).for_each(|_| add(stands.clone(), levels[1]));
    }
    let plan = SettingsPlan {
        rows: vec![row("rp_filter")],
        is_screen: true,
        ..plan()
    };
    let mut seen = Seen::default();
    let outcome = settings::measure(bed, &plan, earlier, &mut seen);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.error.is_none(), "{outcome:?}");
    assert!(seen.costs.is_empty(), "{:?}", seen.costs.keys());
    outcome.line
}

fn effect<'a>(line: &'a EffectsLine, id: &str) -> &'a SettingEffect {
    let mut effects = line.effects.iter();
    let effect = effects.find(|effect| effect.setting == id).expect(id);
    assert!(effect.screened, "{effect:?}");
    effect
}

#[test]
fn an_effect_of_a_screen_has_turns_of_its_own() {
    if !support::can_run() {
        return;
    }
    let line = screened(&support::bed(), 2e6);
    let found = effect(&line, "rp_filter");
    let own = found.confirmed.clone().expect("turns of its own");
    assert_eq!(own.finding, Finding::Different, "{own:?}");
    let rate = own.rate_change.expect("a rate").median;
    assert!((rate - 0.25).abs() < 1e-6, "{own:?}");
    let pairs = own.pairs.expect("pairs").counted;
    assert!((8..=12).contains(&pairs), "{pairs} pairs");
    let placebo = effect(&line, PLACEBO).confirmed.clone();
    let placebo = placebo.expect("turns beside them");
    assert_eq!(placebo.finding, Finding::NoDifference, "{placebo:?}");
    assert!(line.is_found(found), "{line:?}");
    // Its own turns say it all.
    assert!(line.doubts.is_empty(), "{line:?}");
    assert_eq!((&line.together, &line.not_together), (&None, &None));
}

#[test]
fn a_placebo_that_acts_in_turns_leaves_nothing_told() {
    if !support::can_run() {
        return;
    }
    let line = screened(&support::bed(), 1.6e6);
    let found = effect(&line, "rp_filter");
    let placebo = effect(&line, PLACEBO).confirmed.as_ref();
    assert_eq!(placebo.expect("turns").finding, Finding::Different);
    assert!(!line.is_found(found), "{}", line.finding(found));
}

#[test]
fn turns_beside_a_blind_placebo_tell_nothing() {
    if !support::can_run() {
        return;
    }
    let line = screened(&support::bed(), DISTURBED_FPS);
    let found = effect(&line, "rp_filter");
    assert!(found.confirmed.is_none(), "{found:?}");
    assert!(
        line.is_found(found),
        "the screen has its own placebo: {line:?}"
    );
}

/// Settings on two beds get what the turns left of the budget, and profiles are beyond it. Earlier runs had all turns.
#[test]
fn the_time_of_turns_is_told_without_profiles() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut earlier = Earlier::default();
    for (turn, fps) in [
        ("rp_filter 1", 1e6),
        ("rp_filter 0", 5e5),
        ("placebo 60", 1e6),
        ("placebo 61", 1e6),
    ] {
        let mut trial = forwarded(fps);
        // As beside ten stalls a second.
        for window in &mut trial.overload.windows[..4] {
            window.disturbed = true;
        }
        for _ in 0..3 {
            earlier.add(format!("{turn}, first trials"), trial.clone());
        }
        for _ in 0..20 {
            earlier.add(turn.to_owned(), trial.clone());
        }
    }
    let plan = SettingsPlan {
        rows: vec![row("rp_filter")],
        by_stage: true,
        ..plan()
    };
    let begun_ns = monotonic_ns();
    let mut seen = Seen {
        most: Some(4),
        ..Seen::default()
    };
    let outcome = settings::measure(&bed, &plan, earlier, &mut seen);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    let profiles = monotonic_ns() - begun_ns - outcome.turns.as_nanos();
    let ended = outcome.error.as_ref().map(ToString::to_string);
    assert!(ended.is_some_and(|why| why.contains(ENOUGH)), "{outcome:?}");
    let turns: Vec<&str> = seen.costs.keys().map(String::as_str).collect();
    assert_eq!(turns, ["rp_filter 0, profiled", "rp_filter 1, profiled"]);
    let doubts = outcome.line.doubts.iter();
    let seen: Vec<&str> = doubts.map(|doubt| &*doubt.seen).collect();
    assert_eq!(
        seen,
        ["13 % of the time at overload was left out beside disturbances"]
    );
    // Four trials of 200 ms, which may be cut short.
    assert!(profiles > 400_000_000, "{profiles} ns");
}

/// The setting's own command cannot undo it.
#[test]
fn a_setting_that_stays_ends_the_run() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut stays = row("forward_rules").clone();
    (stays.bed_on, stays.bed_off) = ("true", "echo it stays >&2; false");
    let plan = SettingsPlan {
        rows: vec![Box::leak(Box::new(stays)), row("rp_filter")],
        ..plan()
    };
    let mut seen = Seen::default();
    let ended = settings::measure(&bed, &plan, Earlier::default(), &mut seen);
    let said = ended.expect_err("another bed").to_string();
    assert!(
        said.contains("forward_rules") && said.contains("it stays"),
        "{said}"
    );
    assert!(seen.costs.is_empty(), "{:?}", seen.costs.keys());
}

/// The kernel has no file of this setting.
#[test]
fn a_placebo_is_not_measured_alone() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let mut absent = row("rp_filter").clone();
    absent.places = vec![Template {
        kind: Kind::Sysfs,
        text: "/sys/class/net/{if}/absent",
    }];
    let plan = SettingsPlan {
        rows: vec![Box::leak(Box::new(absent)), row("lro")],
        ..plan()
    };
    let mut seen = Seen::default();
    let ended = settings::measure(&bed, &plan, Earlier::default(), &mut seen);
    let said = ended.expect_err("nothing to measure").to_string();
    assert!(
        said.starts_with("no setting to measure: rp_filter: "),
        "{said}"
    );
    assert!(said.contains("; lro: needs a real NIC"), "{said}");
    assert!(seen.costs.is_empty(), "{:?}", seen.costs.keys());
}

/// Without rows, and without time.
fn plan() -> SettingsPlan {
    SettingsPlan {
        rows: Vec::new(),
        beds: 0,
        is_named: true,
        allows_machine: false,
        is_screen: false,
        by_stage: false,
        traffic: support::traffic(),
        how: ComparePlan {
            within: 0.02,
            budget: Span::from_millis(1),
            receiver: None,
            whole_rounds: false,
        },
    }
}

/// An earlier run had the first trials, a disturbed turn of each level, and one of one level: it was cut before the other.
#[test]
fn a_turn_on_two_beds_is_repeated_if_cut() {
    if !support::can_run() {
        return;
    }
    let both = [support::bed(), support::bed()];
    let levels = ["IPv4", "IPv6"].into_iter().zip(&both);
    let beds = levels.map(|(name, bed)| Variant {
        name: name.to_owned(),
        bed,
        traffic: Traffic {
            frames: FrameSpec::parse_list("78").expect("a size").remove(0),
            ipv6: name == "IPv6",
            ..support::traffic()
        },
    });
    let beds: Vec<Variant<'_>> = beds.collect();
    let mut earlier = Earlier::default();
    earlier.last_trial = 7;
    let trial = Recorded {
        whole_fps: 1e6,
        ..Recorded::default()
    };
    for turn in ["ipv6 IPv4, first trials", "ipv6 IPv6, first trials"].repeat(3) {
        earlier.add(turn.to_owned(), trial.clone());
    }
    let mut disturbed = forwarded(1e6);
    let windows = disturbed.overload.windows.iter_mut();
    windows.for_each(|window| window.disturbed = true);
    for (turn, number) in [("ipv6 IPv4", 6), ("ipv6 IPv6", 7)] {
        disturbed.number = number;
        earlier.add(turn.to_owned(), disturbed.clone());
    }
    earlier.add("ipv6 IPv4".to_owned(), trial);
    let plan = SettingsPlan { beds: 1, ..plan() };
    let (mut seen, end) = (Seen::default(), Deadline::after(Some(Span::ZERO)));
    let mut outcome = Outcome::default();
    outcome.line.tests = 2;
    let row = Some(row("ipv6"));
    let found = beds::measure(row, &beds, &plan, end, earlier, &mut outcome, &mut seen);
    found.unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let effect = outcome.line.effects.remove(0);
    let turns: Vec<&str> = seen.costs.keys().map(String::as_str).collect();
    assert_eq!(turns, ["ipv6 IPv4", "ipv6 IPv6"]);
    assert_eq!([&*effect.from, &*effect.to], ["IPv4", "IPv6"]);
    assert_eq!(
        [effect.from_trials, effect.to_trials],
        [vec![6, 9], vec![7, 8]]
    );
    let difference = effect.difference.expect("a comparison");
    let pairs = difference.pairs.expect("pairs");
    let left_out = pairs.disturbed + pairs.distance + pairs.not_overloaded;
    assert_eq!(pairs.counted + left_out, 2, "{difference:?}");
    let doubts = outcome.line.doubts.iter().map(|doubt| &*doubt.name);
    assert!(doubts.eq(["much-disturbed"]), "{:?}", outcome.line.doubts);
    assert!(effect.two_beds && !effect.placebo);
}
