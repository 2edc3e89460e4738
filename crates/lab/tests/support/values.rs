//! Values that a setting may take beside its own.

use mpps_linux::setting::Setting;
use mpps_method::tune::Row;
use std::collections::BTreeSet;

/// The other of two or half of a number, levels of the row, advice, and more numbers near. The number is the last word. A
/// place refuses some of them.
pub fn others<'a>(
    row: &Row,
    setting: &Setting,
    now: &str,
    advised: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let flipped = match now {
        "on" => Some("off"),
        "off" => Some("on"),
        // A number, or CPUs.
        "0" | "0-1" => Some("1"),
        "1" => Some("0"),
        _ => None,
    };
    let words: Vec<&str> = now.split_whitespace().collect();
    let number = words
        .split_last()
        .and_then(|(last, words)| Some((last.parse::<i64>().ok()?, words)));
    let near = |change: fn(i64) -> i64| {
        number.map(|(number, words)| {
            let changed = change(number).to_string();
            [words, &[&changed]].concat().join(" ")
        })
    };
    let advised = advised.into_iter();
    let advised = advised.map(|value| value.trim_start_matches(">="));
    let whole = flipped
        .into_iter()
        .map(str::to_owned)
        .chain(near(|number| number / 2))
        .chain(row.levels().into_iter().chain(advised).map(str::to_owned));
    let more: [fn(i64) -> i64; 3] = [
        |number| number - 1,
        |number| number + 1,
        |number| number * 2,
    ];
    let mut values: Vec<String> = whole.chain(more.into_iter().filter_map(near)).collect();
    let mut known = BTreeSet::new();
    values.retain(|value| !setting.is_same(value, now) && known.insert(value.clone()));
    values
}
