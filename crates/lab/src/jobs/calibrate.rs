//! The meter against planted faults: a program apart from sender and receiver drops, doubles, swaps,
//! polices and holds back frames on the DUT's path and keeps its own count. Each row says what was
//! planted, what the meter found, and how far apart they may be.

mod cost;
mod counted;
mod delay;
mod limits;

use super::{JobError, Judged, Phase, ResultObserver, Trials};
use crate::bed::Bed;
use crate::search::measurer::Measurer;
use crate::tester::{Fault, NoExit, PlantedFault, ReceiverMode, Tester, TesterError};
use crate::traffic::Traffic;
use crate::trial;
use mpps_ebpf::instruments::fault::Planted;
use mpps_method::{Offer, Trial, Verdict};
use mpps_record::CalibrationLine;

const FRAMES_MAX: u64 = 1 << 21;
/// A disturbed trial is repeated so often.
const REPEATS: u32 = 10;

/// A fault's name, how far planted and found may be apart, and the unit of both.
#[derive(Clone, Copy)]
struct Ruler(&'static str, f64, &'static str);

impl Ruler {
    /// The row of a fault of the size `planted`, which the meter found to be `found`; NaN where it found nothing.
    fn row(self, planted: f64, found: f64) -> CalibrationLine {
        let Self(fault, tolerance, unit) = self;
        CalibrationLine::new(fault, unit, tolerance, planted, found)
    }
}

/// What is planted; a row each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Frames that the DUT loses.
    Loss,
    /// Frames that the DUT sends twice.
    Duplicates,
    /// Frames that the DUT sends behind a later one.
    Reordering,
    /// A highest rate.
    Policer,
    /// A DUT so slow that a burst fills its receive ring.
    Ring,
    /// Time that each frame costs on the router's path.
    Cost {
        /// Of trials at overload, with a short spin and a long one; fewer where they agree.
        pairs: u32,
    },
    /// Time that each frame is held back.
    Delay {
        /// Of trials, without and with the delay; the median difference counts.
        pairs: u32,
    },
}

impl FaultKind {
    /// A cost, with as many pairs as a restless machine needs.
    pub const COST: Self = Self::Cost { pairs: 24 };
    /// A delay, the same.
    pub const DELAY: Self = Self::Delay { pairs: 7 };
    /// All of them, in the order of the rows.
    pub const ALL: [Self; 7] = [
        Self::Loss,
        Self::Duplicates,
        Self::Reordering,
        Self::Policer,
        Self::Ring,
        Self::COST,
        Self::DELAY,
    ];

    fn ruler(self, bed: &Bed, traffic: &Traffic) -> Ruler {
        match self {
            Self::Loss => counted::LOSS.ruler,
            Self::Duplicates => counted::DUPLICATES.ruler,
            Self::Reordering => counted::REORDERING.ruler,
            Self::Policer => limits::POLICER,
            Self::Ring => limits::ring_ruler(bed, traffic),
            Self::Cost { .. } => cost::COST,
            Self::Delay { .. } => delay::DELAY,
        }
    }

    fn found(
        self,
        raised: &mut Raised<'_>,
        trials: &mut Trials<'_>,
    ) -> Result<CalibrationLine, JobError> {
        match self {
            Self::Loss => counted::count(raised.tester()?, &counted::LOSS, trials),
            Self::Duplicates => counted::count(raised.tester()?, &counted::DUPLICATES, trials),
            // Each destination is a flow of its own, and order is that of one flow.
            Self::Reordering if raised.traffic.destinations.is_some() => {
                raised.tester = None;
                let own_address = Traffic {
                    destinations: None,
                    ..raised.traffic.clone()
                };
                let mut tester = raise(raised.bed, &own_address)?;
                counted::count(&mut tester, &counted::REORDERING, trials)
            }
            Self::Reordering => counted::count(raised.tester()?, &counted::REORDERING, trials),
            Self::Policer => limits::policed(raised.tester()?, trials),
            Self::Ring => limits::ring(raised.tester()?, trials),
            Self::Cost { pairs } => cost::costing(raised.tester()?, pairs, trials),
            Self::Delay { pairs } => {
                raised.tester = None;
                delay::delayed(raised.bed, raised.traffic, pairs, trials)
            }
        }
    }
}

/// Where faults are planted.
struct Raised<'a> {
    bed: &'a Bed,
    traffic: &'a Traffic,
    /// Of all rows but a delay's, which wants one of its own.
    tester: Option<Tester<'a>>,
}

