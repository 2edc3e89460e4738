//! What a set-up was seen to forward, and the load that this asks for next.

use crate::search::saturation::{SENDER_MAX, little_more};
use mpps_method::Rate;
use mpps_method::compare::{is_overloaded, rate};
use mpps_method::saturation::Block;

/// Set-ups whose rates are less than this factor apart are overloaded by the same load: it is no part of a difference.
const ALIKE_RATES: f64 = 1.1;
/// The next load of a set-up that forwarded all of the last one, as a multiple of it.
const MUCH_MORE: f64 = 2.0;

/// What one set-up was seen to forward.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forwards {
    /// The most, or that of a set-up that has its load, frames/s.
    pub most: f64,
    /// What it forwarded in the last undisturbed windows: the first may be faster, before the kernel's tables are full. 0
    /// where there were none.
    pub last: f64,
    /// Whether the last undisturbed windows were of a load that it could not take.
    pub is_known: bool,
    /// Whether it forwarded all of the last load that was undisturbed.
    pub forwards_all: bool,
}

impl Forwards {
    /// The load that overloads it.
    #[must_use]
    pub fn overload(&self) -> Rate {
        little_more(self.most)
    }

    /// The load of the next trial that tells what it forwards. Behind a full table the first frames are slow, so one that
    /// forwards all may forward much more.
    #[must_use]
    pub fn next(&self) -> Rate {
        match self.forwards_all {
            true => Rate::from_fps(self.most * MUCH_MORE).min(SENDER_MAX),
            false => self.overload(),
        }
    }

    /// Learns from a trial. Where too many of its windows were disturbed, the rate of all of it is a bound from below.
    /// Where the tester ends first, no load is too much.
    pub fn learn(&mut self, block: &Block, whole_fps: f64, tester_ends_first: bool) {
        let found = rate(block);
        if let Some(rate) = found {
            self.forwards_all = !tester_ends_first && !is_overloaded(block, rate);
            self.is_known = !self.forwards_all;
        }
        self.last = found.unwrap_or(self.last);
        self.most = self.most.max(found.unwrap_or(whole_fps));
    }

    /// Raises the rate to what was forwarded in undisturbed windows.
    pub fn raise_to(&mut self, block: &Block) {
        self.most = self.most.max(rate(block).unwrap_or(0.0));
    }
}

/// Those about as fast as the first one get its load.
pub fn share_loads<'a>(all: impl IntoIterator<Item = &'a mut Forwards>) {
    let mut all: Vec<&mut Forwards> = all.into_iter().collect();
    let first = all.first().map_or(0.0, |one| one.most);
    all.retain(|one| is_alike(one.most, first));
    let shared = all.iter().map(|one| one.most).fold(first, f64::max);
    all.into_iter().for_each(|one| one.most = shared);
}

/// Whether two set-ups are about as fast, so that one load overloads both.
fn is_alike(one: f64, other: f64) -> bool {
    one.max(other) < ALIKE_RATES * one.min(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::Span;
    use mpps_method::saturation::Window;

    /// A trial in which so much was sent and forwarded, frames/s.
    fn block(sent: f64, forwarded: f64) -> Block {
        let window = Window {
            duration: Span::from_millis(10),
            forwarded: (forwarded / 100.0) as u64,
            ..Window::default()
        };
        Block {
            sent: Rate::from_fps(sent),
            lost: 0.0,
            windows: vec![window; 30],
            ..Block::default()
        }
    }

    #[test]
    fn a_load_that_is_forwarded_is_doubled() {
        let mut one = Forwards::default();
        one.learn(&block(4e6, 1e6), 1e6, false);
        assert!(one.is_known);
        assert_eq!(one.next(), one.overload());
        one.learn(&block(1.1e6, 1.1e6), 1.1e6, false);
        assert!(!one.is_known);
        assert_eq!(one.next(), Rate::from_fps(2.2e6));
        one.learn(&block(2.2e6, 2e6), 2e6, false);
        assert!(one.is_known);
        assert_eq!(one.next(), little_more(2e6));
    }

    #[test]
    fn a_tester_that_ends_first_needs_no_more() {
        let mut one = Forwards::default();
        one.learn(&block(1e6, 1e6), 1e6, true);
        assert!(one.is_known);
        assert_eq!(one.next(), one.overload());
    }

    #[test]
    fn alike_set_ups_get_one_load() {
        let mut all = [1e6, 1.05e6, 2e6].map(|most| Forwards {
            most,
            ..Forwards::default()
        });
        share_loads(&mut all);
        assert_eq!(all.map(|one| one.most), [1.05e6, 1.05e6, 2e6]);
    }
}
