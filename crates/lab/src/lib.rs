//! The meter: bed, tester, trial, ledger, doubts, jobs. Prints nothing; knows no exit codes; never
//! links a data plane.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::too_many_lines, clippy::print_stdout, clippy::print_stderr)
)]

pub mod bed;
pub mod clock;
pub mod doctor;
pub mod doubt;
pub mod dut;
pub mod facts;
pub mod fib;
pub mod hash;
pub mod jobs;
pub mod journal;
pub mod line;
pub mod memory;
pub mod observe;
pub mod one_run;
pub mod profile;
pub mod program;
pub mod recover;
pub mod routes;
pub mod search;
pub mod surroundings;
pub mod tester;
pub mod traffic;
pub mod trial;
pub mod tune;

pub use traffic::destinations;

/// The wish to stop (Ctrl-C, SIGTERM), for whoever starts a job: install it before the bed is raised.
pub use mpps_linux::interrupt;
/// The user of this process, and the home of a user.
pub use mpps_linux::kernel::{effective_uid, home_of};
