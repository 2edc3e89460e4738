//! What a person reads of each kind.

mod bursts;
mod calibrations;
mod comparisons;
mod latencies;
#[cfg(feature = "measure")]
mod loads;
mod loss;
mod overloads;
mod recoveries;
mod resets;

use crate::outcome::Outcome;
use mpps_record::Run;
