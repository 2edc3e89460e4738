//! The plots of a run. Each is `None` where the record has nothing to draw.

mod frames;
mod latency;
mod points;
mod trials;

pub use frames::{cost, rates};
pub use latency::{latency, latency_histogram};
pub use points::{scale_cost, scale_rate};
pub use trials::{forwarding, loss, search};
