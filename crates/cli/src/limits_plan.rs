//! What `mpps limits` is to compute.

use crate::args::LimitsArgs;
use anyhow::{Context, Result};
use mpps_method::limits::{Budget, Bus, MemoryBandwidth, MemoryMeasured, Packets};
use mpps_method::{FrameSpec, LinkSpeed};

/// What `mpps limits` is to compute.
#[derive(Debug)]
pub struct LimitsPlan {
    /// Links, in the order given.
    pub links: Vec<LinkSpeed>,
    /// Frame sizes, in the order given.
    pub sizes: Vec<FrameSpec>,
    /// The bus.
    pub bus: Bus,
    /// What crosses it.
    pub packets: Packets,
    /// What memory moves, where that is known.
    pub memory: Option<MemoryBandwidth>,
    /// This machine's memory, where that was measured.
    pub measured: Option<MemoryMeasured>,
}

impl LimitsPlan {
    /// What the arguments mean.
    pub fn new(args: &LimitsArgs) -> Result<Self> {
        Ok(Self {
            links: args.link_speed.clone(),
            sizes: FrameSpec::parse_list(&args.frame).context("--frame")?,
            bus: args.pcie,
            packets: Packets::new(args.max_payload, args.tlp_overhead, args.descriptor)
                .context("--max-payload")?,
            memory: args.memory,
            measured: None,
        })
    }

    /// Adds what was measured of this machine's memory. A bandwidth that was given counts more.
    pub fn add_memory(&mut self, measured: Option<MemoryMeasured>) {
        let by_measuring = measured.as_ref().map(|measured| MemoryBandwidth {
            octets_per_s: measured.together_octets_per_s,
        });
        self.memory = self.memory.or(by_measuring);
        self.measured = measured;
    }

    /// One budget a size.
    pub fn budgets(&self, link: LinkSpeed) -> Vec<Budget> {
        let budget = |frames| Budget::new(frames, link, self.bus, self.packets, self.memory);
        self.sizes.iter().map(budget).collect()
    }
}
