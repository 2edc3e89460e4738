//! The meter against planted faults (design 4.9): a program apart from sender and receiver drops,
//! doubles, swaps, polices and holds back frames on the DUT's path and keeps its own count. Each row
//! says what was planted, what the meter found, and how far apart they may be.

use super::{JobError, Observer, Phase, Report, back_to_back, throughput};
use crate::bed::Bed;
use crate::tester::{Fault, PlantedFault, ReceiverMode, Tester};
use crate::traffic::Traffic;
use crate::{rules, trial};
use mpps_method::statistics;
use mpps_method::{Accept, Ceiling, Goal, Offer, Outcome, Rate, Resolution, Span, Trial, Verdict};

/// One planted fault and what the meter made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was planted.
    pub fault: &'static str,
    /// Its size by the planting program's own count, in `unit`.
    pub planted: f64,
    /// Its size as the meter found it, in `unit`.
    pub found: f64,
    /// Largest difference allowed, in `unit`.
    pub tolerance: f64,
    /// Unit of all three.
    pub unit: &'static str,
}

impl Row {
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
/// The ring may be off by this share.
const RING_TOLERANCE: f64 = 0.05;
const FRAMES_MAX: u64 = 1 << 21;
/// A disturbed trial is repeated so often.
const REPEATS: u32 = 10;

/// Calibrates the meter on this bed.
///
/// # Errors
/// The tester or the record failed, or the machine disturbed every trial.
pub fn calibrate(
    bed: &Bed,
    traffic: &Traffic,
    observer: &mut dyn Observer,
) -> Result<Vec<Row>, JobError> {
    let mut tester = Tester::raise(bed, traffic, FRAMES_MAX, ReceiverMode::Polled)?;
    crate::probe::probe(&mut tester)?;
    let mut rows = counted(&mut tester, observer)?;
    rows.push(policed(&mut tester, observer)?);
    rows.push(ring(&mut tester, observer)?);
    drop(tester);
    rows.push(delayed(bed, traffic, observer)?);
    Ok(rows)
}

/// Loss, duplicates and reorderings: exact to the frame.
fn counted(tester: &mut Tester<'_>, observer: &mut dyn Observer) -> Result<Vec<Row>, JobError> {
    let offer = Offer {
        rate: Rate::from_fps(COUNT_FPS),
        duration: COUNT_TIME,
    };
    let mut rows = Vec::new();
    let mut row = |fault, planted: u64, found: u64| {
        rows.push(Row {
            fault,
            planted: planted as f64,
            found: found as f64,
            tolerance: 0.0,
            unit: "frames",
        });
    };
    let (planted, trial) = with_fault(
        tester,
        Fault {
            drop_every: DROP_EVERY,
            ..Fault::default()
        },
        offer,
        observer,
    )?;
    row(
        "1 in 1000 frames lost",
        planted.dropped,
        trial.counts().lost,
    );
    let fault = Fault {
        duplicate_every: DUPLICATE_EVERY,
        ..Fault::default()
    };
    let (planted, trial) = with_fault(tester, fault, offer, observer)?;
    row(
        "1 in 500 frames doubled",
        planted.duplicated,
        trial.counts().duplicated,
    );
    let (planted, trial) = with_fault(
        tester,
        Fault {
            swap_every: SWAP_EVERY,
            ..Fault::default()
        },
        offer,
        observer,
    )?;
    row(
        "1 in 700 frames reordered",
        planted.swapped,
        trial.counts().reordered,
    );
    Ok(rows)
}

/// One undisturbed trial with the fault in place.
fn with_fault(
    tester: &mut Tester<'_>,
    fault: Fault,
    offer: Offer,
    observer: &mut dyn Observer,
) -> Result<(mpps_ebpf::instruments::fault::Planted, Trial), JobError> {
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
    let verdict = trial.judge(&rules::of(tester.bed, &offer));
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
    Ok(Row {
        fault: "a policer",
        planted: POLICE_FPS as f64,
        found,
        tolerance: POLICE_STEP,
        unit: "frames/s",
    })
}

/// The longest burst through a slow DUT implies the ring that the user chose.
fn ring(tester: &mut Tester<'_>, observer: &mut dyn Observer) -> Result<Row, JobError> {
    let _slow = PlantedFault::plant(
        Fault {
            delay_ns: DELAY_NS,
            ..Fault::default()
        },
        tester.bed,
        tester.ways()[0],
    )?;
    let ring = u64::from(rules::ring(tester.bed));
    let burst = back_to_back::measure(tester, (ring / 4, ring * 2), 0.005, observer)?;
    let planted = ring as f64;
    Ok(Row {
        fault: "the receive ring",
        planted,
        found: burst.buffer_frames,
        tolerance: planted * RING_TOLERANCE,
        unit: "frames",
    })
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
    Ok(Row {
        fault: "a delay",
        planted: DELAY_NS as f64,
        found: statistics::median(&grown).unwrap_or(f64::NAN),
        tolerance: LATENCY_TOLERANCE_NS,
        unit: "ns",
    })
}
