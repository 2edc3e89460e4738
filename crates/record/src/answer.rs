//! Lines that answer what a job asks.

use crate::kind::{Body, Run};
use crate::result::Doubt;
use serde_json::Value;
use std::borrow::Cow;

/// A line that answers what its job asks.
pub trait Answer: Body + Clone + PartialEq {
    /// The verb that writes it.
    const JOB: &'static str;

    /// What it is about, which tells lines of one run apart; and what to doubt.
    fn doubted(&self) -> Doubted<'_>;

    /// Adds doubts to its own; a line of given loads or of a planted fault stays as it is.
    fn add_doubts(&mut self, doubts: &[Doubt]);
}

/// A subject with its doubts.
pub type Doubted<'a> = (Cow<'a, str>, &'a [Doubt]);

/// All lines of one such kind.
pub trait Answers {
    /// The word for the kind.
    fn kind(&self) -> &'static str;

    /// The verb that writes them.
    fn job(&self) -> &'static str;

    /// Whether there are none.
    fn is_empty(&self) -> bool;

    /// Each with its doubts.
    fn doubted(&self) -> Vec<Doubted<'_>>;

    /// Their members.
    fn values(&self) -> Vec<Value>;

    /// Adds them to another run.
    fn add_to(&self, run: &mut Run);

    /// Drops lines that are there twice, and counts them.
    fn drop_repeated(&mut self) -> usize;
}

impl<L: Answer> Answers for Vec<L> {
    fn kind(&self) -> &'static str {
        L::KIND
    }

    fn job(&self) -> &'static str {
        L::JOB
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn doubted(&self) -> Vec<Doubted<'_>> {
        self.iter().map(Answer::doubted).collect()
    }

    fn values(&self) -> Vec<Value> {
        let values = self.iter().map(serde_json::to_value);
        values.map(Result::unwrap_or_default).collect()
    }

    fn add_to(&self, run: &mut Run) {
        self.iter().for_each(|line| run.add(line.clone()));
    }

    fn drop_repeated(&mut self) -> usize {
        let before = self.len();
        let mut kept: Self = Self::with_capacity(before);
        for line in self.drain(..) {
            if !kept.contains(&line) {
                kept.push(line);
            }
        }
        *self = kept;
        before - self.len()
    }
}
