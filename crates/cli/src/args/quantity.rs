//! Numbers with units, as people type them: `1.5M`, `400kpps`, `1e6`, `5m`, `1%`, `40G`, `25GbE`.

use ipnet::IpNet;
use mpps_method::limits::{Bus, MemoryBandwidth};
use mpps_method::sweep::{Axis, WhatIf};
use mpps_method::{FrameLen, LinkSpeed, Rate, Resolution, Span};
use std::net::IpAddr;
use std::time::Duration;

/// Shortest trial: below it the set-up of a trial is all there is to see.
const TRIAL_MIN: Span = Span::from_millis(10);
/// Longest trial: the receiver keeps a bit for every frame that could come.
const TRIAL_MAX: Span = Span::from_millis(600_000);
/// A measurement of less says nothing.
const BUDGET_MIN: Span = Span::from_millis(2_000);
const BUDGET_MAX: Span = Span::from_millis(86_400_000);
/// The sender counts its time in 2^-20 ns, in 64 bits: 4.9 hours.
const LASTING_MAX: Span = Span::from_millis(14_400_000);

/// Longest warm-up before a trial.
const WARM_UP_MAX: Span = Span::from_millis(60_000);

/// "full", in a list of counts.
pub const FULL: u64 = u64::MAX;

/// Names of frames per second, longest first, in lower case.
const FRAMES_PER_S: [&str; 4] = ["frames/s", "fps", "pps", "/s"];
/// Names of bits per second, longest first, in lower case.
const BITS_PER_S: [&str; 7] = ["bits/s", "bit/s", "b/s", "bps", "bit", "be", "b"];

/// A rate in frames/s: `50000`, `50k`, `1.5M`, `1e6`, `400kpps`, `1Mfps`, in either case.
pub fn rate(text: &str) -> Result<Rate, String> {
    let lower = text.to_ascii_lowercase();
    let fps = number(
        without_unit(&lower, &FRAMES_PER_S),
        &[("k", 1e3), ("m", 1e6)],
    )
    .filter(|&fps| fps > 0.0)
    .ok_or("give frames per second above zero, such as 50000, 50k or 1.5M")?;
    Ok(Rate::from_fps(fps))
}

/// The length of a trial: `1`, `0.2`, `200ms`, `60s`, `5m`.
pub fn trial_length(text: &str) -> Result<Span, String> {
    span(text)
        .filter(|span| (TRIAL_MIN..=TRIAL_MAX).contains(span))
        .ok_or_else(|| {
            format!("give seconds (1, 0.2) or a unit (200ms, 60s, 5m), {TRIAL_MIN} to {TRIAL_MAX}")
        })
}

/// A time that a measurement may take.
pub fn budget(text: &str) -> Result<Span, String> {
    span(text)
        .filter(|span| (BUDGET_MIN..=BUDGET_MAX).contains(span))
        .ok_or_else(|| format!("give a time such as 30s or 2m, {BUDGET_MIN} to {BUDGET_MAX}"))
}

/// How long an overload may last.
pub fn lasting(text: &str) -> Result<Span, String> {
    let lasts = budget(text)?;
    let fits = lasts <= LASTING_MAX;
    fits.then_some(lasts).ok_or_else(|| {
        format!("give {LASTING_MAX} at most: the sender's schedule has no more room")
    })
}

/// How long to send before frames count: as the length of a trial, or 0.
pub fn warm_up(text: &str) -> Result<Span, String> {
    span(text)
        .filter(|span| *span <= WARM_UP_MAX)
        .ok_or_else(|| format!("give seconds (1, 0.2) or a unit (200ms), {WARM_UP_MAX} at most"))
}

/// A span of time in seconds, or with a unit (ms, s, m, min, h); `None` when it is none.
pub fn span(text: &str) -> Option<Span> {
    let units = [
        ("ms", 1e-3),
        ("s", 1.0),
        ("m", 60.0),
        ("min", 60.0),
        ("h", 3600.0),
    ];
    number(text, &units).map(Span::from_secs_f64)
}

/// ETSI GS NFV-TST 009's max(r) and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossVerification {
    /// Trials at a load at most.
    pub trials: u32,
    /// Frames a trial may lose and be repeated.
    pub lost_at_most: u64,
}

/// Loss verification: `2`, or `3:100`.
pub fn loss_verification(text: &str) -> Result<LossVerification, String> {
    let wrong = "give R, the trials at a load (2 or more), or R:Z: only a trial that lost at most Z frames is repeated";
    let (trials, lost) = text
        .split_once(':')
        .map_or((text, None), |(trials, lost)| (trials, Some(lost)));
    let lost_at_most = lost.map_or(Ok(u64::MAX), str::parse).map_err(|_| wrong)?;
    let trials = trials.parse().ok().filter(|&trials: &u32| trials >= 2);
    Ok(LossVerification {
        trials: trials.ok_or(wrong)?,
        lost_at_most,
    })
}

