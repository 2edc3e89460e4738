//! RFC 2544 26.4: the longest burst at the sender's full rate of which the DUT loses no frame, and with
//! RFC 9004 what that says of the DUT's buffer.
//!
//! On the namespace bed the buffer is the virtual NIC's ring, which the user chose: there this is a
//! calibration of the meter, not a finding.

use super::{JobError, Judged, Phase, Trials};
use crate::tester::Tester;
use crate::trial;
use crate::trial::rules;
use mpps_method::{Offer, Rate, Trial, Verdict};

/// Bursts of one length at most (RFC 2544 asks for 50 and their average; we take any of these).
const BURSTS: u32 = 3;
/// Disturbed bursts in a row before giving up.
const VOID_AT_MOST: u32 = 10;

/// The longest burst, and the buffer it implies.
#[derive(Clone, Debug)]
pub struct BackToBack {
    /// Frames of the longest burst without loss.
    pub frames: u64,
    /// Frames of the shortest burst with loss.
    pub lossy_frames: u64,
    /// Rate within the burst.
    pub burst_rate: Rate,
    /// What the DUT forwards while the burst lasts (from its busy time).
    pub service_rate: Rate,
    /// RFC 9004 section 5.5: the burst less what was forwarded while it lasted, frames.
    pub buffer_frames: f64,
}

/// Searches between `shortest` (must pass) and `longest` frames, to `resolution` (a fraction).
///
/// # Errors
/// The tester or the record failed; every burst passes or fails; too many disturbed trials.
pub fn measure(
    tester: &mut Tester<'_>,
    (shortest, longest): (u64, u64),
    resolution: f64,
    trials: &mut Trials<'_>,
) -> Result<BackToBack, JobError> {
    let (mut passed, mut failed) = (None, None);
    let mut frames = longest;
    loop {
        // Too long is what loses every time: once may be the machine's doing.
        let (mut trial, mut verdict) = burst(tester, frames, trials)?;
        for _ in 1..BURSTS {
            if verdict == Verdict::Lossless {
                break;
            }
            (trial, verdict) = burst(tester, frames, trials)?;
        }
        match verdict {
            Verdict::Lossless => passed = Some((frames, trial)),
            _ => failed = Some((frames, trial)),
        }
        frames = match (&passed, &failed) {
            (None, Some(_)) if frames > shortest => shortest,
            (None, _) => {
                return Err(JobError::NoBurst {
                    seen: "even the shortest burst lost frames",
                    frames: shortest,
                });
            }
            (Some(_), None) => {
                return Err(JobError::NoBurst {
                    seen: "no burst was too long",
                    frames: longest,
                });
            }
            (Some((low, _)), Some((high, _)))
                if (high - low) as f64 > resolution * *high as f64 =>
            {
                low.midpoint(*high)
            }
            (Some((low, best)), Some((high, _))) => return Ok(conclude(*low, *high, best)),
        };
    }
}

/// One burst that counts: a disturbed one is repeated.
fn burst(
    tester: &mut Tester<'_>,
    frames: u64,
    trials: &mut Trials<'_>,
) -> Result<(Trial, Verdict), JobError> {
    for _ in 0..VOID_AT_MOST {
        let trial = trial::run_burst(tester, frames)?;
        let offer = Offer {
            rate: Rate::from_frames(frames, trial.duration).unwrap_or_default(),
            duration: trial.duration,
        };
        let mut rules = rules::of(tester, &offer);
        // Steal comes in ticks of 10 ms, a burst lasts less: only stalls can tell here. A burst in two parts is none.
        rules.steal_max = f64::INFINITY;
        rules.disturbed_max = 0.0;
        let sent = &tester.traffic.frames;
        let Judged { trial, verdict, .. } =
            trials.judged(Phase::Burst, sent, offer, &rules, trial)?;
        if matches!(verdict, Verdict::Lossless | Verdict::Lossy { .. }) {
            return Ok((trial, verdict));
        }
    }
    Err(JobError::NoBurst {
        seen: "too many bursts in a row were disturbed",
        frames,
    })
}

fn conclude(frames: u64, lossy_frames: u64, best: &Trial) -> BackToBack {
    let burst_rate = Rate::from_frames(frames, best.duration).unwrap_or_default();
    let service = best.ns_per_frame().map_or(0.0, |ns| 1e9 / ns);
    let forwarded = (service / burst_rate.fps().max(1.0)).min(1.0);
    BackToBack {
        frames,
        lossy_frames,
        burst_rate,
        service_rate: Rate::from_fps(service),
        buffer_frames: frames as f64 * (1.0 - forwarded),
    }
}
