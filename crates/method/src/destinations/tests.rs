use super::space::Prefix;
use super::*;
use crate::random::scramble;
use std::collections::{BTreeMap, BTreeSet};

/// Chi-square of counts against what was expected, and the value that chance exceeds once in a thousand
/// times (Wilson & Hilferty 1931).
fn chi_square(counts: &[(u64, f64)]) -> (f64, f64) {
    let square = |&(seen, expected): &(u64, f64)| (seen as f64 - expected).powi(2) / expected;
    let statistic = counts.iter().map(square).sum();
    let degrees = (counts.len() - 1) as f64;
    let part = 2.0 / (9.0 * degrees);
    (
        statistic,
        degrees * (1.0 - part + 3.09 * part.sqrt()).powi(3),
    )
}

fn assert_uniform(counts: impl IntoIterator<Item = u64>, what: &str) {
    let counts: Vec<u64> = counts.into_iter().collect();
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let against: Vec<(u64, f64)> = counts.iter().map(|&count| (count, mean)).collect();
    let (statistic, bound) = chi_square(&against);
    assert!(
        statistic < bound,
        "{what}: {statistic} of {bound}: {counts:?}"
    );
    // Too good is no chance either.
    assert!(statistic > 0.0, "{what}: {counts:?}");
}

fn v4(text: &str) -> Prefix<u32> {
    let (address, length) = text.split_once('/').expect("address/length");
    let address: std::net::Ipv4Addr = address.parse().expect("an address");
    (u32::from(address), length.parse().expect("a length"))
}

fn table(texts: &[&str]) -> Vec<Prefix<u32>> {
    let mut table: Vec<_> = texts.iter().map(|text| v4(text)).collect();
    table.sort_unstable();
    table
}

/// Longest match by looking at every prefix.
fn longest_match<A: Address>(table: &[Prefix<A>], address: A) -> Option<usize> {
    let holds = |(_, (prefix, length)): &(usize, &Prefix<A>)| {
        let hosts = A::BITS - u32::from(*length);
        let differ = prefix.to_number() ^ address.to_number();
        differ.checked_shr(hosts).unwrap_or(0) == 0
    };
    let matching = table.iter().enumerate().filter(holds);
    matching
        .max_by_key(|(_, (_, length))| *length)
        .map(|(place, _)| place)
}

/// 40 prefixes with more-specifics in more-specifics, /8 to /30, and one that these use up.
fn nested() -> Vec<Prefix<u32>> {
    let mut table = table(&[
        "20.0.0.0/8",
        "20.16.0.0/12",
        "20.16.3.0/24",
        "30.1.2.0/30",
        "40.0.0.0/23",
    ]);
    table.extend(table_of_halves());
    for third in 0..32 {
        table.push(v4(&format!("50.{third}.0.0/16")));
    }
    table.sort_unstable();
    table
}

/// A prefix without an address of its own.
fn table_of_halves() -> Vec<Prefix<u32>> {
    table(&["60.0.0.0/24", "60.0.0.0/25", "60.0.0.128/25"])
}

#[test]
fn own_addresses_are_those_that_no_more_specific_has() {
    let table = nested();
    let space = Space::own(&table, &[]);
    let size = |text: &str| {
        let place = table.iter().position(|prefix| *prefix == v4(text));
        space.size(place.expect("in the table"))
    };
    assert_eq!(size("20.0.0.0/8"), (1 << 24) - (1 << 20));
    assert_eq!(size("20.16.0.0/12"), (1 << 20) - 256);
    assert_eq!(size("60.0.0.0/24"), 0);
    assert_eq!((size("60.0.0.0/25"), size("30.1.2.0/30")), (128, 4));
    let sum: u128 = (0..space.owners()).map(|owner| space.size(owner)).sum();
    assert_eq!(sum, space.total());
}

