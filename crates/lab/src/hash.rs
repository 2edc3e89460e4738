//! The hash by which files are told apart.

use sha2::{Digest, Sha256};

/// SHA-256 in hexadecimal digits, as `sha256sum` prints it.
#[must_use]
pub fn sha256(octets: &[u8]) -> String {
    let octets = Sha256::digest(octets);
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}