/// How closely to find a rate: `1%`, or in frames/s `50k`.
pub fn resolution(text: &str) -> Result<Resolution, String> {
    let wrong = "give a share of the rate, such as 1% (above 0, below 100), or frames per second such as 50k";
    if let Some(percent) = text.strip_suffix('%') {
        let share = number(percent, &[]).map(|percent| percent / 100.0);
        return share
            .filter(|&share| share > 0.0 && share < 1.0)
            .map(Resolution::Fraction)
            .ok_or(wrong.to_owned());
    }
    rate(text)
        .map(|step| Resolution::StepFps(step.fps()))
        .map_err(|_| wrong.to_owned())
}

/// The speed of a link in bit/s: `10G`, `2.5G`, `100M`, `25Gbit/s`, `25GbE`. `25GB` would be octets and is refused.
pub fn link_speed(text: &str) -> Result<LinkSpeed, String> {
    let octets = ["B", "B/s", "Bps"].iter().any(|unit| text.ends_with(unit));
    let lower = text.to_ascii_lowercase();
    let bits = number(
        without_unit(&lower, &BITS_PER_S),
        &[("m", 1e6), ("g", 1e9), ("t", 1e12)],
    )
    .filter(|&bits| !octets && (1e6..=1e15).contains(&bits))
    .ok_or("give bits per second, such as 10G or 100M")?;
    Ok(LinkSpeed::from_bits_per_second(bits.round() as u64))
}

/// A PCI Express link: `3x8` is eight lanes of generation 3.
pub fn pcie(text: &str) -> Result<Bus, String> {
    let wrong = "give generation and lanes, such as 3x8 or 4x16";
    let (generation, lanes) = text.split_once('x').ok_or(wrong)?;
    let parse = |digits: &str| digits.parse::<u8>().map_err(|_| wrong.to_owned());
    Bus::pcie(parse(generation)?, parse(lanes)?).map_err(|error| error.to_string())
}

/// What a memory moves: `25.6G` octets/s, or `1600x64`: a clock in MHz, both edges used, and a width in bits.
pub fn memory_bandwidth(text: &str) -> Result<MemoryBandwidth, String> {
    let wrong = "give octets per second, such as 25.6G, or a double data rate bus such as 1600x64 (MHz, bits)";
    let bandwidth = match text.split_once('x') {
        Some((clock, width)) => {
            let clock = number(clock, &[]).ok_or(wrong)? * 1e6;
            let width: u32 = width.parse().map_err(|_| wrong)?;
            MemoryBandwidth::double_data_rate(clock, width)
        }
        None => MemoryBandwidth {
            octets_per_s: number(text, &[("M", 1e6), ("G", 1e9), ("T", 1e12)]).ok_or(wrong)?,
        },
    };
    if (1e6..=1e15).contains(&bandwidth.octets_per_s) {
        Ok(bandwidth)
    } else {
        Err(wrong.to_owned())
    }
}

/// A count: `1000`, `10k`, `4M`.
pub fn count(text: &str) -> Result<u64, String> {
    number(text, &[("k", 1e3), ("K", 1e3), ("M", 1e6)])
        .filter(|value| value.fract() == 0.0 && *value < 1e15)
        .map(|value| value as u64)
        .ok_or("give a whole number, such as 1000, 10k or 4M".to_owned())
}

/// No machine has more.
const CORES_MAX: u64 = 4096;

/// What to predict: `freq=3.6GHz,cores=8,routes=2M`.
pub fn what_if(text: &str) -> Result<WhatIf, String> {
    let mut asked = WhatIf::default();
    for part in text.split(',') {
        let (name, value) = part
            .split_once('=')
            .ok_or("give name and value, such as freq=3.6GHz, cores=8 or routes=2M")?;
        if name == "freq" {
            let lower = value.to_ascii_lowercase();
            let clock = number(without_unit(&lower, &["hz"]), &[("m", 1e6), ("g", 1e9)]);
            let clock = clock.filter(|hertz| (1e8..=1e11).contains(hertz));
            asked.hertz = Some(clock.ok_or("give a clock such as freq=3.6GHz or freq=2400MHz")?);
            continue;
        }
        let axis = Axis::from_name(name);
        let axis = axis.ok_or("give freq, cores, flows, destinations, routes or frame")?;
        if asked.places.iter().any(|(known, _)| *known == axis) {
            return Err(format!("{name} is given twice"));
        }
        let place = count(value)?;
        if place == 0 {
            return Err(format!("{name}=0: give a place above 0"));
        }
        if axis == Axis::Cores && place > CORES_MAX {
            return Err(format!("{name}={value}: give {CORES_MAX} CPUs at most"));
        }
        let length = u16::try_from(place).ok().and_then(FrameLen::new);
        if axis == Axis::Frame && length.is_none() {
            let (least, most) = (FrameLen::MIN.octets(), FrameLen::MAX.octets());
            return Err(format!("{name}={value}: give {least} to {most} octets"));
        }
        asked.places.push((axis, place as f64));
    }
    Ok(asked)
}