proptest::proptest! {
    /// Every address of a small world: to whom the space gives it, and to whom the longest match.
    #[test]
    fn the_space_agrees_with_the_longest_match(
        prefixes in proptest::collection::btree_set((0_u32..256, 22_u8..=32), 0..24),
        blocks in proptest::collection::vec((0_u32..256, 24_u8..=30, proptest::bool::ANY), 0..3),
    ) {
        let clean = |address: u32, length: u8| (0x1400_0000 | address & !((1_u64 << (32 - length)) - 1) as u32, length);
        let table: Vec<Prefix<u32>> = prefixes.iter().map(|&(a, l)| clean(a, l)).collect::<BTreeSet<_>>().into_iter().collect();
        let exclusions: Vec<Exclusion<u32>> = blocks
            .iter()
            .map(|&(address, length, always)| Exclusion { prefix: clean(address, length), always })
            .collect();
        let space = Space::own(&table, &exclusions);
        let gaps = Space::gaps(&table, &exclusions);
        let mut owned = BTreeMap::new();
        for owner in 0..space.owners() {
            for number in 0..space.size(owner) {
                let address = space.address(owner, number).expect("within the size");
                proptest::prop_assert_eq!(owned.insert(address, owner), None, "given twice");
            }
        }
        let ends = |owner| (gaps.address(owner, 0), gaps.address(owner, gaps.size(owner) - 1));
        let missing: Vec<_> = (0..gaps.owners()).map(ends).collect();
        for address in 0x1400_0000..0x1400_0400_u32 {
            let found = longest_match(&table, address);
            let left_out = exclusions.iter().any(|exclusion| {
                let within = longest_match(&[exclusion.prefix], address).is_some();
                let deliberate = found.is_some_and(|place| table[place].1 >= exclusion.prefix.1);
                within && (exclusion.always || !deliberate)
            });
            let wanted = found.filter(|_| !left_out);
            proptest::prop_assert_eq!(owned.get(&address).copied(), wanted, "{:x}", address);
            let covered = exclusions.iter().any(|exclusion| longest_match(&[exclusion.prefix], address).is_some());
            let in_gap = missing.iter().any(|&(first, last)| first <= Some(address) && Some(address) <= last);
            proptest::prop_assert_eq!(in_gap, found.is_none() && !covered, "{:x}", address);
        }
    }
}

#[test]
fn gaps_are_unicast_and_around_the_prefixes() {
    let table = table(&["0.0.0.0/7", "20.0.0.0/8", "21.0.0.0/8", "223.0.0.0/8"]);
    let bed = Exclusion {
        prefix: v4("198.18.0.0/15"),
        always: true,
    };
    let gaps = Space::gaps(&table, &[bed]);
    let ends: Vec<(u32, u32)> = (0..gaps.owners())
        .map(|owner| {
            let last = gaps.size(owner) - 1;
            (
                gaps.address(owner, 0).unwrap(),
                gaps.address(owner, last).unwrap(),
            )
        })
        .collect();
    let hex = |text: &str| v4(&format!("{text}/32")).0;
    assert_eq!(
        ends,
        [
            (hex("2.0.0.0"), hex("19.255.255.255")),
            (hex("22.0.0.0"), hex("198.17.255.255")),
            (hex("198.20.0.0"), hex("222.255.255.255")),
        ]
    );
    let nothing = Space::<u128>::gaps(&[], &[]);
    assert_eq!((nothing.owners(), nothing.total()), (1, 1 << 125));
    assert_eq!(Space::gaps(&[(0_u32, 0)], &[]).total(), 0);
}

#[test]
fn drawn_addresses_are_in_the_table_and_distinct() {
    let table = nested();
    for draw in [
        Draw::PerPrefix,
        Draw::PerAddress,
        Draw::Zipf(1.0),
        Draw::Sequential,
    ] {
        let drawn = draw
            .from(Space::own(&table, &[]), 5_000, 7)
            .expect("enough");
        let distinct: BTreeSet<u32> = drawn.addresses.iter().copied().collect();
        assert_eq!(distinct.len(), 5_000, "{draw}");
        for address in distinct {
            assert!(longest_match(&table, address).is_some(), "{draw}");
        }
        let again = draw
            .from(Space::own(&table, &[]), 5_000, 7)
            .expect("enough");
        assert_eq!(drawn, again, "{draw}: the seed decides");
        let other = draw
            .from(Space::own(&table, &[]), 5_000, 8)
            .expect("enough");
        assert_eq!(drawn == other, draw == Draw::Sequential, "{draw}");
    }
    let missing = Draw::Missing
        .from(Space::gaps(&table, &[]), 5_000, 7)
        .expect("enough");
    assert!(
        missing
            .addresses
            .iter()
            .all(|&a| longest_match(&table, a).is_none())
    );
    assert_eq!(missing.distinct(), 5_000);
}

#[test]
fn per_prefix_gives_every_prefix_its_turn() {
    let table = nested();
    // 39 have addresses of their own; the /30 is used up after four rounds.
    let drawn = Draw::PerPrefix
        .from(Space::own(&table, &[]), 39 * 10, 1)
        .expect("enough");
    let mut by_prefix = BTreeMap::new();
    for address in drawn.addresses {
        *by_prefix.entry(longest_match(&table, address)).or_insert(0) += 1;
    }
    assert_eq!(by_prefix.len(), 39);
    let small = table.iter().position(|prefix| *prefix == v4("30.1.2.0/30"));
    for (place, count) in by_prefix {
        assert!(
            count == if place == small { 4 } else { 10 } || count == 11,
            "{place:?}: {count}"
        );
    }
}

