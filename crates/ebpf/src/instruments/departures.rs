//! Reads `departures.bpf.c`: what left a port and when.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/departures.skel.rs"));
}
pub use skeleton::{DeparturesSkel, DeparturesSkelBuilder, OpenDeparturesSkel};

/// Frames of a bulk: none to `DEV_MAP_BULK_SIZE`.
pub const BULK_SIZES: usize = 17;
/// Buckets of the histogram of gaps (the scheme of `mpps_method::histogram`).
pub const BUCKETS: usize = 1152;

const FIXED_WORDS: usize = 3;

/// What left since the counters were last cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departed {
    /// Frames that the port took.
    pub frames: u64,
    /// When the first bulk went, monotonic ns.
    pub first_ns: u64,
    /// When the last went, monotonic ns.
    pub last_ns: u64,
    /// Bulks by how many frames were taken of them.
    pub bulks: [u64; BULK_SIZES],
    /// From one bulk to the next, log-linear buckets of ns.
    pub gaps: Vec<u64>,
}

impl Departed {
    /// Reads the map's value; `None` when it has another length than the C struct.
    #[must_use]
    pub fn from_value(value: &[u8]) -> Option<Self> {
        let words = crate::to_words(value);
        let (&[frames, first_ns, last_ns], rest) = words.split_first_chunk::<FIXED_WORDS>()?;
        let (bulks, gaps) = rest.split_first_chunk::<BULK_SIZES>()?;
        (gaps.len() == BUCKETS).then(|| Self {
            frames,
            first_ns,
            last_ns,
            bulks: *bulks,
            gaps: gaps.to_vec(),
        })
    }

    /// Octets of a value with all counters at zero.
    #[must_use]
    pub fn cleared() -> Vec<u8> {
        vec![0; (FIXED_WORDS + BULK_SIZES + BUCKETS) * size_of::<u64>()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_in_the_order_of_the_c_struct() {
        let mut words = vec![0u64; FIXED_WORDS + BULK_SIZES + BUCKETS];
        (words[0], words[1], words[2]) = (40, 7, 9);
        (words[FIXED_WORDS + 16], words[FIXED_WORDS + BULK_SIZES + 3]) = (2, 1);
        let octets: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(octets.len(), Departed::cleared().len());
        let read = Departed::from_value(&octets).expect("the right length");
        assert_eq!((read.frames, read.first_ns, read.last_ns), (40, 7, 9));
        assert_eq!((read.bulks[16], read.gaps[3]), (2, 1));
        assert_eq!(Departed::from_value(&octets[8..]), None);
    }
}