/// A network: `192.0.2.0/24`, `2001:db8::/32`; an address is one of its own.
pub fn prefix(text: &str) -> Result<IpNet, String> {
    let network = text.parse::<IpNet>().ok();
    let address = || text.parse::<IpAddr>().ok().map(IpNet::from);
    network
        .map(|network| network.trunc())
        .or_else(address)
        .ok_or("give a prefix, such as 192.0.2.0/24 or 2001:db8::/32".to_owned())
}

/// A count of routes: `0`, `10k`, or `full` for all there are ([`FULL`]).
pub fn routes(text: &str) -> Result<u64, String> {
    if text == "full" {
        return Ok(FULL);
    }
    count(text).map_err(|_| "give counts such as 0,1,1k,full".to_owned())
}

/// Number of a routing table of the kernel's: 1 to 2^32-1.
pub fn routing_table(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|&number| number > 0)
        .ok_or("give a number from 1 to 4294967295, such as 254 (main)".to_owned())
}

/// How old something is: `30d`, `12h`, `8w`. A number alone says nothing.
pub fn age(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 3] = [("h", 3_600.0), ("d", 86_400.0), ("w", 604_800.0)];
    let seconds = number(text, &UNITS).filter(|_| text.ends_with(char::is_alphabetic));
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "give hours, days or weeks, such as 12h, 30d or 8w".to_owned())
}

/// The text without the first of these endings that it has.
fn without_unit<'a>(text: &'a str, units: &[&str]) -> &'a str {
    let unitless = units.iter().find_map(|unit| text.strip_suffix(unit));
    unitless.unwrap_or(text)
}

/// A decimal number (`1.5`, `1e6`), times its suffix's factor. No signs, no infinities.
pub fn number(text: &str, suffixes: &[(&str, f64)]) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &text[digits.len()..];
    let times = if suffix.is_empty() {
        1.0
    } else {
        suffixes.iter().find(|(name, _)| *name == suffix)?.1
    };
    let plain = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E'));
    plain
        .then(|| digits.parse::<f64>().ok())
        .flatten()
        .map(|value| value * times)
        .filter(|value| value.is_finite())
}