#[test]
fn per_prefix_is_even_over_prefixes_and_within_them() {
    let table: Vec<Prefix<u32>> = (0..64).map(|n| (0x1400_0000 + (n << 8), 24)).collect();
    let mut prefixes = vec![0_u64; 64];
    let mut hosts = vec![0_u64; 256];
    // A quarter of the prefixes each time: which, and which of their addresses, is by chance.
    for seed in 0..2_000 {
        let drawn = Draw::PerPrefix
            .from(Space::own(&table, &[]), 16, seed)
            .expect("enough");
        for address in drawn.addresses {
            prefixes[(address >> 8 & 63) as usize] += 1;
            hosts[(address & 255) as usize] += 1;
        }
    }
    assert_uniform(hosts, "addresses of a prefix");
    // 16 of 64 without putting back: the variance is 48/63 of the multinomial's; the bound only gets wider.
    assert_uniform(prefixes, "prefixes");
}

#[test]
fn every_place_has_every_number_as_often() {
    for size in [2_u128, 3, 4, 7, 256, 257, 1_000] {
        let mut first = vec![0_u64; size as usize];
        let mut second = vec![0_u64; size as usize];
        for seed in 0..20_000 {
            let order = Permutation::new(size, scramble(seed));
            first[order.at(0) as usize] += 1;
            second[order.at(1) as usize] += 1;
            if seed % 1_000 == 0 {
                let all: BTreeSet<u128> = (0..size).map(|place| order.at(place)).collect();
                assert_eq!(all.len() as u128, size, "size {size}, seed {seed}");
            }
        }
        assert_uniform(first, &format!("first of {size}"));
        assert_uniform(second, &format!("second of {size}"));
    }
}

#[test]
fn per_address_excludes_more_specific_prefixes() {
    let table = table(&[
        "20.0.0.0/16",
        "20.0.0.0/17",
        "20.0.128.0/18",
        "21.0.0.0/20",
        "22.0.0.0/24",
    ]);
    let space = Space::own(&table, &[]);
    let total = space.total() as f64;
    let shares: Vec<f64> = (0..table.len())
        .map(|owner| space.size(owner) as f64 / total)
        .collect();
    // 20.0.0.0/16 has its last quarter alone.
    assert!((shares[0] - 16_384.0 / (65_536.0 + 4_096.0 + 256.0)).abs() < 1e-12);
    let count = 20_000;
    let mut seen = vec![0_u64; table.len()];
    let mut octets = vec![0_u64; 64];
    let drawn = Draw::PerAddress.from(space, count, 3).expect("enough");
    for address in drawn.addresses {
        let owner = longest_match(&table, address).expect("in the table");
        seen[owner] += 1;
        if owner == 0 {
            octets[(address >> 8 & 63) as usize] += 1;
        }
    }
    let against: Vec<(u64, f64)> = seen
        .iter()
        .zip(&shares)
        .map(|(&seen, share)| (seen, share * count as f64))
        .collect();
    let (statistic, bound) = chi_square(&against);
    assert!(
        statistic < bound && statistic > 0.0,
        "{statistic} of {bound}: {against:?}"
    );
    assert_uniform(octets, "within a prefix");
}

#[test]
fn the_exponent_of_zipf_is_found_again() {
    for exponent in [0.5, 1.0, 1.5] {
        let schedule = super::draw::zipf(2_000, exponent, 11, 500_000);
        let mut counts = vec![0_u64; 2_000];
        for &place in &schedule {
            counts[place as usize] += 1;
        }
        // Maximum likelihood by bisection: the mean of ln(rank) falls as the exponent grows.
        let mean = |exponent: f64| {
            let weight = |rank: usize| (rank as f64).powf(-exponent);
            let sum: f64 = (1..=2_000).map(weight).sum();
            (1..=2_000)
                .map(|rank| weight(rank) * (rank as f64).ln())
                .sum::<f64>()
                / sum
        };
        let logs = |(place, &count): (usize, &u64)| count as f64 * ((place + 1) as f64).ln();
        let seen = counts.iter().enumerate().map(logs).sum::<f64>() / schedule.len() as f64;
        let (mut low, mut high) = (0.0_f64, 3.0_f64);
        for _ in 0..60 {
            let middle = low.midpoint(high);
            if mean(middle) > seen {
                low = middle;
            } else {
                high = middle;
            }
        }
        assert!((low - exponent).abs() < 0.01, "{exponent}: found {low}");
    }
}

