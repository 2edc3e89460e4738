use super::*;

#[test]
fn digits_follow_the_interval() {
    let words = |value: f64, width: f64| Known::new(value, width).in_words();
    assert_eq!(words(1_523_400.0, 110_000.0), "1.52 million");
    assert_eq!(words(1_523_400.0, 300_000.0), "1.5 million");
    assert_eq!(words(1_523_400.0, 5_000.0), "1.523 million");
    assert_eq!(words(1_523_400.0, 0.0), "1.523 million");
    assert_eq!(words(1_523_400.0, 9e9), "1.5 million");
    assert_eq!(words(528_700.0, 27_000.0), "530 thousand");
    assert_eq!(words(528_700.0, 9_000.0), "529 thousand");
    assert_eq!(words(999_700.0, 9_000.0), "1.000 million");
    assert_eq!(words(999_300.0, 80_000.0), "1.00 million");
    assert_eq!(words(850.0, 20.0), "850");
    assert_eq!(Known::new(10_000.0, 0.0).short(), "10.00k");
    assert_eq!(Known::new(225.3, 12.0).plain(), "225");
    assert_eq!(Known::new(225.3, 90.0).plain(), "230");
    // A load at which nothing was forwarded.
    assert_eq!(Known::three(0.0).short(), "0");
    assert_eq!(words(0.0, 0.0), "0");
    assert_eq!(words(0.0, 200_000.0), "0");
}

#[test]
fn bounds_from_below_are_rounded_down() {
    let floor = |value: f64, width: f64| Known::new(value, width).floor().short();
    assert_eq!(floor(1_389_900.0, 30_000.0), "1.38M");
    assert_eq!(floor(1_380_000.0, 30_000.0), "1.38M");
    assert_eq!(floor(777_000.0, 0.0), "777.0k");
    let ceil = |value: f64| Known::three(value).ceil().short();
    assert_eq!(ceil(1_231_000.0), "1.24M");
    assert_eq!(ceil(1_230_000.0), "1.23M");
    let middle = Known::new(1_523_400.0, 110_000.0);
    assert_eq!(middle.with(986_000.0).beside(middle), "0.99");
}

#[test]
fn a_short_count_is_whole_or_has_three_digits() {
    let counts = [0, 12, 999, 1_000, 940_123, 1_524_000].map(short_count);
    assert_eq!(counts, ["0", "12", "999", "1.00k", "940k", "1.52M"]);
}

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
    let times = [7.0, 930.0, 9_220.0, 1.2e6, 6e10].map(time);
    assert_eq!(times, ["7.00 ns", "930 ns", "9.22 µs", "1.20 ms", "60.0 s"]);
    let shares = [0.0, 1e-7, 0.005, 0.991, 1.0].map(percent);
    assert_eq!(shares, ["0 %", "1.0e-5 %", "0.5 %", "99.1 %", "100 %"]);
    assert_eq!([1.5e6, 2e5, 40.0].map(short), ["1.5M", "200k", "40"]);
    assert_eq!([frame("64"), frame("imix")], ["64 B", "imix"]);
}

#[test]
fn counts_and_shares_for_a_terminal() {
    let counts = [0, 999, 1_000, 1_550_000].map(spaced);
    assert_eq!(counts, ["0", "999", "1 000", "1 550 000"]);
    let shares = [0.0, 1e-6, 0.0685, 0.34795, 1.0].map(percent_or_under);
    let wanted = ["0 %", "under 0.001 %", "6.85 %", "34.8 %", "100 %"];
    assert_eq!(shares, wanted);
    assert_eq!(percent_given(0.005), "0.5 %");
    assert_eq!([busy(0.984), busy(1.01)], ["98 %", "100 %"]);
    let trimmed = [400e3, 1_311e3, 5e6].map(|fps| Known::new(fps, 0.0).trimmed());
    assert_eq!(trimmed, ["400 thousand", "1.311 million", "5 million"]);
}

#[test]
fn cpus_are_listed_in_ranges() {
    let lists = [&[2][..], &[0, 1], &[0, 1, 3, 5, 6, 7]].map(cpus);
    assert_eq!(lists, ["CPU 2", "CPUs 0-1", "CPUs 0-1,3,5-7"]);
}
