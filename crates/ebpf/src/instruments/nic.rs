//! Reads `nic.bpf.c`: the virtual NIC before the DUT.

skeleton!("nic");

/// Most receive queues.
pub const QUEUES_MAX: usize = 64;
/// Octets a Toeplitz hash may cover.
pub const HASH_INPUT_MAX: usize = 36;
/// Most frames a CPUMAP entry holds (the kernel's limit).
pub const RING_MAX: u32 = 16384;
