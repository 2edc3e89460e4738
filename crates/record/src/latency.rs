//! Latency of `mpps latency`: how long frames took at each load, through the router and through a wire in its place.

use crate::Histogram;
use crate::other::Other;
use crate::result::Doubt;
use crate::words::{ReceiverPlace, Verdict};
use serde::{Deserialize, Serialize};

/// A percentile stands on so many frames that took longer, at least.
pub const FRAMES_ABOVE_MIN: u64 = 10;
/// The percentiles of a line.
pub const PERCENTS: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// One frame size (RFC 2544 section 26.2, RFC 8219 section 7).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyLine {
    /// Frame size in octets, FCS included, or the name of a mix.
    pub frame: String,
    /// Where the tester received.
    pub receiver: Option<ReceiverPlace>,
    /// What shares of loads are of; null where no load is a share, or where it was not found.
    pub throughput_fps: Option<u64>,
    /// Whether the user gave it, so that nothing was searched.
    pub throughput_given: bool,
    /// Whether idle CPUs stayed awake, as the kernel's count of their sleeps shows.
    #[serde(default)]
    pub cpus_awake: bool,
    /// As far as they were offered.
    pub loads: Vec<LatencyLoad>,
    /// What cut it short.
    pub why: Option<String>,
    /// What to doubt.
    pub doubts: Vec<Doubt>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub other: Other,
}

impl LatencyLine {
    /// The load that was measured in place of this one, which the tester could not offer.
    #[must_use]
    pub fn in_place_of(&self, load: &LatencyLoad) -> Option<&LatencyLoad> {
        let is_it = |other: &&LatencyLoad| {
            other.instead_of_fps == Some(load.load_fps) && !other.router.trials.is_empty()
        };
        self.loads.iter().find(is_it)
    }
}

/// One load. The bed's own latency is beside the router's, and is not subtracted from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyLoad {
    /// Of the throughput; null where the load was given in frames/s.
    pub load_share: Option<f64>,
    /// The load to be offered.
    pub load_fps: u64,
    /// A load before this one that the tester could not offer: this one is the highest that it could. Else null.
    pub instead_of_fps: Option<u64>,
    /// Most frames handed on at once, where the tester could not offer the load one frame at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_frames: Option<u32>,
    /// Through the router.
    pub router: PathLatency,
    /// Through a wire in its place; null where none can be laid.
    pub bed: Option<PathLatency>,
}

/// How long frames took through one path, in all trials that count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathLatency {
    /// Numbers of the trials that count.
    pub trials: Vec<u32>,
    /// Numbers of those that do not: void, not offered or invalid.
    pub left_out_trials: Vec<u32>,
    /// Verdict of the last of these.
    pub left_out_verdict: Option<Verdict>,
    /// The same with its numbers.
    pub left_out_text: Option<String>,
    /// Numbers of the trials before all these, in smaller batches: the tester could not offer the load so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub smaller_batch_trials: Vec<u32>,
    /// Time of the trials that count, outside disturbances.
    pub undisturbed_ns: u64,
    /// Frames sent.
    pub sent_frames: u64,
    /// Frames lost. They have no latency.
    pub lost_frames: u64,
    /// Of those sent, frames that left while the machine disturbed the bed. They are timed as all others.
    pub disturbed_frames: u64,
    /// The longest that a CPU of the bed stood still or was slow.
    pub longest_stall_ns: u64,
    /// The times, and what follows from them.
    #[serde(flatten)]
    pub times: LatencyTimes,
}

/// One-way times. Each is from a bucket of the histogram, so it is at most 1/32 off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyTimes {
    /// Frames timed.
    pub timed_frames: u64,
    /// No frame took less.
    pub min_ns: Option<u64>,
    /// The mean of the buckets' middles.
    pub mean_ns: Option<u64>,
    /// None took longer.
    pub max_ns: Option<u64>,
    /// p50 to p99.99.
    pub percentiles: Vec<Percentile>,
    /// Typical latency: the median (RFC 8219 section 7.2).
    pub typical_ns: Option<u64>,
    /// Worst-case latency: the 99.9th percentile (RFC 8219 section 7.2).
    pub worst_case_ns: Option<u64>,
    /// Packet delay variation: the 99.9th percentile without the shortest time (RFC 8219 section 7.3.1).
    pub pdv_ns: Option<u64>,
    /// All of it.
    pub histogram_ns: Histogram,
}

