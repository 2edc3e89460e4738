//! Reads `napi.bpf.c`: the kernel threads that poll links.

#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/napi.skel.rs"));
}
pub use skeleton::{NapiSkel, NapiSkelBuilder, OpenNapiSkel};

/// A kernel thread that polls one receive queue of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NapiThread {
    /// Its task id.
    pub tid: i32,
    /// The link's interface index, unique within its namespace.
    pub ifindex: u32,
    /// The namespace's inode number.
    pub netns: u32,
    /// The NAPI's id, unique on the machine.
    pub napi_id: u32,
}

impl NapiThread {
    /// Reads what the iterator wrote: four 32-bit words a thread. A rest shorter than that is left out.
    #[must_use]
    pub fn all_from(written: &[u8]) -> Vec<Self> {
        let (threads, _rest) = written.as_chunks::<16>();
        threads.iter().map(Self::from_octets).collect()
    }

    fn from_octets(octets: &[u8; 16]) -> Self {
        let word = |at: usize| {
            let place = 4 * at;
            u32::from_ne_bytes([
                octets[place],
                octets[place + 1],
                octets[place + 2],
                octets[place + 3],
            ])
        };
        Self {
            tid: word(0).cast_signed(),
            ifindex: word(1),
            netns: word(2),
            napi_id: word(3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_words_are_a_thread() {
        let words = [42u32, 7, 4_026_532_000, 8193, 1];
        let written: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let thread = NapiThread {
            tid: 42,
            ifindex: 7,
            netns: 4_026_532_000,
            napi_id: 8193,
        };
        assert_eq!(NapiThread::all_from(&written), [thread]);
    }
}
