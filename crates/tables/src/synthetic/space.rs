//! Address space in pieces: what is still free, and blocks taken out of it.

use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::Rng;

/// Piece of an address space: first address, and the first one behind it.
type Piece = (u128, u128);

/// Addresses of one family, as sorted pieces that do not touch.
#[derive(Clone, Debug)]
pub(super) struct Space {
    bits: u8,
    pieces: Vec<Piece>,
}

/// Unicast IPv4 space: 1.0.0.0 to 223.255.255.255 without what the registries reserve (see `martians`): address, length.
const HOLES_V4: [([u8; 4], u8); 13] = [
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 3),
];

/// The large blocks that IANA gave to the five registries (IPv6 Global Unicast Address Assignments): first 16 bits of
/// a /12.
const REGISTRIES_V6: [u16; 8] = [
    0x2400, 0x2410, 0x2600, 0x2630, 0x2800, 0x2a00, 0x2a10, 0x2c00,
];

impl Space {
    /// IPv4 unicast without martians.
    pub(super) fn unicast_v4() -> Self {
        let mut from = 1 << 24;
        let mut pieces = Vec::new();
        for (address, length) in HOLES_V4 {
            let hole = u128::from(u32::from_be_bytes(address));
            pieces.push((from, hole));
            from = hole + (1 << (32 - length));
        }
        Self { bits: 32, pieces }
    }

    /// IPv6 as the registries give it out.
    pub(super) fn registries_v6() -> Self {
        let piece = |first: u16| {
            let from = u128::from(first) << 112;
            (from, from + (1 << 116))
        };
        let mut space = Self {
            bits: 128,
            pieces: Vec::new(),
        };
        for (from, to) in REGISTRIES_V6.map(piece) {
            space.push(from, to);
        }
        space
    }

    /// 4 or 6.
    pub(super) fn family(&self) -> u8 {
        if self.bits == 32 { 4 } else { 6 }
    }

    /// How many networks of this length fit.
    pub(super) fn blocks(&self, length: u8) -> u128 {
        let bits = self.block_bits(length);
        self.pieces
            .iter()
            .map(|&piece| blocks_in(piece, bits))
            .sum()
    }

    /// Takes out the networks with these sorted numbers among all of this length that fit; their addresses, in order.
    pub(super) fn take(&mut self, length: u8, numbers: &[u128]) -> Vec<u128> {
        let bits = self.block_bits(length);
        let pieces = std::mem::take(&mut self.pieces);
        self.pieces.reserve(pieces.len() + numbers.len());
        let mut taken = Vec::with_capacity(numbers.len());
        let (mut numbers, mut before) = (numbers.iter().peekable(), 0);
        for piece in pieces {
            let blocks = blocks_in(piece, bits);
            let (mut from, to) = piece;
            let first = piece.0.div_ceil(1 << bits);
            while let Some(number) = numbers.next_if(|number| **number - before < blocks) {
                let address = (first + (number - before)) << bits;
                self.push(from, address);
                from = address + (1 << bits);
                taken.push(address);
            }
            self.push(from, to);
            before += blocks;
        }
        taken
    }

    /// This space without these networks of one length, which are sorted and lie in it.
    pub(super) fn without(&self, networks: &[u128], length: u8) -> Self {
        let size = 1 << self.block_bits(length);
        let mut space = Self {
            bits: self.bits,
            pieces: Vec::with_capacity(self.pieces.len() + networks.len()),
        };
        let mut networks = networks.iter().peekable();
        for &(mut from, to) in &self.pieces {
            while let Some(&network) = networks.next_if(|network| **network < to) {
                space.push(from, network);
                from = network + size;
            }
            space.push(from, to);
        }
        space
    }

    fn block_bits(&self, length: u8) -> u32 {
        u32::from(self.bits - length)
    }

    /// Adds a piece behind the others, unless it is empty; one with the last if they touch.
    fn push(&mut self, from: u128, to: u128) {
        match self.pieces.last_mut() {
            _ if from >= to => {}
            Some(last) if last.1 == from => last.1 = to,
            _ => self.pieces.push((from, to)),
        }
    }
}

/// Aligned blocks of 2^bits addresses in a piece.
fn blocks_in((from, to): Piece, bits: u32) -> u128 {
    (to >> bits).saturating_sub(from.div_ceil(1 << bits))
}

/// Draws `count` different numbers below `bound`, each set equally likely; sorted.
pub(super) fn draw_distinct(
    random: &mut Xoshiro256StarStar,
    count: u128,
    bound: u128,
) -> Vec<u128> {
    if count > bound / 2 {
        // Most of them: draw those to leave out.
        let left_out = draw_few(random, (bound - count) as usize, bound);
        let mut left_out = left_out.into_iter().peekable();
        return (0..bound)
            .filter(|number| left_out.next_if_eq(number).is_none())
            .collect();
    }
    draw_few(random, count as usize, bound)
}

/// Draws again each number that came twice, until there are enough.
fn draw_few(random: &mut Xoshiro256StarStar, count: usize, bound: u128) -> Vec<u128> {
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        for _ in drawn.len()..count {
            drawn.push(below(random, bound));
        }
        drawn.sort_unstable();
        drawn.dedup();
    }
    drawn
}

/// Uniform from 0 to below `bound`, which is at least 1. Within 64 bits the high half of a product, above them the
/// remainder of 128 random bits: off by less than bound / 2^64 or bound / 2^128.
fn below(random: &mut Xoshiro256StarStar, bound: u128) -> u128 {
    match u64::try_from(bound) {
        Ok(bound) => (u128::from(random.next_u64()) * u128::from(bound)) >> 64,
        Err(_) => (u128::from(random.next_u64()) << 64 | u128::from(random.next_u64())) % bound,
    }
}
