//! The record: one JSON object a line. Every kind of line is a type here, and [`read`] reads files of them.
//!
//! This crate knows none of ours, so a report or a comparison builds without clang, libbpf, root or Linux. It fixes
//! words for years. The lab gathers facts as these types; those of the method may change: the program converts them.
//! `docs/records.md` lists the members.
//!
//! A member that is missing from older schemas is an `Option`, or a list that may be empty. A member that all schemas
//! have is required, because a count that is not there is not zero. Unknown members of a line are kept in `other`.
//!
//! A file is read whole, and what cannot be read of it is told beside the rest:
//!
//! ```
//! use mpps_record::{EndLine, Other, read, to_line};
//!
//! let end = EndLine {
//!     ended_utc: "2026-01-31T12:00:00Z".to_owned(),
//!     exit_code: 0,
//!     error: None,
//!     trials: 7,
//!     queries: None,
//!     route_changes: None,
//!     other: Other::new(),
//! };
//! let mut file = to_line("a-run", &end)?;
//! file.extend(b"{\"schema\": 3, \"ki");
//! let records = read(&file[..])?;
//! assert_eq!(records.runs[0].end, Some(end));
//! assert!(records.problems[0].to_string().contains("torn"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(
    not(test),
    deny(clippy::too_many_lines, clippy::print_stdout, clippy::print_stderr)
)]
#![forbid(unsafe_code)]

mod answer;
mod bed;
mod burst;
mod calibration;
mod campaign;
mod clean;
mod comparability;
mod compared;
mod comparison;
pub mod doubts;
mod effects;
pub mod facts;
mod histogram;
mod kind;
mod lasting;
mod latency;
mod load;
mod loss;
mod losses;
mod nic;
mod other;
mod plan;
mod point;
mod problem;
mod profile;
mod read;
mod reading;
mod recovery;
mod reset;
mod result;
mod route_changes;
mod run;
#[cfg(feature = "schema")]
mod schema;
mod sweep;
mod trial;
mod watched;
mod whole;
mod words;

pub use answer::{Answer, Answers};
pub use bed::{Bed, KernelInterfaces, RunBed, SetUpScript};
pub use burst::{BurstLine, BurstSearch, BurstSum};
pub use calibration::CalibrationLine;
pub use campaign::{CampaignLine, CellLine, Check, Factor, Level, Looked, Published, Statement};
pub use comparability::Comparability;
pub use compared::{
    RUNS_ALIKE, Refusal, Terms, check_profiles, compare_points, compare_results, is_same_distance,
    is_same_speed,
};
pub use comparison::{Binary, ComparisonLine, Difference, Factors, Pairs, Variant};
pub use effects::{Alias, EffectsLine, Interaction, Screen, SettingEffect, Together};
pub use histogram::{Histogram, Quantiles};
pub use kind::{Body, Line, Run, to_line};
pub use lasting::{ManagementPath, OverloadLine, OverloadSecond};
pub use latency::{
    FRAMES_ABOVE_MIN, LatencyLine, LatencyLoad, LatencyTimes, PERCENTS, PathLatency, Percentile,
};
pub use load::{LoadLine, LoadTrial};
pub use loss::{CurveLine, CurvePoint, Measured};
pub use losses::{Losses, LostRun};
pub use nic::{Channels, Coalescing, Driver, Nic, PcieLink, Rings};
pub use other::Other;
pub use plan::{
    Destinations, FixedLoads, Goal, MeasuredSettings, Part, Plan, Routes, Scale, Search, Traffic,
};
pub use point::{AtLoad, PointLine};
pub use problem::{Lines, Problem, ReadError, What};
pub use profile::{
    CostModel, CpuEvidence, Drops, Evidence, FoldedStack, FunctionCost, Hardware, Looking,
    PartChange, PartCost, ProfileChange, ProfileLine, ProfiledAgainst, ProfiledLoad, ProfiledWire,
};
pub use read::{Records, read, read_file, read_to_report, read_to_show};
pub use recovery::{RecoveryLine, RecoveryTrial};
pub use reset::{ResetLine, ResetTrial};
pub use result::{
    BusyLoad, Doubt, Evenness, FrameCost, Headroom, Interval, LoadAboveRate, LossAbove,
    OtherStates, Overload, ResultLine, StandsOn, WhyLost,
};
pub use route_changes::{ReplayedFile, RouteChanges};
pub use run::{EndLine, Modifier, NETWORKS, RunLine};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use sweep::{MemoryLatency, StageFit, SweepFit, SweepLine, SweepPoint};
pub use trial::{
    Canaries, CpuBusy, CpuGap, CpuSpeed, CpuSteal, CpuTasks, CpuWork, Direction, Disturbance,
    Disturbed, Ledger, Queries, SizeCount, TrialLine, Windows,
};
pub use watched::{
    CpuLedger, Watched, WatchedCpu, WatchedDrop, WatchedLink, WatchedQueue, WatchedTask,
};
pub use words::{
    Basis, Claim, Finding, ForwardingLimit, LimitedBy, Outcome, Phase, RateIs, ReceiverPlace,
    Recovered, SeriesEnd, Stability, ToldBy, Verdict, known,
};

/// A DUT whose busiest CPU worked for less than this share of the time had time left.
pub const BUSY: f64 = 0.95;

/// Version of the lines' shape. It rises when a member changes its meaning or goes.
pub const SCHEMA: u32 = 4;
