//! Whether a table fits, before the first route is added.

use super::FibError;
use crate::facts::{self, Root};
use mpps_linux::{kernel, setting::Setting};
use mpps_record::facts::Reading;

/// Kernel memory a route takes at most, octets: seen 155 with a full IPv4 table, and 510 (760 with a next
/// hop of its own) with an IPv6 table, on Linux 6.18; trie nodes on their way out, and kernels that take
/// more, have a third to spare.
const V4_OCTETS: u64 = 210;
/// See [`V4_OCTETS`].
const V6_OCTETS: u64 = 1000;
/// What shall be left for everybody else: a sixteenth of what is free.
const RESERVE: u64 = 16;
const MAX_SIZE: &str = "net.ipv6.route.max_size";
const MEMINFO: &str = "/proc/meminfo";

/// Refuses a table that does not fit memory or the kernel's bound on IPv6 routes.
pub(super) fn check(v4: usize, v6: usize) -> Result<(), FibError> {
    let available = match facts::memory(&Root::here()).available_octets {
        Reading::Known(octets) => Some(octets),
        // Not told: then the kernel itself will refuse what does not fit.
        Reading::Unreadable { .. } => None,
    };
    fits(v4, v6, available, max_size())
}

/// The bound on IPv6 routes, where the kernel has one; `None` on every kernel since Linux 4.18.
///
/// The setting bounds destination entries (ip6_dst_gc in net/ipv6/route.c), and until then each route was one.
/// Since 4.18 a route is a fib6_info, which is not counted, and the entries that forwarding makes of it are
/// not counted either (DST_NOCOUNT). Since 6.3, and the stable kernels that took commit af6d10345ca7, nothing at
/// all is refused for it; the kernel's documentation calls it deprecated.
fn max_size() -> Option<u64> {
    let release = kernel::release().ok()?;
    if release.at_least(4, 18) {
        return None;
    }
    Setting::sysctl(MAX_SIZE).read().ok()?.parse().ok()
}

fn fits(
    v4: usize,
    v6: usize,
    available: Option<u64>,
    max_size: Option<u64>,
) -> Result<(), FibError> {
    let count = |routes: usize| u64::try_from(routes).unwrap_or(u64::MAX);
    if let Some(max_size) = max_size.filter(|&max_size| count(v6) > max_size) {
        return Err(FibError::MaxSize {
            routes: v6,
            max_size,
        });
    }
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
        let full = |have: u64| fits(1_100_000, 260_000, Some(have << 20), None);
        assert!(full(1024).is_ok());
        let error = full(256).unwrap_err().to_string();
        assert_eq!(
            error,
            "1360000 routes need about 469 MiB of kernel memory and 256 MiB are free: load fewer (--max), or on a \
             larger machine"
        );
        assert!(fits(4_000_000, 1_000_000, None, None).is_ok());
    }

    #[test]
    fn the_bound_on_ipv6_routes_is_told_with_the_remedy() {
        assert!(fits(1_000_000, 4096, None, Some(4096)).is_ok());
        let error = fits(0, 5000, None, Some(4096)).unwrap_err().to_string();
        assert!(
            error.starts_with("5000 IPv6 routes and net.ipv6.route.max_size is 4096")
                && error.contains("sysctl -w net.ipv6.route.max_size=16384"),
            "{error}"
        );
    }

    #[test]
    fn this_machine_tells_its_memory() {
        assert!(kernel_octets().is_some_and(|octets| octets > 1 << 20));
    }
}
