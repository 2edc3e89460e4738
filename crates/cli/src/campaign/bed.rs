//! A bed of a cell, and what is sent there.

use crate::plan::{BedChoice, DestinationPlan, Planned};
use crate::record::Job;
use anyhow::{Context, Result, bail, ensure};
use mpps_lab::routes::Origin;
use mpps_lab::tester::ReceiverPlace;
use mpps_lab::traffic::Traffic;
use mpps_method::{FrameSpec, Span};
use mpps_report::number::plural;
use std::fs::File;

/// Overload of a frame size without a search, about.
pub const OVERLOAD: Span = Span::from_millis(10_000);

/// A bed of a cell, and what is sent there.
#[derive(Debug)]
pub struct CellBed {
    /// The bed.
    pub bed: BedChoice,
    /// How many CPUs its router has, where this machine lacks them.
    pub dut_cpus: Option<usize>,
    /// Frame sizes that it measures.
    pub sizes: Vec<FrameSpec>,
    /// All else of what is sent.
    pub traffic: Traffic,
    /// Where frames are received, where the user named it.
    pub receiver: Option<ReceiverPlace>,
    /// Where its routes come from.
    pub routes: Option<DestinationPlan>,
}

impl CellBed {
    /// The bed of a plan, with what its job sends.
    pub fn new<J>(planned: &Planned<J>, job: &Job<'_>) -> Self {
        Self {
            bed: planned.bed.clone(),
            dut_cpus: None,
            sizes: job.sizes.to_vec(),
            traffic: job.traffic.clone(),
            receiver: job.receiver,
            routes: planned.destinations.clone(),
        }
    }

    /// The bed without the CPUs that its flags name, and with a router of so many.
    pub(super) fn with_cpus(mut self, cpus: usize) -> Self {
        if let BedChoice::Own(wish) = &mut self.bed {
            (wish.dut_cpus, wish.tester_cpus) = (None, None);
        }
        self.dut_cpus = Some(cpus);
        self
    }

    /// Refuses to tell the bed's share of a frame's cost for a bed whose frames are others, because it would be another one.
    pub(super) fn check_share_of(&self, other: &Self) -> Result<()> {
        let [own, others] = [self, other].map(Self::sends);
        ensure!(
            own == others,
            "it sends {own}, and this cell {others}: name one that sends the same"
        );
        let sizes: Vec<String> = self.sizes.iter().map(FrameSpec::to_string).collect();
        let mut wanted = other.sizes.iter().map(FrameSpec::to_string);
        if let Some(lacks) = wanted.find(|size| !sizes.contains(size)) {
            bail!("it does not measure {lacks}: add that frame size to it");
        }
        Ok(())
    }

    /// What of its traffic and receiver the bed's share depends on.
    fn sends(&self) -> String {
        let Traffic {
            flows,
            ipv6,
            bidirectional,
            ..
        } = self.traffic;
        let family = if ipv6 { "IPv6" } else { "IPv4" };
        let ways = if bidirectional {
            "both ways"
        } else {
            "one way"
        };
        let routes = self.routes.as_ref().map_or("", |_| " through a table");
        let receiver = match self.receiver {
            Some(ReceiverPlace::Exit) => " to the exit",
            Some(ReceiverPlace::Port) => " to the port",
            None => "",
        };
        format!(
            "{} of {family} {ways}{routes}{receiver}",
            plural(flows as usize, "flow")
        )
    }

    /// Refuses a bed that cannot be raised here, and files of routes that cannot be read. Their content is for the cell: a
    /// large table takes time.
    pub(super) fn check(&self) -> Result<()> {
        self.bed.dut().planned().check_machine()?;
        if let BedChoice::Own(wish) = &self.bed {
            wish.on_this_machine()?;
        }
        let Some(routes) = &self.routes else {
            return Ok(());
        };
        let table = match &routes.origin {
            Origin::File(file) => Some(("--table", file)),
            _ => None,
        };
        let changes = routes.route_changes.as_ref();
        let changes = changes.map(|changes| ("--route-changes", &changes.file));
        for (flag, file) in table.into_iter().chain(changes) {
            ensure!(
                file.as_os_str() != "-",
                "{flag} -: a cell has no standard input; name a file"
            );
            File::open(file).with_context(|| format!("{flag}: open {}", file.display()))?;
        }
        Ok(())
    }
}
