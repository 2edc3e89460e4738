//! An MRT file: a whole peer table, then whatever comes.
#![no_main]

use libfuzzer_sys::fuzz_target;

const PEERS: [u8; 20] = [0x53, 0x89, 0, 0, 0, 13, 0, 1, 0, 0, 0, 8, 10, 0, 0, 1, 0, 0, 0, 0];

fuzz_target!(|octets: &[u8]| {
    mpps_fuzz::laws::hold(&[&PEERS, octets].concat());
});
