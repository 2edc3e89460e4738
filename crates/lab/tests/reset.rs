//! Resets as `mpps reset` measures them: a part of the router is away for a known time, and no frame arrives in it. A swap of
//! programs takes none.

use crate::support;
use crate::support::printed::Printed;
use crate::support::trials::{assert_ledger, frames, offer, run, tester, tries};
use mpps_lab::bed::{self, Bed, BedPlan, Front};
use mpps_lab::fib;
use mpps_lab::jobs::recovery::Recovery;
use mpps_lab::jobs::reset::{self, Away, Part, ResetPlan, ResetTrial};
use mpps_lab::jobs::{Observer, Phase, Report, ResultObserver, Trials};
use mpps_lab::routes;
use mpps_lab::traffic::Traffic;
use mpps_method::destinations::Draw;
use mpps_method::{Rate, Span};
use mpps_record::ResetLine;

const FRAMES_MAX: u64 = 1 << 20;
const FPS: f64 = 50_000.0;
const HELD: Span = Span::from_millis(300);
/// Frames that the ring of the router's port holds: they arrive later if its CPU was taken at the end of a reset.
const QUEUED: f64 = bed::RX_RING as f64;

/// What holds on any machine, and whether both methods agree to what they can. The reset itself works on the router's CPU,
/// so frames wait then that are not lost.
fn is_exact(trial: &ResetTrial) -> bool {
    let told = &trial.seen;
    println!("{:?}: {told:?}", trial.tried.recovery);
    let Some(time_stamp) = told.time_stamp else {
        return false;
    };
    // A frame that arrived meanwhile would be an error on any machine.
    assert!(time_stamp >= HELD && told.took >= HELD && told.is_back);
    let lost_for = told.frame_loss.plus(told.resolution);
    let queued = Span::from_secs_f64(QUEUED / FPS);
    assert!(lost_for.plus(queued) >= HELD, "{told:?}");
    let worked = told.took.as_nanos() - HELD.as_nanos();
    let apart = time_stamp.as_nanos().abs_diff(told.frame_loss.as_nanos());
    let full = |rate: mpps_method::Rate| rate.fps() > FPS * 0.98;
    matches!(trial.tried.recovery, Recovery::After(_))
        && lost_for >= HELD
        && apart <= told.resolution.as_nanos() + worked
        && told.rates.is_some_and(|rates| rates.into_iter().all(full))
}

/// So many resets that count are a fault of the meter if none of them is told exactly.
const INEXACT: u32 = 5;

/// One of a few resets is told exactly: a restless machine loses frames of its own. False where it is too restless.
fn assert_told(bed: &Bed, part: Part, traffic: &Traffic) -> bool {
    let traffic = Traffic {
        all_timed: true,
        ..traffic.clone()
    };
    let mut tester = tester(bed, &traffic, FRAMES_MAX);
    let mut printed = Printed::<()>::new();
    let mut trials = Trials::new(&mut printed);
    let mut quiet = 0;
    let away = Away {
        hold: HELD,
        process: None,
    };
    let found = tries().any(|_| {
        let trial = reset::one_trial(&mut tester, part, &offer(FPS, 700), &away, &mut trials);
        let trial = trial.unwrap_or_else(|error| panic!("{part:?}: {error}"));
        quiet += u32::from(matches!(trial.tried.recovery, Recovery::After(_)));
        is_exact(&trial)
    });
    if !found && quiet < INEXACT {
        support::skip!("a quieter machine: {part:?}, {quiet} of {INEXACT} resets count");
    }
    assert!(found, "{part:?} {traffic:?}");
    true
}

#[test]
fn a_reset_lasts_as_long_as_the_part_is_away() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    for ipv6 in [false, true] {
        let traffic = Traffic {
            ipv6,
            frames: frames(if ipv6 { "78" } else { "64" }),
            ..support::traffic()
        };
        let parts = [Part::Link, Part::Routes];
        if !parts
            .into_iter()
            .all(|part| assert_told(&bed, part, &traffic))
        {
            return;
        }
    }
}

#[test]
fn loaded_routes_are_put_back() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let (table, next_hops) = (support::table(), 3);
    routes::load(&bed, &table, next_hops, &|_| ()).unwrap_or_else(|e| panic!("load: {e}"));
    let before = fib::held(&bed).expect("a dump");
    assert_eq!(before.as_ref().map(|held| held.0.len()), Some(table.len()));
    let traffic = Traffic {
        destinations: Some(support::destinations(Draw::PerPrefix, 5, false, 1)),
        ..support::traffic()
    };
    for part in [Part::Link, Part::Routes] {
        let is_told = assert_told(&bed, part, &traffic);
        assert_eq!(fib::held(&bed).expect("a dump"), before, "{part:?}");
        if !is_told {
            return;
        }
    }
}

/// Phases and loads of the trials, and the lines.
#[derive(Default)]
struct Seen {
    offered: Vec<(Phase, Rate)>,
    lines: Vec<ResetLine>,
}

impl Observer for Seen {
    fn trial(&mut self, report: &Report<'_>) -> std::io::Result<()> {
        self.offered.push((report.phase, report.offer.rate));
        Ok(())
    }

    fn last_number(&self) -> u32 {
        self.offered.len() as u32
    }
}

impl ResultObserver<ResetLine> for Seen {
    fn result(&mut self, line: &ResetLine) -> std::io::Result<()> {
        self.lines.push(line.clone());
        Ok(())
    }
}

#[test]
fn without_a_rate_the_highest_is_measured_first() {
    if !support::can_run() {
        return;
    }
    let plan = ResetPlan {
        measurement: support::measurement(6_000),
        parts: vec![Part::Link],
        rate: None,
        time: Span::from_millis(500),
        away: Away {
            hold: Span::ZERO,
            process: None,
        },
        trials: 1,
    };
    let mut seen = Seen::default();
    let error = reset::measure(&support::bed(), &plan, &mut seen);
    if error.as_ref().is_some_and(|error| error.is_disturbance()) {
        support::skip!("a quieter machine: {error:?}");
    }
    assert!(error.is_none(), "{error:?}");
    let [line] = &seen.lines[..] else {
        panic!("one part: {:?}", seen.lines);
    };
    let offered = &seen.offered;
    let first = offered.iter().position(|(phase, _)| *phase == Phase::Reset);
    let first = first.expect("a trial with a reset");
    let before = &offered[..first];
    assert!(before.iter().any(|(phase, _)| *phase == Phase::Overload));
    for (phase, rate) in &offered[first..] {
        let load = Some(rate.fps().round() as u64);
        assert_eq!((*phase, load), (Phase::Reset, line.load_fps));
    }
}

/// A swap asks for the program that it takes away, so the same swap again finds another one there.
#[test]
fn a_program_gives_way_to_another() {
    if !support::can_run() {
        return;
    }
    for nic in Front::ALL {
        let bed = Bed::raise(&BedPlan {
            nic,
            ..support::plan()
        });
        let bed = bed.unwrap_or_else(|error| panic!("{error}"));
        let mut tester = tester(&bed, &support::traffic(), FRAMES_MAX);
        for _ in 0..3 {
            let nic = tester.nics.first_mut().expect("a NIC");
            let swap = nic.swap().expect("a swap");
            swap.run().unwrap_or_else(|error| panic!("{error}"));
            let again = swap.run().expect_err("another program is there");
            assert!(again.to_string().contains("EPERM"), "{again}");
            let trial = run(&mut tester, FPS, 50);
            assert_ledger(&trial, bed.plan().nic.name());
            assert!(trial.counts().received > 0, "{trial:?}");
        }
    }
}
