//! The link that results are a share of: a real one, or one that is only spoken of.

use crate::bed::{Bed, Port};
use mpps_method::{Ceiling, LinkSpeed, Rate};

/// A tester that comes so close to the line rate is held back by the line: its own clock, and the link's, are no
/// better.
const AT_LINE_RATE: f64 = 0.99;

mpps_method::named! {
    /// Who says how fast the link is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LinkSource {
        /// Nobody: there is no wire, or it does not say.
        Notional = "notional",
        /// The user.
        Given = "given",
        /// Both ports around somebody else's device: the slower of them.
        Ports = "ports",
    }
}

/// A link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its speed.
    pub speed: LinkSpeed,
    /// Who says so.
    pub source: LinkSource,
}

impl Link {
    /// What results are a share of where nobody says anything: 40 Gbit/s.
    pub const NOTIONAL: Self = Self {
        speed: LinkSpeed::from_bits_per_second(40_000_000_000),
        source: LinkSource::Notional,
    };

    /// As the user says.
    #[must_use]
    pub const fn given(speed: LinkSpeed) -> Self {
        Self {
            speed,
            source: LinkSource::Given,
        }
    }

    /// Where nobody has said anything yet: what the bed's ports say, where they are real and both do.
    #[must_use]
    pub fn or_of_ports(self, bed: &Bed) -> Self {
        if self.source != LinkSource::Notional {
            return self;
        }
        line(bed).map_or(self, |speed| Self {
            speed,
            source: LinkSource::Ports,
        })
    }
}

/// Speed of the slower of the two real links to somebody else's device, where both are known.
#[must_use]
pub fn line(bed: &Bed) -> Option<LinkSpeed> {
    let speed = |port: &Port| port.cable.as_ref()?.link_speed();
    let [out, back] = bed.tester();
    let (out, back) = (speed(out)?, speed(back)?);
    Some(if out.bits_per_second() < back.bits_per_second() {
        out
    } else {
        back
    })
}

/// The highest load of a search: what the tester can offer, or what the line carries where that is less.
#[must_use]
pub fn highest(tester: Rate, line: Option<Rate>) -> Ceiling {
    match line {
        Some(line) if tester.fps() >= AT_LINE_RATE * line.fps() => Ceiling::Link(tester.min(line)),
        _ => Ceiling::Tester(tester),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tester_at_line_rate_is_held_back_by_the_line() {
        let fps = Rate::from_fps;
        assert_eq!(highest(fps(9e5), None), Ceiling::Tester(fps(9e5)));
        let line = Some(fps(1_488_095.0));
        assert_eq!(highest(fps(9e5), line), Ceiling::Tester(fps(9e5)));
        assert_eq!(
            highest(fps(1_480_000.0), line),
            Ceiling::Link(fps(1_480_000.0)),
            "no load that the tester does not offer"
        );
        assert_eq!(highest(fps(2e6), line), Ceiling::Link(fps(1_488_095.0)));
    }
}
