//! IMIX genomes (RFC 6985): a sequence of frame sizes, a letter a frame, sent in exactly this order and then
//! again. `aaafg` is 64, 64, 64, 1280, 1518.
//!
//! Lower-case letters are the RFC's sizes (section 3), `z` the MTU's frame, which a report has to state;
//! upper-case letters are sizes of one's own (section 4), to be defined: `aaAz,A=594,z=1400`.

use crate::units::FrameLen;
use std::fmt;

/// Longest genome: the sender's schedule of sizes has so many places.
pub const LETTERS_MAX: usize = 4093;

/// Sizes by letter, octets with FCS (RFC 6985 section 3, table 1). `z` is not among them.
const LETTERS: [(char, u16); 10] = [
    ('a', 64),
    ('b', 128),
    ('c', 256),
    ('d', 512),
    ('e', 1024),
    ('f', 1280),
    ('g', 1518),
    ('h', 2112),
    ('i', 9000),
    ('j', 16_000),
];
/// The MTU's frame where nobody says otherwise: 1500 octets, Ethernet header and FCS.
const MTU_FRAME: u16 = 1518;

/// A sequence of sizes with the letters it was written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genome {
    text: String,
    sizes: Vec<FrameLen>,
}

/// What is wrong with a genome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenomeError {
    /// No letter at all.
    #[error("genome without a letter: write such as genome:aaafg (RFC 6985)")]
    Empty,
    /// More letters than [`LETTERS_MAX`].
    #[error("genome of {0} letters: give {LETTERS_MAX} at most")]
    TooLong(usize),
    /// A letter, and its place from 1, that stands for no size.
    #[error(
        "genome letter \"{0}\" (place {1}) is none of RFC 6985's: give a to j, z, or A to Z with a size \
        (genome:aaA,A=594)"
    )]
    Unknown(char, usize),
    /// A letter of the RFC's whose size, octets, is longer than any frame here.
    #[error("genome letter \"{0}\" is a frame of {1} octets: {max} are the most, leave it out", max = FrameLen::MAX)]
    TooLarge(char, u16),
    /// An upper-case letter that nobody defined.
    #[error("genome letter \"{0}\" has no size: write such as genome:aa{0},{0}=594")]
    Undefined(char),
    /// What follows a comma and defines no letter.
    #[error(
        "\"{0}\" gives no genome letter a size: write A=594, or z=1400 for another MTU's frame"
    )]
    Definition(String),
    /// The same letter defined twice.
    #[error("genome letter \"{0}\" has two sizes: give one")]
    Twice(char),
    /// A letter that is defined and never used.
    #[error("genome letter \"{0}\" has a size and is not in the genome: leave it out")]
    Unused(char),
}

impl Genome {
    /// Reads letters and what the user's own of them mean (`A=594`).
    ///
    /// # Errors
    /// The first letter or definition that cannot be, with what to write instead.
    pub fn parse(letters: &str, definitions: &[&str]) -> Result<Self, GenomeError> {
        let mut own: Vec<(char, FrameLen)> = Vec::new();
        for text in definitions {
            let defined =
                define(text).ok_or_else(|| GenomeError::Definition((*text).to_owned()))?;
            if own.iter().any(|(letter, _)| *letter == defined.0) {
                return Err(GenomeError::Twice(defined.0));
            }
            own.push(defined);
        }
        let count = letters.chars().count();
        if count == 0 {
            return Err(GenomeError::Empty);
        }
        if count > LETTERS_MAX {
            return Err(GenomeError::TooLong(count));
        }
        let sizes = (1..)
            .zip(letters.chars())
            .map(|(place, letter)| size(letter, place, &own))
            .collect::<Result<_, _>>()?;
        if let Some((letter, _)) = own.iter().find(|(letter, _)| !letters.contains(*letter)) {
            return Err(GenomeError::Unused(*letter));
        }
        // The MTU's frame is stated, as section 3 asks, also where it is the usual one.
        let mut text = format!("genome:{letters}");
        if letters.contains('z') && !own.iter().any(|(letter, _)| *letter == 'z') {
            own.push(('z', FrameLen(MTU_FRAME)));
        }
        for (letter, size) in own {
            text.push_str(&format!(",{letter}={size}"));
        }
        Ok(Self { text, sizes })
    }

