//! The meter against planted faults (design 4.9): a program apart from sender and receiver drops,
//! doubles, swaps, polices and holds back frames on the DUT's path and keeps its own count. Each row
//! says what was planted, what the meter found, and how far apart they may be.

use super::{JobError, Observer, Phase, Report, back_to_back, throughput};
use crate::bed::Bed;
use crate::tester::{Fault, PlantedFault, ReceiverMode, Tester};
use crate::traffic::Traffic;
use crate::{rules, saturation, trial};
use mpps_ebpf::instruments::fault::Planted;
use mpps_method::saturation::Interval;
use mpps_method::statistics;
use mpps_method::{
    Accept, Ceiling, Counts, Goal, Offer, Outcome, Rate, Resolution, Span, Trial, Verdict,
};

/// One planted fault and what the meter made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was planted.
    pub fault: &'static str,
    /// Its size by the planting program's own count, in `unit`; NaN where the machine disturbed every trial.
    pub planted: f64,
    /// Its size as the meter found it, in `unit`; NaN where it found nothing.
    pub found: f64,
    /// Largest difference allowed, in `unit`.
    pub tolerance: f64,
    /// Unit of all three.
    pub unit: &'static str,
    /// Why the machine's restlessness left nothing to compare.
    pub disturbed: Option<String>,
}

/// What a calibration came to.
#[derive(Debug)]
pub struct Calibrated {
    /// A row for each fault, up to what ended it.
    pub rows: Vec<Row>,
    /// What ended it early.
    pub ended: Option<JobError>,
}

impl Row {
    fn of(ruler: Ruler, planted: f64, found: f64) -> Self {
        let Ruler(fault, tolerance, unit) = ruler;
        Self {
            fault,
            planted,
            found,
            tolerance,
            unit,
            disturbed: None,
        }
    }

    fn disturbed(ruler: Ruler, why: &JobError) -> Self {
        Self {
            disturbed: Some(why.to_string()),
            ..Self::of(ruler, f64::NAN, f64::NAN)
        }
    }

    /// Whether the meter found what was planted.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.planted > 0.0 && (self.planted - self.found).abs() <= self.tolerance
    }
}

/// Load of the counting rows: far from any limit.
const COUNT_FPS: f64 = 100_000.0;
const COUNT_TIME: Span = Span::from_millis(500);
const DROP_EVERY: u64 = 1_000;
const DUPLICATE_EVERY: u64 = 500;
const SWAP_EVERY: u64 = 700;
const POLICE_FPS: u64 = 300_000;
const POLICE_STEP: f64 = 5_000.0;
/// Below step x time, or the bucket would hide an overload of a step; large, or it would see the bunches in
/// which the DUT works off its ring.
const POLICE_BURST: u64 = 4_096;
const DELAY_NS: u64 = 20_000;
/// Pairs of trials, without and with the delay; the median difference counts.
const DELAY_PAIRS: u32 = 7;
const LATENCY_FPS: f64 = 2_000.0;
const LATENCY_TIME: Span = Span::from_millis(250);
/// Latency may be off by this, ns.
const LATENCY_TOLERANCE_NS: f64 = 5_000.0;
/// Planted on the router's path, ns a frame.
const COST_NS: u64 = 500;
/// Pairs of overloads, without and with that cost: one speed of a CPU may not meet both of a pair.
const COST_PAIRS: u32 = 3;
/// Time for each overload.
const COST_TIME: Span = Span::from_millis(4_000);
/// An overload with more than half of its trials disturbed is repeated so often.
const COST_REPEATS: u32 = 2;
/// A cost may be off by this share, beside the half width of what the pairs say.
const COST_TOLERANCE: f64 = 0.1;
/// Pairs whose half width is a larger share say nothing.
const COST_WIDTH_MAX: f64 = 0.4;
/// The ring may be off by this share.
const RING_TOLERANCE: f64 = 0.05;
const FRAMES_MAX: u64 = 1 << 21;
/// A disturbed trial is repeated so often.
const REPEATS: u32 = 10;

/// A fault's name, how far planted and found may be apart, and the unit of both.
#[derive(Clone, Copy)]
struct Ruler(&'static str, f64, &'static str);