impl<'a> Raised<'a> {
    /// Raised for the first row that asks.
    fn tester(&mut self) -> Result<&mut Tester<'a>, JobError> {
        let tester = match self.tester.take() {
            Some(tester) => tester,
            None => raise(self.bed, self.traffic)?,
        };
        Ok(self.tester.insert(tester))
    }
}

fn raise<'a>(bed: &'a Bed, traffic: &Traffic) -> Result<Tester<'a>, JobError> {
    let raised = Tester::raise(bed, traffic, FRAMES_MAX, ReceiverMode::Polled);
    let mut tester = raised.map_err(|error| match error {
        // A receiver at the port helps no fault: it stands in the path too.
        TesterError::NoExit(NoExit::Kernel) => TesterError::NoHook,
        error => error,
    })?;
    trial::probe::probe(&mut tester)?;
    Ok(tester)
}

/// Calibrates the meter on this bed, by these faults. A fault that the machine disturbed is a row that says so; each row
/// goes to the observer as soon as it is known. Returns what ended it early.
#[must_use]
pub fn calibrate(
    bed: &Bed,
    traffic: &Traffic,
    faults: &[FaultKind],
    observer: &mut dyn ResultObserver<CalibrationLine>,
) -> Option<JobError> {
    let mut raised = Raised {
        bed,
        traffic,
        tester: None,
    };
    let mut next = |fault: FaultKind| {
        let found = fault.found(&mut raised, &mut Trials::new(&mut *observer));
        keep(fault.ruler(bed, traffic), found, observer)
    };
    faults.iter().try_for_each(|&fault| next(fault)).err()
}

/// One fault after the other: what disturbed this one takes no other's row away.
fn keep(
    ruler: Ruler,
    found: Result<CalibrationLine, JobError>,
    observer: &mut dyn ResultObserver<CalibrationLine>,
) -> Result<(), JobError> {
    let row = match found {
        Err(why) if why.is_disturbance() => CalibrationLine {
            disturbed: Some(why.to_string()),
            ..ruler.row(f64::NAN, f64::NAN)
        },
        found => found?,
    };
    observer.result(&row).map_err(JobError::Record)
}

/// One undisturbed trial with the fault in place.
fn with_fault(
    tester: &mut Tester<'_>,
    fault: Fault,
    offer: Offer,
    trials: &mut Trials<'_>,
) -> Result<(Planted, Trial), JobError> {
    let mut last = None;
    for _ in 0..REPEATS {
        let planted = PlantedFault::plant(fault, tester.bed, tester.ways()[0])?;
        let trial = trial::run(tester, &offer)?;
        let Judged { trial, verdict, .. } =
            tester.judge(Phase::Calibration, offer, trial, trials)?;
        if verdict.counts() {
            return Ok((planted.planted()?, trial));
        }
        last = Some(verdict);
    }
    Err(match last {
        None | Some(Verdict::Void(_)) => JobError::AllVoid { trials: REPEATS },
        Some(last) => JobError::NoEvidence {
            trials: REPEATS,
            last,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::delay::DELAY;
    use super::*;
    use crate::jobs::{Observer, Report};

    #[derive(Default)]
    struct Kept(Vec<CalibrationLine>);

    impl Observer for Kept {
        fn trial(&mut self, _: &Report<'_>) -> std::io::Result<()> {
            Ok(())
        }

        fn last_number(&self) -> u32 {
            0
        }
    }

    impl ResultObserver<CalibrationLine> for Kept {
        fn result(&mut self, row: &CalibrationLine) -> std::io::Result<()> {
            self.0.push(row.clone());
            Ok(())
        }
    }

    #[test]
    fn a_disturbed_row_says_so_and_takes_no_other_away() {
        let mut kept = Kept::default();
        let found = [
            Ok(DELAY.row(20_000.0, 19_000.0)),
            Err(JobError::AllVoid { trials: 10 }),
            Ok(DELAY.row(20_000.0, 30_000.0)),
        ];
        for found in found {
            keep(DELAY, found, &mut kept).expect("goes on");
        }
        let holds: Vec<bool> = kept.0.iter().map(|row| row.holds).collect();
        assert_eq!(holds, [true, false, false]);
        let disturbed: Vec<bool> = kept.0.iter().map(|row| row.disturbed.is_some()).collect();
        assert_eq!(disturbed, [false, true, false]);
        let broken = Err(JobError::Tester(TesterError::Interrupted));
        let ended = keep(DELAY, broken, &mut kept).expect_err("an end");
        assert!(ended.is_interrupt());
        assert_eq!(kept.0.len(), 3);
    }
}
