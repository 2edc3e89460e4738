//! What the trials at one load say together.

use super::model::Tried;
use super::split::{self, Profiled};
use crate::jobs::JobError;
use crate::line::interval;
use crate::search::saturation::block;
use mpps_method::distance::At;
use mpps_method::interval::Interval;
use mpps_method::ledger::Ledger;
use mpps_method::limit::BUSY;
use mpps_method::saturation::{Block, Saturation};
use mpps_method::stage::student;
use mpps_method::{compare, statistics};
use mpps_record::ProfiledLoad;
use std::collections::BTreeMap;

/// The load at saturation, with what tells its limit.
#[derive(Default)]
pub(super) struct Saturated {
    pub load: ProfiledLoad,
    pub blocks: Vec<Block>,
    /// All that were sampled, in whatever state of the machine; filled in where a model is asked for.
    pub tried: Vec<Tried>,
    /// The router forwarded less than was sent. It need not lose frames: in a short trial a ring or a queue takes what is sent
    /// beyond its rate. A router with time left that loses a few had a pause.
    pub overloaded: bool,
    /// Frames lost behind its ring.
    pub lost_inside: u64,
    /// Of the frames that its ring took, the share that it lost.
    pub lost_inside_share: f64,
    /// Of the frames that reached it, the share that was lost at its ring or behind.
    pub lost_share: f64,
    /// Most lost frames were lost behind the ring.
    pub loses_inside: bool,
    /// The CPU that did most of the router's work.
    pub busiest: Option<usize>,
    /// One of the router's CPUs stood still for a while.
    pub paused: bool,
}

impl Saturated {
    pub fn new(sampled: &[Profiled]) -> Result<Self, JobError> {
        let load = load_of(sampled).filter(|load| !load.stages.is_empty());
        let load = load.ok_or(JobError::NoSamples {
            trials: sampled.len(),
        })?;
        let ledgers = || sampled.iter().map(|one| one.judged.trial.ledger());
        let sum = |frames: fn(&Ledger) -> u64| {
            ledgers().map(|ledger| frames(&ledger) as f64).sum::<f64>()
        };
        let (inside, ring) = (sum(|one| one.lost_in_dut), sum(|one| one.lost_nic_ring));
        let is_overload = sampled.iter().any(is_overloaded);
        Ok(Self {
            blocks: blocks(sampled),
            tried: Vec::new(),
            overloaded: is_overload || (load.busy_share >= BUSY && inside + ring > 0.0),
            lost_inside: inside as u64,
            lost_inside_share: inside / sum(|ledger| ledger.nic_accepted).max(1.0),
            lost_share: (inside + ring) / (sum(|ledger| ledger.nic_accepted) + ring).max(1.0),
            loses_inside: is_overload && inside > ring,
            busiest: busiest(sampled),
            paused: sampled.iter().any(is_paused),
            load,
        })
    }

    /// Whether a CPU had no time left: in the trials, or in what the machine left undisturbed of them.
    pub fn is_full(&self) -> bool {
        let undisturbed = Saturation::from_all_windows(&self.blocks).and_then(|found| found.busy);
        self.load.busy_share >= BUSY || undisturbed.is_some_and(|share| share >= BUSY)
    }
}

/// Over all trials.
fn busiest(sampled: &[Profiled]) -> Option<usize> {
    let mut busy_ns: BTreeMap<usize, u64> = BTreeMap::new();
    for busy in sampled.iter().flat_map(|one| &one.judged.trial.busy) {
        *busy_ns.entry(busy.cpu).or_default() += busy.all_ns();
    }
    let most = busy_ns.into_iter().max_by_key(|(_, ns)| *ns);
    most.map(|(cpu, _)| cpu)
}

/// Whether one of the router's CPUs stood still.
fn is_paused(profiled: &Profiled) -> bool {
    let trial = &profiled.judged.trial;
    let mut stalls = trial.stalls.iter();
    stalls.any(|stall| trial.busy.iter().any(|busy| busy.cpu == stall.cpu))
}

/// What the router forwarded in undisturbed windows, frames/s.
pub(super) fn forwards(profiled: &Profiled) -> Option<f64> {
    compare::rate(&block(&profiled.judged.trial))
}

