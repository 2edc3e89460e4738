//! Samples that fired late. A timer's interrupt cannot fire while interrupts are off: it fires where they are enabled
//! again. That function then looks hot and is not. The time belongs to whoever had turned interrupts off.

use super::catalogue::plain;
use super::{Cause, Placed, Router, Stage, place};

/// Functions that enable interrupts again.
const ENABLES: [&str; 8] = [
    "handle_softirqs",
    "__do_softirq",
    "_raw_spin_unlock_irq",
    "_raw_spin_unlock_irqrestore",
    "_raw_read_unlock_irqrestore",
    "_raw_write_unlock_irqrestore",
    "irqentry_exit",
    "pv_native_irq_enable",
];

/// Whether this function enables interrupts again.
#[must_use]
pub fn enables_interrupts(function: &str) -> bool {
    let function = plain(function);
    ENABLES.contains(&function) || function.ends_with("_irq_enable")
}

/// How late a sample fired after it was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// This sample, in ns.
    pub ns: u64,
    /// 95 % of the samples outside the functions that enable interrupts were at most so late, in ns.
    pub usual_ns: u64,
}

/// Places a sample as [`place`] does, except for a shadow, which its owner gets. A sample is one if its function
/// enables interrupts, unless its lateness is usual. `None`: the lateness is not known. Samples that an NMI takes have
/// no shadow; use [`place`].
#[must_use]
pub fn place_late<'a>(stack: &[&'a str], late: Option<Lateness>, router: Router) -> Placed<'a> {
    let leaf = stack.first().map_or("", |symbol| plain(symbol));
    let enables = enables_interrupts(leaf);
    let later = late.map(|late| late.ns > late.usual_ns);
    let owners = stack.get(1..).unwrap_or_default();
    // Another function is late where it enabled interrupts itself: the time is its own.
    if !enables || later == Some(false) || owners.is_empty() {
        return place(stack, router);
    }
    let mut placed = place(owners, router);
    placed.shadow = true;
    if matches!(leaf, "handle_softirqs" | "__do_softirq" | "irqentry_exit") {
        // The interrupt itself ran before softirqs began, and before an exception's return.
        (placed.stage, placed.substage) = (Stage::Other, "other.irq");
        (placed.cause, placed.decided_by, placed.unknown) = (Cause::None, leaf, false);
    }
    placed
}
