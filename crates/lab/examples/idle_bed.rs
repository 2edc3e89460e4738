//! For bench/compare: what a second bed costs the first, its tester raised and idle. Trials at overload in turns, alone
//! and beside it, compared as two variants would be. `idle_bed SECONDS`
#![forbid(unsafe_code)]

use mpps_lab::bed::{Bed, BedPlan, CpuSplit};
use mpps_lab::interrupt;
use mpps_lab::tester::{ReceiverMode, ReceiverPlace, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_linux::cpu;
use mpps_method::compare::{Comparison, Rule, ToldBy, Turn};
use mpps_method::distance::Distance;
use mpps_method::{Block, Offer, Rate, Span};
use std::error::Error;
use std::time::Instant;

/// More than any DUT forwards on the machine that this was made for; the tester sends so much there.
const LOAD: Rate = Rate::from_fps(2_100_000.0);
const TRIAL: Span = Span::from_millis(350);

fn main() -> Result<(), Box<dyn Error>> {
    interrupt::install()?;
    let seconds: f64 = std::env::args()
        .nth(1)
        .ok_or("usage: idle_bed SECONDS")?
        .parse()?;
    let plan = BedPlan::usual(CpuSplit::choose(&cpu::available()?, None, None)?);
    let (bed, idle) = (Bed::raise(&plan)?, Bed::raise(&plan)?);
    let traffic = Traffic {
        receiver: ReceiverPlace::Exit,
        ..Traffic::default()
    };
    let raise = |bed| Tester::raise(bed, &traffic, LOAD.frames_in(TRIAL), ReceiverMode::Polled);
    let mut tester = raise(&bed)?;
    let rule = Rule {
        measure: ToldBy::Rate,
        within: 0.005,
        alike: 0.0,
    };
    let mut comparison = Comparison::new(rule);
    let begun = Instant::now();
    let mut half_round = 0;
    while begun.elapsed().as_secs_f64() < seconds && !comparison.look() {
        let alone_first = matches!(half_round % 4, 0 | 3);
        let one = turn(
            &mut tester,
            if alone_first {
                None
            } else {
                Some(raise(&idle)?)
            },
        )?;
        let other = turn(
            &mut tester,
            if alone_first {
                Some(raise(&idle)?)
            } else {
                None
            },
        )?;
        let (alone, beside) = if alone_first {
            (one, other)
        } else {
            (other, one)
        };
        comparison.add(&alone, &beside);
        half_round += 1;
    }
    println!("{:#?}", comparison.end());
    drop(tester);
    bed.lower()?;
    idle.lower()?;
    Ok(())
}

/// A trial while `_idle` stands.
fn turn(tester: &mut Tester<'_>, _idle: Option<Tester<'_>>) -> Result<Turn, Box<dyn Error>> {
    let offer = Offer::new(LOAD, TRIAL);
    let trial = trial::run(tester, &offer)?;
    let overload = Block {
        sent: Rate::from_frames(trial.counts().sent, trial.duration).unwrap_or_default(),
        lost: 0.0,
        busiest: trial.busiest_share(),
        threads: trial.busiest_threads_share(),
        ns_per_frame: trial.ns_per_frame(),
        distance: Distance::from_trial(&trial),
        windows: trial.windows,
    };
    Ok(Turn {
        overload,
        fixed: Block::default(),
    })
}
