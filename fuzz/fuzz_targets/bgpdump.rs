//! The output of `bgpdump -m`: a whole line, then whatever comes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    mpps_fuzz::laws::hold(&[b"TABLE_DUMP2|1|B|10.0.0.1|1|20.0.0.0/8|1|IGP\n", octets].concat());
});
