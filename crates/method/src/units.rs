//! Rates, frame lengths, spans of time and link speeds, so that no number travels without its unit.

use std::fmt;

/// Frames per second. Over all ports together unless the place that holds it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// No frames.
    pub const ZERO: Self = Self(0.0);

    /// A rate of `fps` frames a second; what is no number or below zero becomes zero.
    #[must_use]
    pub const fn from_fps(fps: f64) -> Self {
        if fps.is_finite() && fps > 0.0 {
            Self(fps)
        } else {
            Self(0.0)
        }
    }

    /// `frames` spread over `span`; `None` when the span is zero.
    #[must_use]
    pub fn from_frames(frames: u64, span: Span) -> Option<Self> {
        (span.as_nanos() > 0).then(|| Self::from_fps(frames as f64 / span.as_secs_f64()))
    }

    /// Frames per second.
    #[must_use]
    pub const fn fps(self) -> f64 {
        self.0
    }

    /// Whole frames due in `span` at this rate (rounded to the nearest).
    #[must_use]
    pub fn frames_in(self, span: Span) -> u64 {
        (self.0 * span.as_secs_f64()).round() as u64
    }

    /// The larger of two rates.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }

    /// The smaller of two rates.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if other.0 < self.0 { other } else { self }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Chosen by the value as it will be printed: 999 999.7 is "1.000 Mfps", not "1000.0 kfps".
        let text = if self.0 >= 999_950.0 {
            format!("{:.3} Mfps", self.0 / 1e6)
        } else if self.0 >= 999.5 {
            format!("{:.1} kfps", self.0 / 1e3)
        } else {
            format!("{:.0} fps", self.0)
        };
        f.pad(&text)
    }
}

/// Length of an Ethernet frame in octets, FCS included ("64" is 60 in the buffer).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameLen(pub(crate) u16);

/// Octets of the frame check sequence.
pub const FCS_OCTETS: u16 = 4;
/// Octets a frame takes on the wire beyond its length: preamble, start delimiter, smallest gap.
pub const WIRE_OVERHEAD_OCTETS: u16 = 20;

impl FrameLen {
    /// Shortest Ethernet frame (IEEE 802.3).
    pub const MIN: Self = Self(64);
    /// Longest frame a specification may name: jumbo frames as switches know them.
    pub const MAX: Self = Self(9216);

    /// A length from [`FrameLen::MIN`] to [`FrameLen::MAX`], FCS included.
    #[must_use]
    pub const fn new(octets: u16) -> Option<Self> {
        if octets >= Self::MIN.0 && octets <= Self::MAX.0 {
            Some(Self(octets))
        } else {
            None
        }
    }

    /// Octets, FCS included.
    #[must_use]
    pub const fn octets(self) -> u16 {
        self.0
    }

    /// Octets in a buffer: without the FCS.
    #[must_use]
    pub const fn without_fcs(self) -> u16 {
        self.0 - FCS_OCTETS
    }
}

impl fmt::Display for FrameLen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

/// A length of time in ns (584 years at most; arithmetic stops at the ends).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of so many ns.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of so many ms.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span of so many s; what is no number or below zero becomes zero.
    #[must_use]
    pub fn from_secs_f64(secs: f64) -> Self {
        // A float cast stops at the ends of u64 and turns NaN into zero.
        Self((secs * 1e9).round() as u64)
    }

    /// So many of it, one after the other.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// Nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The same as the standard library's type.
    #[must_use]
    pub const fn as_duration(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (divisor, unit) = match self.0 {
            0..1_000 => (1.0, "ns"),
            1_000..1_000_000 => (1e3, "us"),
            1_000_000..1_000_000_000 => (1e6, "ms"),
            _ => (1e9, "s"),
        };
        let value = format!("{:.3}", self.0 as f64 / divisor);
        f.pad(&format!(
            "{} {unit}",
            value.trim_end_matches('0').trim_end_matches('.')
        ))
    }
}

/// Speed of a link in bit/s (IEEE 802.3: of the bits on the wire, preamble and gap included).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkSpeed(u64);

impl LinkSpeed {
    /// A link of so many bit/s.
    #[must_use]
    pub const fn from_bits_per_second(bits: u64) -> Self {
        Self(bits)
    }

    /// Bits per second.
    #[must_use]
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Most frames that the link carries in one direction when they take `octets` on the wire on average (10 Gbit/s,
    /// 84 octets: 14.88 M).
    #[must_use]
    pub fn frames_per_second_on_wire(self, octets: f64) -> Rate {
        Rate::from_fps(self.0 as f64 / (octets * 8.0))
    }

    /// Share of the link (1 = all of it) that `rate` frames of `octets` mean on-wire length fill.
    #[must_use]
    pub fn share(self, rate: Rate, octets: f64) -> f64 {
        if self.0 == 0 {
            0.0
        } else {
            rate.fps() * octets * 8.0 / self.0 as f64
        }
    }
}

impl fmt::Display for LinkSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            0..1_000_000 => format!("{} bit/s", self.0),
            1_000_000..1_000_000_000 => format!("{} Mbit/s", self.0 as f64 / 1e6),
            _ => format!("{} Gbit/s", self.0 as f64 / 1e9),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_rates_are_those_of_the_standard() {
        let ten = LinkSpeed::from_bits_per_second(10_000_000_000);
        for (octets, fps) in [(64, 14_880_952.4), (512, 2_349_624.1), (1518, 812_743.8)] {
            let on_wire = octets + WIRE_OVERHEAD_OCTETS;
            let rate = ten.frames_per_second_on_wire(f64::from(on_wire));
            assert!((rate.fps() - fps).abs() < 0.1, "{octets}: {}", rate.fps());
        }
        assert!((ten.share(Rate::from_fps(14_880_952.38), 84.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_frame_knows_both_its_lengths() {
        let frame = FrameLen::new(64).unwrap();
        assert_eq!((frame.octets(), frame.without_fcs()), (64, 60));
        assert_eq!(FrameLen::new(63), None);
        assert_eq!(FrameLen::new(9217), None);
    }

    #[test]
    fn numbers_print_with_their_unit() {
        assert_eq!(Rate::from_fps(1_234_000.0).to_string(), "1.234 Mfps");
        assert_eq!(Rate::from_fps(999_999.7).to_string(), "1.000 Mfps");
        assert_eq!(Rate::from_fps(50_000.0).to_string(), "50.0 kfps");
        assert_eq!(Rate::from_fps(12.0).to_string(), "12 fps");
        assert_eq!(format!("{:>12}", Rate::from_fps(12.0)), "      12 fps");
        assert_eq!(Span::from_secs_f64(60.0).to_string(), "60 s");
        assert_eq!(Span::from_nanos(1_500).to_string(), "1.5 us");
        assert_eq!(Span::from_millis(250).to_string(), "250 ms");
        assert_eq!(
            LinkSpeed::from_bits_per_second(40_000_000_000).to_string(),
            "40 Gbit/s"
        );
    }

    #[test]
    fn what_is_no_rate_or_span_is_zero() {
        for wrong in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Rate::from_fps(wrong).fps(), 0.0);
        }
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_secs_f64(-3.0), Span::ZERO);
        assert_eq!(Rate::from_frames(1, Span::ZERO), None);
        assert_eq!(
            Rate::from_fps(1000.4).frames_in(Span::from_secs_f64(10.0)),
            10_004
        );
    }
}
