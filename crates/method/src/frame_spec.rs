//! The frame sizes a user asks for: one size, lists, sweeps and mixes.
//!
//! | written | means |
//! |---|---|
//! | `64` | every frame 64 octets (FCS included) |
//! | `64,512,imix` | one measurement after the other |
//! | `64-1518/128` | 64, 192 ... 1472, and 1518: from the first in steps to the last |
//! | `imix`, `ams-ix-2015` ... | a published mix |
//! | `mix:64=7,594=4,66-127=1` | a mix of one's own: size or range = weight |
//! | `genome:aaafg`, `genome:aaA,A=594` | an IMIX genome (RFC 6985): in exactly this order |

use std::borrow::Cow;
use std::fmt;
use std::iter::Peekable;

use crate::genome::{Genome, GenomeError, LETTERS_MAX};
use crate::mix::{Mix, PUBLISHED, Part};
use crate::random::Random;
use crate::units::{FrameLen, WIRE_OVERHEAD_OCTETS};

/// The sizes of one measurement.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameSpec {
    /// Every frame the same.
    Fixed(FrameLen),
    /// A mix.
    Mix(Mix),
    /// An exact sequence, again and again.
    Genome(Genome),
}

/// What is wrong with a specification of frame sizes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameSpecError {
    /// Nothing between two commas, or nothing at all.
    #[error("empty frame size: give one such as 64, 64,512,1518 or imix")]
    Empty,
    /// An IMIX genome that is none.
    #[error(transparent)]
    Genome(GenomeError),
    /// Neither a size nor a known mix.
    #[error("frame size \"{0}\" is neither a number of octets nor a mix: the mixes are {names}", names = names())]
    Unknown(String),
    /// A size no frame has.
    #[error("frame size \"{0}\" is not within {min} to {max} octets, FCS included", min = FrameLen::MIN, max = FrameLen::MAX)]
    Size(String),
    /// A sweep or bin that ends before it begins, or steps by zero.
    #[error("frame sizes \"{0}\" make no range: write first-last/step, such as 64-1518/128")]
    Range(String),
    /// A part of a mix without a weight above zero.
    #[error(
        "mix part \"{0}\" has no weight above zero: write size=weight, such as mix:64=7,1518=1"
    )]
    Weight(String),
    /// A part of a mix so rare that no frame of the sender's schedule has its size.
    #[error(
        "mix part \"{0}\" is less than one frame of {LETTERS_MAX} and would never be sent: give it more weight"
    )]
    Rare(String),
}

/// Names of the published mixes.
fn names() -> String {
    let names: Vec<&str> = PUBLISHED.iter().map(Mix::name).collect();
    names.join(", ")
}

impl FrameSpec {
    /// Reads a specification; see the table above.
    ///
    /// # Errors
    /// The first element that cannot be read, with what to write instead.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, FrameSpecError> {
        let mut specs = Vec::new();
        let mut elements = text.split(',').map(str::trim).peekable();
        while let Some(element) = elements.next() {
            if let Some(first) = element.strip_prefix("mix:") {
                let mut parts = vec![first];
                parts.extend(its_own(&mut elements));
                specs.push(Self::Mix(parse_mix(&parts)?));
            } else if let Some(letters) = element.strip_prefix("genome:") {
                let genome = Genome::parse(letters, &its_own(&mut elements));
                specs.push(Self::Genome(genome.map_err(FrameSpecError::Genome)?));
            } else if element.contains('/') {
                specs.extend(parse_sweep(element)?.into_iter().map(Self::Fixed));
            } else {
                specs.push(Self::parse_one(element)?);
            }
        }
        Ok(specs)
    }

    fn parse_one(text: &str) -> Result<Self, FrameSpecError> {
        if text.is_empty() {
            return Err(FrameSpecError::Empty);
        }
        if let Some(mix) = Mix::by_name(text) {
            return Ok(Self::Mix(mix));
        }
        if let Some((first, last)) = text.split_once('-')
            && first.parse::<u16>().is_ok()
            && last.parse::<u16>().is_ok()
        {
            return Err(FrameSpecError::Range(text.to_owned()));
        }
        if !text.bytes().all(|octet| octet.is_ascii_digit()) {
            return Err(FrameSpecError::Unknown(text.to_owned()));
        }
        parse_size(text).map(Self::Fixed)
    }

    /// Smallest size in it.
    #[must_use]
    pub fn min(&self) -> FrameLen {
        let ends = self.ends().into_iter();
        ends.map(|(min, _)| min).min().unwrap_or(FrameLen::MIN)
    }

    /// Largest size in it.
    #[must_use]
    pub fn max(&self) -> FrameLen {
        let ends = self.ends().into_iter();
        ends.map(|(_, max)| max).max().unwrap_or(FrameLen::MIN)
    }

    /// The smallest and the largest of each part.
    fn ends(&self) -> Vec<(FrameLen, FrameLen)> {
        match self {
            Self::Fixed(frame) => vec![(*frame, *frame)],
            Self::Mix(mix) => (mix.parts().iter())
                .map(|part| (part.min, part.max))
                .collect(),
            Self::Genome(genome) => genome.sizes().iter().map(|size| (*size, *size)).collect(),
        }
    }

    /// Mean frame size, octets, FCS included.
    #[must_use]
    pub fn mean_octets(&self) -> f64 {
        match self {
            Self::Fixed(frame) => f64::from(frame.octets()),
            Self::Mix(mix) => mix.mean_octets(),
            Self::Genome(genome) => genome.mean_octets(),
        }
    }

    /// Mean of the octets a frame takes on the wire (+20).
    #[must_use]
    pub fn mean_on_wire(&self) -> f64 {
        self.mean_octets() + f64::from(WIRE_OVERHEAD_OCTETS)
    }

    /// Sizes in the order they are sent, which is passed again and again: of a genome its own; else at most
    /// `frames` in random order. How many of a mix fall to each part is exact to the weights (largest
    /// remainder); inside a bin they lie evenly over its sizes, so the mean is the bin's.
    #[must_use]
    pub fn schedule(&self, seed: u64, frames: usize) -> Vec<FrameLen> {
        let mix = match self {
            Self::Fixed(frame) => return vec![*frame; frames],
            Self::Mix(mix) => mix,
            Self::Genome(genome) => return genome.sizes().to_vec(),
        };
        let mut sizes = Vec::with_capacity(frames);
        for (part, count) in mix.parts().iter().zip(mix.apportion(frames)) {
            for place in 0..count as u64 {
                // The middle of the place-th of `count` equal stretches of the bin.
                let offset = (2 * place + 1) * part.sizes() / (2 * count as u64);
                sizes.push(FrameLen(part.min.octets() + offset as u16));
            }
        }
        Random::from_seed(seed).shuffle(&mut sizes);
        sizes
    }
}

