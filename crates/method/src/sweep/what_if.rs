//! What a frame would cost elsewhere: at another clock, with more cores, at another place on a measured axis.

use super::{Axis, Fit};
use std::fmt;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WhatIf {
    /// Clock of the CPU, Hz.
    pub hertz: Option<f64>,
    /// Places on axes.
    pub places: Vec<(Axis, f64)>,
}

/// What was measured: one point, and the fits of sweeps through it.
#[derive(Clone, Debug)]
pub struct Basis {
    /// ns of a frame there: low, middle, high. Three times the same where a fit tells it, whose interval is that of the place
    /// asked for.
    pub frame_ns: [f64; 3],
    /// Cores of the router there.
    pub cores: f64,
    /// Flows there, by ports and destinations, of all directions; `None` where nobody knows. Each has one core.
    pub flows: Option<f64>,
    /// Clock of its CPUs, Hz.
    pub hertz: Option<f64>,
    /// One fit for each axis, with the place of the measured point on it.
    pub fits: Vec<(Fit, f64)>,
}

/// Why a record cannot tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CannotAnswer {
    /// There is no sweep over this axis.
    NoSweep(Axis),
    /// Nobody could read the clock of the CPUs.
    NoClock,
    /// The interval of the cost reaches down to nothing, or farther up than the cost itself. Holds the farthest place on
    /// an axis where it does not.
    TooWide(Option<(Axis, f64)>),
}

impl fmt::Display for CannotAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSweep(axis) => {
                let axis = axis.name();
                write!(
                    f,
                    "the record has no sweep over {axis}: `mpps explain --sweep {axis}` measures one"
                )
            }
            Self::NoClock => f.write_str(
                "the record does not say how fast the CPUs were clocked, so nothing scales with freq",
            ),
            Self::TooWide(nearer) => {
                f.write_str("nothing is predicted, because the interval there reaches 0 or is wider than the cost. Sweep with more points or longer trials, or ask for ")?;
                match nearer {
                    Some((axis, most)) => write!(f, "{}={most} at most", axis.name()),
                    None => f.write_str("something nearer to what was measured"),
                }
            }
        }
    }
}

impl std::error::Error for CannotAnswer {}

/// A range, and what it assumes.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// ns of a frame: low, middle, high.
    pub frame_ns: [f64; 3],
    /// Frames/s at most: low, middle, high.
    pub max_fps: [f64; 3],
    /// Whether `low` and `high` are known: not beyond the largest memory measured.
    pub has_interval: bool,
    /// What was assumed, a sentence each.
    pub assumes: Vec<String>,
    /// Why not to trust it, a sentence each.
    pub distrust: Vec<String>,
}

impl Basis {
    /// What a frame would cost, and how many would be forwarded at most.
    ///
    /// # Errors
    /// [`CannotAnswer`].
    pub fn answer(&self, asked: &WhatIf) -> Result<Answer, CannotAnswer> {
        self.predict(asked).map_err(|why| match why {
            CannotAnswer::TooWide(_) => CannotAnswer::TooWide(self.farthest(asked)),
            why => why,
        })
    }

    /// The farthest place towards the one asked for that can be predicted, to two digits, on the first axis on which there
    /// is one beyond the measured point.
    fn farthest(&self, asked: &WhatIf) -> Option<(Axis, f64)> {
        let farthest = |&(axis, to): &(Axis, f64)| {
            let (_, at) = self.fits.iter().find(|(fit, _)| fit.axis == axis)?;
            let is_known = |value: f64| {
                let moved = |&(of, place)| (of, if of == axis { value } else { place });
                let asked = WhatIf {
                    hertz: asked.hertz,
                    places: asked.places.iter().map(moved).collect(),
                };
                self.predict(&asked).is_ok()
            };
            let (mut low, mut high) = (*at, to);
            if low >= high || !is_known(low) {
                return None;
            }
            for _ in 0..64 {
                let middle = low.midpoint(high);
                match is_known(middle) {
                    true => low = middle,
                    false => high = middle,
                }
            }
            let unit = 10_f64.powf(low.log10().floor() - 1.0).max(1.0);
            let rounded = (low / unit).floor() * unit;
            (rounded > *at).then_some((axis, rounded))
        };
        asked.places.iter().find_map(farthest)
    }