const POLICER: Ruler = Ruler("a policer", POLICE_STEP, "frames/s");
const DELAY: Ruler = Ruler("a delay", LATENCY_TOLERANCE_NS, "ns");
const COST: Ruler = Ruler(
    "a cost on the router's path",
    COST_NS as f64 * COST_TOLERANCE,
    "ns/frame",
);

/// Calibrates the meter on this bed. A fault that the machine disturbed is a row that says so; each row goes to the
/// observer as soon as it is known.
#[must_use]
pub fn calibrate(bed: &Bed, traffic: &Traffic, observer: &mut dyn Observer) -> Calibrated {
    let mut rows = Vec::new();
    let ended = fill(&mut rows, bed, traffic, observer).err();
    Calibrated { rows, ended }
}

fn fill(
    rows: &mut Vec<Row>,
    bed: &Bed,
    traffic: &Traffic,
    observer: &mut dyn Observer,
) -> Result<(), JobError> {
    let mut tester = Tester::raise(bed, traffic, FRAMES_MAX, ReceiverMode::Polled)?;
    crate::probe::probe(&mut tester)?;
    for counted in &COUNTED {
        let found = count(&mut tester, counted, observer);
        keep(rows, counted.ruler, found, observer)?;
    }
    let found = policed(&mut tester, observer);
    keep(rows, POLICER, found, observer)?;
    let ruler = ring_ruler(bed, traffic);
    let found = ring(&mut tester, ruler, observer);
    keep(rows, ruler, found, observer)?;
    let found = costing(&mut tester, observer);
    keep(rows, COST, found, observer)?;
    drop(tester);
    let found = delayed(bed, traffic, observer);
    keep(rows, DELAY, found, observer)
}

/// One fault after the other: what disturbed this one takes no other's row away.
fn keep(
    rows: &mut Vec<Row>,
    ruler: Ruler,
    found: Result<Row, JobError>,
    observer: &mut dyn Observer,
) -> Result<(), JobError> {
    let row = match found {
        Err(why) if why.is_disturbance() => Row::disturbed(ruler, &why),
        found => found?,
    };
    let told = observer.row(&row).map_err(JobError::Record);
    rows.push(row);
    told
}

/// A fault that is counted by the frame, and who counts it.
struct Counted {
    ruler: Ruler,
    fault: Fault,
    planted: fn(&Planted) -> u64,
    found: fn(&Counts) -> u64,
}

/// Loss, duplicates and reorderings: exact to the frame.
const COUNTED: [Counted; 3] = [
    Counted {
        ruler: Ruler("1 in 1000 frames lost", 0.0, "frames"),
        fault: Fault {
            drop_every: DROP_EVERY,
            ..Fault::NONE
        },
        planted: |planted| planted.dropped,
        found: |counts| counts.lost,
    },
    Counted {
        ruler: Ruler("1 in 500 frames doubled", 0.0, "frames"),
        fault: Fault {
            duplicate_every: DUPLICATE_EVERY,
            ..Fault::NONE
        },
        planted: |planted| planted.duplicated,
        found: |counts| counts.duplicated,
    },
    Counted {
        ruler: Ruler("1 in 700 frames reordered", 0.0, "frames"),
        fault: Fault {
            swap_every: SWAP_EVERY,
            ..Fault::NONE
        },
        planted: |planted| planted.swapped,
        found: |counts| counts.reordered,
    },
];

fn count(
    tester: &mut Tester<'_>,
    counted: &Counted,
    observer: &mut dyn Observer,
) -> Result<Row, JobError> {
    let offer = Offer {
        rate: Rate::from_fps(COUNT_FPS),
        duration: COUNT_TIME,
    };
    let (planted, trial) = with_fault(tester, counted.fault, offer, observer)?;
    let planted = (counted.planted)(&planted);
    let found = (counted.found)(&trial.counts());
    Ok(Row::of(counted.ruler, planted as f64, found as f64))
}

/// One undisturbed trial with the fault in place.
fn with_fault(
    tester: &mut Tester<'_>,
    fault: Fault,
    offer: Offer,
    observer: &mut dyn Observer,
) -> Result<(Planted, Trial), JobError> {
    for _ in 0..REPEATS {
        let planted = PlantedFault::plant(fault, tester.bed, tester.ways()[0])?;
        let (trial, verdict) = observed(tester, offer, observer)?;
        if matches!(verdict, Verdict::Lossless | Verdict::Lossy { .. }) {
            return Ok((planted.planted()?, trial));
        }
    }
    Err(JobError::Disturbed(REPEATS))
}

