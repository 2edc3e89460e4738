//! The clock that eBPF programs read too, and the one that packet sockets stamp with.

use nix::time::{ClockId, clock_gettime};
use std::sync::LazyLock;

/// What this process's time namespace adds to the kernel's `CLOCK_MONOTONIC`, ns.
static OFFSET_NS: LazyLock<u64> = LazyLock::new(|| {
    let offsets = std::fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    offset_ns(&offsets).unwrap_or_default().cast_unsigned()
});

/// The offset of `monotonic`, ns: its line has seconds, which may be negative, and ns.
fn offset_ns(offsets: &str) -> Option<i64> {
    let line = offsets
        .lines()
        .find_map(|line| line.strip_prefix("monotonic"))?;
    let mut numbers = line.split_whitespace().map(str::parse::<i64>);
    let (seconds, ns) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// Nanoseconds of `CLOCK_MONOTONIC`, as the kernel and `bpf_ktime_get_ns()` have it: times stamped by an eBPF program
/// and by this function can be subtracted, in a time namespace too.
///
/// # Panics
/// Never on Linux: `clock_gettime` of this clock cannot fail (`clock_getres(2)`).
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)
        .expect("CLOCK_MONOTONIC exists on every Linux kernel");
    // Both parts are never negative for this clock.
    let own = now.tv_sec().unsigned_abs() * 1_000_000_000 + now.tv_nsec().unsigned_abs();
    own.wrapping_sub(*OFFSET_NS)
}

/// Name of what the kernel reads its clocks from; `None` where it does not say.
#[must_use]
pub fn source() -> Option<String> {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let name = std::fs::read_to_string(path).ok()?;
    Some(name.trim().to_owned())
}

/// Nanoseconds of `CLOCK_REALTIME`, by which received packets are stamped. It may be set and slewed:
/// only its distance to [`monotonic_ns`] at the same moment means anything.
///
/// # Panics
/// Never on Linux, as [`monotonic_ns`].
#[must_use]
pub fn realtime_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_REALTIME)
        .expect("CLOCK_REALTIME exists on every Linux kernel");
    // Negative only on a clock set to before 1970.
    u64::try_from(now.tv_sec()).unwrap_or(0) * 1_000_000_000 + now.tv_nsec().unsigned_abs()
}

/// Nanoseconds of CPU time that the calling thread has had (`CLOCK_THREAD_CPUTIME_ID`).
///
/// # Panics
/// Never on Linux, as [`monotonic_ns`].
#[must_use]
pub fn thread_ns() -> u64 {
    let had = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .expect("CLOCK_THREAD_CPUTIME_ID exists on every Linux kernel");
    had.tv_sec().unsigned_abs() * 1_000_000_000 + had.tv_nsec().unsigned_abs()
}

#[cfg(test)]
mod tests {
    #[test]
    fn time_does_not_run_backwards() {
        let first = super::monotonic_ns();
        let second = super::monotonic_ns();
        assert!(first > 0 && second >= first);
    }

    #[test]
    fn offsets_are_read_with_their_sign() {
        let offsets = "monotonic       86400         5\nboottime            0         0\n";
        assert_eq!(super::offset_ns(offsets), Some(86_400_000_000_005));
        assert_eq!(
            super::offset_ns("monotonic -2 500000000\n"),
            Some(-1_500_000_000)
        );
        assert_eq!(super::offset_ns(""), None);
    }
}
