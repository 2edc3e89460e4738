//! The order in which two take turns, so that what slows the machine down for a while slows both of them.

/// Which of two comes first in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnOrder {
    is_backwards: bool,
}

impl TurnOrder {
    /// In turn after turn: A B, B A, A B, B A.
    #[must_use]
    pub const fn new(turn: u32) -> Self {
        Self {
            is_backwards: turn % 2 == 1,
        }
    }

    /// In half a round of two turns, from 0: A B, B A, B A, A B. A steady drift then meets both alike.
    #[must_use]
    pub const fn from_half_round(half_round: u64) -> Self {
        Self {
            is_backwards: matches!(half_round % 4, 1 | 2),
        }
    }

    /// Puts all of them into this order.
    pub fn arrange<T>(self, all: &mut [T]) {
        if self.is_backwards {
            all.reverse();
        }
    }

    /// The places of both in this order.
    #[must_use]
    pub const fn places(self) -> [usize; 2] {
        if self.is_backwards { [1, 0] } else { [0, 1] }
    }

    /// Does something with each in this order. Returns what came of the first, then of the second.
    ///
    /// # Errors
    /// That of the one that failed; the other is left out then, if its turn has not come.
    pub fn both<T, E>(self, mut each: impl FnMut(usize) -> Result<T, E>) -> Result<[T; 2], E> {
        let mut done = [each(self.places()[0])?, each(self.places()[1])?];
        self.arrange(&mut done);
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_always_comes_first() {
        let turns = |order: fn(u64) -> TurnOrder| (0..5).map(order).map(TurnOrder::places);
        let alternating = turns(|turn| TurnOrder::new(turn as u32));
        assert!(alternating.eq([[0, 1], [1, 0], [0, 1], [1, 0], [0, 1]]));
        let in_halves = turns(TurnOrder::from_half_round);
        assert!(in_halves.eq([[0, 1], [1, 0], [1, 0], [0, 1], [0, 1]]));
    }

    #[test]
    fn results_stand_by_place_not_by_time() {
        let mut order = Vec::new();
        let both = TurnOrder::new(1).both(|at| {
            order.push(at);
            Ok::<_, ()>(10 * at)
        });
        assert_eq!((both, order), (Ok([0, 10]), vec![1, 0]));
        let mut both = [10, 20];
        TurnOrder::new(1).arrange(&mut both);
        assert_eq!(both, [20, 10]);
        assert_eq!(TurnOrder::new(0).both(Err::<(), _>), Err(0));
    }
}
