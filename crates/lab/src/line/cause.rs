//! Where a result's rate comes from: why frames were lost, how much room is left below, how evenly frames left.

use crate::doubt::WhyLost;
use mpps_method::headroom::{At, Basis};
use mpps_method::{Evenness, Headroom};
use mpps_record::{self as record, BusyLoad};

/// The entry of one loss.
pub(super) fn why_lost(why: &WhyLost) -> record::WhyLost {
    record::WhyLost {
        rate_fps: why.rate.fps(),
        bounds: Some(why.bounds),
        pattern: why.pattern().name().to_owned(),
        text: why.to_string(),
        lost_frames: why.losses.lost,
        sent_frames: why.losses.sent,
        dut_busiest_cpu_share: why.busy,
    }
}

/// The entry of one headroom.
pub(super) fn headroom(headroom: &Headroom) -> record::Headroom {
    let (basis, below, above) = match headroom.basis {
        Basis::Measured(at) => (record::Basis::Measured, at, at),
        Basis::Interpolated { below, above } => (record::Basis::Interpolated, below, above),
    };
    let load = |at: At| BusyLoad {
        rate_fps: at.rate.fps(),
        busy_share: at.busy,
    };
    record::Headroom {
        rate_fps: headroom.rate.fps(),
        basis,
        below: load(below),
        above: load(above),
    }
}

/// How evenly the frames of a trial left.
pub(super) fn evenness(even: &Evenness) -> record::Evenness {
    record::Evenness {
        late_ns_p50: even.late_p50.as_nanos(),
        late_ns_p999: even.late_p999.as_nanos(),
        late_ns_max: even.late_max.as_nanos(),
        largest_burst_frames: even.burst_frames,
        catch_up_frames: Some(even.catch_up_frames),
        ring_frames: Some(even.ring_frames).filter(|&frames| frames > 0),
        ring_share: even.ring_share(),
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
        let found = Headroom {
            rate: Rate::from_fps(800.0),
            basis: Basis::Interpolated {
                below: at(600.0, 0.6),
                above: at(900.0, 0.9),
            },
        };
        let entry = serde_json::to_value(headroom(&found)).expect("serialises");
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
