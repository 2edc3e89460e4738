//! What overload told: the maximum forwarding rate, and what a frame costs.

use super::{cost, rates, tenths};
use crate::doubt::ForwardingLimit;
use crate::search::saturation::Saturated;
use mpps_method::saturation::{self, Saturation};
use mpps_record::{FrameCost, LoadAboveRate, OtherStates, Overload};

/// The members of one frame size. Runs on a machine differ, those of a simulated router do not.
pub(super) fn overload(
    saturated: &Saturated,
    limit: Option<ForwardingLimit>,
    is_simulated: bool,
) -> Overload {
    let (maximum, overload) = (saturated.maximum(), saturated.at_overload());
    let program = saturated.exit_program;
    let forwarding = |found: &Saturation| match is_simulated {
        true => found.forwarding,
        false => found.forwarding.widen_to_runs(),
    };
    Overload {
        max_forwarding_fps: maximum.map(forwarding).map(rates),
        offered_fps: maximum.map(|found| rates(found.offered).median),
        max_forwarding_busy_share: maximum.and_then(|found| found.busy),
        at_most: saturated.at_most.as_ref().map(load_above),
        at_overload: saturated.lower_at_overload().map(|found| LoadAboveRate {
            forwarding_fps: rates(forwarding(found)),
            ..load_above(found)
        }),
        max_forwarding_limited_by: limit.map(Into::into),
        windows: maximum.map(|found| found.windows),
        disturbed_windows: maximum.map(|found| found.disturbed),
        max_forwarding_only_disturbed: maximum.map(|found| found.only_disturbed),
        max_forwarding_cpu_distance_ns: maximum.and_then(|found| found.distance_ns),
        max_forwarding_work_ns: maximum.and_then(|found| found.work_ns),
        other_state_windows: overload.map(|found| found.other_state),
        other_state_fps: overload
            .and_then(|found| found.other_state_fps)
            .map(|fps| fps as u64),
        other_states: overload.and_then(other_states),
        max_forwarding_trials: maximum.map(|found| found.trials),
        elsewhere_trials: overload.map(|found| found.elsewhere),
        cost: saturated.cost.as_ref().map(frame_cost),
        exit_program_ns: program.map(|program| tenths(program.router_ns)),
        exit_program_more_ns: program.map(|program| cost(program.more_ns)),
    }
}

fn other_states(overload: &Saturation) -> Option<OtherStates> {
    Some(OtherStates {
        share: overload.other_state_share,
        forwarding_fps: overload.rate_in_other_states()? as u64,
    })
}

/// One load above what the DUT forwards.
pub(crate) fn load_above(found: &Saturation) -> LoadAboveRate {
    LoadAboveRate {
        offered_fps: rates(found.offered),
        forwarding_fps: rates(found.forwarding),
        dut_busiest_cpu_share: found.busy,
        windows: found.windows,
        disturbed_windows: found.disturbed,
        only_disturbed: Some(found.only_disturbed),
        cpu_distance_ns: found.distance_ns,
        work_ns: found.work_ns,
    }
}

/// A frame's cost: the bed's part, the router's, and both together.
pub(crate) fn frame_cost(found: &saturation::FrameCost) -> FrameCost {
    FrameCost {
        bed_ns: cost(found.bed_ns),
        router_ns: cost(found.router_ns),
        total_ns: cost(found.total_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::exit_program::ExitProgram;

    fn interval(middle: f64) -> mpps_method::Interval {
        mpps_method::Interval {
            low: middle - 1.0,
            middle,
            high: middle + 1.0,
        }
    }

    #[test]
    fn a_cost_is_told_in_tenths_of_ns() {
        let cost = frame_cost(&saturation::FrameCost {
            bed_ns: interval(430.0),
            router_ns: interval(225.26),
            total_ns: interval(655.26),
            pairs: 3,
            wire_overloaded: true,
            slower: None,
        });
        let entry = serde_json::to_value(cost).expect("serialises");
        assert_eq!(
            entry["router_ns"],
            serde_json::json!({ "low": 224.3, "median": 225.3, "high": 226.3 })
        );
    }

    #[test]
    fn the_exit_program_is_told_beside_the_cost() {
        let saturated = Saturated {
            exit_program: Some(ExitProgram {
                router_ns: 41.26,
                more_ns: interval(102.78),
            }),
            ..Saturated::default()
        };
        let entry = overload(&saturated, None, false);
        let entry = serde_json::to_value(entry).expect("serialises");
        assert_eq!(entry["exit_program_ns"], serde_json::json!(41.3));
        assert_eq!(
            entry["exit_program_more_ns"]["median"],
            serde_json::json!(102.8)
        );
    }

    #[test]
    fn what_was_not_measured_is_null() {
        let entry = overload(&Saturated::default(), None, false);
        let entry = serde_json::to_value(entry).expect("serialises");
        let members = entry.as_object().expect("an object");
        assert_eq!(members.len(), 11);
        assert!(members.values().all(serde_json::Value::is_null), "{entry}");
    }
}