    /// Sizes in the order they are sent; at least one.
    #[must_use]
    pub fn sizes(&self) -> &[FrameLen] {
        &self.sizes
    }

    /// Mean size, octets.
    #[must_use]
    pub fn mean_octets(&self) -> f64 {
        let sum: f64 = self.sizes.iter().map(|size| f64::from(size.octets())).sum();
        sum / self.sizes.len().max(1) as f64
    }
}

impl fmt::Display for Genome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

fn define(text: &str) -> Option<(char, FrameLen)> {
    let (letter, size) = text.split_once('=')?;
    let mut letters = letter.trim().chars();
    let letter = letters.next().filter(|_| letters.next().is_none())?;
    let size = size.trim().parse().ok().and_then(FrameLen::new)?;
    (letter.is_ascii_uppercase() || letter == 'z').then_some((letter, size))
}

fn size(letter: char, place: usize, own: &[(char, FrameLen)]) -> Result<FrameLen, GenomeError> {
    if let Some((_, size)) = own.iter().find(|(defined, _)| *defined == letter) {
        return Ok(*size);
    }
    if letter == 'z' {
        return Ok(FrameLen(MTU_FRAME));
    }
    if letter.is_ascii_uppercase() {
        return Err(GenomeError::Undefined(letter));
    }
    let known = LETTERS.iter().find(|(known, _)| *known == letter);
    let (_, octets) = known.ok_or(GenomeError::Unknown(letter, place))?;
    FrameLen::new(*octets).ok_or(GenomeError::TooLarge(letter, *octets))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets(letters: &str, definitions: &[&str]) -> Vec<u16> {
        let genome = Genome::parse(letters, definitions).expect(letters);
        genome.sizes().iter().map(|size| size.octets()).collect()
    }

    #[test]
    fn letters_are_the_rfcs_and_keep_their_order() {
        assert_eq!(octets("aaafg", &[]), [64, 64, 64, 1280, 1518]);
        assert_eq!(
            octets("gbcdeaz", &[]),
            [1518, 128, 256, 512, 1024, 64, 1518]
        );
        assert_eq!(octets("hi", &[]), [2112, 9000]);
        assert_eq!(
            octets("AaBzA", &["A=594", "B=1400", "z=2000"]),
            [594, 64, 1400, 2000, 594]
        );
        let genome = Genome::parse("aaaz", &[]).unwrap();
        assert_eq!(
            genome.to_string(),
            "genome:aaaz,z=1518",
            "the MTU is stated"
        );
        assert!((genome.mean_octets() - (3.0 * 64.0 + 1518.0) / 4.0).abs() < 1e-9);
    }

    #[test]
    fn a_bad_genome_is_refused_with_a_remedy() {
        let long = "a".repeat(LETTERS_MAX + 1);
        for (letters, definitions, wanted) in [
            ("", &[][..], "genome:aaafg"),
            ("aak", &[], "\"k\" (place 3)"),
            ("aa4", &[], "\"4\" (place 3)"),
            ("aaj", &[], "\"j\" is a frame of 16000 octets: 9216"),
            ("aaA", &[], "A=594"),
            ("aaA", &["A=594", "A=600"], "two sizes"),
            ("aa", &["A=594"], "leave it out"),
            ("aaA", &["A=9"], "A=594"),
            ("aab", &["b=100"], "A=594"),
            (&long, &[], "4093"),
        ] {
            let line = Genome::parse(letters, definitions)
                .expect_err(letters)
                .to_string();
            assert!(
                line.contains(wanted) && !line.contains('\n'),
                "{letters}: {line}"
            );
        }
    }
}
