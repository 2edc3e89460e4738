//! What jobs of several frame sizes share: a size that fails takes no other away, and a void trial is repeated.

use super::{JobError, Judged, ResultObserver, Trials, keep};
use mpps_method::{FrameSpec, Span, Verdict};

/// Measures one frame size after the other and tells each result, as far as it came. Returns what ended the run, or else
/// a size.
pub(super) fn each_size<R>(
    sizes: &[FrameSpec],
    budget: Option<Span>,
    observer: &mut dyn ResultObserver<R>,
    mut measure: impl FnMut(&FrameSpec, &mut Trials<'_>) -> (R, Option<JobError>),
) -> Option<JobError> {
    let (mut kept, mut told) = (None, 0);
    for frames in sizes {
        observer.size_begins(budget);
        let mut trials = Trials::after(told, &mut *observer);
        let (result, error) = measure(frames, &mut trials);
        told = trials.told();
        let unwritten = observer.result(&result).err().map(JobError::Record);
        for error in error.into_iter().chain(unwritten) {
            if keep(&mut kept, error).is_break() {
                return kept;
            }
        }
    }
    kept
}

/// A trial, again while the machine disturbs it, so often at most. Loss is no reason to repeat. Also how many void ones
/// came before it.
pub(super) fn repeat_void(
    repeats: u32,
    mut trial: impl FnMut() -> Result<Judged, JobError>,
) -> Result<(Judged, u32), JobError> {
    let mut void = 0;
    loop {
        let judged = trial()?;
        if !matches!(judged.verdict, Verdict::Void(_)) || void == repeats {
            return Ok((judged, void));
        }
        void += 1;
    }
}

/// Whether a trial says something of the DUT.
pub(super) const fn counts(judged: &Judged) -> bool {
    matches!(judged.verdict, Verdict::Lossless | Verdict::Lossy { .. })
}
