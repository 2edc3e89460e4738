//! The ports as the kernel serves them: the virtual NIC before the DUT, its front, and the threads that poll.

pub mod front;
pub mod napi_threads;
pub mod polling;
pub mod virtual_nic;
