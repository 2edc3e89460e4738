//! Whose address is it? The own addresses of each prefix of a table, and the gaps between prefixes.

use super::Address;
use std::marker::PhantomData;

/// A prefix as a number and a length: host bits zero.
pub type Prefix<A> = (A, u8);

/// Addresses that are not to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exclusion<A> {
    /// The block.
    pub prefix: Prefix<A>,
    /// Also those of prefixes within the block: whoever has such a prefix in his table may mean it, but
    /// some addresses can never be sent to.
    pub always: bool,
}

/// A stretch of addresses that belong to one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece<A> {
    first: A,
    last: A,
    owner: u32,
}

/// Disjoint stretches of addresses by owner: prefixes by their place in the table, or gaps.
#[derive(Clone, Debug)]
pub struct Space<A> {
    /// By owner, then by address.
    pieces: Vec<Piece<A>>,
    /// Where each owner's pieces begin; one more entry than owners.
    starts: Vec<u32>,
    /// Bits of an address that stand for a whole block of addresses.
    block_bits: u32,
    family: PhantomData<A>,
}

impl<A: Address> Space<A> {
    /// The own addresses of each prefix of a table. The table is sorted by address, then length, each once.
    #[must_use]
    pub fn own(table: &[Prefix<A>], exclusions: &[Exclusion<A>]) -> Self {
        let mut excluded: Vec<(u128, u128, u8, bool)> = exclusions
            .iter()
            .map(|exclusion| {
                let (first, last) = ends(exclusion.prefix);
                (first, last, exclusion.prefix.1, exclusion.always)
            })
            .collect();
        excluded.sort_unstable();
        let mut kept = Vec::with_capacity(table.len() + table.len() / 4);
        for piece in own_pieces(table) {
            let length = table.get(piece.owner as usize).map_or(0, |prefix| prefix.1);
            let left_out = excluded
                .iter()
                .filter(|(_, _, block, always)| *always || length < *block);
            keep(
                piece,
                left_out.map(|&(first, last, ..)| (first, last)),
                &mut kept,
            );
        }
        Self::from_pieces(kept, table.len())
    }

    /// The unicast addresses that neither a prefix nor an exclusion covers; each gap is an owner.
    #[must_use]
    pub fn gaps(table: &[Prefix<A>], exclusions: &[Exclusion<A>]) -> Self {
        let blocks = exclusions.iter().map(|exclusion| ends(exclusion.prefix));
        let mut covered: Vec<(u128, u128)> =
            table.iter().copied().map(ends).chain(blocks).collect();
        covered.sort_unstable();
        let (mut from, last) = A::UNICAST;
        let mut gaps = Vec::new();
        let mut gap = |first: u128, last: u128| {
            if first <= last {
                let owner = u32::try_from(gaps.len()).unwrap_or(u32::MAX);
                gaps.push(piece(first, last, owner));
            }
        };
        for (first, end) in covered {
            if first > last {
                break;
            }
            if first > from {
                gap(from, first - 1);
            }
            from = from.max(end.saturating_add(1));
        }
        gap(from, last);
        let owners = gaps.len();
        Self::from_pieces(gaps, owners)
    }

