//! Loads `pause.bpf.c`: a CPU that stands still for a while.

skeleton!("pause");
