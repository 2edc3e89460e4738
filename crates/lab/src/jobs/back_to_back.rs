//! Back-to-back frames (RFC 2544 section 26.4 with RFC 9004): the longest burst at the sender's full rate of which the DUT
//! loses no frame, searched several times, and the buffer that it implies.
//!
//! On the namespace bed the buffer is the virtual NIC's ring, which the user chose: there this is a
//! calibration of the meter, not a finding.

use super::sizes;
use super::throughput::{Overloaded, ThroughputPlan, after_overload};
use super::{JobError, Judged, Phase, ResultObserver, Trials, UnderTest};
use crate::doubt::{self, Doubt, Weight};
use crate::line::{doubts, whole_fps};
use crate::search::measurer::Measurer;
use mpps_method::{Offer, Rate, Span, Trial, Verdict, statistics};
use mpps_record::{BurstLine, BurstSearch, BurstSum};

/// Bursts of one length at most: RFC 9004 section 5.2 asks that loss be verified by repeating.
const BURSTS: u32 = 3;
/// Disturbed bursts in a row before giving up.
const VOID_AT_MOST: u32 = 10;
/// While bursts pass, the next one is so many times as long.
const GROWTH: u64 = 8;
/// The search ends this close, as a fraction.
const RESOLUTION: f64 = 0.005;
/// Frames of the shortest burst tried.
const SHORTEST: u64 = 16;
/// A search after the first begins within this factor of what that found.
const NEAR: u64 = 2;

/// What to measure; the bed is raised by then.
#[derive(Clone, Debug)]
pub struct BurstPlan {
    /// Everything but the bursts. Of its search only the length of a trial is used: the longest burst lasts as long.
    pub measurement: ThroughputPlan,
    /// Searches for each size (RFC 2544 asks for 50).
    pub repeats: u32,
}

/// Measures one frame size after the other, and tells each; returns what ended the run, or a size.
pub fn measure(
    on: UnderTest<'_>,
    plan: &BurstPlan,
    observer: &mut dyn ResultObserver<BurstLine>,
) -> Option<JobError> {
    let measurement = &plan.measurement;
    sizes::fill_each(measurement, observer, |frames, line, trials| {
        let searches = |at: Overloaded<'_, '_>| search_size(at, plan, line);
        after_overload(on, measurement, frames, trials, searches)
    })
}

