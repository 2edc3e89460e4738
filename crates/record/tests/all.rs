//! All tests of this crate that stand outside its code, as one program: linked once.

mod bench_runs;
mod compared;
mod damaged;
mod golden;
mod jobs;
mod loading;
#[cfg(feature = "schema")]
mod schema;
