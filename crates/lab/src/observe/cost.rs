//! What a frame costs the CPUs that are watched: busy time of the network by frames, split by samples.

use super::frames::{self, FRAMES_MIN};
use super::limit::STOLEN;
use super::samples;
use crate::jobs::explain::split::{Divided, Stacks, fill_with};
use crate::profile::{Profile, SamplingClock};
use mpps_method::stage::Router;
use mpps_record::{FoldedStack, ProfiledLoad, Watched, WatchedCpu};

/// Fewer samples do not tell where the time goes.
const SAMPLES_MIN: usize = 20;

/// What a frame costs.
#[derive(Clone, Debug)]
pub struct Cost {
    /// As the record has it: the whole, and its parts where samples tell them.
    pub load: ProfiledLoad,
    /// Call stacks.
    pub stacks: Vec<FoldedStack>,
    /// What decided when a sample was taken; `None` without samples.
    pub clock: Option<&'static str>,
}

/// Also notes in `watched` what samples tell of CPUs and tasks.
pub fn frame_cost(watched: &mut Watched, profile: Option<&Profile>) -> Result<Cost, String> {
    let samples = profile.map(|profile| (profile, samples::note_samples(watched, profile)));
    let frames = watched.frames as f64;
    if frames < FRAMES_MIN {
        return Err(frames::too_few(watched));
    }
    if watched.cpus.iter().all(|cpu| cpu.ledger.is_none()) {
        return Err("nothing tells the network's busy time".to_owned());
    }
    let stolen = stolen(watched);
    watched.lacks.extend(stolen);
    let shares = || watched.cpus.iter().map(WatchedCpu::network_share);
    let frame_ns = shares().sum::<f64>() * watched.time_ns as f64 / frames;
    let per_second = |count: u64| count as f64 * 1e9 / watched.time_ns as f64;
    let mut load = ProfiledLoad {
        offered_fps: per_second(watched.rx_frames),
        forwarding_fps: [per_second(watched.tx_frames); 3].into(),
        busy_share: shares().fold(0.0, f64::max),
        frame_ns: [frame_ns; 3].into(),
        router_ns: frame_ns,
        polls_per_frame: polls(watched),
        ..ProfiledLoad::default()
    };
    let mut stacks = Stacks::default();
    let enough = samples.filter(|(_, samples)| samples.len() >= SAMPLES_MIN);
    if let Some((profile, samples)) = enough {
        load.lost_samples = profile.cpus.iter().map(|cpu| cpu.lost).sum();
        let divided = Divided::new(profile, &samples, Router::OfHost, frame_ns);
        if let Some(split) = &divided.split {
            fill_with(&mut load, split);
            stacks = divided.stacks;
        }
        load.seen_share = seen(watched);
    }
    Ok(Cost {
        load,
        stacks: stacks.folded(),
        clock: profile.map(|profile| match profile.clock {
            SamplingClock::Cycles => "cycles",
            SamplingClock::Timer => "cpu-clock",
        }),
    })
}

/// The ledger counts time that the hypervisor took as what it interrupted.
fn stolen(watched: &Watched) -> Vec<String> {
    let is_much = |cpu: &&WatchedCpu| cpu.steal_share > STOLEN && cpu.network_share() > 0.0;
    let told = |cpu: &WatchedCpu| {
        let (number, percent) = (cpu.cpu, cpu.steal_share * 100.0);
        format!(
            "CPU {number}: the hypervisor took {percent:.0} % of its time, and the cost of a frame contains its part of that"
        )
    };
    watched.cpus.iter().filter(is_much).map(told).collect()
}

fn polls(watched: &Watched) -> Option<f64> {
    let ledgers = || watched.cpus.iter().filter_map(|cpu| cpu.ledger.as_ref());
    let polls: u64 = ledgers().map(|ledger| ledger.polls).sum();
    let frames: u64 = ledgers().map(|ledger| ledger.polled_frames).sum();
    (frames > 0).then(|| polls as f64 / frames as f64)
}

/// Over all CPUs, each by its network's time.
fn seen(watched: &Watched) -> Option<f64> {
    let known = || watched.cpus.iter().filter(|cpu| cpu.seen_share.is_some());
    let seen = |cpu: &WatchedCpu| cpu.network_share() * cpu.seen_share.unwrap_or(0.0);
    let whole: f64 = known().map(WatchedCpu::network_share).sum();
    (whole > 0.0).then(|| known().map(seen).sum::<f64>() / whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{CpuLedger, WatchedLink};

    fn watched(packets: u64, links: &[(u64, bool)]) -> Watched {
        let link = |&(rx_frames, counted): &(u64, bool)| WatchedLink {
            rx_frames,
            counted,
            ..WatchedLink::default()
        };
        Watched {
            time_ns: 1_000_000_000,
            rx_frames: links.iter().filter(|link| link.1).map(|link| link.0).sum(),
            share_of_stack: 1.0,
            links: links.iter().map(link).collect(),
            cpus: vec![WatchedCpu {
                packets,
                ledger: Some(CpuLedger {
                    idle_share: 0.5,
                    net_softirq_share: 0.5,
                    ..CpuLedger::default()
                }),
                ..WatchedCpu::default()
            }],
            ..Watched::default()
        }
    }

    fn cost_ns(mut watched: Watched) -> Result<(f64, u64), String> {
        frames::count(&mut watched, frames::Polls::default(), false);
        let cost = frame_cost(&mut watched, None)?;
        Ok((cost.load.frame_ns.median, watched.foreign_packets))
    }

    #[test]
    fn a_frame_costs_the_networks_time_by_frames() {
        // A VLAN on the port: the stack takes each frame twice.
        let vlan = watched(2_000_000, &[(1_000_000, true), (1_000_000, false)]);
        assert_eq!(cost_ns(vlan), Ok((500.0, 0)));
        // GRO: the stack takes fewer packets than frames came.
        assert_eq!(
            cost_ns(watched(50_000, &[(1_000_000, true)])),
            Ok((500.0, 0))
        );
        // Another namespace has three of four packets.
        let other = watched(4_000_000, &[(1_000_000, true)]);
        assert_eq!(cost_ns(other), Ok((125.0, 3_000_000)));
    }

    #[test]
    fn a_cost_with_stolen_time_is_doubted() {
        let mut stolen = watched(1_000, &[(1_000, true)]);
        stolen.cpus[0].steal_share = 0.06;
        frames::count(&mut stolen, frames::Polls::default(), false);
        frame_cost(&mut stolen, None).expect("a cost");
        let told = &stolen.lacks[0];
        assert!(
            told.contains("the hypervisor took 6 % of its time"),
            "{told}"
        );
    }

    #[test]
    fn no_traffic_has_no_cost() {
        let why = cost_ns(watched(40, &[(42, true)])).expect_err("no cost");
        assert_eq!(why, "there was no traffic: 42 frames came in 1.0 s");
        let mut elsewhere = watched(0, &[(1_000_000, true)]);
        elsewhere.share_of_stack = 0.0;
        assert!(
            cost_ns(elsewhere)
                .expect_err("no cost")
                .contains("Watch other CPUs")
        );
        let mut unknown = watched(1_000, &[(1_000, true)]);
        unknown.cpus[0].ledger = None;
        assert!(cost_ns(unknown).is_err());
    }
}
