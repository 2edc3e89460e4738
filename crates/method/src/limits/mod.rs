//! What the wire, the bus and the memory allow, before any router is asked: frames per second and time
//! for a frame. Arithmetic alone; what binds is the smallest.
//!
//! Every budget counts whole links and ideal hardware, so it is a bound from above: a router below it
//! is limited by something else, a router above it does not exist.

mod bus;
mod memory;

pub use bus::{Bus, Generation, Packets, PcieError};
pub use memory::{MemoryBandwidth, MemoryMeasured, MemoryTraffic, WorkingSet};

use crate::frame_spec::FrameSpec;
use crate::units::{FrameLen, LinkSpeed, Rate};

/// One frame size against every budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Frame sizes.
    pub frames: FrameSpec,
    /// Mean octets of a frame on the wire, preamble and gap included.
    pub on_wire_octets: f64,
    /// Most frames the wire carries in one direction.
    pub wire: Rate,
    /// Most frames the bus carries when the port only receives or only transmits.
    pub bus_one_way: Rate,
    /// Most frames the bus carries in each direction when the port receives and transmits as many.
    pub bus_both_ways: Rate,
    /// Most frames forwarded that the memory takes: each written once and read once. `None` where its
    /// bandwidth is not known.
    pub memory: Option<Rate>,
}

crate::named! {
    /// What is the least of a budget.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Binding {
        /// The wire: what a network engineer wants.
        Wire = "wire",
        /// The bus between NIC and memory.
        Bus = "bus",
        /// The memory.
        Memory = "memory",
    }
}

impl Budget {
    /// The budgets of these frames on this link, bus and memory.
    #[must_use]
    pub fn new(
        frames: &FrameSpec,
        link: LinkSpeed,
        bus: Bus,
        packets: Packets,
        memory: Option<MemoryBandwidth>,
    ) -> Self {
        let per_second = |octets: f64| Rate::from_fps(bus.octets_per_s() / octets);
        let on_wire_octets = frames.mean_on_wire();
        Self {
            frames: frames.clone(),
            on_wire_octets,
            wire: link.frames_per_second_on_wire(on_wire_octets),
            bus_one_way: per_second(mean(frames, |frame| packets.octets_one_way(frame))),
            bus_both_ways: per_second(mean(frames, |frame| packets.octets_both_ways(frame))),
            memory: memory.map(|memory| {
                let octets = mean(frames, |frame| MemoryTraffic::from_frame(frame).octets());
                Rate::from_fps(memory.octets_per_s / octets)
            }),
        }
    }

    /// The smallest budget of a port that receives and transmits, and whose it is.
    #[must_use]
    pub fn binding(&self) -> (Binding, Rate) {
        let mut least = (Binding::Wire, self.wire);
        let others = [
            (Binding::Bus, Some(self.bus_both_ways)),
            (Binding::Memory, self.memory),
        ];
        for (what, rate) in others {
            if let Some(rate) = rate.filter(|rate| rate.fps() < least.1.fps()) {
                least = (what, rate);
            }
        }
        least
    }

    /// Octets per second that frames at the wire's rate bring to the host, FCS and wire overhead gone.
    #[must_use]
    pub fn host_octets_per_s(&self) -> f64 {
        self.wire.fps() * (self.frames.mean_octets() - f64::from(crate::units::FCS_OCTETS))
    }

    /// Time for one frame at the wire's rate, ns.
    #[must_use]
    pub fn frame_ns(&self) -> f64 {
        1e9 / self.wire.fps()
    }
}

/// Time one octet takes on the wire, ns (40 Gbit/s: 0.2).
#[must_use]
pub fn octet_ns(link: LinkSpeed) -> f64 {
    8e9 / link.bits_per_second() as f64
}

/// The mean of what a frame costs, over the sizes of a mix by their shares.
fn mean(frames: &FrameSpec, cost: impl Fn(FrameLen) -> f64) -> f64 {
    let mix = match frames {
        FrameSpec::Fixed(frame) => return cost(*frame),
        FrameSpec::Mix(mix) => mix,
        FrameSpec::Genome(genome) => {
            let sizes = genome.sizes();
            return sizes.iter().copied().map(cost).sum::<f64>() / sizes.len().max(1) as f64;
        }
    };
    let (mut sum, mut weight) = (0.0, 0.0);
    for part in mix.parts() {
        let sizes = part.min.octets()..=part.max.octets();
        let of_part: f64 = sizes.filter_map(FrameLen::new).map(&cost).sum();
        sum += part.weight * of_part / part.sizes() as f64;
        weight += part.weight;
    }
    sum / weight
}

#[cfg(test)]
mod tests;
