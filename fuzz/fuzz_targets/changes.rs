//! A file of route changes: a whole one, then whatever comes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    mpps_fuzz::laws::hold_changes(&[b"A 20.0.0.0/8\n", octets].concat());
});
