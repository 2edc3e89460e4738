//! CPUs of a host at its work, looked at for a time without traffic of ours: how busy, with what, at what cost a frame.
//!
//! Nothing is changed and nothing is sent. What cannot be seen, because a right or a part of the kernel is lacking, is
//! said ([`mpps_record::Watched::lacks`]), and the rest is seen all the same.

mod cost;
mod counters;
mod frames;
mod limit;
mod program;
mod samples;

pub use mpps_linux::cpu::CpuSet;

use crate::clock::{monotonic_ns, wait_until};
use crate::profile::{Sampler, SamplerPlan, Symbols, symbols};
use counters::Counters;
use mpps_linux::cpu;
use mpps_linux::{Error, Result, netns};
use mpps_method::Span;
use mpps_record::{LimitedBy, ProfileLine};
use program::{Program, Seen};
use std::fmt::Display;

/// Between two looks whether to go on, ns.
const LOOK_NS: u64 = 20_000_000;

/// What is needed to look at some CPUs; looking again costs little.
pub struct Observer {
    cpus: Vec<usize>,
    netns: u64,
    symbols: Option<Symbols>,
    program: Option<Program>,
    plan: SamplerPlan,
    lacks: Vec<String>,
}

impl Observer {
    /// Looks at these CPUs; none means all that are online.
    ///
    /// # Errors
    /// A CPU is not online; /proc or /sys is not mounted.
    pub fn new(cpus: &CpuSet) -> Result<Self> {
        let online = cpu::online()?;
        let absent = cpus.difference(&online);
        if !absent.is_empty() {
            let why = format!("this machine has {online} online");
            return Err(Error::from_text("watch", format!("CPU {absent}"), why));
        }
        let all = if cpus.is_empty() { &online } else { cpus };
        let cpus: Vec<usize> = all.iter().collect();
        // On a CPU that is not watched, where there is one that we may use.
        let others = cpu::available()?.difference(all);
        let reader = others.iter().next().unwrap_or(cpus[0]);
        let netns = netns::own_inode()?;
        let mut lacks = Vec::new();
        Ok(Self {
            // The program first: symbols that are read later have its own functions.
            program: kept(
                Program::attach(&cpus, netns),
                "busy times and drops",
                &mut lacks,
            ),
            symbols: kept(symbols(), "samples", &mut lacks),
            plan: SamplerPlan::usual(&cpus, reader),
            netns,
            cpus,
            lacks,
        })
    }

    /// Inode number of the network namespace whose interfaces are counted.
    #[must_use]
    pub const fn netns(&self) -> u64 {
        self.netns
    }

    /// The CPUs, by rising number.
    #[must_use]
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// Looks for so long, or until `goes_on` says no: it is asked again and again. The line says why it has no cost, where
    /// nothing tells that.
    ///
    /// # Errors
    /// The kernel's counts cannot be read.
    pub fn observe(&self, time: Span, goes_on: &mut dyn FnMut() -> bool) -> Result<ProfileLine> {
        let mut lacks = self.lacks.clone();
        let sampler = self.symbols.as_ref().and_then(|symbols| {
            let sampler = kept(Sampler::start(&self.plan), "samples", &mut lacks)?;
            Some((sampler, symbols))
        });
        let before = Counters::read()?;
        let begun_ns = monotonic_ns();
        let seen = self.seen(&mut lacks);
        let end_ns = begun_ns + time.as_nanos();
        while goes_on() && monotonic_ns() < end_ns {
            wait_until(end_ns.min(monotonic_ns() + LOOK_NS));
        }
        let seen = seen.zip(self.seen(&mut lacks));
        let after = Counters::read()?;
        let ended_ns = monotonic_ns();
        let profile = sampler
            .and_then(|(sampler, symbols)| kept(sampler.stop(symbols), "samples", &mut lacks));
        let mut watched = after.since(&before, &self.cpus);
        watched.time_ns = ended_ns - begun_ns;
        let seen = seen.map(|(before, after)| [before, after]);
        if let Some(seen) = &seen {
            Program::note(seen, self.symbols.as_ref(), &mut watched);
        }
        watched.lacks = lacks;
        let polls = seen.as_ref().map(Program::polls).unwrap_or_default();
        let is_past_stack = after.are_past_the_stack(&before, watched.rx_frames);
        frames::count(&mut watched, polls, is_past_stack);
        let cost = cost::frame_cost(&mut watched, profile.as_ref());
        let (limit, is_limit) = limit::in_words(&watched);
        let mut line = ProfileLine {
            frame: "traffic of others".to_owned(),
            cpus: self.cpus.clone(),
            limited_by: is_limit.then_some(LimitedBy::Dut),
            limit_text: Some(limit),
            watched: Some(watched),
            ..ProfileLine::default()
        };
        match cost {
            Ok(cost) => {
                line.clock = cost.clock.map(str::to_owned);
                line.loads = vec![cost.load];
                line.stacks = cost.stacks;
            }
            Err(why) => line.why = Some(why),
        }
        Ok(line)
    }

    fn seen(&self, lacks: &mut Vec<String>) -> Option<Seen> {
        let program = self.program.as_ref()?;
        kept(program.read(&self.cpus), "busy times and drops", lacks)
    }
}

/// What there is; else a line says what is lacking and why.
fn kept<T, E: Display>(
    tried: std::result::Result<T, E>,
    what: &str,
    lacks: &mut Vec<String>,
) -> Option<T> {
    let lack = |error: E| lacks.push(format!("no {what}: {error}"));
    tried.map_err(lack).ok()
}
