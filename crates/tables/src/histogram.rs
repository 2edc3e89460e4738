//! How many prefixes a table has of each length.

use super::Table;

/// Prefixes by length, both families.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// IPv4: index 0 to 32.
    pub v4: [u64; 33],
    /// IPv6: index 0 to 128.
    pub v6: [u64; 129],
}

/// IPv4 routes in RIPE NCC's RIS, collector RRC00, on 2026-10-04: length, prefixes. 1 097 941 in all, without those
/// that are wholly covered by more-specific ones.
const RRC00_2026_V4: [(usize, u64); 25] = [
    (8, 14),
    (9, 13),
    (10, 36),
    (11, 82),
    (12, 244),
    (13, 485),
    (14, 957),
    (15, 1765),
    (16, 11_885),
    (17, 7183),
    (18, 11_983),
    (19, 22_680),
    (20, 43_612),
    (21, 50_575),
    (22, 99_996),
    (23, 98_160),
    (24, 743_115),
    (25, 944),
    (26, 989),
    (27, 1430),
    (28, 824),
    (29, 584),
    (30, 38),
    (31, 20),
    (32, 327),
];

/// The same collector's IPv6 routes on the same day: 258 339 in all.
const RRC00_2026_V6: [(usize, u64); 41] = [
    (19, 1),
    (20, 15),
    (21, 3),
    (22, 6),
    (23, 5),
    (24, 50),
    (25, 13),
    (26, 19),
    (27, 15),
    (28, 158),
    (29, 5750),
    (30, 714),
    (31, 352),
    (32, 24_828),
    (33, 4571),
    (34, 5236),
    (35, 1694),
    (36, 9833),
    (37, 1369),
    (38, 2748),
    (39, 1859),
    (40, 24_489),
    (41, 1821),
    (42, 2909),
    (43, 1458),
    (44, 26_774),
    (45, 4641),
    (46, 5723),
    (47, 7964),
    (48, 123_094),
    (49, 29),
    (51, 3),
    (52, 3),
    (56, 24),
    (64, 133),
    (118, 1),
    (124, 1),
    (125, 1),
    (126, 5),
    (127, 8),
    (128, 19),
];

impl Histogram {
    /// The Internet's, as one collector saw it on 2026-10-04.
    #[must_use]
    pub fn internet() -> Self {
        let mut histogram = Self {
            v4: [0; 33],
            v6: [0; 129],
        };
        for (length, prefixes) in RRC00_2026_V4 {
            histogram.v4[length] = prefixes;
        }
        for (length, prefixes) in RRC00_2026_V6 {
            histogram.v6[length] = prefixes;
        }
        histogram
    }

    /// Counts a table.
    #[must_use]
    pub fn from_table(table: &Table) -> Self {
        let mut histogram = Self {
            v4: [0; 33],
            v6: [0; 129],
        };
        for prefix in &table.v4 {
            histogram.v4[usize::from(prefix.prefix_len())] += 1;
        }
        for prefix in &table.v6 {
            histogram.v6[usize::from(prefix.prefix_len())] += 1;
        }
        histogram
    }
}

/// This many prefixes in these shares: the largest remainders are rounded up. All zero where the shares are.
pub(super) fn scale(shares: &[u64], prefixes: u64) -> Vec<u64> {
    let total: u128 = shares.iter().map(|&share| u128::from(share)).sum();
    if total == 0 {
        return vec![0; shares.len()];
    }
    let exact = |share: u64| u128::from(share) * u128::from(prefixes);
    let mut scaled: Vec<u64> = shares
        .iter()
        .map(|&share| (exact(share) / total) as u64)
        .collect();
    let missing = prefixes - scaled.iter().sum::<u64>();
    let mut by_remainder: Vec<usize> = (0..shares.len()).collect();
    by_remainder.sort_by_key(|&at| std::cmp::Reverse(exact(shares[at]) % total));
    for &at in by_remainder.iter().take(missing as usize) {
        scaled[at] += 1;
    }
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::net;

    #[test]
    fn internet_has_the_published_counts() {
        let internet = Histogram::internet();
        assert_eq!(internet.v4.iter().sum::<u64>(), 1_097_941);
        assert_eq!(internet.v6.iter().sum::<u64>(), 258_339);
        assert_eq!((internet.v4[24], internet.v6[48]), (743_115, 123_094));
    }

    #[test]
    fn a_tables_own_is_counted() {
        let table =
            Table::from_prefixes(["0.0.0.0/0", "1.0.0.0/8", "2.0.0.0/8", "::/128"].map(net));
        let histogram = Histogram::from_table(&table);
        assert_eq!(
            (histogram.v4[0], histogram.v4[8], histogram.v6[128]),
            (1, 2, 1)
        );
    }

    #[test]
    fn scaling_keeps_the_sum_and_the_shares() {
        let internet = Histogram::internet();
        for prefixes in [0, 1, 10, 1000, 1_097_941, 4_000_000] {
            let scaled = scale(&internet.v4, prefixes);
            assert_eq!(scaled.iter().sum::<u64>(), prefixes);
            for (share, count) in internet.v4.iter().zip(&scaled) {
                let exact = *share as f64 * prefixes as f64 / 1_097_941.0;
                assert!((exact - *count as f64).abs() < 1.0, "{exact}: {count}");
            }
        }
        assert_eq!(scale(&internet.v4, 1_097_941), internet.v4);
        assert_eq!(scale(&[0, 0], 5), [0, 0]);
    }
}
