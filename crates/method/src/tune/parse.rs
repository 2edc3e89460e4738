//! The catalogue's file to rows. A test checks each block.

use super::{Advice, Kind, Row, Template};
use serde::de::value::{self, BorrowedStrDeserializer, MapDeserializer};
use serde::de::{Deserialize, Deserializer, Error};
use std::collections::BTreeMap;
use toml::Spanned;

/// Advice for an end host that is not said twice.
const AS_A_ROUTER: &str = "As for a router.";

pub(super) type Lines = BTreeMap<&'static str, &'static str>;

/// A block as written: where it begins, its id, its lines.
pub(super) type Block = (usize, &'static str, Lines);

/// All blocks, in the order of the file.
///
/// # Errors
/// The text is no such file.
pub(super) fn blocks(text: &'static str) -> Result<Vec<Block>, toml::de::Error> {
    let blocks: BTreeMap<&'static str, Spanned<Lines>> = toml::from_str(text)?;
    let blocks = blocks.into_iter();
    let mut blocks: Vec<Block> = blocks
        .map(|(id, lines)| (lines.span().start, id, lines.into_inner()))
        .collect();
    blocks.sort_unstable_by_key(|(at, ..)| *at);
    Ok(blocks)
}

/// The row of a block.
///
/// # Errors
/// A line is missing, is unknown, or has no such value.
pub(super) fn row(id: &'static str, lines: Lines) -> Result<Row, value::Error> {
    let pairs = lines.iter();
    let pairs = pairs.map(|(key, text)| (*key, BorrowedStrDeserializer::new(text)));
    let mut row = Row::deserialize(MapDeserializer::new(pairs))?;
    if row.fronts == ["none"] {
        row.fronts.clear();
    }
    let place = |text: &'static str| Template {
        // A setting may have a sysctl and files of each queue.
        kind: match row.kind {
            Kind::Sysctl if text.starts_with("/sys/") => Kind::Sysfs,
            kind => kind,
        },
        text,
    };
    row.places = parts(row.place).into_iter().map(place).collect();
    row.router = advice(row.router_words, row.router_set);
    row.endpoint = match row.endpoint_words {
        AS_A_ROUTER => row.router.clone(),
        words => advice(words, row.endpoint_set),
    };
    (row.id, row.lines) = (id, lines);
    Ok(row)
}

pub(super) fn order<'de: 'static, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    let order = <&str>::deserialize(from)?.parse().ok();
    let order = order.filter(|&order| order < 100);
    order.ok_or_else(|| D::Error::custom("has an order that is no number from 0 to 99"))
}

/// Words set apart by commas.
pub(super) fn listed<'de: 'static, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<&'static str>, D::Error> {
    let words = <&str>::deserialize(from)?.split(',').map(str::trim);
    Ok(words.filter(|word| !word.is_empty()).collect())
}

pub(super) fn cookbook<'de: 'static, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<&'static str>, D::Error> {
    Ok(parts(<&str>::deserialize(from)?))
}

/// Texts set apart by semicolons.
pub(super) fn parts(text: &'static str) -> Vec<&'static str> {
    let parts = text.split(';').map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}

fn advice(words: &'static str, values: &'static str) -> Advice {
    let accepted = parts(values);
    let is_one = |one: &&str| !one.contains('|') && !one.contains("..");
    let values = match accepted.iter().all(is_one) {
        true => accepted.clone(),
        false => Vec::new(),
    };
    Advice {
        words: (words != "-").then_some(words),
        values,
        accepted,
    }
}
