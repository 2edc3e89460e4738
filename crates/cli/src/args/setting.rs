//! Ids of settings as typed.

use anyhow::{Error, anyhow};
use mpps_method::tune::CATALOGUE;

/// So many names near to an unknown one are offered at most.
const OFFERED_MAX: usize = 4;

/// No setting has this id.
pub fn no_setting(id: &str) -> Error {
    anyhow!("no setting \"{id}\"{} (mpps tune list shows all)", near(id))
}

/// What may have been meant.
fn near(id: &str) -> String {
    let last = id.rsplit(['.', '/']).next().unwrap_or(id);
    let word = last.to_ascii_lowercase().replace('-', "_");
    let mut named: Vec<(usize, &str)> = CATALOGUE
        .iter()
        .map(|row| {
            let has = word.len() > 2 && row.id.contains(&word);
            let edits = strsim::osa_distance(row.id, &word);
            (if has { 0 } else { edits }, row.id)
        })
        .filter(|(edits, _)| *edits <= word.chars().count() / 3)
        .collect();
    named.sort_unstable();
    let names: Vec<&str> = named.iter().take(OFFERED_MAX).map(|(_, id)| *id).collect();
    match names.as_slice() {
        [] => String::new(),
        some => format!("; near: {}", some.join(", ")),
    }
}
