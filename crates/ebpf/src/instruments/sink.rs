//! Loads `sink.bpf.c`: drops whatever comes.

skeleton!("sink");
