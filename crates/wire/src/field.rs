//! Fixed-size pieces of a buffer, so that every header is taken apart without an index that could
//! be out of bounds.

use crate::TooShort;

/// The first `N` octets and the rest.
pub(crate) fn split<'a, const N: usize>(
    octets: &'a [u8],
    what: &'static str,
) -> Result<(&'a [u8; N], &'a [u8]), TooShort> {
    octets.split_first_chunk().ok_or(TooShort {
        what,
        needs: N,
        has: octets.len(),
    })
}

/// The first `N` octets and the rest, to write to.
pub(crate) fn split_mut<'a, const N: usize>(
    octets: &'a mut [u8],
    what: &'static str,
) -> Result<(&'a mut [u8; N], &'a mut [u8]), TooShort> {
    let has = octets.len();
    octets.split_first_chunk_mut().ok_or(TooShort {
        what,
        needs: N,
        has,
    })
}