    fn predict(&self, asked: &WhatIf) -> Result<Answer, CannotAnswer> {
        let mut found = Answer {
            frame_ns: self.frame_ns,
            max_fps: [0.0; 3],
            has_interval: true,
            assumes: Vec::new(),
            distrust: Vec::new(),
        };
        // Of the cost, what is known to wait for memory, and of which the clock makes nothing faster.
        // An empty sum is -0.
        let known = self.fits.iter().map(|(fit, at)| fit.memory_ns(*at));
        let mut memory_ns = known.fold(0.0, |sum, ns| sum + ns);
        let (mut cores, mut flows) = (self.cores, self.flows);
        for &(axis, to) in &asked.places {
            let of_axis = self.fits.iter().find(|(fit, _)| fit.axis == axis);
            if axis == Axis::Cores {
                cores = to;
            }
            match of_axis {
                // That is the measured point.
                Some((_, at)) if *at == to => {}
                Some((fit, at)) => {
                    found.go(fit, *at, to);
                    if axis.is_of_memory() {
                        flows = flows.map(|flows| flows * to / at);
                    }
                    memory_ns += fit.memory_ns(to) - fit.memory_ns(*at);
                }
                None if axis == Axis::Cores => {
                    let linear = "a frame costs the same on each core however many there are";
                    found.assumes.push(linear.to_owned());
                    found.distrust.push(
                        "no sweep over cores was measured: locks, memory and queues may keep the rate from growing \
                        with the cores. The range leaves that out"
                            .to_owned(),
                    );
                }
                None => return Err(CannotAnswer::NoSweep(axis)),
            }
        }
        if let Some(hertz) = asked.hertz {
            found.clock(hertz, self.hertz.ok_or(CannotAnswer::NoClock)?, memory_ns);
        }
        let [low, middle, high] = found.frame_ns;
        if !(low > 0.0 && high <= 2.0 * middle) {
            return Err(CannotAnswer::TooWide(None));
        }
        let busy = found.busy_cores(asked, cores, flows);
        found.max_fps = [high, middle, low].map(|ns| busy * 1e9 / ns);
        found.assumes.push(
            "the router's CPU stays the limit, and not a NIC, a bus or the memory's bandwidth"
                .to_owned(),
        );
        Ok(found)
    }
}

impl Answer {
    /// Goes along an axis: by the difference of the fit, with the interval of the fit there.
    fn go(&mut self, fit: &Fit, at: f64, to: f64) {
        let (here, there) = (fit.at(at), fit.at(to));
        let by = there.ns - here.ns;
        let [low, middle, high] = self.frame_ns;
        let reach = |side: f64, own: f64| (side.powi(2) + own.powi(2)).sqrt();
        self.frame_ns = [
            middle + by - reach(there.ns - there.low, middle - low),
            middle + by,
            middle + by + reach(there.high - there.ns, high - middle),
        ];
        self.has_interval &= !(fit.is_past_end(at) || fit.is_past_end(to));
        let axis = fit.axis.name();
        self.assumes.push(match (fit.item_octets, fit.known_item_octets()) {
            (_, Some(octets)) => format!(
                "the cost follows {axis} as measured: the look-up reads {octets:.0} octets for each, and waits as the memory did"
            ),
            (Some(_), None) => {
                format!("the cost follows {axis} as measured: the look-up waits as the memory did")
            }
            (None, _) if fit.is_between() => {
                format!("the cost follows {axis} from one measured place to the next")
            }
            (None, _) => format!("the cost follows {axis} along the measured line"),
        });
        for (place, _) in [(at, here), (to, there)].iter().filter(|(_, is)| is.beyond) {
            let level = match fit.is_past_end(*place) {
                true => ". The fit stays level there, and has no interval",
                false => "",
            };
            self.distrust.push(format!(
                "{axis}={place} is beyond all that was measured, so this is an extrapolation{level}"
            ));
        }
    }

    /// Cores that have work: as many as there are flows, at most. To ask for cores alone is to ask for enough flows too.
    fn busy_cores(&mut self, asked: &WhatIf, cores: f64, flows: Option<f64>) -> f64 {
        let has = |is: fn(Axis) -> bool| asked.places.iter().any(|&(axis, _)| is(axis));
        let has_enough = has(|axis| axis == Axis::Cores) && !has(Axis::is_of_memory);
        let busy = match flows {
            Some(flows) if !has_enough => flows.min(cores),
            _ => cores,
        };
        let few = flows.filter(|flows| *flows < cores);
        self.assumes.extend(match few {
            Some(flows) if busy < cores => Some(format!(
                "only {busy} of the {cores} cores are busy: one flow has one core, and there are {flows}"
            )),
            Some(flows) => Some(format!(
                "all {cores} cores are equally busy: enough flows for that are assumed, but {flows} measured"
            )),
            None => (cores > 1.0).then(|| format!("all {cores} cores are equally busy")),
        });
        busy
    }

    /// Another clock. The look-up's part is bound by memory. How much of the constant part waits for memory too, or for
    /// another CPU, is not known: one end says all of it, the other none, the middle a half.
    fn clock(&mut self, to: f64, from: f64, memory_ns: f64) {
        let factor = from / to;
        let scaled = |ns: f64, memory: f64| {
            let memory = memory.min(ns);
            (ns - memory) * factor + memory
        };
        let [low, middle, high] = self.frame_ns;
        let ends = [
            scaled(low, 0.0),
            scaled(low, low),
            scaled(high, 0.0),
            scaled(high, high),
        ];
        self.frame_ns = [
            ends.into_iter().fold(f64::MAX, f64::min).min(low),
            scaled(middle, memory_ns).midpoint(middle),
            ends.into_iter().fold(0.0, f64::max).max(high),
        ];
        self.assumes.push(format!(
            "the CPU-bound part scales with the clock ({:.2} to {:.2} GHz), the memory-bound part does not. \
            {memory_ns:.0} ns of the fit wait for memory. The middle counts half of the rest as waiting; the \
            range goes from none to all",
            from / 1e9, to / 1e9
        ));
    }
}
