//! Whether a table fits, before the first route is added.

use super::FibError;
use crate::facts::{self, Root};
use mpps_record::facts::Reading;

/// Kernel memory a route takes at most, octets: seen 155 with a full IPv4 table, and 510 (760 with a next
/// hop of its own) with an IPv6 table, on Linux 6.18; trie nodes on their way out, and kernels that take
/// more, have a third to spare.
const V4_OCTETS: u64 = 210;
/// See [`V4_OCTETS`].
const V6_OCTETS: u64 = 1000;
/// What shall be left for everybody else: a sixteenth of what is free.
const RESERVE: u64 = 16;
const MEMINFO: &str = "/proc/meminfo";

/// Refuses a table that does not fit memory.
pub(super) fn check(v4: usize, v6: usize) -> Result<(), FibError> {
    let available = match facts::memory(&Root::here()).available_octets {
        Reading::Known(octets) => Some(octets),
        // Not told: then the kernel itself will refuse what does not fit.
        Reading::Unreadable { .. } => None,
    };
    fits(v4, v6, available)
}

fn fits(v4: usize, v6: usize, available: Option<u64>) -> Result<(), FibError> {
    let count = |routes: usize| u64::try_from(routes).unwrap_or(u64::MAX);
    let need = count(v4) * V4_OCTETS + count(v6) * V6_OCTETS;
    match available {
        Some(have) if need > have - have / RESERVE => Err(FibError::NoMemory {
            routes: v4 + v6,
            need_octets: need,
            free_octets: have,
        }),
        _ => Ok(()),
    }
}

/// Kernel memory in use that cannot be reclaimed, octets: what routes live in, beside all else.
pub(super) fn kernel_octets() -> Option<u64> {
    let text = std::fs::read_to_string(MEMINFO).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("SUnreclaim:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_fits_1_gib_and_not_256_mib() {
        let full = |have: u64| fits(1_100_000, 260_000, Some(have << 20));
        assert!(full(1024).is_ok());
        let error = full(256).unwrap_err().to_string();
        assert_eq!(
            error,
            "1360000 routes need about 469 MiB of kernel memory and 256 MiB are free: load fewer (--max), or on a \
             larger machine"
        );
        assert!(fits(4_000_000, 1_000_000, None).is_ok());
    }

    #[test]
    fn this_machine_tells_its_memory() {
        assert!(kernel_octets().is_some_and(|octets| octets > 1 << 20));
    }
}
