//! Names and lateness of the samples that the kernel wrote.

use super::{CpuProfile, Profile, Sample, SamplingClock, Segment, SymbolId, Symbols};
use mpps_linux::perf::{Record, Sampled, records};
use mpps_linux::{Error, Result, task};
use std::collections::{BTreeMap, HashMap};

/// What the kernel wrote of one CPU.
pub struct Taken {
    /// Its number.
    pub cpu: usize,
    /// Records, one behind the other.
    pub octets: Vec<u8>,
    /// The periods it was sampled with.
    pub segments: Vec<Segment>,
}

/// Reads the samples of all CPUs, from this time on, and names what ran.
///
/// # Errors
/// The records are of another layout.
pub fn resolve(
    clock: SamplingClock,
    from_ns: u64,
    taken: &[Taken],
    symbols: &Symbols,
) -> Result<Profile> {
    let ends = taken.iter().filter_map(|cpu| cpu.segments.last());
    let to_ns = ends.map(|segment| segment.to_ns).min();
    let mut names = Names::new(symbols);
    let profiles = taken.iter().map(|cpu| cpu.profile(&mut names));
    let cpus: Vec<CpuProfile> = profiles.collect::<Result<_>>()?;
    Ok(Profile {
        clock,
        from_ns,
        to_ns: to_ns.unwrap_or(from_ns).max(from_ns),
        tasks: task_names(&cpus),
        cpus,
        names: names.names,
    })
}

impl Taken {
    /// Its samples, with names.
    fn profile(&self, names: &mut Names<'_>) -> Result<CpuProfile> {
        let mut profile = CpuProfile {
            cpu: self.cpu,
            samples: Vec::new(),
            lost: 0,
            throttled: 0,
            segments: self.segments.clone(),
        };
        for record in records(&self.octets) {
            let torn = |at| {
                let object = format!("samples of CPU {}", self.cpu);
                Error::from_text("read", object, format!("a record at {at} is torn"))
                    .with_remedy("the kernel uses another layout; rebuild mpps")
            };
            match record.map_err(torn)? {
                Record::Sample(sample) => profile.samples.extend(self.sample(&sample, names)),
                Record::Lost(records) => profile.lost += records,
                Record::Throttled => profile.throttled += 1,
                Record::Unthrottled | Record::Other(_) => {}
            }
        }
        profile.samples.sort_by_key(|sample| sample.time_ns);
        set_lateness(&mut profile);
        Ok(profile)
    }

    /// `None`: it came before its period was known, or after the end.
    fn sample(&self, sample: &Sampled<'_>, names: &mut Names<'_>) -> Option<Sample> {
        let place = Segment::place(&self.segments, sample.time_ns)?;
        let is_over = self.segments.last()?.to_ns < sample.time_ns;
        (!is_over).then(|| Sample {
            time_ns: sample.time_ns,
            weight: self.segments[place].weight(),
            lateness_ns: None,
            task: sample.tid,
            ip: sample.ip,
            stack: names.stack(sample),
        })
    }
}

/// Where the clock is the timer: in each segment, against its own promptest samples.
fn set_lateness(profile: &mut CpuProfile) {
    let segments = &profile.segments;
    let place = |sample: &Sample| Segment::place(segments, sample.time_ns);
    for samples in profile
        .samples
        .chunk_by_mut(|one, other| place(one) == place(other))
    {
        let of = samples.first().and_then(place).map(|place| segments[place]);
        let times: Vec<u64> = samples.iter().map(|sample| sample.time_ns).collect();
        let timed = of.filter(|segment| segment.counted.is_none());
        let late = timed.and_then(|segment| segment.lateness(&times));
        for (sample, late) in samples.iter_mut().zip(late.into_iter().flatten()) {
            sample.lateness_ns = Some(late);
        }
    }
}

/// Names of the tasks that ran.
fn task_names(cpus: &[CpuProfile]) -> BTreeMap<i32, String> {
    let tids = cpus
        .iter()
        .flat_map(|cpu| &cpu.samples)
        .map(|sample| sample.task);
    let mut names: BTreeMap<i32, String> = tids.map(|tid| (tid, String::new())).collect();
    for (tid, name) in &mut names {
        *name = match tid {
            0 => "swapper".to_owned(),
            // Empty: it has ended, or our process namespace does not show it.
            _ => task::comm(*tid).unwrap_or_default(),
        };
    }
    names.retain(|_, name| !name.is_empty());
    names
}

/// Addresses in the functions above the one that ran. The time of an indirect call is that of the function it calls, its
/// `target`. A retpoline puts that where a return address is expected; until then its caller is there.
fn above(target: Option<u64>, calls: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    let mut calls = calls.peekable();
    if let Some(target) = target {
        calls.next_if_eq(&target);
    }
    // A return address may lie behind the end of the function that called.
    let callers = calls.map(|address| address.saturating_sub(1));
    target.into_iter().chain(callers)
}

/// Functions by address, each name once.
struct Names<'a> {
    symbols: &'a Symbols,
    names: Vec<Box<str>>,
    by_name: HashMap<&'a str, SymbolId>,
    by_address: HashMap<u64, SymbolId>,
}

impl<'a> Names<'a> {
    fn new(symbols: &'a Symbols) -> Self {
        Self {
            symbols,
            // `SymbolId::UNKNOWN` and `SymbolId::USER`.
            names: vec!["[unknown]".into(), "[user]".into()],
            by_name: HashMap::new(),
            by_address: HashMap::new(),
        }
    }

    fn stack(&mut self, sample: &Sampled<'_>) -> Box<[SymbolId]> {
        if !sample.in_kernel {
            return [SymbolId::USER].into();
        }
        let mut calls = sample.chain();
        let ran = self.find(calls.next().unwrap_or(sample.ip));
        let target = sample.rax.filter(|_| self.is_retpoline(ran));
        let above = above(target, calls).map(|address| self.find(address));
        std::iter::once(ran).chain(above).collect()
    }

    /// Whether this is a retpoline that jumps to what register RAX holds: the first of the kernel's array of them.
    fn is_retpoline(&self, symbol: SymbolId) -> bool {
        let name = self.names.get(symbol.0 as usize);
        let plain = name.map(|name| name.trim_start_matches("__pi_"));
        matches!(
            plain,
            Some("__x86_indirect_thunk_rax" | "__x86_indirect_thunk_array")
        )
    }

    fn find(&mut self, address: u64) -> SymbolId {
        if let Some(known) = self.by_address.get(&address) {
            return *known;
        }
        let id = self
            .symbols
            .find(address)
            .map_or(SymbolId::UNKNOWN, |symbol| {
                let next = SymbolId(self.names.len() as u32);
                *self.by_name.entry(symbol.name).or_insert_with(|| {
                    self.names.push(symbol.name.into());
                    next
                })
            });
        self.by_address.insert(address, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::above;

    #[test]
    fn a_retpoline_is_called_what_it_calls() {
        let above =
            |target, calls: &[u64]| -> Vec<u64> { above(target, calls.iter().copied()).collect() };
        // Before the target is on the stack, with it there, and with nothing above it.
        assert_eq!(above(Some(900), &[501, 601]), [900, 500, 600]);
        assert_eq!(above(Some(900), &[900, 501]), [900, 500]);
        assert_eq!(above(Some(900), &[]), [900]);
        assert_eq!(above(None, &[501, 601]), [500, 600]);
    }
}
