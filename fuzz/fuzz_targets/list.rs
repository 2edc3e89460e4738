//! A list of prefixes: a whole one, then whatever comes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    mpps_fuzz::laws::hold(&[b"20.0.0.0/8\n", octets].concat());
});
