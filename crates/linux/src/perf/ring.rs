//! Where in a ring the octets lie that were written and not yet read. Arithmetic alone.

use std::ops::Range;

/// The octets from `tail` (how far was read) to `head` (how far was written) in a ring of `size` octets: two parts,
/// the second from the ring's beginning. Positions only grow. `None`: more than the ring holds, which cannot be.
pub(super) fn unread(size: usize, tail: u64, head: u64) -> Option<[Range<usize>; 2]> {
    let octets = usize::try_from(head.wrapping_sub(tail)).ok()?;
    if size == 0 || octets > size {
        return None;
    }
    let start = (tail % size as u64) as usize;
    let end = (start + octets).min(size);
    Some([start..end, 0..octets - (end - start)])
}

#[cfg(test)]
mod tests {
    use super::unread;
    use proptest::prelude::*;

    #[test]
    fn a_wrapped_part_goes_on_at_the_beginning() {
        assert_eq!(unread(64, 0, 0), Some([0..0, 0..0]));
        assert_eq!(unread(64, 0, 64), Some([0..64, 0..0]));
        assert_eq!(unread(64, 120, 144), Some([56..64, 0..16]));
    }

    #[test]
    fn positions_that_cannot_be_are_refused() {
        assert_eq!(unread(64, 0, 65), None);
        assert_eq!(unread(64, 8, 0), None);
        assert_eq!(unread(0, 0, 0), None);
    }

    proptest! {
        #[test]
        fn parts_lie_in_the_ring_and_add_up(size in 1_usize..100, tail: u64, octets in 0_u64..120) {
            let head = tail.wrapping_add(octets);
            match unread(size, tail, head) {
                Some([first, second]) => {
                    prop_assert!(first.end <= size && second.end <= size);
                    prop_assert_eq!((first.len() + second.len()) as u64, octets);
                }
                None => prop_assert!(octets > size as u64),
            }
        }
    }
}
