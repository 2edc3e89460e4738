//! One MRT record: type and subtype from the first four octets, body from the rest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpps_wire::mrt::{Content, Header};

fuzz_target!(|octets: &[u8]| {
    let Some((&[k0, k1, s0, s1], body)) = octets.split_first_chunk() else {
        return;
    };
    let header = Header {
        timestamp: 0,
        kind: u16::from_be_bytes([k0, k1]),
        subtype: u16::from_be_bytes([s0, s1]),
        length: body.len() as u32,
    };
    if let Ok(Content::Route(prefix, _)) = header.content(body) {
        assert_eq!(prefix, prefix.trunc());
    }
});
