//! C types of the programs' maps and data sections, cast from and to the octets that the kernel hands over.
//! The skeletons hold these types, as BTF describes them. No other file of this crate has `unsafe` code.

/// A type that any octets are a value of, and that has no padding.
///
/// # Safety
/// Both must hold. `plain!` implements it for C structs and checks both.
pub unsafe trait Plain: Copy {
    /// Reads a map's value; `None` when it has another length than the type.
    #[must_use]
    fn from_octets(value: &[u8]) -> Option<Self> {
        if value.len() != size_of::<Self>() {
            return None;
        }
        // SAFETY: `value` has as many octets as the type, and any octets are a value of it.
        Some(unsafe { value.as_ptr().cast::<Self>().read_unaligned() })
    }

    /// The value as a map takes it.
    #[must_use]
    fn octets(&self) -> &[u8] {
        octets(std::slice::from_ref(self))
    }

    /// Copies a value from memory that is mapped to a program, which may write to it meanwhile.
    #[must_use]
    fn read_volatile(&self) -> Self {
        // SAFETY: a reference is valid and aligned; any octets the program leaves there are a value.
        unsafe { (&raw const *self).read_volatile() }
    }
}

/// The values as a batch of a map's takes them, one after the other.
#[must_use]
pub fn octets<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: without padding each octet is initialised; they live as long as `values`.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

macro_rules! plain_numbers {
    ($($number:ty),+) => {$(
        // SAFETY: an integer has no padding and takes any octets.
        unsafe impl Plain for $number {}
    )+};
}
plain_numbers!(u8, i8, i32, u32, u64);

// SAFETY: an array has no padding between its elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Octets of the member that `member` returns.
pub(crate) const fn octets_of<T, M: Plain>(_member: fn(&T) -> &M) -> usize {
    size_of::<M>()
}

/// Makes structs of the skeleton's `types` [`Plain`]: their length in octets, and all their members.
macro_rules! plain {
    ($($name:ident: $octets:literal { $($member:ident),+ $(,)? })+) => {$(
        const _: () = {
            // A member left out or named twice is refused here.
            let _members = |types::$name { $($member: _),+ }: &types::$name| ();
            let octets = 0 $(+ $crate::plain::octets_of(|value: &types::$name| &value.$member))+;
            assert!(size_of::<types::$name>() == $octets, "another size than the reader expects");
            assert!(octets == $octets, "padding between the members");
            assert!(align_of::<types::$name>() <= align_of::<u64>(), "more aligned than map values");
        };
        // SAFETY: each member is `Plain`, and together they fill the struct.
        unsafe impl $crate::Plain for types::$name {}
    )+};
}

/// Includes the skeleton that build.rs generated from `NAME.bpf.c`.
macro_rules! skeleton {
    ($name:literal) => {
        #[allow(
            missing_docs,
            clippy::all,
            clippy::pedantic,
            clippy::undocumented_unsafe_blocks
        )]
        mod skeleton {
            include!(concat!(env!("OUT_DIR"), "/", $name, ".skel.rs"));
        }
        pub use skeleton::*;
    };
}

#[cfg(test)]
mod tests {
    use super::Plain;
    use crate::instruments::sender::{Mark, types};

    #[test]
    fn a_value_of_another_length_is_refused() {
        let state = types::sender_state {
            marks: 7,
            ..types::sender_state::default()
        };
        let octets = [state.octets(), &[0]].concat();
        let (exact, longer) = (&octets[..octets.len() - 1], &octets[..]);
        let read = types::sender_state::from_octets;
        assert_eq!(read(exact).map(|state| state.marks), Some(7));
        assert!(read(longer).is_none());
        assert!(read(&exact[1..]).is_none());
        assert!(read(&[]).is_none());
        assert!(Mark::from_octets(exact).is_none());
    }

    #[test]
    fn values_are_read_wherever_they_lie() {
        let mark = Mark {
            ns: 1,
            sequence: [2, u64::MAX],
        };
        let octets = [&[0xff], mark.octets()].concat();
        let read = Mark::from_octets(&octets[1..]).expect("the length of a mark");
        assert_eq!((read.ns, read.sequence), (1, [2, u64::MAX]));
        assert_eq!(mark.read_volatile().sequence, [2, u64::MAX]);
    }
}
