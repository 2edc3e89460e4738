//! A file of MRT updates: a whole one, then whatever comes.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// BGP4MP_MESSAGE_AS4 with an UPDATE that withdraws 20.0.0.0/8.
const UPDATE: [u8; 57] = [
    0x65, 0, 0, 0, 0, 16, 0, 4, 0, 0, 0, 45, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 10, 0, 0, 1, 10, 0, 0, 2, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 25, 2, 0, 2, 8, 20, 0, 0,
];

fuzz_target!(|octets: &[u8]| {
    mpps_fuzz::laws::hold_changes(&[&UPDATE, octets].concat());
});
