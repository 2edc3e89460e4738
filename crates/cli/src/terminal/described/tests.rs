//! What a person reads of each kind.

mod bursts;
mod calibrations;
mod comparisons;
mod latencies;
#[cfg(feature = "measure")]
mod loads;
mod loss;
mod overloads;
#[cfg(feature = "measure")]
mod points;
mod recoveries;
mod resets;
#[cfg(feature = "measure")]
mod results;

use crate::outcome::Outcome;
use mpps_record::Run;