#[test]
fn a_popular_destination_comes_again() {
    let table: Vec<Prefix<u32>> = (0..300).map(|n| (0x1400_0000 + (n << 8), 24)).collect();
    let drawn = Draw::Zipf(2.5)
        .from(Space::own(&table, &[]), 300, 11)
        .expect("enough");
    let schedule = drawn.schedule.as_ref().expect("a schedule");
    let used: BTreeSet<u32> = schedule.iter().copied().collect();
    assert_eq!(drawn.in_use(), used.len() as u64);
    assert_eq!((schedule.len() as u64, drawn.distinct()), (LIST_MAX, 300));
}

#[test]
fn sequential_walks_the_table_in_order() {
    let table = table(&["20.0.0.0/24", "30.0.0.0/31", "40.0.0.0/24", "50.0.0.0/24"]);
    let drawn = |count| {
        let drawn = Draw::Sequential.from(Space::own(&table, &[]), count, 0);
        drawn.expect("enough").addresses
    };
    assert_eq!(drawn(2), [0x1400_0000, 0x2800_0000], "every second");
    assert_eq!(
        drawn(4),
        [0x1400_0000, 0x1e00_0000, 0x2800_0000, 0x3200_0000]
    );
    let many = drawn(700);
    assert!(many.is_sorted());
    let of_small = many.iter().filter(|&&address| address >> 24 == 30).count();
    assert_eq!(
        (many.len(), of_small),
        (700, 2),
        "what the /31 cannot give, the others do"
    );
}

#[test]
fn beyond_the_list_whole_blocks_are_drawn() {
    let table = table(&["20.0.0.0/8", "21.0.0.0/9", "22.0.0.0/30"]);
    // A list of the usual length takes long to draw.
    let list_max = LIST_MAX >> 6;
    let count = 2 * list_max + 4;
    let drawn = Draw::PerAddress
        .listed_up_to(Space::own(&table, &[]), count, 5, list_max)
        .expect("enough");
    assert_eq!((drawn.block_bits, drawn.distinct()), (2, count));
    assert!(drawn.addresses.iter().all(|address| address % 4 == 0));
    let mut distinct = drawn.addresses.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), drawn.addresses.len());
    let too_many = Draw::PerPrefix
        .from(Space::own(&table, &[]), 1 << 26, 5)
        .expect_err("too many");
    assert!(
        too_many.to_string().contains("ask for at most"),
        "{too_many}"
    );
}

#[test]
fn ipv6_addresses_are_drawn_from_all_their_bits() {
    let table: Vec<Prefix<u128>> = vec![
        (0x2001_0db8 << 96, 32),
        (0x2001_0db8 << 96, 48),
        (0x2a00_1450 << 96, 32),
    ];
    let space = Space::own(&table, &[]);
    assert_eq!(space.size(0), (1 << 96) - (1 << 80));
    let drawn = Draw::PerPrefix.from(space, 3_000, 1).expect("enough");
    let mut low = vec![0_u64; 16];
    for &address in &drawn.addresses {
        assert!(longest_match(&table, address).is_some());
        low[(address & 15) as usize] += 1;
    }
    assert_uniform(low, "last bits");
}

#[test]
fn draws_are_written_as_they_are_read() {
    for text in [
        "per-prefix",
        "per-address",
        "zipf:1.2",
        "sequential",
        "missing",
    ] {
        assert_eq!(
            text.parse::<Draw>().map(|draw| draw.to_string()),
            Ok(text.to_owned())
        );
    }
    for wrong in [
        "", "zipf", "zipf:0", "zipf:-1", "zipf:9", "zipf:nan", "random",
    ] {
        let error = wrong.parse::<Draw>().expect_err(wrong).to_string();
        assert!(
            error.contains("per-address") && !error.contains('\n'),
            "{error}"
        );
    }
    let none = Draw::PerPrefix
        .from(Space::<u32>::own(&[], &[]), 1, 0)
        .expect_err("nothing");
    assert_eq!(
        none.to_string(),
        "1 destinations: the table has no addresses to draw from at all"
    );
}

#[test]
fn a_block_is_walked_through_without_a_repeat() {
    for bits in [1, 2, 3, 4, 7, 8] {
        for seed in [0, 1, 12_345, u32::MAX] {
            let offsets: BTreeSet<u32> = (0..1 << bits)
                .map(|lap| block_offset(lap, bits, seed))
                .collect();
            assert_eq!(offsets.len(), 1 << bits, "{bits} bits, seed {seed}");
            assert!(offsets.iter().all(|offset| *offset < 1 << bits));
        }
    }
}