/// The searches of one size. The first is offered however little time there is.
fn search_size(
    at: Overloaded<'_, '_>,
    plan: &BurstPlan,
    line: &mut BurstLine,
) -> Result<(), JobError> {
    let Overloaded {
        measurer,
        saturated,
        deadline,
        trials,
    } = at;
    let around = measurer.surroundings();
    let forwarding = (saturated.at_overload()).map(|most| Rate::from_fps(most.forwarding.middle));
    line.receiver = around.receiver.map(Into::into);
    line.max_forwarding_fps = forwarding.map(whole_fps);
    let own = !around.closed && around.simulated.is_none();
    let known = own && around.ring_frames > 0;
    line.own_ring_frames = known.then_some(around.ring_frames);
    line.doubts = doubts(&doubt::overload_doubts(&around));
    // A trial of the plan bounds what the receiver can tell apart.
    let longest = plan.measurement.search.final_trial();
    let whole = (SHORTEST, saturated.ceiling.frames_in(longest));
    let (mut range, mut failed) = (whole, None);
    let mut searches = Vec::new();
    for _ in 0..plan.repeats {
        if !searches.is_empty() && !deadline.leaves(longest) {
            let (ended, asked) = (searches.len(), plan.repeats);
            line.why = Some(format!(
                "the budget was spent after {ended} of {asked} searches"
            ));
            break;
        }
        let near = range != whole;
        let mut found = longest_burst(measurer, range, RESOLUTION, trials);
        if near && found.as_ref().is_err_and(JobError::is_disturbance) {
            found = longest_burst(measurer, whole, RESOLUTION, trials);
        }
        match found {
            Ok(found) => {
                range = (
                    found.frames / NEAR,
                    (found.lossy_frames * NEAR).min(whole.1),
                );
                line.searches.push(search(&found));
                searches.push(found);
                line.all = sum(&searches, forwarding);
            }
            Err(JobError::NoBurst { seen, frames }) if seen == ALL_PASSED => {
                line.all_passed_frames = Some(frames);
                break;
            }
            Err(error) if error.is_disturbance() => {
                line.why = Some(format!("a search did not end: {error}"));
                failed = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    let slow = forwarding.and_then(|most| no_overload(&searches, most));
    line.doubts.extend(doubts(slow.as_slice()));
    match failed {
        Some(error) if searches.is_empty() && line.all_passed_frames.is_none() => Err(error),
        _ => Ok(()),
    }
}

/// Bursts no faster than the router forwards fill no buffer.
fn no_overload(searches: &[BackToBack], most: Rate) -> Option<Doubt> {
    let slow = searches
        .iter()
        .filter(|found| found.burst_rate.fps() <= most.fps());
    let slowest = slow
        .clone()
        .min_by(|one, other| one.burst_rate.fps().total_cmp(&other.burst_rate.fps()))?;
    Some(Doubt {
        name: "burst-no-overload",
        weight: Weight::Shifted(1),
        seen: format!(
            "{} of {} bursts were sent no faster than the router forwards: at {}, and it forwards {most}",
            slow.count(),
            searches.len(),
            slowest.burst_rate
        ),
        why: "Such a burst fills no buffer, and its length is that of the trial or of a stall. The average contains it.",
        next: "Run it again when the machine is quieter: the sender was slow, or the router was in a faster state.",
    })
}

fn search(found: &BackToBack) -> BurstSearch {
    BurstSearch {
        longest_frames: found.frames,
        lossy_frames: found.lossy_frames,
        burst_fps: whole_fps(found.burst_rate),
        buffer_frames: found.buffer_frames,
    }
}

/// All searches together (RFC 9004 section 5.4). The buffer time is corrected by what the DUT forwarded meanwhile.
/// `None` where no search ended.
fn sum(searches: &[BackToBack], forwarding: Option<Rate>) -> Option<BurstSum> {
    let lengths: Vec<f64> = searches.iter().map(|one| one.frames as f64).collect();
    let rates: Vec<f64> = searches.iter().map(|one| one.burst_rate.fps()).collect();
    let (average, rate) = statistics::mean(&lengths).zip(statistics::mean(&rates))?;
    let squares: f64 = lengths.iter().map(|one| (one - average).powi(2)).sum();
    let others = lengths.len() - 1;
    let frames = searches.iter().map(|one| one.frames);
    let implied = average / rate.max(1.0);
    let corrected = |forwarding: Rate| implied * (1.0 - (forwarding.fps() / rate).min(1.0));
    let ns = |seconds: f64| Span::from_secs_f64(seconds).as_nanos();
    Some(BurstSum {
        average_frames: average,
        least_frames: frames.clone().min()?,
        most_frames: frames.max()?,
        deviation_frames: (others > 0).then(|| (squares / others as f64).sqrt()),
        burst_fps: rate.round() as u64,
        implied_buffer_ns: ns(implied),
        corrected_buffer_ns: forwarding.map(corrected).map(ns),
    })
}

/// Why there is no longest burst: it is not the DUT that ends it.
const ALL_PASSED: &str = "no burst was too long";

/// The longest burst, and the buffer it implies.
#[derive(Clone, Debug)]
pub struct BackToBack {
    /// Frames of the longest burst without loss.
    pub frames: u64,
    /// Frames of the shortest burst with loss.
    pub lossy_frames: u64,
    /// Rate within the burst.
    pub burst_rate: Rate,
    /// The burst less what was forwarded while it lasted, frames (the model of RFC 9004 section 3).
    pub buffer_frames: f64,
}

/// Searches between `shortest` (must pass) and `longest` frames, to `resolution` (a fraction).
///
/// # Errors
/// The tester or the record failed; every burst passes or fails; too many disturbed trials.
pub fn longest_burst(
    measurer: &mut dyn Measurer,
    (shortest, longest): (u64, u64),
    resolution: f64,
    trials: &mut Trials<'_>,
) -> Result<BackToBack, JobError> {
    let (mut passed, mut failed) = (None, None);
    // From below: the machine disturbs long bursts more often.
    let mut frames = shortest;
    loop {
        // Too long is what loses every time: once may be the machine's doing.
        let (mut trial, mut verdict) = burst(measurer, frames, trials)?;
        for _ in 1..BURSTS {
            if verdict == Verdict::Lossless {
                break;
            }
            (trial, verdict) = burst(measurer, frames, trials)?;
        }
        match verdict {
            Verdict::Lossless => passed = Some((frames, trial)),
            _ => failed = Some((frames, trial)),
        }
        frames = match (&passed, &failed) {
            (None, _) => {
                return Err(JobError::NoBurst {
                    seen: "even the shortest burst lost frames",
                    frames: shortest,
                });
            }
            (Some((low, _)), None) if *low < longest => (low * GROWTH).min(longest),
            (Some(_), None) => {
                return Err(JobError::NoBurst {
                    seen: ALL_PASSED,
                    frames: longest,
                });
            }
            (Some((low, _)), Some((high, _)))
                if (high - low) as f64 > resolution * *high as f64 =>
            {
                between(*low, *high)
            }
            (Some((low, best)), Some((high, _))) => return Ok(conclude(*low, *high, best)),
        };
    }
}

/// By their ratio while that is large.
fn between(low: u64, high: u64) -> u64 {
    if high / low.max(1) < 4 {
        return low.midpoint(high);
    }
    (low as f64 * high as f64).sqrt() as u64
}

/// One burst that counts: a disturbed one is repeated.
fn burst(
    measurer: &mut dyn Measurer,
    frames: u64,
    trials: &mut Trials<'_>,
) -> Result<(Trial, Verdict), JobError> {
    for _ in 0..VOID_AT_MOST {
        let trial = measurer.burst(frames)?;
        let offer = Offer::new(
            Rate::from_frames(frames, trial.duration).unwrap_or_default(),
            trial.duration,
        );
        let mut rules = measurer.rules(&offer);
        // Steal comes in ticks of 10 ms, a burst lasts less: only stalls can tell here. A burst in two parts is none.
        rules.steal_max = f64::INFINITY;
        rules.disturbed_max = 0.0;
        let sent = measurer.frames();
        let Judged { trial, verdict, .. } =
            trials.judged(Phase::Burst, sent, offer, &rules, trial)?;
        if verdict.counts() {
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
    // What the DUT forwards while the burst lasts, from its busy time.
    let service = best.ns_per_frame().map_or(0.0, |ns| 1e9 / ns);
    let forwarded = (service / burst_rate.fps().max(1.0)).min(1.0);
    BackToBack {
        frames,
        lossy_frames,
        burst_rate,
        buffer_frames: frames as f64 * (1.0 - forwarded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(frames: u64) -> BackToBack {
        BackToBack {
            frames,
            lossy_frames: frames + 10,
            burst_rate: Rate::from_fps(2e6),
            buffer_frames: frames as f64 / 2.0,
        }
    }

    #[test]
    fn the_buffer_time_is_that_of_rfc_9004() {
        let lengths = [7_000, 8_000, 9_000];
        let all = sum(&lengths.map(found), Some(Rate::from_fps(1.5e6))).expect("searches");
        assert_eq!((all.least_frames, all.most_frames), (7_000, 9_000));
        assert_eq!(all.average_frames, 8_000.0);
        assert_eq!(all.deviation_frames, Some(1_000.0));
        assert_eq!(all.implied_buffer_ns, 4_000_000);
        assert_eq!(all.corrected_buffer_ns, Some(1_000_000));
    }

    #[test]
    fn a_burst_that_is_no_overload_is_a_doubt() {
        let slow = BackToBack {
            burst_rate: Rate::from_fps(1.4e6),
            ..found(60_000)
        };
        let most = Rate::from_fps(1.5e6);
        assert!(no_overload(&[found(7_000)], most).is_none());
        let doubt = no_overload(&[found(7_000), slow], most).expect("a doubt");
        assert_eq!(
            doubt.seen,
            "1 of 2 bursts were sent no faster than the router forwards: at 1.400 Mfps, and it forwards 1.500 Mfps"
        );
    }

    #[test]
    fn a_search_closes_in_from_both_sides() {
        assert_eq!(between(16, 1 << 20), 4_096);
        assert_eq!(between(4_096, 8_192), 6_144);
        let mut ends = (1, 750_000);
        for _ in 0..40 {
            let at = between(ends.0, ends.1);
            let end = if at < 11_936 {
                &mut ends.0
            } else {
                &mut ends.1
            };
            *end = at;
        }
        assert_eq!(ends, (11_935, 11_936));
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        assert_eq!(sum(&[], None), None);
        let one = sum(&[found(100)], None).expect("one");
        assert_eq!(
            (one.deviation_frames, one.corrected_buffer_ns),
            (None, None)
        );
    }
}