/// `0.5%` as 0.005.
pub fn percent(text: &str) -> Option<f64> {
    number(text.strip_suffix('%')?, &[]).map(|percent| percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_unit() {
        assert_eq!(age("30d"), Ok(Duration::from_secs(2_592_000)));
        assert_eq!(age("1.5h"), Ok(Duration::from_secs(5_400)));
        for text in ["30", "d", "-1d", "3m", "1e300w", ""] {
            assert!(age(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_what_if_names_a_clock_and_places() {
        let asked = what_if("freq=3.6GHz,cores=8,routes=2M").expect("read");
        assert_eq!(asked.hertz, Some(3.6e9));
        assert_eq!(asked.places, [(Axis::Cores, 8.0), (Axis::Routes, 2e6)]);
        assert_eq!(what_if("freq=2400mhz").expect("read").hertz, Some(2.4e9));
        for text in [
            "",
            "freq",
            "freq=3",
            "freq=x",
            "cores=0",
            "cores=4097",
            "cores=1,cores=2",
            "frame=1",
            "frame=9217",
            "ram=8",
        ] {
            assert!(what_if(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_whole_and_prefixes_have_no_host_bits() {
        for (text, value) in [
            ("0", 0),
            ("10k", 10_000),
            ("1.5M", 1_500_000),
            ("1e6", 1_000_000),
        ] {
            assert_eq!(count(text), Ok(value));
        }
        for text in ["", "-1", "0.5", "1.2345k", "many", "9999999999999999"] {
            assert!(count(text).expect_err(text).contains("4M"), "{text}");
        }
        for (text, value) in [("192.0.2.7/24", "192.0.2.0/24"), ("::1", "::1/128")] {
            assert_eq!(
                prefix(text).map(|net| net.to_string()),
                Ok(value.to_owned())
            );
        }
        for text in ["", "192.0.2.0/33", "192.0.2/24", "x"] {
            assert!(
                prefix(text).expect_err(text).contains("192.0.2.0/24"),
                "{text}"
            );
        }
    }

    #[test]
    fn rates_take_suffixes() {
        for (text, fps) in [
            ("50000", 50_000.0),
            ("50k", 50_000.0),
            ("1.5M", 1_500_000.0),
            ("1m", 1e6),
            ("1e6", 1e6),
            ("1.5e6", 1.5e6),
            ("1E6", 1e6),
            ("400K", 400e3),
            ("400kpps", 400e3),
            ("400KPPS", 400e3),
            ("400kfps", 400e3),
            ("1Mpps", 1e6),
            ("1Mfps", 1e6),
            ("1e6pps", 1e6),
            ("14.88Mpps", 14.88e6),
            ("400kframes/s", 400e3),
            ("400k/s", 400e3),
        ] {
            assert_eq!(rate(text).map(Rate::fps), Ok(fps), "{text}");
        }
        for text in [
            "", "0", "-1", "1G", "k", "e6", "1e", "1e-6", "1e400", "inf", "nan", "1 k", "1.2.3",
            "0x10", "1Mbps", "pps",
        ] {
            assert!(rate(text).expect_err(text).contains("1.5M"), "{text}");
        }
    }

    #[test]
    fn trials_take_seconds_or_a_unit() {
        for (text, ms) in [
            ("1", 1_000),
            ("0.2", 200),
            ("200ms", 200),
            ("60s", 60_000),
            ("5m", 300_000),
        ] {
            assert_eq!(trial_length(text), Ok(Span::from_millis(ms)));
        }
        assert_eq!(span("1h"), Some(Span::from_millis(3_600_000)));
        for text in ["0", "0.001", "1h", "5000", "soon", ""] {
            assert!(trial_length(text).expect_err(text).contains("5m"));
        }
    }

    #[test]
    fn a_warm_up_may_be_none() {
        assert_eq!(warm_up("0"), Ok(Span::ZERO));
        assert_eq!(warm_up("200ms"), Ok(Span::from_millis(200)));
        assert!(warm_up("2m").expect_err("too long").contains("at most"));
    }

    #[test]
    fn loss_is_verified_by_repeating() {
        let of = |trials, lost_at_most| {
            Ok(LossVerification {
                trials,
                lost_at_most,
            })
        };
        assert_eq!(loss_verification("2"), of(2, u64::MAX));
        assert_eq!(loss_verification("3:100"), of(3, 100));
        for text in ["1", "0", "", "2:", "2:many", "two"] {
            assert!(loss_verification(text).expect_err(text).contains("R:Z"));
        }
    }

    #[test]
    fn a_resolution_is_a_share_or_a_step() {
        assert_eq!(resolution("1%"), Ok(Resolution::Fraction(0.01)));
        assert_eq!(resolution("50k"), Ok(Resolution::StepFps(50_000.0)));
        for text in ["0%", "100%", "%", "0", "one"] {
            assert!(resolution(text).expect_err(text).contains("1%"));
        }
    }

    #[test]
    fn links_are_named_by_their_speed() {
        assert_eq!(
            link_speed("40G").map(LinkSpeed::bits_per_second),
            Ok(40_000_000_000)
        );
        assert_eq!(
            link_speed("2.5G").map(LinkSpeed::bits_per_second),
            Ok(2_500_000_000)
        );
        for text in [
            "25G", "25g", "25Gbit", "25gbit", "25GBIT/S", "25Gbit/s", "25Gb/s", "25Gbps", "25GbE",
            "25gbe", "25Gb", "25e9", "25000M",
        ] {
            let bits = link_speed(text).map(LinkSpeed::bits_per_second);
            assert_eq!(bits, Ok(25_000_000_000), "{text}");
        }
        for text in [
            "0", "40", "fast", "25GB", "25GB/s", "25GBps", "G", "bit/s", "25GbEE",
        ] {
            assert!(link_speed(text).expect_err(text).contains("10G"), "{text}");
        }
    }

    #[test]
    fn buses_and_memories_are_read_as_people_name_them() {
        assert_eq!(
            pcie("3x8").map(|bus| bus.to_string()).as_deref(),
            Ok("PCIe 3.0 x8")
        );
        for (text, wanted) in [
            ("3", "3x8"),
            ("x8", "3x8"),
            ("3x", "3x8"),
            ("3x8x", "3x8"),
            ("9x8", "1 to 7"),
            ("3x7", "1, 2, 4"),
            ("300x8", "3x8"),
        ] {
            assert!(pcie(text).expect_err(text).contains(wanted), "{text}");
        }
        for (text, octets_per_s) in [
            ("25.6G", 25.6e9),
            ("1600x64", 25.6e9),
            ("1800x16", 7.2e9),
            ("500M", 5e8),
        ] {
            assert_eq!(
                memory_bandwidth(text).map(|memory| memory.octets_per_s),
                Ok(octets_per_s),
                "{text}"
            );
        }
        for text in [
            "", "fast", "0", "x", "1600x", "x64", "1600x-64", "1600x0", "1e16",
        ] {
            assert!(
                memory_bandwidth(text).expect_err(text).contains("1600x64"),
                "{text}"
            );
        }
    }
}
