//! What `mpps limits` is to compute.

use crate::args::LimitsArgs;
use anyhow::{Context, Result};
use mpps_method::limits::{Budget, Bus, MemoryBandwidth, Packets};
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
        })
    }

    /// One budget a size.
    pub fn budgets(&self, link: LinkSpeed, memory: Option<MemoryBandwidth>) -> Vec<Budget> {
        let budget = |frames| Budget::new(frames, link, self.bus, self.packets, memory);
        self.sizes.iter().map(budget).collect()
    }
}