fn observed(
    tester: &mut Tester<'_>,
    offer: Offer,
    observer: &mut dyn Observer,
) -> Result<(Trial, Verdict), JobError> {
    let trial = trial::run(tester, &offer)?;
    let verdict = trial.judge(&rules::of(tester, &offer));
    let report = Report {
        frames: &tester.traffic.frames,
        phase: Phase::Calibration,
        offer,
        trial: &trial,
        verdict: &verdict,
    };
    observer.trial(&report).map_err(JobError::Record)?;
    Ok((trial, verdict))
}

/// A policer is the sharpest DUT there is: the search must end within one step of it.
fn policed(tester: &mut Tester<'_>, observer: &mut dyn Observer) -> Result<Row, JobError> {
    let fault = Fault {
        police_fps: POLICE_FPS,
        police_burst: POLICE_BURST,
        ..Fault::default()
    };
    let _planted = PlantedFault::plant(fault, tester.bed, tester.ways()[0])?;
    let goal = Goal {
        trial: Span::from_millis(1_000),
        resolution: Resolution::StepFps(POLICE_STEP),
        trials_per_load: 2,
        accept: Accept::Any,
        maximum: Ceiling::Tester(Rate::from_fps(400_000.0)),
        minimum: Rate::from_fps(200_000.0),
    };
    let found = match throughput::search(tester, goal, Phase::Calibration, observer)? {
        Outcome::Found { lossless, .. } => lossless.fps(),
        // Everything from two thirds of the rate on was lost: found, and wrong.
        Outcome::NoneLossless { .. } => 0.0,
        Outcome::CouldNotMeasure { why, .. } => return Err(JobError::CouldNotMeasure(why)),
    };
    Ok(Row::of(POLICER, POLICE_FPS as f64, found))
}

/// The ring may be off by a share of itself.
fn ring_ruler(bed: &Bed, traffic: &Traffic) -> Ruler {
    let tolerance = f64::from(rules::ring(bed, traffic)) * RING_TOLERANCE;
    Ruler("the receive ring", tolerance, "frames")
}

/// The longest burst through a slow DUT implies the ring that the user chose.
fn ring(
    tester: &mut Tester<'_>,
    ruler: Ruler,
    observer: &mut dyn Observer,
) -> Result<Row, JobError> {
    let slow = Fault {
        delay_ns: DELAY_NS,
        ..Fault::default()
    };
    let _slow = PlantedFault::plant(slow, tester.bed, tester.ways()[0])?;
    let ring = u64::from(rules::ring(tester.bed, &tester.traffic));
    let burst = back_to_back::measure(tester, (ring / 4, ring * 2), 0.005, observer)?;
    Ok(Row::of(ruler, ring as f64, burst.buffer_frames))
}

/// The router's part of a frame's cost must grow by what the DUT spins on the router's path, by the spinning program's own
/// clock. Without that cost the program is there as well, and reads the clock as often.
fn costing(tester: &mut Tester<'_>, observer: &mut dyn Observer) -> Result<Row, JobError> {
    let spin = |delay_ns| Fault {
        delay_ns,
        ..Fault::NONE
    };
    let (mut planted, mut grown) = (Vec::new(), Vec::new());
    for _ in 0..COST_PAIRS {
        let (without, short) = router_cost(tester, spin(1), observer)?;
        let (with, long) = router_cost(tester, spin(1 + COST_NS), observer)?;
        grown.push(with - without);
        planted.push(long - short);
    }
    let planted = statistics::median(&planted).unwrap_or(f64::NAN);
    let grown = Interval::from_samples(&grown).ok_or(JobError::Disturbed(COST_PAIRS))?;
    let half = (grown.high - grown.low) / 2.0;
    if half > planted * COST_WIDTH_MAX {
        return Err(JobError::Disturbed(COST_PAIRS));
    }
    let Ruler(fault, _, unit) = COST;
    let ruler = Ruler(fault, planted * COST_TOLERANCE + half, unit);
    Ok(Row::of(ruler, planted, grown.middle))
}

