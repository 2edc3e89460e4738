//! The times in which the machine disturbed a trial, and what fell into them. The rest of the trial is evidence.
//!
//! A disturbance is a time in which a CPU of the bed stood still, was slow or ran another program, with a guard after it
//! as long as the rings need to drain. The rule is fixed before the trial and knows nothing of its loss: a disturbance in which
//! no frame was lost is taken out just so.

use crate::units::Span;

/// A time in which one CPU ran nothing at all or ran slowly, between two ticks of its clock, or ran another program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disturbance {
    /// The CPU's number.
    pub cpu: usize,
    /// Its beginning, since the trial's first slot (zero where it came before that).
    pub from: Span,
    /// Its end.
    pub to: Span,
}

impl Disturbance {
    /// How long it was.
    #[must_use]
    pub fn length(&self) -> Span {
        Span::from_nanos(self.to.as_nanos().saturating_sub(self.from.as_nanos()))
    }
}

/// A part of a trial that counts for nothing, since its first slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excluded {
    /// Its beginning.
    pub from: Span,
    /// Its end.
    pub to: Span,
}

/// What fell into the disturbances of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disturbed {
    /// Disturbances; those that overlap are one.
    pub times: u32,
    /// How long they were in all, guards included.
    pub time: Span,
    /// Frames sent then, over all directions.
    pub sent: u64,
    /// Slots that passed unsent then.
    pub unsent: u64,
    /// Of the frames sent then, those that were lost anywhere; `None` where nobody knows which frames were lost.
    pub lost: Option<u64>,
}

/// The guard after a disturbance: in it the sender catches up and the rings drain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard {
    /// Length of the guard, as a multiple of the disturbance's.
    pub factor: f64,
    /// So long at least.
    pub least: Span,
    /// So long at most: a full ring is drained by then.
    pub most: Span,
}

impl Guard {
    fn after_ns(&self, disturbance_ns: u64) -> u64 {
        let drains_ns = disturbance_ns as f64 * self.factor;
        (drains_ns as u64).max(self.least.as_nanos())
    }
}

/// How long these times were on one CPU, ns.
pub(crate) fn time_of(times: &[Disturbance], cpu: usize) -> u64 {
    let of_cpu = times.iter().filter(|time| time.cpu == cpu);
    of_cpu.map(|time| time.length().as_nanos()).sum()
}

/// The disturbed parts of a trial of this length, in their order: each of `times` and a guard after it. A disturbance
/// that begins in the guard of another finds the rings filled: what was left of that guard is added to its own.
#[must_use]
pub fn excluded<'a>(
    times: impl IntoIterator<Item = &'a Disturbance>,
    guard: &Guard,
    length: Span,
) -> Vec<Excluded> {
    let mut times: Vec<&Disturbance> = times.into_iter().collect();
    times.retain(|time| time.from < length);
    times.sort_by_key(|time| time.from);
    let mut parts: Vec<Excluded> = Vec::new();
    for time in times {
        let (from, to) = (time.from.as_nanos(), time.to.as_nanos());
        let before = parts.last().map_or(0, |last| last.to.as_nanos());
        let left_ns = before.saturating_sub(from);
        let guard_ns = (guard.after_ns(to.saturating_sub(from)))
            .saturating_add(left_ns)
            .min(guard.most.as_nanos());
        let to = Span::from_nanos(to.saturating_add(guard_ns));
        match parts.last_mut() {
            Some(last) if left_ns > 0 => last.to = last.to.max(to),
            _ => parts.push(Excluded {
                from: time.from,
                to,
            }),
        }
    }
    parts
        .iter_mut()
        .for_each(|part| part.to = part.to.min(length));
    parts
}

/// How long these parts are in all.
#[must_use]
pub fn in_all(parts: &[Excluded]) -> Span {
    let ns = |part: &Excluded| part.to.as_nanos() - part.from.as_nanos();
    Span::from_nanos(parts.iter().map(ns).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(millis: &[(u64, u64)]) -> Vec<Disturbance> {
        let time = |&(from, to): &(u64, u64)| Disturbance {
            cpu: 1,
            from: Span::from_millis(from),
            to: Span::from_millis(to),
        };
        millis.iter().map(time).collect()
    }

    const GUARD: Guard = Guard {
        factor: 0.5,
        least: Span::from_millis(3),
        most: Span::from_millis(10),
    };

    fn found(millis: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let parts = excluded(&times(millis), &GUARD, Span::from_millis(1_000));
        let millis = |span: Span| span.as_nanos() / 1_000_000;
        let each = |part: &Excluded| (millis(part.from), millis(part.to));
        parts.iter().map(each).collect()
    }

    #[test]
    fn a_guard_lasts_until_the_rings_have_drained() {
        assert_eq!(found(&[]), []);
        assert_eq!(found(&[(50, 55), (10, 12)]), [(10, 15), (50, 58)]);
        assert_eq!(found(&[(10, 22), (100, 190)]), [(10, 28), (100, 200)]);
    }

    #[test]
    fn one_within_a_guard_finds_the_rings_filled() {
        // 1 ms of the first guard is left.
        assert_eq!(found(&[(10, 12), (14, 16)]), [(10, 20)]);
        // Two CPUs at once.
        assert_eq!(found(&[(10, 40), (11, 14)]), [(10, 50)]);
        assert_eq!(found(&[(10, 12), (12, 14), (14, 16), (16, 18)]), [(10, 28)]);
    }

    #[test]
    fn a_disturbance_ends_with_the_trial() {
        assert_eq!(found(&[(990, 1_200)]), [(990, 1_000)]);
        assert_eq!(found(&[(1_001, 1_002)]), []);
        let within = times(&[(0, 10), (500, 510)]);
        let parts = excluded(&within, &GUARD, Span::from_millis(505));
        assert_eq!(in_all(&parts), Span::from_millis(20));
    }
}