/// The median of what the router forwarded in the trials that met the state of this load, frames/s.
pub(super) fn forwards_alike(tried: &[Profiled], load: &ProfiledLoad) -> Option<f64> {
    let here = at(load);
    let is_here = |one: &&Profiled| At::may_be_same(At::mostly(&one.judged.trial), here);
    let rates = tried.iter().filter(is_here).filter_map(forwards);
    statistics::median(&rates.collect::<Vec<_>>())
}

/// The state of the machine at a load.
pub(super) fn at(load: &ProfiledLoad) -> Option<At> {
    let work_ns = load.work_ns;
    let at = |round_trip_ns| At {
        round_trip_ns,
        work_ns,
    };
    load.cpu_distance_ns.map(at)
}

/// Whether the router forwarded less than it was offered. What the machine took is left out, unless it took all windows.
pub(super) fn is_overloaded(profiled: &Profiled) -> bool {
    let block = block(&profiled.judged.trial);
    let rate = compare::rate(&block).unwrap_or(f64::INFINITY);
    compare::is_overloaded(&block, rate)
}

fn blocks(tried: &[Profiled]) -> Vec<Block> {
    tried.iter().map(Profiled::block).collect()
}

/// Trials at one load as the record has them. `None` where nothing tells what a frame cost.
pub(super) fn load_of(tried: &[Profiled]) -> Option<ProfiledLoad> {
    let frame_ns: Vec<f64> = tried.iter().filter_map(Profiled::frame_ns).collect();
    let saturation = Saturation::from_all_windows(&blocks(tried));
    let over = |number: fn(&Profiled) -> Option<f64>| {
        statistics::mean(&tried.iter().filter_map(number).collect::<Vec<_>>())
    };
    let forwarded = over(|one| Some(one.judged.trial.forwarding_rate()?.fps()))?;
    let whole = Interval::from_value(forwarded);
    let state = state(tried);
    let forwarding = interval(saturation.map_or(whole, |found| found.forwarding));
    let (busy_share, frame_ns) = (
        over(|one| one.judged.trial.busiest_share())?,
        mean(&frame_ns)?,
    );
    let mut load = ProfiledLoad {
        cpu_distance_ns: state.map(|at| at.round_trip_ns),
        work_ns: state.and_then(|at| at.work_ns),
        offered_fps: over(|one| Some(one.judged.trial.sent_rate()?.fps()))?,
        forwarding_fps: match busy_share >= BUSY {
            true => fitting(forwarding, tried),
            false => forwarding,
        },
        trials: tried.iter().map(|one| one.judged.number).collect(),
        busy_share,
        frame_ns,
        wake_ups_per_frame: over(Profiled::wakes_a_frame),
        polls_per_frame: over(|one| one.polls_a_frame),
        seen_share: over(|one| one.seen),
        lost_samples: tried.iter().map(|one| one.lost).sum(),
        ..ProfiledLoad::default()
    };
    split::fill(&mut load, tried);
    Some(load)
}

/// Of a full CPU the rate that fits the mean cost of the trials: their harmonic mean. The middle of all windows may be of
/// another state of the machine.
fn fitting(
    forwarding: mpps_record::Interval<f64>,
    tried: &[Profiled],
) -> mpps_record::Interval<f64> {
    let rates = tried.iter().filter_map(|one| compare::rate(&one.block()));
    let costs: Vec<f64> = rates.map(f64::recip).collect();
    let Some(mean) = statistics::mean(&costs).filter(|mean| mean.is_normal()) else {
        return forwarding;
    };
    let rate = mean.recip();
    [forwarding.low.min(rate), rate, forwarding.high.max(rate)].into()
}

/// The mean, because the stages sum to it, with Student's interval over trials as theirs; of few trials their range.
fn mean(frame_ns: &[f64]) -> Option<mpps_record::Interval<f64>> {
    let range = Interval::from_samples(frame_ns)?;
    let (low, high) = student(frame_ns).unwrap_or((range.low, range.high));
    Some([low.max(0.0), statistics::mean(frame_ns)?, high].into())
}

