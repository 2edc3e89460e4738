//! Faults planted on the DUT's path, to calibrate the meter (see `fault.bpf.c`).

use crate::bed::{Bed, Port};
use crate::tester::dut_path::InPath;
use crate::tester::error::TesterError;
use crate::tester::programs::{self, maps};
use crate::tester::ways::{DutPorts, Way};
use mpps_ebpf::instruments::fault::{FaultSkel, FaultSkelBuilder, Planted};
use mpps_linux::tc::{Hook, Turn};
use std::os::fd::AsFd;

/// What to plant; zero plants nothing of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Drop one frame in so many.
    pub drop_every: u64,
    /// Send one frame in so many twice.
    pub duplicate_every: u64,
    /// Let one frame in so many change its tag with the next (one flow only).
    pub swap_every: u64,
    /// Hold the frames back so long in the mean (the DUT spins), ns.
    pub delay_ns: u64,
    /// Drop what exceeds this rate, frames/s.
    pub police_fps: u64,
    /// Frames the policer lets through at once.
    pub police_burst: u64,
}

impl Fault {
    /// Nothing.
    pub const NONE: Self = Self {
        drop_every: 0,
        duplicate_every: 0,
        swap_every: 0,
        delay_ns: 0,
        police_fps: 0,
        police_burst: 0,
    };

    /// The DUT spins so long for each frame, ns.
    #[must_use]
    pub const fn spin(delay_ns: u64) -> Self {
        Self {
            delay_ns,
            ..Self::NONE
        }
    }
}

/// A planted fault; it is gone when this is dropped.
pub struct PlantedFault {
    skel: FaultSkel<'static>,
    _in_path: InPath,
}

impl PlantedFault {
    /// Plants the fault where the DUT transmits.
    pub fn plant(fault: Fault, bed: &Bed, way: Way<'_>) -> Result<Self, TesterError> {
        let dut = way.dut()?;
        let place = (dut.outgoing, Hook::Egress, Turn::First);
        Self::plant_at(place, fault, bed, dut)
    }

    /// Plants the fault where the DUT receives, behind a wire: it costs the router's path alone. Copies go to the port where
    /// the DUT transmits.
    pub fn plant_on_router(fault: Fault, bed: &Bed, way: Way<'_>) -> Result<Self, TesterError> {
        let dut = way.dut()?;
        let place = (dut.incoming, Hook::Ingress, Turn::Last);
        Self::plant_at(place, fault, bed, dut)
    }

    fn plant_at(
        (port, hook, turn): (&Port, Hook, Turn),
        fault: Fault,
        bed: &Bed,
        dut: DutPorts<'_>,
    ) -> Result<Self, TesterError> {
        let mut open = programs::open(FaultSkelBuilder::default(), "open the planted fault")?;
        let rodata = programs::constants(&mut open.maps.rodata_data, "fault rodata")?;
        rodata.drop_every = fault.drop_every;
        rodata.duplicate_every = fault.duplicate_every;
        rodata.swap_every = fault.swap_every;
        rodata.delay_ns = fault.delay_ns;
        rodata.police_fps = fault.police_fps;
        rodata.police_burst = fault.police_burst;
        rodata.out_ifindex = dut.outgoing.ifindex;
        let skel = programs::load(open, "load the planted fault")?;
        let program = skel.progs.plant.as_fd();
        let in_path = InPath::put(bed, port, (hook, turn), "mpps_fault", program)?;
        Ok(Self {
            skel,
            _in_path: in_path,
        })
    }

    /// The planting program's own count so far.
    pub fn planted(&self) -> Result<Planted, TesterError> {
        let counts = maps::read_per_cpu(&self.skel.maps.counts, 0, "read the planted fault")?;
        Ok(Planted::from_cpus(&counts))
    }

    /// How long a frame was held back in the mean so far, ns; `None` without any.
    pub fn held_ns(&self) -> Result<Option<f64>, TesterError> {
        let Planted {
            delayed,
            delayed_ns,
            ..
        } = self.planted()?;
        Ok((delayed > 0).then(|| delayed_ns as f64 / delayed as f64))
    }
}
