//! What a person reads of each kind.

mod bursts;
mod latencies;
mod loss;
mod overloads;
mod recoveries;
mod resets;

use crate::outcome::Outcome;
