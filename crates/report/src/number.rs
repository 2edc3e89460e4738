//! Numbers as a person reads them: as many digits as are known, then the unit.
//!
//! The last digit of a [`Known`] stands for about half of its interval's width. Other numbers have three that count.

use mpps_record::Interval;

/// Digits of a number whose width is zero or unknown.
const DIGITS_MAX: i32 = 4;

/// A number, and the power of ten of its last known digit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    value: f64,
    last: i32,
}

/// How a rate is written: divided by this, with this letter behind it and this word.
struct Unit {
    exponent: i32,
    letter: &'static str,
    word: &'static str,
}

impl Known {
    /// A number that lies somewhere in an interval of this width; of at least 2 digits and at most 4.
    #[must_use]
    pub fn new(value: f64, width: f64) -> Self {
        let half = (width / 2.0).abs();
        let last = if half > 0.0 { exponent(half) } else { i32::MIN };
        // Zero has no first digit.
        let last = match value {
            0.0 => last.max(0),
            value => {
                let first = exponent(value.abs().max(1e-9));
                last.clamp(first - DIGITS_MAX + 1, first - 1)
            }
        };
        Self { value, last }
    }

    /// A number of which three digits are known.
    #[must_use]
    pub fn three(value: f64) -> Self {
        let last = match value {
            0.0 => 0,
            value => exponent(value.abs().max(1e-9)) - 2,
        };
        Self { value, last }
    }

    /// The same with its last digit rounded down: a bound from below stays one.
    #[must_use]
    pub fn floor(self) -> Self {
        let unit = 10_f64.powi(self.last);
        // What a float's rounding took off is given back first.
        let value = (self.value / unit + 1e-6).floor() * unit;
        Self { value, ..self }
    }

    /// The same with its last digit rounded up: a bound from above stays one.
    #[must_use]
    pub fn ceil(self) -> Self {
        let unit = 10_f64.powi(self.last);
        let value = (self.value / unit - 1e-6).ceil() * unit;
        Self { value, ..self }
    }

    /// Another number, to the same digit.
    #[must_use]
    pub const fn with(self, value: f64) -> Self {
        Self { value, ..self }
    }

    /// The number itself: `225`.
    #[must_use]
    pub fn plain(self) -> String {
        self.scaled(0)
    }

    /// A rate in words: `1.52 million`.
    #[must_use]
    pub fn in_words(self) -> String {
        let unit = self.unit();
        self.scaled(unit.exponent) + unit.word
    }

    /// The same without zeros at its end: `400 thousand`, `1.311 million`.
    #[must_use]
    pub fn trimmed(self) -> String {
        let unit = self.unit();
        without_zeros(&self.scaled(unit.exponent)).to_owned() + unit.word
    }

    /// A rate with a letter for its unit: `1.52M`.
    #[must_use]
    pub fn short(self) -> String {
        let unit = self.unit();
        self.scaled(unit.exponent) + unit.letter
    }

    /// The number in the unit of `other`, without it.
    #[must_use]
    pub fn beside(self, other: Self) -> String {
        self.scaled(other.unit().exponent)
    }

    fn unit(self) -> Unit {
        let step = 10_f64.powi(self.last);
        // As it is written: 999.9 thousand, of which two digits are known, is a million.
        let (exponent, letter, word) = match (self.value / step).round() * step {
            value if value >= 999_500.0 => (6, "M", " million"),
            value if value >= 999.5 => (3, "k", " thousand"),
            _ => (0, "", ""),
        };
        Unit {
            exponent,
            letter,
            word,
        }
    }

    fn scaled(self, exponent: i32) -> String {
        let unit = 10_f64.powi(self.last);
        let rounded = (self.value / unit).round() * unit;
        let decimals = usize::try_from(exponent - self.last).unwrap_or(0);
        let text = format!("{:.decimals$}", rounded / 10_f64.powi(exponent));
        // Below zero and rounded to zero.
        if text.trim_start_matches(['-', '0', '.']).is_empty() {
            text.trim_start_matches('-').to_owned()
        } else {
            text
        }
    }
}

fn exponent(value: f64) -> i32 {
    value.log10().floor() as i32
}

/// A count with its thousands apart by a narrow space that no line of a page breaks at: `1 234 567`.
#[must_use]
pub fn grouped(count: u64) -> String {
    separated(count, '\u{202f}')
}

/// The same by a plain space, for a terminal.
#[must_use]
pub fn spaced(count: u64) -> String {
    separated(count, ' ')
}

fn separated(count: u64, gap: char) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(gap);
        }
        text.push(digit);
    }
    text
}

/// Three digits that count.
fn three(number: f64) -> String {
    Known::three(number).plain()
}

