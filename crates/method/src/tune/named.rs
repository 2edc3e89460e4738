//! Settings by what people call them.

use super::{CATALOGUE, Kind, Row};

/// The setting with this id, else those with a place of this name: in full, or its last parts. `{if}` and the like
/// stand for any word.
#[must_use]
pub fn named(name: &str) -> Vec<&'static Row> {
    let rows = CATALOGUE.iter();
    if let Some(row) = rows.clone().find(|row| row.id == name) {
        return vec![row];
    }
    let is_one = |row: &&Row| {
        let mut places = row.places.iter();
        places.any(|place| match place.kind {
            Kind::Command | Kind::Object => place.text == name,
            _ => ends_with(place.text, name),
        })
    };
    rows.filter(is_one).collect()
}

/// Whether a template's last parts are those of a name. The very last one has to be written out.
fn ends_with(template: &str, name: &str) -> bool {
    let name = name.trim_start_matches("/proc/sys/");
    let parts = |text: &str| -> Vec<String> {
        let parts = text.split(['/', '.']).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (wanted, has) = (parts(name), parts(template));
    let last = has.last().filter(|last| !last.contains('{'));
    if last.is_none() || wanted.is_empty() || wanted.len() > has.len() {
        return false;
    }
    let both = wanted.iter().rev().zip(has.iter().rev());
    both.into_iter().all(|(wanted, part)| fits(part, wanted))
}

/// Whether a word is a template's part, such as `cpu{cpu}`.
fn fits(part: &str, word: &str) -> bool {
    let open = part.split_once('{');
    let open = open.and_then(|(start, rest)| Some((start, rest.split_once('}')?.1)));
    open.map_or(part == word, |(start, end)| {
        word.strip_prefix(start)
            .is_some_and(|rest| rest.ends_with(end))
    })
}
