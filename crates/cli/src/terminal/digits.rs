//! Numbers with as many digits as are known: the last one shown stands for about half of the interval's width.

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
        let first = exponent(value.abs().max(1e-9));
        let half = (width / 2.0).abs();
        let last = if half > 0.0 { exponent(half) } else { i32::MIN };
        let last = last.clamp(first - DIGITS_MAX + 1, first - 1);
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

    /// A rate in words, and what another one in the same unit is: `1.52`, ` million`.
    #[must_use]
    pub fn in_words(self) -> (String, &'static str) {
        let unit = self.unit();
        (self.scaled(unit.exponent), unit.word)
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
        let (exponent, letter, word) = match self.value {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_interval() {
        let words = |value: f64, width: f64| {
            let (number, unit) = Known::new(value, width).in_words();
            number + unit
        };
        assert_eq!(words(1_523_400.0, 110_000.0), "1.52 million");
        assert_eq!(words(1_523_400.0, 300_000.0), "1.5 million");
        assert_eq!(words(1_523_400.0, 5_000.0), "1.523 million");
        assert_eq!(words(1_523_400.0, 0.0), "1.523 million");
        assert_eq!(words(1_523_400.0, 9e9), "1.5 million");
        assert_eq!(words(528_700.0, 27_000.0), "530 thousand");
        assert_eq!(words(528_700.0, 9_000.0), "529 thousand");
        assert_eq!(words(999_700.0, 9_000.0), "1.000 million");
        assert_eq!(words(850.0, 20.0), "850");
        assert_eq!(Known::new(10_000.0, 0.0).short(), "10.00k");
        assert_eq!(Known::new(225.3, 12.0).plain(), "225");
        assert_eq!(Known::new(225.3, 90.0).plain(), "230");
    }

    #[test]
    fn bounds_from_below_are_rounded_down() {
        let floor = |value: f64, width: f64| Known::new(value, width).floor().short();
        assert_eq!(floor(1_389_900.0, 30_000.0), "1.38M");
        assert_eq!(floor(1_380_000.0, 30_000.0), "1.38M");
        assert_eq!(floor(777_000.0, 0.0), "777.0k");
        let middle = Known::new(1_523_400.0, 110_000.0);
        assert_eq!(middle.with(986_000.0).beside(middle), "0.99");
    }
}
