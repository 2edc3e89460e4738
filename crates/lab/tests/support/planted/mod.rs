//! What tests plant or watch beside the meter, by programs that are not the meter's own.

pub mod departures;
pub mod pauses;
pub mod sink;

pub use departures::Departures;
pub use pauses::PlantedPauses;
pub use sink::Sink;
