//! What is planted to calibrate the meter, and counted apart from it. No judged trial is measured with any of it.

pub mod departures;
pub mod fault;
pub mod pauses;
pub mod sink;
