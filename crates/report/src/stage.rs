//! Stages of a profile: which are the bed's.

/// Stages of the bed, which stand in place of NICs.
const BEDS: [&str; 2] = ["virtual NIC", "exit"];

/// Whether a stage is the bed's, not the router's.
#[must_use]
pub fn is_beds(stage: &str) -> bool {
    BEDS.contains(&stage)
}