/// The state of the machine over these trials: medians.
fn state(tried: &[Profiled]) -> Option<At> {
    let states: Vec<At> = tried.iter().filter_map(Profiled::at).collect();
    let round_trips: Vec<f64> = states.iter().map(|at| at.round_trip_ns).collect();
    let works: Vec<f64> = states.iter().filter_map(|at| at.work_ns).collect();
    Some(At {
        round_trip_ns: statistics::median(&round_trips)?,
        work_ns: statistics::median(&works),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Judged;
    use mpps_method::saturation::Window;
    use mpps_method::{CpuBusy, Disturbance, Span, Trial, Verdict};

    /// Windows of a tenth of a second.
    fn profiled(forwarded: u64, round_trip_ns: u64) -> Profiled {
        let window = Window {
            duration: Span::from_millis(100),
            forwarded,
            round_trip_ns: Some(round_trip_ns),
            work_ns: Some(200),
            ..Window::default()
        };
        let judged = Judged {
            number: 1,
            trial: Trial {
                windows: vec![window; 10],
                ..Trial::default()
            },
            verdict: Verdict::Lossless,
        };
        Profiled::new(judged, 0, None, &[])
    }

    #[test]
    fn a_rate_fits_the_mean_of_the_costs() {
        // Of a full CPU a frame cost 1000 and 500 us.
        let tried = [(100, 60), (200, 60)].map(|(forwarded, ns)| profiled(forwarded, ns));
        let windows = [2_000.0, 2_000.0, 2_000.0].into();
        let found = fitting(windows, &tried);
        assert!((found.median * 750e-6 - 1.0).abs() < 1e-9, "{found:?}");
        assert!(
            found.low <= found.median && found.high >= 2_000.0,
            "{found:?}"
        );
        assert_eq!(fitting(windows, &[]), windows);
    }

    #[test]
    fn the_busiest_cpu_is_that_of_all_trials() {
        let tried = [[100, 6], [90, 95]].map(|run_ns| {
            let mut tried = profiled(1_000, 60);
            let busy = [1, 2].into_iter().zip(run_ns);
            let busy = busy.map(|(cpu, run_ns)| CpuBusy {
                cpu,
                run_ns,
                ..CpuBusy::default()
            });
            tried.judged.trial.busy = busy.collect();
            tried
        });
        assert_eq!(busiest(&tried), Some(1));
        assert_eq!(busiest(&tried[1..]), Some(2));
        assert_eq!(busiest(&[]), None);
    }

    #[test]
    fn only_the_routers_cpus_pause_the_router() {
        let paused = |cpu| {
            let mut tried = profiled(1_000, 60);
            tried.judged.trial.busy = vec![CpuBusy {
                cpu: 1,
                ..CpuBusy::default()
            }];
            tried.judged.trial.stalls = vec![Disturbance {
                cpu,
                from: Span::from_millis(5),
                to: Span::from_millis(9),
            }];
            is_paused(&tried)
        };
        assert!(paused(1) && !paused(0));
    }

    #[test]
    fn overloads_are_of_the_loads_state() {
        let tried = [(900, 60), (1_000, 62), (1_200, 64), (5_000, 300)];
        let tried = tried.map(|(forwarded, ns)| profiled(forwarded, ns));
        let load = |cpu_distance_ns| ProfiledLoad {
            cpu_distance_ns: Some(cpu_distance_ns),
            work_ns: Some(200.0),
            ..ProfiledLoad::default()
        };
        assert_eq!(forwards_alike(&tried, &load(61.0)), Some(10_000.0));
        assert_eq!(forwards_alike(&tried, &load(1_000.0)), None);
    }

    #[test]
    fn a_mean_lies_within_its_interval() {
        // One slow trial of nine: by order statistics the interval is 501 to 508.
        let mut ns: Vec<f64> = (500..508).map(f64::from).collect();
        ns.push(700.0);
        let found = mean(&ns).expect("an interval");
        assert!(found.low < found.median && found.median < found.high);
        assert!((found.median - 525.3).abs() < 0.1, "{found:?}");
        // Few trials have their range.
        assert_eq!(mean(&[500.0, 520.0]), Some([500.0, 510.0, 520.0].into()));
        assert_eq!(mean(&[]), None);
    }
}
