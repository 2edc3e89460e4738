//! The plots of a run. Each is `None` where the record has nothing to draw.

mod bursts;
mod comparisons;
mod effects;
mod frames;
mod latency;
mod points;
mod profiles;
mod sweeps;
mod trials;

pub use bursts::bursts;
pub use comparisons::comparisons;
pub use effects::effects;
pub use frames::{cost, rate_axis, rates};
pub use latency::{latencies, latency, latency_histogram};
pub use points::{bed_ns, destinations, routes, scale_cost, scale_cost_at_load, scale_rate};
pub use profiles::{by_load, stages};
pub use sweeps::sweep;
pub use trials::{forwarding, loss, search};
