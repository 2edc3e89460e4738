//! Loads `wire.bpf.c`: a wire in place of the router.

skeleton!("wire");
