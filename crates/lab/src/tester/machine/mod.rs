//! What else runs on the bed's CPUs: the machine watch, other tasks, and the tester's own real-time threads.

pub mod other_tasks;
pub mod real_time;
pub mod watch;
