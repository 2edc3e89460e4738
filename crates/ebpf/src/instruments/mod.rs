//! The tester's programs: they measure, and are never part of what is measured.

pub mod departures;
pub mod drops;
pub mod evidence;
pub mod fault;
pub mod ledger;
pub mod napi;
pub mod nic;
pub mod observer;
pub mod other_tasks;
pub mod pause;
pub mod receiver;
pub mod sender;
pub mod sink;
pub mod tap;
pub mod watch;
pub mod wire;
