//! The RFCs as arithmetic: units, frame mixes, flows, what a trial is and how it is judged, the goal,
//! the searches, what may be claimed, statistics, what wire and bus allow, and a simulated router to
//! try it all on.
//!
//! Knows no clock, no I/O and no kernel, and of our other crates the types of records alone. Nothing here fails at run time:
//! what can be wrong is a value (`Invalid`, `Void`, `CouldNotMeasure`), never a panic.
//!
//! How many frames a link carries:
//!
//! ```
//! use mpps_method::{FrameSpec, LinkSpeed};
//!
//! let link = LinkSpeed::from_bits_per_second(10_000_000_000);
//! let sizes = FrameSpec::parse_list("64,1518")?;
//! let most = sizes.iter().map(|frames| link.frames_per_second_on_wire(frames.mean_on_wire()));
//! let fps: Vec<u64> = most.map(|rate| rate.fps().floor() as u64).collect();
//! // RFC 5180, appendix A.
//! assert_eq!(fps, [14_880_952, 812_743]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::too_many_lines,
        clippy::print_stdout,
        clippy::print_stderr
    )
)]

pub mod attempts;
pub mod bisection;
pub mod claim;
pub mod compare;
pub mod cost_model;
mod counts;
pub mod destinations;
pub mod distance;
pub mod disturbed;
mod evenness;
pub mod flows;
pub mod frame_spec;
pub mod gate;
pub mod genome;
pub mod goal;
pub mod headroom;
pub mod histogram;
pub mod interval;
pub mod ledger;
pub mod limit;
pub mod limits;
pub mod mix;
pub mod mlr;
mod named;
pub mod pattern;
pub mod random;
pub mod reason;
pub mod route_changes;
pub mod saturation;
pub mod screen;
pub mod search;
pub mod search_plan;
pub mod simulate;
pub mod speed;
pub mod stage;
pub mod statistics;
pub mod sweep;
pub mod trial;
pub mod tune;
pub mod turns;
pub mod units;
pub mod verdict;
mod window;

pub use bisection::Bisection;
pub use claim::{Claim, Estimate, LossRate, Throughput};
pub use counts::Counts;
pub use disturbed::{Disturbance, Disturbed};
pub use flows::{Family, FlowOrder, Transport, check_flows};
pub use frame_spec::FrameSpec;
pub use gate::{Gate, Instability, Stability};
pub use genome::Genome;
pub use goal::{Accept, Ceiling, Goal, LimitedBy, Resolution};
pub use histogram::Histogram;
pub use interval::Interval;
pub use ledger::{Canaries, Ledger, LedgerGap};
pub use mix::Mix;
pub use mlr::goal::SearchGoal;
pub use mlr::preset::Preset;
pub use mlr::{Mlr, MlrPlan};
pub use pattern::{LossPattern, Losses};
pub use reason::{Invalid, Moment, Shortfall, Void};
pub use route_changes::ChangeSpeed;
pub use saturation::{Block, FrameCost, Saturation, Window};
pub use search::{
    CouldNotMeasure, GoalResult, Irregular, Learned, Offer, Outcome, Passes, Search, Step,
};
pub use search_plan::{SearchPlan, SearchPlanError};
pub use trial::{
    CpuBusy, CpuExchange, CpuGap, CpuSpeed, CpuSteal, CpuTasks, CpuWork, Direction, OVERDUE_MAX,
    Queries, RouteChanges, SizeCount, StackCounts, TaskName, Trial,
};
pub use units::{FrameLen, LinkSpeed, Rate, Span};
pub use verdict::{Rules, Verdict, share_of_turns};

/// Version of the rules by which trials are judged and rates searched; see "Measurement changes" in
/// CHANGELOG.md.
pub const METHOD_VERSION: u32 = 34;
