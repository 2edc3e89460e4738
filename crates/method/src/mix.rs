//! Mixes of frame sizes: the published ones and those of the user.
//!
//! Sizes include the FCS. The two of 2009 were printed as pktgen sizes, which do not: 64, 576 and
//! 1514 there are 68, 580 and 1518 here.

use std::borrow::Cow;

use crate::units::FrameLen;

/// One bin of a mix: sizes from `min` to `max`, all as likely as each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Smallest size.
    pub min: FrameLen,
    /// Largest size, not below `min`.
    pub max: FrameLen,
    /// Share of the frames, relative to the other parts' (percent in the published mixes).
    pub weight: f64,
}

impl Part {
    const fn new(min: u16, max: u16, weight: f64) -> Self {
        Self {
            min: FrameLen(min),
            max: FrameLen(max),
            weight,
        }
    }

    /// Number of sizes in the bin.
    #[must_use]
    pub const fn sizes(&self) -> u64 {
        (self.max.octets() - self.min.octets()) as u64 + 1
    }

    /// Mean size, octets.
    #[must_use]
    pub fn mean_octets(&self) -> f64 {
        f64::from(self.min.octets()).midpoint(f64::from(self.max.octets()))
    }
}

/// A named mix. Weights are above zero and there is at least one part.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    pub(crate) name: Cow<'static, str>,
    pub(crate) parts: Cow<'static, [Part]>,
}

/// Simple IMIX: 64, 594 and 1518 octets at 7 : 4 : 1 (the forwarding community's mix of about 2000;
/// RFC 6985 calls it by its sizes).
pub const SIMPLE_IMIX: Mix = published(
    "imix",
    &[
        Part::new(64, 64, 7.0),
        Part::new(594, 594, 4.0),
        Part::new(1518, 1518, 1.0),
    ],
);

/// Simple IMIX with the smallest frame that has room for IPv6, UDP and the test tag: 78, 594 and 1518
/// octets at 7 : 4 : 1.
pub const SIMPLE_IMIX_IPV6: Mix = published(
    "imix6",
    &[
        Part::new(78, 78, 7.0),
        Part::new(594, 594, 4.0),
        Part::new(1518, 1518, 1.0),
    ],
);

/// Frames at the Amsterdam exchange in 2015 by bins (thesis 5.3). That sizes are uniform inside a
/// bin is our reading; it reproduces the thesis' Gbit/s.
pub const AMS_IX_2015: Mix = published(
    "ams-ix-2015",
    &[
        Part::new(1518, 1518, 21.4),
        Part::new(1024, 1517, 26.3),
        Part::new(512, 1023, 2.8),
        Part::new(256, 511, 3.0),
        Part::new(128, 255, 4.1),
        Part::new(66, 127, 42.4),
    ],
);

/// The mix of Varlese & Jones, Intel 2016.
pub const INTEL_2016: Mix = published(
    "intel-2016",
    &[
        Part::new(64, 64, 57.0),
        Part::new(570, 570, 7.0),
        Part::new(594, 594, 16.0),
        Part::new(1518, 1518, 20.0),
    ],
);

/// Internet traffic of 2009 (Brouer after Olsson).
pub const INTERNET_2009: Mix = published(
    "internet-2009",
    &[
        Part::new(68, 68, 45.0),
        Part::new(580, 580, 25.0),
        Part::new(1518, 1518, 30.0),
    ],
);

/// The same as Brouer's generator approximated it.
pub const INTERNET_2009_APPROX: Mix = published(
    "internet-2009-approx",
    &[
        Part::new(68, 68, 50.0),
        Part::new(580, 580, 25.0),
        Part::new(1518, 1518, 25.0),
    ],
);

/// Every mix with a name.
pub static PUBLISHED: [Mix; 6] = [
    SIMPLE_IMIX,
    SIMPLE_IMIX_IPV6,
    AMS_IX_2015,
    INTEL_2016,
    INTERNET_2009,
    INTERNET_2009_APPROX,
];

const fn published(name: &'static str, parts: &'static [Part]) -> Mix {
    Mix {
        name: Cow::Borrowed(name),
        parts: Cow::Borrowed(parts),
    }
}

impl Mix {
    /// The published mix of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        PUBLISHED.iter().find(|mix| mix.name == name).cloned()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its bins.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Mean frame size, octets.
    #[must_use]
    pub fn mean_octets(&self) -> f64 {
        let weight: f64 = self.parts.iter().map(|part| part.weight).sum();
        self.parts
            .iter()
            .map(|part| part.weight * part.mean_octets())
            .sum::<f64>()
            / weight
    }

    /// How many of `frames` frames fall to each part: exact to the weights by largest remainder, so
    /// that they add up to `frames`.
    #[must_use]
    pub fn apportion(&self, frames: usize) -> Vec<usize> {
        let weight: f64 = self.parts.iter().map(|part| part.weight).sum();
        let due: Vec<f64> = self
            .parts
            .iter()
            .map(|part| part.weight / weight * frames as f64)
            .collect();
        let mut counts: Vec<usize> = due.iter().map(|due| due.floor() as usize).collect();
        let left = frames.saturating_sub(counts.iter().sum());
        let mut by_rest: Vec<(f64, &mut usize)> =
            due.iter().map(|due| due.fract()).zip(&mut counts).collect();
        // A stable sort: equal remainders go to the earlier part.
        by_rest.sort_by(|one, other| other.0.total_cmp(&one.0));
        for (_, count) in by_rest.into_iter().take(left) {
            *count += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_those_of_the_literature() {
        // (7*64 + 4*594 + 1518) / 12 = 361.83: the well-known 362 octets.
        assert!((SIMPLE_IMIX.mean_octets() - 4342.0 / 12.0).abs() < 1e-9);
        assert!(
            (INTERNET_2009.mean_octets() - (0.45 * 68.0 + 0.25 * 580.0 + 0.3 * 1518.0)).abs()
                < 1e-9
        );
        for mix in &PUBLISHED {
            assert_eq!(Mix::by_name(mix.name()).as_ref(), Some(mix));
        }
        assert_eq!(Mix::by_name("unheard-of"), None);
    }

    #[test]
    fn published_percents_add_up_to_a_hundred() {
        for mix in &PUBLISHED[2..] {
            let sum: f64 = mix.parts().iter().map(|part| part.weight).sum();
            assert!((sum - 100.0).abs() < 1e-9, "{}: {sum}", mix.name());
        }
    }

    #[test]
    fn shares_are_exact_and_add_up() {
        assert_eq!(SIMPLE_IMIX.apportion(12), [7, 4, 1]);
        assert_eq!(SIMPLE_IMIX.apportion(13), [8, 4, 1]);
        assert_eq!(SIMPLE_IMIX.apportion(0), [0, 0, 0]);
        for frames in [1, 100, 4093] {
            for mix in &PUBLISHED {
                assert_eq!(mix.apportion(frames).iter().sum::<usize>(), frames);
            }
        }
    }
}
