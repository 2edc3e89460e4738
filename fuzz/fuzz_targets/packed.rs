//! A packed file: the first octet chooses the packer's magic, the rest is what it has to unpack.
#![no_main]

use libfuzzer_sys::fuzz_target;

const MAGIC: [&[u8]; 4] = [
    &[0x1f, 0x8b, 8, 0],
    b"BZh1\x31\x41\x59\x26\x53\x59",
    &[0xfd, b'7', b'z', b'X', b'Z', 0],
    &[0x28, 0xb5, 0x2f, 0xfd],
];

fuzz_target!(|octets: &[u8]| {
    let Some((&choice, rest)) = octets.split_first() else {
        return;
    };
    let magic = MAGIC[usize::from(choice) % MAGIC.len()];
    mpps_fuzz::laws::hold(&[magic, rest].concat());
});
