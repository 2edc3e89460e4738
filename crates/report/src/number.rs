//! Numbers as a person reads them: three digits that count, then the unit.

/// Thousands apart by a narrow space that no line breaks at: `1 234 567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Three digits that count.
fn three(number: f64) -> String {
    let size = number.abs();
    let places = match size {
        _ if size >= 100.0 || size == 0.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{number:.places$}")
}

/// A rate in frames/s, without the unit: `1.52 million`, `940 thousand`, `12`.
#[must_use]
pub fn rate(fps: f64) -> String {
    match fps {
        _ if fps >= 999_500.0 => three(fps / 1e6) + " million",
        _ if fps >= 9_999.5 => three(fps / 1e3) + " thousand",
        _ => grouped(fps.max(0.0).round() as u64),
    }
}

/// A rate that passed, in the same words: rounded down, because more was not tested.
#[must_use]
pub fn rate_passed(fps: f64) -> String {
    let step = 10_f64.powf(fps.max(1.0).log10().floor() - 2.0).max(1.0);
    rate((fps / step).floor() * step)
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
    let sign = if ns <= -0.5 { "-" } else { "" };
    format!("{sign}{} ns", grouped(ns.abs().round() as u64))
}

/// A share of 1 in percent: `99.1 %`. A share that is not 0 does not read as 0.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent != 0.0 && percent.abs() < 0.001 {
        return format!("{percent:.1e} %");
    }
    let text = three(percent);
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text.as_str()
    };
    format!("{text} %")
}

/// A frame size as records have it, with its unit: `64 B`, `imix`.
#[must_use]
pub fn frame(size: &str) -> String {
    let number = !size.is_empty() && size.chars().all(|c| c.is_ascii_digit());
    format!("{size}{}", if number { " B" } else { "" })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_count() {
        let rates = [12.0, 9_000.0, 940_123.0, 1_524_000.0, 59_523_809.0].map(rate);
        let wanted = [
            "12",
            "9\u{202f}000",
            "940 thousand",
            "1.52 million",
            "59.5 million",
        ];
        assert_eq!(rates, wanted);
        // More than what passed was not tested.
        let passed = [1_195_999.0, 849_648.0, 999_999.0, 7.0].map(rate_passed);
        assert_eq!(
            passed,
            ["1.19 million", "849 thousand", "999 thousand", "7"]
        );
        let times = [7.0, 930.0, 9_220.0, 1.2e6, 6e10].map(time);
        assert_eq!(times, ["7.00 ns", "930 ns", "9.22 µs", "1.20 ms", "60.0 s"]);
        let shares = [0.0, 1e-7, 0.005, 0.991, 1.0].map(percent);
        assert_eq!(shares, ["0 %", "1.0e-5 %", "0.5 %", "99.1 %", "100 %"]);
        assert_eq!([1.5e6, 2e5, 40.0].map(short), ["1.5M", "200k", "40"]);
        assert_eq!([frame("64"), frame("imix")], ["64 B", "imix"]);
    }
}
