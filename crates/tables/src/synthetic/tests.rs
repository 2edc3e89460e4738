use super::*;
use crate::martians::is_martian;
use crate::{ChooseOptions, choose};
use ipnet::IpNet;
use std::collections::BTreeSet;

fn internet(ipv4: u64, ipv6: u64, seed: u64) -> Table {
    synthesize(&Histogram::internet(), ipv4, ipv6, seed).expect("it fits")
}

/// Prefixes of a sorted table that lie within another of it.
fn nested(table: &Table) -> usize {
    let mut around: Vec<IpNet> = Vec::new();
    let inside = table.iter().filter(|prefix| {
        while around.last().is_some_and(|outer| !outer.contains(prefix)) {
            around.pop();
        }
        around.push(*prefix);
        around.len() > 1
    });
    inside.count()
}

#[test]
fn a_table_has_the_size_the_lengths_and_the_order() {
    let table = internet(100_000, 50_000, 1);
    assert_eq!((table.v4.len(), table.v6.len()), (100_000, 50_000));
    assert!(table.v4.is_sorted() && table.v6.is_sorted());
    assert_eq!(
        Table::from_prefixes(table.iter()),
        table,
        "unique, no host bits"
    );
    let lengths = Histogram::from_table(&table);
    let wanted = scale(&Histogram::internet().v4, 100_000);
    assert_eq!(lengths.v4.to_vec(), wanted);
    assert_eq!(
        lengths.v6.to_vec(),
        scale(&Histogram::internet().v6, 50_000)
    );
}

#[test]
fn the_seed_decides_and_each_family_for_itself() {
    let table = internet(1000, 1000, 7);
    assert_eq!(internet(1000, 1000, 7), table);
    assert_eq!(internet(1000, 0, 7).v4, table.v4);
    assert_eq!(internet(0, 1000, 7).v6, table.v6);
    let other = internet(1000, 1000, 8);
    assert!(other.v4 != table.v4 && other.v6 != table.v6);
}

#[test]
fn nothing_nests_that_has_room() {
    assert_eq!(nested(&internet(200_000, 100_000, 3)), 0);
    // All networks of /8 to /10 there are room for, twice: the second half has to nest.
    let mut histogram = Histogram::internet();
    histogram.v4 = [0; 33];
    histogram.v4[9] = 1;
    histogram.v4[10] = 2;
    let room = Space::unicast_v4().blocks(9) as u64;
    let half = synthesize(&histogram, room, 0, 1).expect("it fits");
    assert_eq!((half.v4.len() as u64, nested(&half)), (room, 0));
    let full = synthesize(&histogram, room * 2, 0, 1).expect("it fits");
    assert_eq!(Table::from_prefixes(full.iter()).v4.len() as u64, room * 2);
    let must = full.v4.len() - nested(&full);
    assert!((must as u64) >= room, "{must} lie in no other");
}

#[test]
fn nothing_synthetic_is_left_out() {
    let table = internet(300_000, 100_000, 5);
    assert!(!table.iter().any(is_martian));
    let chosen = choose(table.clone(), &ChooseOptions::default());
    assert_eq!(chosen.table, table);
}

#[test]
fn prefixes_lie_evenly() {
    // /24 by first octet: 221 octets less the reserved; chi-square, 5 standard deviations.
    let mut histogram = Histogram::internet();
    histogram.v4 = [0; 33];
    histogram.v4[24] = 1;
    let table = synthesize(&histogram, 221_000, 0, 11).expect("it fits");
    let mut by_octet = [0_u32; 256];
    for prefix in &table.v4 {
        by_octet[usize::from(prefix.addr().octets()[0])] += 1;
    }
    let whole = |octet: &usize| ![10, 100, 127, 169, 172, 192, 198, 203].contains(octet);
    let octets: Vec<usize> = (1..224).filter(whole).collect();
    let expected = 221_000.0 * 65_536.0 / Space::unicast_v4().blocks(24) as f64;
    let chi_square: f64 = octets
        .iter()
        .map(|&octet| (f64::from(by_octet[octet]) - expected).powi(2) / expected)
        .sum();
    let freedom = octets.len() as f64 - 1.0;
    let deviations = (chi_square - freedom) / (2.0 * freedom).sqrt();
    assert!(
        deviations.abs() < 5.0,
        "chi-square {chi_square} at {freedom} degrees of freedom"
    );
}

#[test]
fn what_does_not_fit_says_so() {
    let mut histogram = Histogram::internet();
    histogram.v4 = [0; 33];
    histogram.v4[8] = 1;
    let error = synthesize(&histogram, 300, 0, 1).expect_err("too many");
    assert!(
        error.to_string().contains("300 networks of /8") && error.to_string().contains("IPv4"),
        "{error}"
    );
    histogram.v6 = [0; 129];
    histogram.v6[0] = 1;
    let error = synthesize(&histogram, 0, 1, 1).expect_err("no lengths");
    assert_eq!(error, SynthesizeError::NoLengths { family: 6 });
}

#[test]
fn drawn_numbers_are_different_and_cover_all() {
    let mut random = Xoshiro256StarStar::seed_from_u64(1);
    for (count, bound) in [
        (0, 5),
        (5, 5),
        (3, 5),
        (1, 1 << 100),
        (1000, 1500),
        (1000, 1 << 20),
    ] {
        let drawn = draw_distinct(&mut random, count, bound);
        assert_eq!(drawn.len() as u128, count);
        assert!(drawn.is_sorted() && drawn.iter().all(|&number| number < bound));
        assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), drawn.len());
    }
    let mut seen = [0_u32; 5];
    for _ in 0..10_000 {
        for number in draw_distinct(&mut random, 2, 5) {
            seen[number as usize] += 1;
        }
    }
    assert!(
        seen.iter().all(|&times| (3_700..4_300).contains(&times)),
        "{seen:?}"
    );
}