/// The router's part of a frame's cost at overload with this delay on its path, and the delay as it was, ns.
fn router_cost(
    tester: &mut Tester<'_>,
    fault: Fault,
    observer: &mut dyn Observer,
) -> Result<(f64, f64), JobError> {
    for _ in 0..COST_REPEATS {
        let planted = PlantedFault::plant_on_router(fault, tester.bed, tester.ways()[0])?;
        let mut counting = Counting {
            observer: &mut *observer,
            trials: 0,
            void: 0,
        };
        let saturated = saturation::measure(tester, COST_TIME, &mut counting)?;
        let undisturbed = 2 * counting.void <= counting.trials;
        if let Some(cost) = saturated.cost.filter(|_| undisturbed) {
            let held = planted.planted()?;
            let delay = held.delayed_ns as f64 / held.delayed.max(1) as f64;
            return Ok((cost.router_ns.middle, delay));
        }
    }
    Err(JobError::Disturbed(COST_REPEATS))
}

/// Counts the trials that the machine disturbed.
struct Counting<'a> {
    observer: &'a mut dyn Observer,
    trials: u32,
    void: u32,
}

impl Observer for Counting<'_> {
    fn trial(&mut self, report: &Report<'_>) -> std::io::Result<()> {
        self.trials += 1;
        self.void += u32::from(matches!(report.verdict, Verdict::Void(_)));
        self.observer.trial(report)
    }
}

/// The median latency must grow by what the DUT spins.
fn delayed(bed: &Bed, traffic: &Traffic, observer: &mut dyn Observer) -> Result<Row, JobError> {
    let traffic = Traffic {
        batch: 1,
        all_timed: true,
        ..traffic.clone()
    };
    let mut tester = Tester::raise(bed, &traffic, FRAMES_MAX, ReceiverMode::Interrupt)?;
    let offer = Offer {
        rate: Rate::from_fps(LATENCY_FPS),
        duration: LATENCY_TIME,
    };
    let median = |trial: &Trial| {
        trial
            .latency
            .quantile(0.5)
            .map_or(f64::NAN, |span| span.as_nanos() as f64)
    };
    // In pairs, for a restless machine's latency wanders by more than the fault from one second to the next.
    let slow = Fault {
        delay_ns: DELAY_NS,
        ..Fault::default()
    };
    let mut grown = Vec::new();
    for _ in 0..DELAY_PAIRS {
        let (_, without) = with_fault(&mut tester, Fault::default(), offer, observer)?;
        let (_, with) = with_fault(&mut tester, slow, offer, observer)?;
        grown.push(median(&with) - median(&without));
    }
    let found = statistics::median(&grown).unwrap_or(f64::NAN);
    Ok(Row::of(DELAY, DELAY_NS as f64, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Kept(Vec<Row>);

    impl Observer for Kept {
        fn trial(&mut self, _: &Report<'_>) -> std::io::Result<()> {
            Ok(())
        }

        fn row(&mut self, row: &Row) -> std::io::Result<()> {
            self.0.push(row.clone());
            Ok(())
        }
    }

    #[test]
    fn a_disturbed_row_says_so_and_takes_no_other_away() {
        let (mut rows, mut kept) = (Vec::new(), Kept::default());
        let found = [
            Ok(Row::of(DELAY, 20_000.0, 19_000.0)),
            Err(JobError::Disturbed(10)),
            Ok(Row::of(DELAY, 20_000.0, 30_000.0)),
        ];
        for found in found {
            keep(&mut rows, DELAY, found, &mut kept).expect("goes on");
        }
        let holds: Vec<bool> = rows.iter().map(Row::holds).collect();
        assert_eq!(holds, [true, false, false]);
        let disturbed: Vec<bool> = rows.iter().map(|row| row.disturbed.is_some()).collect();
        assert_eq!(disturbed, [false, true, false]);
        assert_eq!(kept.0.len(), 3, "each row is told as soon as it is known");
        let broken = Err(JobError::Tester(crate::tester::TesterError::Interrupted));
        let ended = keep(&mut rows, DELAY, broken, &mut kept).expect_err("an end");
        assert!(ended.is_interrupt());
        assert_eq!(rows.len(), 3);
    }
}
