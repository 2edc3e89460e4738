//! What several verbs share of making a plan of typed arguments, and the plans of compare, explain and tune measure. Bad input is
//! refused before anything is touched; `--dry-run` prints what comes out.

mod compare;
mod destinations;
mod explain;
mod external;
mod load;
mod search;
mod sending;
mod settings;
mod sweep;
mod traffic;

pub use compare::{BinaryPlan, ComparePlan, NAME_MAX as VARIANT_NAME_MAX, VariantPlan};
pub use destinations::{DESTINATIONS, DestinationPlan, INTERNET, made_up};
pub use explain::{Baseline, ExplainPlan};
pub use load::load_plan;
pub use sending::{Sending, check_load, frames};
pub use settings::{SettingsPlan, TwoBeds, words as unmeasured_in_words};
pub use sweep::{SweepPlan, steps as sweep_steps};

use crate::args::{BedChoiceArgs, PortArgs, SearchArgs, SetUpArgs, TrafficArgs};
use anyhow::{Result, ensure};
use mpps_lab::bed::{self, BedPlan, CpuSplit, DutPlan, Front, Interfaces, RX_RING, RssKey};
use mpps_lab::jobs::throughput::ThroughputPlan;
use mpps_lab::search::link::Link;
use mpps_lab::tester::PortKind;
use mpps_lab::traffic::Traffic;
use mpps_method::simulate::Properties;
use mpps_method::{Accept, FrameSpec, Rate, Resolution, SearchPlan, Span};
use std::path::PathBuf;

/// Lowest load when none is given, frames/s; below it a trial of a second holds few frames.
const MIN_RATE_FPS: f64 = 10_000.0;
/// Ring lengths a bed can have; a CPUMAP queue holds 16384 at most.
const RX_RING_RANGE: std::ops::RangeInclusive<u32> = 8..=16_384;
/// Receive queues of the virtual NIC at most.
const QUEUES_MAX: u16 = 64;
/// Longest name of a bed: it is part of the names of its namespaces.
const BED_NAME_MAX: usize = 24;

/// A job, where it is done, and through which routes.
#[derive(Debug)]
pub struct Planned<J> {
    /// Where.
    pub bed: BedChoice,
    /// What.
    pub offer: J,
    /// Routes to load into the DUT, and destinations to draw from them.
    pub destinations: Option<DestinationPlan>,
}

impl<J> Planned<J> {
    /// Another job at the same place.
    pub fn map<K>(self, job: impl FnOnce(J) -> K) -> Planned<K> {
        Planned {
            bed: self.bed,
            offer: job(self.offer),
            destinations: self.destinations,
        }
    }
}

/// The bed to measure on.
#[derive(Clone, Debug)]
pub enum BedChoice {
    /// One that stands already, by name.
    Kept(String),
    /// One of its own, lowered afterwards.
    Own(BedWish),
    /// None: a simulated tester and router.
    Simulated(Properties),
}

impl BedChoice {
    /// What is under test, as far as that is known before the bed is looked at. Only a router of ours can be kept.
    pub fn dut(&self) -> &DutPlan {
        match self {
            Self::Own(wish) => &wish.dut,
            Self::Kept(_) | Self::Simulated(_) => &DutPlan::Kernel,
        }
    }

    /// Whether the bed's ports decide what carries the frames, unless the user says so.
    pub fn asks_ports(&self) -> bool {
        self.dut().planned().asks_ports()
    }

    /// The bed that is raised for a router of ours.
    pub fn own_router(&self) -> Option<&BedWish> {
        match self {
            Self::Own(wish) if matches!(wish.dut, DutPlan::Kernel) => Some(wish),
            _ => None,
        }
    }
}

/// A bed as wished for; which CPUs that means only the machine can tell.
#[derive(Clone, Debug)]
pub struct BedWish {
    /// Name, for a bed to be kept.
    pub name: Option<String>,
    /// Which part of the kernel receives for the DUT.
    pub nic: Front,
    /// Receive queues; `None`: one for each of the DUT's CPUs.
    pub queues: Option<u16>,
    /// Frames each receive ring holds.
    pub rx_ring: u32,
    /// RSS key.
    pub rss: RssKey,
    /// Which of the kernel's interfaces the tester works with.
    pub interfaces: Interfaces,
    /// The DUT's CPUs as a list, where the user chose.
    pub dut_cpus: Option<String>,
    /// The tester's CPUs as a list, where the user chose.
    pub tester_cpus: Option<String>,
    /// Filters that each forwarded frame passes.
    pub filters: Option<u16>,
    /// Program that sets up the DUT.
    pub dut_setup: Option<PathBuf>,
    /// What is under test.
    pub dut: DutPlan,
}

impl BedChoice {
    /// The bed the flags describe; with ports, it may be a device between real ones.
    pub fn new(args: &BedChoiceArgs, ports: Option<(&PortArgs, &TrafficArgs)>) -> Result<Self> {
        if let Some(name) = &args.kept_bed {
            return Ok(Self::Kept(bed_name(name)?));
        }
        let dut = ports.map(|(ports, traffic)| external::dut(ports, traffic));
        Ok(Self::Own(BedWish {
            dut: dut.transpose()?.unwrap_or(DutPlan::Kernel),
            ..BedWish::new(&args.set_up, None)?
        }))
    }
}

