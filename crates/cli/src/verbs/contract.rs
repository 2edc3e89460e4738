//! What a verb that measures supplies; all else is the same for every one of them.

use crate::campaign::CellBed;
use crate::plan::Planned;
use crate::record::Job;
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::bed::{Bed, BedPlan};
use mpps_lab::jobs::JobError;
pub use mpps_lab::jobs::UnderTest;
use mpps_lab::jobs::fib_scale::Point;
use mpps_lab::traffic::Traffic;
use mpps_method::Span;
use mpps_record::{self as record, ResultLine};

/// What is a verb's own.
pub trait Measure {
    /// What was asked for, as the record's first line has it.
    fn job(&self) -> Job<'_>;

    /// What `--dry-run` prints behind the job's plan.
    fn more(&self) -> String {
        String::new()
    }

    /// What is sent; destinations are drawn into it.
    fn traffic(&mut self) -> &mut Traffic;

    /// Whether the bed will do.
    fn check_bed(&self, _bed: &BedPlan) -> Result<()> {
        Ok(())
    }

    /// Completes the plan with what only the bed can tell.
    ///
    /// # Errors
    /// The bed could not be asked.
    fn resolve(&mut self, _bed: &Bed) -> Result<()> {
        Ok(())
    }

    /// Runs the job. Each result goes to the recorder as soon as it is known.
    ///
    /// # Errors
    /// What ended the job early, or a part of it.
    fn run(&self, on: UnderTest<'_>, recorder: &mut Recorder) -> Result<()>;

    /// Results that are shown and not recorded: of what was not begun, because of `why`.
    fn not_begun(&self, _run: &record::Run, _why: &str) -> Vec<ResultLine> {
        Vec::new()
    }

    /// The points of `mpps fib-scale`.
    fn points(&self) -> &[Point] {
        &[]
    }
}

/// A verb that measures one frame size after the other: its plan, the job, and how it is run. That returns what ended it
/// early, or a size.
macro_rules! measure_sizes {
    ($plan:ty, $job:expr, $run:expr) => {
        impl $crate::verbs::contract::Measure for $plan {
            fn job(&self) -> $crate::record::Job<'_> {
                $job(self)
            }

            fn traffic(&mut self) -> &mut mpps_lab::traffic::Traffic {
                &mut self.measurement.traffic
            }

            fn resolve(&mut self, bed: &mpps_lab::bed::Bed) -> anyhow::Result<()> {
                self.measurement = self.measurement.on_bed(bed)?;
                Ok(())
            }

            fn run(
                &self,
                on: $crate::verbs::contract::UnderTest<'_>,
                recorder: &mut $crate::recorder::Recorder,
            ) -> anyhow::Result<()> {
                let run: $crate::verbs::contract::Run<$plan> = $run;
                $crate::verbs::contract::ended(run(self, on, recorder)?)
            }
        }
    };
}
pub(super) use measure_sizes;

/// How such a job is run.
pub type Run<P> = fn(&P, UnderTest<'_>, &mut Recorder) -> Result<Option<JobError>>;

/// What a cell of a campaign plans: its beds, what is sent there, and about how long it measures.
pub type CellPlan = (Vec<CellBed>, Span);

/// A cell on one bed, whose frame sizes take so long each.
pub fn cell_of(plan: &Planned<impl Measure>, each: Span) -> CellPlan {
    let on = CellBed::new(plan, &plan.offer.job());
    let time = each.times(on.sizes.len() as u64);
    (vec![on], time)
}

/// How a job ended.
///
/// # Errors
/// What ended it early, or a part of it.
pub fn ended(error: Option<JobError>) -> Result<()> {
    error.map_or(Ok(()), |error| Err(error.into()))
}