impl fmt::Display for FrameSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(frame) => frame.fmt(f),
            Self::Mix(mix) => f.pad(mix.name()),
            Self::Genome(genome) => genome.fmt(f),
        }
    }
}

/// What follows with a "=" belongs to the mix or genome before it.
fn its_own<'a>(elements: &mut Peekable<impl Iterator<Item = &'a str>>) -> Vec<&'a str> {
    let belongs = |next: &&str| next.contains('=') && !next.starts_with("mix:");
    std::iter::from_fn(|| elements.next_if(belongs)).collect()
}

fn parse_size(text: &str) -> Result<FrameLen, FrameSpecError> {
    let octets = text.parse::<u16>().ok();
    octets
        .and_then(FrameLen::new)
        .ok_or_else(|| FrameSpecError::Size(text.to_owned()))
}

fn parse_sweep(text: &str) -> Result<Vec<FrameLen>, FrameSpecError> {
    let wrong = || FrameSpecError::Range(text.to_owned());
    let (range, step) = text.split_once('/').ok_or_else(wrong)?;
    let (first, last) = range.split_once('-').ok_or_else(wrong)?;
    let (first, last) = (parse_size(first.trim())?, parse_size(last.trim())?);
    let step: u16 = step.trim().parse().map_err(|_| wrong())?;
    if step == 0 || last < first {
        return Err(wrong());
    }
    let mut sizes: Vec<FrameLen> = (first.octets()..last.octets())
        .step_by(usize::from(step))
        .map(FrameLen)
        .collect();
    sizes.push(last);
    Ok(sizes)
}

fn parse_mix(texts: &[&str]) -> Result<Mix, FrameSpecError> {
    let parts = texts
        .iter()
        .map(|text| parse_part(text))
        .collect::<Result<Vec<_>, _>>()?;
    let mix = Mix {
        name: Cow::Owned(format!("mix:{}", texts.join(","))),
        parts: Cow::Owned(parts),
    };
    let counts = mix.apportion(LETTERS_MAX);
    let mut rare = texts.iter().zip(counts).filter(|(_, frames)| *frames == 0);
    match rare.next() {
        Some((text, _)) => Err(FrameSpecError::Rare((*text).to_owned())),
        None => Ok(mix),
    }
}

fn parse_part(text: &str) -> Result<Part, FrameSpecError> {
    let wrong = || FrameSpecError::Weight(text.to_owned());
    let (sizes, weight) = text.split_once('=').ok_or_else(wrong)?;
    let weight: f64 = weight.trim().parse().map_err(|_| wrong())?;
    if !(weight.is_finite() && weight > 0.0) {
        return Err(wrong());
    }
    let (min, max) = sizes.split_once('-').unwrap_or((sizes, sizes));
    let (min, max) = (parse_size(min.trim())?, parse_size(max.trim())?);
    if max < min {
        return Err(FrameSpecError::Range(sizes.to_owned()));
    }
    Ok(Part { min, max, weight })
}

#[cfg(test)]
mod tests;
