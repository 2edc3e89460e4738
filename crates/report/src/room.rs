//! The room of a page, which its runs share: a page is not to be larger, however many they are.

use maud::Markup;
use mpps_record::Run;
use std::cell::Cell;

/// A page is not to be larger, octets: raw files have what is left after all else.
pub const LARGEST: usize = 4_900_000;
/// A run has plots and tables that do not grow with its trials: about those of so many.
const WITHOUT_TRIALS: usize = 100;

/// What is left for the runs that are not yet shown.
pub struct Shared {
    octets: Cell<usize>,
    weight: Cell<usize>,
}

/// What one run may have beside its answers.
pub struct Room {
    octets: usize,
    left_out: Vec<&'static str>,
}

fn weight(run: &Run) -> usize {
    run.trials.len() + WITHOUT_TRIALS
}

impl Shared {
    /// So many octets for all runs.
    pub fn new(octets: usize, runs: &[&Run]) -> Self {
        let weight = runs.iter().map(|run| weight(run)).sum();
        Self {
            octets: Cell::new(octets),
            weight: Cell::new(weight),
        }
    }

    /// Shows a run in its share, which grows with its trials. What it leaves is for the later ones.
    pub fn show(&self, run: &Run, shown: impl FnOnce(&mut Room) -> Markup) -> Markup {
        let (all, own) = (self.weight.get(), weight(run));
        let share = self.octets.get() as f64 * own as f64 / all.max(own) as f64;
        let mut room = Room {
            octets: share as usize,
            left_out: Vec::new(),
        };
        let markup = shown(&mut room);
        let taken = share as usize - room.octets;
        self.octets.set(self.octets.get() - taken);
        self.weight.set(all.saturating_sub(own));
        markup
    }
}

impl Room {
    /// Whether there is none, so that nothing need be drawn.
    pub const fn is_spent(&self) -> bool {
        self.octets == 0
    }

    /// Takes so many octets, if they are left.
    pub const fn take(&mut self, octets: usize) -> bool {
        let fits = octets <= self.octets;
        if fits {
            self.octets -= octets;
        }
        fits
    }

    /// The part, or nothing where it does not fit.
    pub fn fit(&mut self, name: &'static str, part: Markup) -> Option<Markup> {
        if self.take(part.0.len()) {
            return Some(part);
        }
        self.leave_out(name);
        None
    }

    /// Notes that parts of this name did not fit.
    pub fn leave_out(&mut self, name: &'static str) {
        if !self.left_out.contains(&name) {
            self.left_out.push(name);
        }
    }

    /// One sentence, if something was left out.
    pub fn told(&self) -> Option<String> {
        let (last, before) = self.left_out.split_last()?;
        let all = match before {
            [] => (*last).to_owned(),
            _ => format!("{} and {last}", before.join(", ")),
        };
        Some(format!("This page has no more room for {all} of this run."))
    }
}