    fn from_pieces(mut pieces: Vec<Piece<A>>, owners: usize) -> Self {
        pieces.sort_unstable_by_key(|piece| (piece.owner, piece.first));
        let mut starts = vec![0; owners + 1];
        for piece in &pieces {
            if let Some(start) = starts.get_mut(piece.owner as usize + 1) {
                *start += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self {
            pieces,
            starts,
            block_bits: 0,
            family: PhantomData,
        }
    }

    /// The same space in aligned blocks of `2^bits` addresses: what is left of it when only whole blocks
    /// count. Addresses are then the blocks' first ones.
    #[must_use]
    pub fn in_blocks(self, bits: u32) -> Self {
        let owners = self.owners();
        let whole = |stretch: &Piece<A>| {
            let first = (stretch.first.to_number() + ((1 << bits) - 1)) >> bits;
            let end = (stretch.last.to_number() + 1) >> bits;
            (first < end).then(|| piece(first, end - 1, stretch.owner))
        };
        let blocks = self.pieces.iter().filter_map(whole).collect();
        Self {
            block_bits: bits,
            ..Self::from_pieces(blocks, owners)
        }
    }

    /// How many owners: prefixes of the table, or gaps.
    #[must_use]
    pub fn owners(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// How many addresses (or blocks) an owner has.
    #[must_use]
    pub fn size(&self, owner: usize) -> u128 {
        self.of_owner(owner).iter().map(Piece::size).sum()
    }

    /// How many addresses (or blocks) all owners have.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.pieces.iter().map(Piece::size).sum()
    }

    /// An owner's address of this number, in order from 0.
    #[must_use]
    pub fn address(&self, owner: usize, mut number: u128) -> Option<A> {
        for piece in self.of_owner(owner) {
            if number < piece.size() {
                return Some(self.block(piece.first.to_number() + number));
            }
            number -= piece.size();
        }
        None
    }

    /// Sizes of all stretches added up, one after the other.
    pub(super) fn sums(&self) -> Vec<u128> {
        let mut sum = 0;
        let add = |piece: &Piece<A>| {
            sum += piece.size();
            sum
        };
        self.pieces.iter().map(add).collect()
    }

    /// The address of this number over all owners; `sums` are [`Self::sums`].
    pub(super) fn among_all(&self, sums: &[u128], number: u128) -> Option<A> {
        let at = sums.partition_point(|&sum| sum <= number);
        let before = at.checked_sub(1).and_then(|at| sums.get(at)).unwrap_or(&0);
        let piece = self.pieces.get(at)?;
        Some(self.block(piece.first.to_number() + number - before))
    }

    fn block(&self, number: u128) -> A {
        A::from_number(number << self.block_bits)
    }

    fn of_owner(&self, owner: usize) -> &[Piece<A>] {
        let at = |owner: usize| self.starts.get(owner).map(|&start| start as usize);
        let range = at(owner).zip(at(owner + 1));
        range
            .and_then(|(from, to)| self.pieces.get(from..to))
            .unwrap_or_default()
    }
}

impl<A: Address> Piece<A> {
    fn size(&self) -> u128 {
        self.last.to_number() - self.first.to_number() + 1
    }
}

fn piece<A: Address>(first: u128, last: u128, owner: u32) -> Piece<A> {
    Piece {
        first: A::from_number(first),
        last: A::from_number(last),
        owner,
    }
}

/// First and last address of a prefix.
fn ends<A: Address>((address, length): Prefix<A>) -> (u128, u128) {
    let hosts = A::BITS.saturating_sub(u32::from(length));
    let mask = u128::MAX.checked_shr(128 - hosts).unwrap_or(0);
    let first = address.to_number() & !mask;
    (first, first | mask)
}

/// Walks the sorted table with a stack of the prefixes that cover the place.
fn own_pieces<A: Address>(table: &[Prefix<A>]) -> Vec<Piece<A>> {
    let mut pieces = Vec::with_capacity(table.len() + table.len() / 4);
    let mut covering: Vec<(u128, u32)> = Vec::new();
    let mut from = 0;
    let mut emit = |first: u128, last: u128, owner: u32| {
        if first <= last {
            pieces.push(piece(first, last, owner));
        }
    };
    for (owner, prefix) in (0..).zip(table.iter().copied()) {
        let (first, last) = ends(prefix);
        while let Some((end, of)) = covering.pop_if(|(end, _)| *end < first) {
            emit(from, end, of);
            from = from.max(end + 1);
        }
        if let Some((_, of)) = covering.last()
            && first > 0
        {
            emit(from, first - 1, *of);
        }
        from = first;
        covering.push((last, owner));
    }
    while let Some((end, of)) = covering.pop() {
        emit(from, end, of);
        match end.checked_add(1) {
            Some(next) => from = from.max(next),
            // The last address there is: what covers it further out has none left.
            None => break,
        }
    }
    pieces
}

/// Keeps of a piece what the sorted stretches leave of it.
fn keep<A: Address>(
    of: Piece<A>,
    left_out: impl Iterator<Item = (u128, u128)>,
    kept: &mut Vec<Piece<A>>,
) {
    let (mut from, last) = (of.first.to_number(), of.last.to_number());
    for (first, end) in left_out {
        if end < from {
            continue;
        }
        if first > last {
            break;
        }
        if first > from {
            kept.push(piece(from, first - 1, of.owner));
        }
        match end.checked_add(1) {
            Some(next) => from = next,
            None => return,
        }
    }
    if from <= last {
        kept.push(piece(from, last, of.owner));
    }
}