/// A time that a share of the frames did not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Percentile {
    /// The share, 0 to 100.
    pub percent: f64,
    /// The time: the upper end of its bucket.
    pub ns: u64,
    /// Frames in higher buckets or above its rank, the samples that it stands on.
    pub above_frames: u64,
    /// Whether these are enough.
    pub supported: bool,
}

impl From<Histogram> for LatencyTimes {
    fn from(histogram_ns: Histogram) -> Self {
        let quantile = |part| histogram_ns.quantile_ns(part);
        let min_ns = quantile(0.0).map(Histogram::lower_ns);
        let worst_case_ns = quantile(0.999);
        let percentile = |&percent: &f64| Percentile::from_histogram(&histogram_ns, percent);
        Self {
            timed_frames: histogram_ns.frames(),
            min_ns,
            mean_ns: mean_ns(&histogram_ns),
            max_ns: quantile(1.0),
            percentiles: PERCENTS.iter().filter_map(percentile).collect(),
            typical_ns: quantile(0.5),
            worst_case_ns,
            pdv_ns: worst_case_ns.zip(min_ns).map(|(worst, min)| worst - min),
            histogram_ns,
        }
    }
}

impl Percentile {
    /// `None` where no frame was timed.
    fn from_histogram(histogram: &Histogram, percent: f64) -> Option<Self> {
        let frames = histogram.frames();
        let rank = (frames as f64 * percent / 100.0).ceil() as u64;
        let above_frames = frames.saturating_sub(rank.max(1));
        Some(Self {
            percent,
            ns: histogram.quantile_ns(percent / 100.0)?,
            above_frames,
            supported: above_frames >= FRAMES_ABOVE_MIN,
        })
    }
}

/// `None` where no frame was timed.
fn mean_ns(histogram: &Histogram) -> Option<u64> {
    let frames = histogram.frames() as f64;
    let sum = |sum: f64, (upper_ns, frames): &(u64, u64)| {
        let middle = (Histogram::lower_ns(*upper_ns) as f64 + *upper_ns as f64) / 2.0;
        sum + middle * *frames as f64
    };
    let sum = histogram.0.iter().fold(0.0, sum);
    (frames > 0.0).then(|| (sum / frames).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentile(times: &LatencyTimes, percent: f64) -> Percentile {
        let mut all = times.percentiles.iter();
        *all.find(|at| at.percent == percent).expect("a percentile")
    }

    #[test]
    fn percentiles_say_what_they_stand_on() {
        // 9 989 frames of 5 ns, 10 of 31 ns, one of 960 to 991 ns.
        let times = LatencyTimes::from(Histogram(vec![(5, 9_989), (31, 10), (991, 1)]));
        assert_eq!((times.timed_frames, times.min_ns), (10_000, Some(5)));
        assert_eq!((times.typical_ns, times.max_ns), (Some(5), Some(991)));
        let p999 = percentile(&times, 99.9);
        assert_eq!((p999.ns, p999.above_frames, p999.supported), (31, 10, true));
        assert_eq!((times.worst_case_ns, times.pdv_ns), (Some(31), Some(26)));
        let p9999 = percentile(&times, 99.99);
        assert_eq!((p9999.ns, p9999.above_frames), (31, 1));
        assert!(!p9999.supported);
        // (9989 * 5 + 10 * 31 + 975.5) / 10000
        assert_eq!(times.mean_ns, Some(5));
    }

    #[test]
    fn nothing_timed_has_no_percentile() {
        let times = LatencyTimes::from(Histogram::default());
        assert!(times.percentiles.is_empty());
        assert_eq!(
            (times.min_ns, times.mean_ns, times.pdv_ns),
            (None, None, None)
        );
    }

    #[test]
    fn the_times_are_members_of_their_path() {
        let path = PathLatency {
            times: LatencyTimes::from(Histogram(vec![(5, 3)])),
            ..PathLatency::default()
        };
        let json = serde_json::to_value(&path).expect("a line");
        assert_eq!(json["typical_ns"], 5);
        assert_eq!(json["histogram_ns"], serde_json::json!([[5, 3]]));
        let read: PathLatency = serde_json::from_value(json).expect("the same");
        assert_eq!(read, path);
    }
}
