//! Members of a result that say what its rate comes from: why frames were lost, how much room is left below, and
//! how evenly the frames left.

use mpps_lab::doubt::WhyLost;
use mpps_method::headroom::{At, Basis};
use mpps_method::{Evenness, Headroom};
use serde::Serialize;

/// Why frames were lost at the load that failed, or at the lowest that lost any. All there is to know of it is in its trial's `losses`.
#[derive(Clone, Debug, Serialize)]
pub struct WhyLostEntry {
    rate_fps: f64,
    /// Whether this load is the one that failed, and bounds the result.
    bounds: bool,
    pattern: &'static str,
    /// In one line, as printed.
    text: String,
    lost_frames: u64,
    sent_frames: u64,
    dut_busiest_cpu_share: Option<f64>,
}

impl WhyLostEntry {
    /// The entry of one loss.
    #[must_use]
    pub fn of(why: &WhyLost) -> Self {
        Self {
            rate_fps: why.rate.fps(),
            bounds: why.bounds,
            pattern: why.pattern().name(),
            text: why.to_string(),
            lost_frames: why.losses.lost,
            sent_frames: why.losses.sent,
            dut_busiest_cpu_share: why.busy,
        }
    }
}

/// The forwarding rate at 80 % of the DUT's busiest CPU.
#[derive(Clone, Debug, Serialize)]
pub struct HeadroomEntry {
    rate_fps: f64,
    /// `measured` (one trial: `below` and `above` are the same) or `interpolated`.
    basis: &'static str,
    below: AtEntry,
    above: AtEntry,
}

#[derive(Clone, Debug, Serialize)]
struct AtEntry {
    rate_fps: f64,
    busy_share: f64,
}

impl HeadroomEntry {
    /// The entry of one headroom.
    #[must_use]
    pub fn of(headroom: &Headroom) -> Self {
        let (basis, below, above) = match headroom.basis {
            Basis::Measured(at) => ("measured", at, at),
            Basis::Interpolated { below, above } => ("interpolated", below, above),
        };
        let entry = |at: At| AtEntry {
            rate_fps: at.rate.fps(),
            busy_share: at.busy,
        };
        Self {
            rate_fps: headroom.rate.fps(),
            basis,
            below: entry(below),
            above: entry(above),
        }
    }
}

/// How evenly frames left in the trial the result stands on.
#[derive(Clone, Debug, Serialize)]
pub struct EvennessEntry {
    late_ns_p50: u64,
    late_ns_p999: u64,
    late_ns_max: u64,
    largest_burst_frames: u64,
    /// Most frames behind schedule at once that were made up for.
    catch_up_frames: u64,
    /// These as a share of the DUT's receive rings; null where these are unknown.
    ring_share: Option<f64>,
}

impl EvennessEntry {
    /// The entry of one trial.
    #[must_use]
    pub fn of(even: &Evenness) -> Self {
        Self {
            late_ns_p50: even.late_p50.as_nanos(),
            late_ns_p999: even.late_p999.as_nanos(),
            late_ns_max: even.late_max.as_nanos(),
            largest_burst_frames: even.burst_frames,
            catch_up_frames: even.catch_up_frames,
            ring_share: even.ring_share(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::Rate;

    #[test]
    fn a_headroom_says_what_it_rests_on() {
        let at = |fps, busy| At {
            rate: Rate::from_fps(fps),
            busy,
        };
        let headroom = Headroom {
            rate: Rate::from_fps(800.0),
            basis: Basis::Interpolated {
                below: at(600.0, 0.6),
                above: at(900.0, 0.9),
            },
        };
        let entry = serde_json::to_value(HeadroomEntry::of(&headroom)).expect("serialises");
        assert_eq!(
            entry,
            serde_json::json!({
                "rate_fps": 800.0, "basis": "interpolated",
                "below": { "rate_fps": 600.0, "busy_share": 0.6 },
                "above": { "rate_fps": 900.0, "busy_share": 0.9 },
            })
        );
    }
}
