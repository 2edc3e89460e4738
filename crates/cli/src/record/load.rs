//! A load of `mpps trial` as its line has it.

use super::result::doubt;
use mpps_lab::doubt::few_route_changes;
use mpps_lab::jobs::fixed_load::{Offered, Tried};
use mpps_method::Rate;
use mpps_record::{LoadLine, LoadTrial, Other};

/// The line of one load.
#[must_use]
pub fn load_line(offered: &Offered) -> LoadLine {
    let trials = offered.trials.iter();
    let changes = trials.filter_map(|tried| tried.trial.route_changes);
    LoadLine {
        frame: offered.frames.to_string(),
        load: offered.load.to_string(),
        receiver: offered.receiver.map(Into::into),
        trials: offered.trials.iter().map(tried).collect(),
        wire: offered.wire.as_ref().map(tried),
        doubts: few_route_changes(changes).iter().map(doubt).collect(),
        other: Other::new(),
    }
}

fn tried(tried: &Tried) -> LoadTrial {
    let trial = &tried.trial;
    let (counts, ledger) = (trial.counts(), trial.ledger());
    let outside = ledger.lost_before_nic + ledger.lost_nic_ring + ledger.lost_receiver_ring;
    let stolen = trial.steal.iter().map(|steal| trial.stolen_share(steal));
    LoadTrial {
        trial: tried.number,
        disturbed_tries: tried.disturbed,
        sent_fps: trial.sent_rate().map(Rate::fps),
        forwarding_fps: trial.forwarding_rate().map(Rate::fps),
        busiest_share: trial.busiest_share(),
        ns_per_frame: trial.ns_per_frame(),
        stolen_share: stolen.fold(0.0, f64::max),
        forwarded_frames: counts.received,
        lost_frames: counts.lost,
        lost_before_nic_frames: ledger.lost_before_nic,
        lost_nic_ring_frames: ledger.lost_nic_ring,
        // At the DUT and not by its ring; canaries are none of them.
        lost_inside_frames: counts.lost.saturating_sub(outside),
        lost_receiver_ring_frames: ledger.lost_receiver_ring,
    }
}

/// The lines of the trials that count at one load, as the record has them.
#[cfg(test)]
pub(crate) fn trial_lines_for_tests(offered: &Offered) -> Vec<mpps_record::TrialLine> {
    use mpps_lab::jobs::{Phase, Report};
    let fixed = offered.trials.iter().map(|tried| (tried, Phase::Fixed));
    let wire = offered.wire.iter().map(|tried| (tried, Phase::Wire));
    let line = |(tried, phase): (&Tried, Phase)| {
        let (number, trial) = (tried.number, &tried.trial);
        let offer = mpps_method::Offer {
            rate: trial.offered,
            duration: trial.duration,
        };
        let report = Report {
            number,
            frames: &offered.frames,
            phase,
            offer,
            trial,
            verdict: &tried.verdict,
        };
        super::trial_line(number, &report)
    };
    fixed.chain(wire).map(line).collect()
}
