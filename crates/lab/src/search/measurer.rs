//! Who runs trials (RFC 9971's Measurer): the tester on a bed, or a simulated pair in its place. A search and
//! its doubts know no more of either than this.

use super::exit_program::{self, ExitProgram, RunTrial};
use super::{JobError, Judged, Phase, Trials, link};
use crate::bed::Front;
use crate::dut::Cable;
use crate::facts::{Root, core_shared};
use crate::fib::routes_in_fib;
use crate::tester::{NO_HOOK, ReceiverPlace, Tester, TesterError, Wire, at_egress};
use crate::trial::{self, rules};
use mpps_method::{FrameSpec, Offer, Rate, Rules, Trial};

/// An offer in, a trial out.
pub trait Measurer {
    /// What is sent.
    fn frames(&self) -> &FrameSpec;

    /// Runs one trial, as long as it takes for the offer's time outside disturbances.
    ///
    /// # Errors
    /// The tester failed. No trial came of it.
    fn trial(&mut self, offer: &Offer) -> Result<Trial, TesterError>;

    /// Runs one burst of so many frames back-to-back, as fast as the sender can.
    ///
    /// # Errors
    /// The tester failed. No burst came of it.
    fn burst(&mut self, frames: u64) -> Result<Trial, TesterError>;

    /// Runs one trial just as long as the offer: the load is what is asked for, not a verdict.
    ///
    /// # Errors
    /// As of [`Measurer::trial`].
    fn trial_once(&mut self, offer: &Offer) -> Result<Trial, TesterError> {
        self.trial(offer)
    }

    /// A wire in place of the router, where one can be laid.
    ///
    /// # Errors
    /// The bed refused it.
    fn wire(&self) -> Result<Option<Wire>, TesterError> {
        Ok(None)
    }

    /// The receiver's program at the exit, where there is one, timed at these loads through router and wire, in trials that
    /// `run` runs. With a `distance_ns` those at that CPU distance count.
    ///
    /// # Errors
    /// The tester failed.
    fn exit_program(
        &mut self,
        _loads: [Rate; 2],
        _distance_ns: Option<f64>,
        _run: RunTrial,
    ) -> Result<Option<ExitProgram>, TesterError> {
        Ok(None)
    }

    /// The bounds a trial of this offer is judged by, fixed before it begins.
    fn rules(&self, offer: &Offer) -> Rules;

    /// What a result must be read with.
    fn surroundings(&self) -> Surroundings;

    /// Judges a trial of this offer and hands it to the observer.
    ///
    /// # Errors
    /// The record could not be written.
    fn judge(
        &self,
        phase: Phase,
        offer: Offer,
        trial: Trial,
        trials: &mut Trials<'_>,
    ) -> Result<Judged, JobError> {
        trials.judged(phase, self.frames(), offer, &self.rules(&offer), trial)
    }
}

/// What surrounds the DUT, as far as it bears on what a result means.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Frames the DUT's receive rings hold together; 0 where nobody knows.
    pub ring_frames: u32,
    /// Tester and DUT share a CPU.
    pub cpus_shared: bool,
    /// A CPU of the DUT's and one of the tester's that are threads of one core.
    pub core_shared: Option<(usize, usize)>,
    /// The DUT receives from a virtual NIC.
    pub virtual_nic: bool,
    /// The DUT tells nothing of itself, and no wire can be laid in its place.
    pub closed: bool,
    /// Routes in the DUT's FIB, and where frames go among them.
    pub table: Option<TableMet>,
    /// Frames/s that the real links to it carry, all directions; `None` where there are none, or nobody says.
    pub line_rate: Option<Rate>,
    /// Of those ports, one that is a veth: what the device does then runs on the sender's CPU.
    pub veth: Option<String>,
    /// What stands at the egress of a port that the DUT sends through: the port, and that in words.
    pub egress: Option<(String, String)>,
    /// Where the tester receives.
    pub receiver: Option<ReceiverPlace>,
    /// Nothing of it is real: how the simulated pair is written.
    pub simulated: Option<String>,
}

