//! Loads `tap.bpf.c`: what stands before and behind a packet socket of the tester.

skeleton!("tap");