impl BedWish {
    /// The bed the flags describe.
    pub fn new(args: &SetUpArgs, name: Option<&str>) -> Result<Self> {
        let nic = args.nic;
        if let Some(queues) = args.queues {
            ensure!(
                (1..=QUEUES_MAX).contains(&queues),
                "--queues {queues}: give 1 to {QUEUES_MAX}"
            );
        }
        if let Some(ring) = args.rx_ring {
            let (low, high) = (RX_RING_RANGE.start(), RX_RING_RANGE.end());
            ensure!(
                RX_RING_RANGE.contains(&ring),
                "--rx-ring {ring}: give {low} to {high} frames"
            );
            ensure!(
                nic == Front::Cpumap,
                "--rx-ring belongs to --nic cpumap: the other fronts receive with veth's own ring of 256"
            );
        }
        if let Some(script) = &args.dut_setup {
            ensure!(
                script.exists(),
                "--dut-setup: there is no file {}: give a program that sets up the router",
                script.display()
            );
        }
        Ok(Self {
            name: name.map(bed_name).transpose()?,
            nic,
            queues: args.queues,
            rx_ring: args.rx_ring.unwrap_or(RX_RING),
            rss: args.rss,
            interfaces: args.kernel_interfaces,
            dut_cpus: args.cpus.dut_cpus.clone(),
            tester_cpus: args.cpus.tester_cpus.clone(),
            filters: args.filters,
            dut_setup: args.dut_setup.clone(),
            dut: DutPlan::Kernel,
        })
    }
}

impl BedWish {
    /// The bed this means on this machine. Reads which CPUs there are; changes nothing. Ports of a device are not looked
    /// at, because another run may have them until it ends.
    ///
    /// # Errors
    /// CPU lists that are none, or name CPUs this process may not use; a set-up script that cannot be run; queues that
    /// the front does not have.
    pub fn on_this_machine(&self) -> Result<BedPlan> {
        let dut = self.dut.planned();
        if let Some(script) = &self.dut_setup {
            bed::check_set_up(script)?;
        }
        if self.filters.is_some() {
            bed::check_filters()?;
        }
        let cpus =
            CpuSplit::on_this_machine(self.dut_cpus.as_deref(), self.tester_cpus.as_deref())?;
        let cpus = dut.share(cpus, self.tester_cpus.is_some());
        let queues = self.queues.unwrap_or_else(|| one_each(cpus.dut.len()));
        let (name, dut_setup) = (self.name.clone(), self.dut_setup.clone());
        let plan = BedPlan {
            name,
            nic: self.nic,
            queues,
            rx_ring: self.rx_ring,
            rss: self.rss,
            cpus,
            interfaces: self.interfaces,
            filters: self.filters,
            dut_setup,
            dut: self.dut.clone(),
        };
        plan.check()?;
        Ok(plan)
    }
}

/// A queue for each CPU, as drivers do, as far as there are queues.
fn one_each(cpus: usize) -> u16 {
    u16::try_from(cpus)
        .unwrap_or(QUEUES_MAX)
        .clamp(1, QUEUES_MAX)
}

/// A name that can be part of a namespace's name.
pub fn bed_name(name: &str) -> Result<String> {
    let plain = name
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    ensure!(
        plain && !name.is_empty() && name.len() <= BED_NAME_MAX && !name.starts_with('-'),
        "bed name \"{name}\": give 1 to {BED_NAME_MAX} lower-case letters, digits or dashes, such as lab1"
    );
    Ok(name.to_owned())
}

/// What carries the frames.
fn port(typed: &PortArgs, bed: &BedChoice) -> PortKind {
    match typed.port {
        // Real ports carry what their drivers allow: which of the two, the ports say.
        None if bed.asks_ports() => PortKind::AfPacket,
        named => named.unwrap_or_default(),
    }
}

/// A search with these frames; where it receives is left to the tester.
pub fn measurement(
    sizes: Vec<FrameSpec>,
    traffic: Traffic,
    typed: &SearchArgs,
) -> Result<ThroughputPlan> {
    let maximum = typed.max_rate;
    let minimum = typed.min_rate.unwrap_or_else(|| minimum_below(maximum));
    Ok(ThroughputPlan {
        port: Some(traffic.port),
        traffic,
        sizes,
        search: search::search(typed, minimum, maximum)?,
        warm_up: typed.warm_up.unwrap_or(Span::ZERO),
        minimum,
        maximum,
        link: typed.link_speed.map_or(Link::NOTIONAL, Link::given),
        budget: search::budget(typed),
        receiver: None,
    })
}

/// Trials of this length; nothing is searched.
pub fn trials_of(trial: Span) -> SearchPlan {
    SearchPlan::Bisection {
        trial,
        resolution: Resolution::Fraction(1.0),
        trials_per_load: 1,
        accept: Accept::All,
    }
}

/// The usual lowest load, or a tenth of the highest where that is lower.
fn minimum_below(maximum: Option<Rate>) -> Rate {
    let usual = Rate::from_fps(MIN_RATE_FPS);
    maximum.map_or(usual, |maximum| {
        usual.min(Rate::from_fps(maximum.fps() / 10.0))
    })
}

#[cfg(test)]
pub(crate) mod tests;