impl Surroundings {
    /// Why no wire can take the router's place. Something else would stay in its path, or the kernel has no hook.
    pub(crate) fn why_no_wire(&self) -> String {
        let why = match &self.egress {
            Some((port, what)) => format!("{port} has {what}"),
            None => NO_HOOK.to_owned(),
        };
        format!("no wire can take the router's place, because {why}")
    }
}

/// How much of a routing table frames can meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableMet {
    /// Routes of the traffic's family.
    pub routes: u64,
    /// Different destinations.
    pub destinations: u64,
    /// Frames after which their order begins again.
    pub period_frames: u64,
    /// Frames go both ways: those of the second direction all go to one destination.
    pub both_ways: bool,
    /// Frames of that order that were sent to the router in the measurement so far.
    pub passed_frames: u64,
}

impl TableMet {
    /// What is known of the tester's traffic; where no destinations were drawn, what a kept bed's DUT holds.
    fn from_tester(tester: &Tester<'_>) -> Option<Self> {
        match &tester.traffic.destinations {
            Some(drawn) if drawn.missing() => None,
            Some(drawn) => Some(Self {
                routes: drawn.prefixes as u64,
                destinations: drawn.distinct,
                period_frames: drawn.places(),
                both_ways: tester.traffic.bidirectional,
                passed_frames: tester.places_passed,
            }),
            // What cannot be read raises no doubt.
            None => {
                let ipv6 = tester.traffic.ipv6;
                let routes = || routes_in_fib(ipv6);
                let routes = tester.bed.dut().netns()?.run(routes).ok().flatten()?;
                Some(Self {
                    routes,
                    destinations: 1,
                    period_frames: 1,
                    both_ways: false,
                    passed_frames: 1,
                })
            }
        }
    }
}

impl Measurer for Tester<'_> {
    fn frames(&self) -> &FrameSpec {
        &self.traffic.frames
    }

    fn trial(&mut self, offer: &Offer) -> Result<Trial, TesterError> {
        trial::run_undisturbed(self, offer, &rules::choose(self, offer))
    }

    fn burst(&mut self, frames: u64) -> Result<Trial, TesterError> {
        trial::run_burst(self, frames)
    }

    fn trial_once(&mut self, offer: &Offer) -> Result<Trial, TesterError> {
        trial::run(self, offer)
    }

    fn wire(&self) -> Result<Option<Wire>, TesterError> {
        Wire::lay(self.bed, &self.ways())
    }

    fn exit_program(
        &mut self,
        loads: [Rate; 2],
        distance_ns: Option<f64>,
        run: RunTrial,
    ) -> Result<Option<ExitProgram>, TesterError> {
        exit_program::measure(self, loads, distance_ns, run)
    }

    fn rules(&self, offer: &Offer) -> Rules {
        rules::choose(self, offer)
    }

    fn surroundings(&self) -> Surroundings {
        let (cpus, dut, [first, _]) = (&self.bed.plan().cpus, self.bed.dut(), self.bed.tester());
        Surroundings {
            ring_frames: rules::known_ring(self.bed, &self.traffic).unwrap_or(0),
            cpus_shared: cpus.shared(),
            core_shared: core_shared(&Root::here(), &cpus.dut, &cpus.tester)
                .known()
                .copied()
                .flatten(),
            virtual_nic: dut.front() == Some(Front::Cpumap),
            closed: !dut.is_open(),
            table: TableMet::from_tester(self),
            line_rate: link::line(self.bed).map(|line| {
                let one_way = line.frames_per_second_on_wire(self.traffic.frames.mean_on_wire());
                Rate::from_fps(one_way.fps() * self.traffic.directions() as f64)
            }),
            veth: (first.cable.as_ref())
                .is_some_and(Cable::is_veth)
                .then(|| first.name.clone()),
            egress: (self.ways().iter())
                .filter_map(|way| way.dut)
                .find_map(|dut| Some((dut.outgoing.name.clone(), at_egress(dut.outgoing).ok()??))),
            receiver: Some(self.traffic.receiver),
            simulated: None,
        }
    }
}