/// A decimal fraction without zeros at its end.
fn without_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// A rate in frames/s, without the unit: `1.52 million`, `940 thousand`, `12`.
#[must_use]
pub fn rate(fps: f64) -> String {
    match fps {
        _ if fps >= 9_999.5 => Known::three(fps).in_words(),
        _ => grouped(fps.max(0.0).round() as u64),
    }
}

/// A whole count or rate of which three digits are known: `1.52M`, `940k`, `12`.
#[must_use]
pub fn short_count(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        _ => Known::three(count as f64).short(),
    }
}

/// A count or a rate at an axis: `1.5M`, `200k`.
#[must_use]
pub fn short(number: f64) -> String {
    let (scaled, unit) = match number.abs() {
        size if size >= 1e9 => (number / 1e9, "G"),
        size if size >= 1e6 => (number / 1e6, "M"),
        size if size >= 1e3 => (number / 1e3, "k"),
        _ => (number, ""),
    };
    // An axis has round numbers: what follows the sixth digit is a float's rounding.
    let scaled = (scaled * 1e6).round() / 1e6;
    format!("{scaled}{unit}")
}

/// A rate with its interval: `1.33M (1.31 to 1.35)`.
#[must_use]
pub fn ranged(Interval { low, median, high }: Interval<f64>) -> String {
    let known = Known::new(median, high - low);
    let [low, high] = [low, high].map(|end| known.with(end).beside(known));
    format!("{} ({low} to {high})", known.short())
}

/// Whole numbers from the least to the most: `41 to 44`, or `41`. `None` without any.
#[must_use]
pub fn from_to(numbers: impl Iterator<Item = f64> + Clone) -> Option<String> {
    let least = numbers.clone().min_by(f64::total_cmp)?;
    let most = numbers.max_by(f64::total_cmp)?;
    let (least, most) = (format!("{least:.0}"), format!("{most:.0}"));
    Some(match least == most {
        true => least,
        false => format!("{least} to {most}"),
    })
}

/// A time: `930 ns`, `9.22 µs`, `1.20 ms`, `60.0 s`.
#[must_use]
pub fn time(ns: f64) -> String {
    match ns {
        _ if ns >= 999.5e6 => three(ns / 1e9) + " s",
        _ if ns >= 999.5e3 => three(ns / 1e6) + " ms",
        _ if ns >= 999.5 => three(ns / 1e3) + " µs",
        _ => three(ns) + " ns",
    }
}

/// Nanoseconds that a frame costs.
#[must_use]
pub fn cost(ns: f64) -> String {
    whole(ns, grouped) + " ns"
}

/// A number without its fraction, which may be below zero: `-1 234`.
pub(crate) fn whole(number: f64, grouped: fn(u64) -> String) -> String {
    let sign = if number <= -0.5 { "-" } else { "" };
    format!("{sign}{}", grouped(number.abs().round() as u64))
}

/// A share of 1 in percent: `99.1 %`. A share that is not 0 does not read as 0.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent != 0.0 && percent.abs() < 0.001 {
        return format!("{percent:.1e} %");
    }
    format!("{} %", without_zeros(&three(percent)))
}

/// The same where the digits of a smaller share say nothing to a person.
#[must_use]
pub fn percent_or_under(share: f64) -> String {
    if share > 0.0 && share < 5e-6 {
        "under 0.001 %".to_owned()
    } else {
        percent(share)
    }
}

/// A share that a person gave, with all its digits but those that only a float's rounding put there: `0.5 %`.
#[must_use]
pub fn percent_given(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}

/// A busy share, which sampling may put above 1: `98 %`.
#[must_use]
pub fn busy(share: f64) -> String {
    format!("{:.0} %", share.min(1.0) * 100.0)
}

/// A frame size as records have it, with its unit: `64 B`, `imix`.
#[must_use]
pub fn frame(size: &str) -> String {
    let number = !size.is_empty() && size.chars().all(|c| c.is_ascii_digit());
    format!("{size}{}", if number { " B" } else { "" })
}

/// Letters of a mix where names stand in a row.
const MIX_LETTERS: usize = 28;

/// The first letters of a long mix; other names as they are.
#[must_use]
pub fn short_frame(name: &str) -> String {
    match name.char_indices().nth(MIX_LETTERS) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// `1 trial`, `2 trials`.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        grouped(count as u64),
        if count == 1 { "" } else { "s" }
    )
}

/// CPUs of rising numbers, in ranges as the kernel lists them: `CPU 2`, `CPUs 0-3,5`.
#[must_use]
pub fn cpus(numbers: &[usize]) -> String {
    let ranges = numbers.chunk_by(|one, next| one + 1 == *next);
    let range = |range: &[usize]| match range {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(usize::to_string).collect(),
    };
    let list: Vec<String> = ranges.map(range).collect();
    let noun = if numbers.len() == 1 { "CPU" } else { "CPUs" };
    format!("{noun} {}", list.join(","))
}

#[cfg(test)]
mod tests;
