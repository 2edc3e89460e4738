//! What we take from others: each with its reason, each once.
use super::Fault;
use super::tree::Tree;
use std::collections::BTreeMap;

/// Crates that may stand in Cargo.lock more than once, and why it cannot be helped now.
const DOUBLED: [(&str, &str); 1] = [(
    "syn",
    "zerocopy's macro (below netlink-packet-route) is still on 2, the others on 3; build time only",
)];

/// Each dependency in the root manifest stands in a paragraph that begins with a comment saying why.
pub fn reasons(tree: &Tree) -> Vec<Fault> {
    let Some(manifest) = tree.get("Cargo.toml") else {
        return Vec::new();
    };
    let (mut faults, mut in_section, mut explained) = (Vec::new(), false, false);
    for (index, text) in manifest.text.lines().map(str::trim).enumerate() {
        if text.starts_with('[') {
            (in_section, explained) = (text.trim_end_matches(']').ends_with("dependencies"), false);
        } else if text.is_empty() {
            explained = false;
        } else if text.starts_with('#') {
            explained = true;
        } else if in_section && !explained && text.contains('=') && !text.contains("path =") {
            faults.push(Fault {
                path: manifest.path.clone(),
                line: index + 1,
                what: format!(
                    "dependency {} without a reason",
                    text.split(['=', ' ', '.']).next().unwrap_or(text)
                ),
                why: "each one is code we answer for",
                remedy: "write above it what it does for us that we should not do ourselves"
                    .to_owned(),
            });
        }
    }
    faults
}

/// One version of each crate.
pub fn duplicates(tree: &Tree) -> Vec<Fault> {
    let Some(lock) = tree.get("Cargo.lock") else {
        return Vec::new();
    };
    let mut seen: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, text) in lock.text.lines().enumerate() {
        if let Some(name) = text.strip_prefix("name = ") {
            seen.entry(name.trim_matches('"'))
                .or_default()
                .push(index + 1);
        }
    }
    let doubled = seen.iter().filter(|(name, lines)| {
        lines.len() > 1 && !DOUBLED.iter().any(|(known, _)| known == *name)
    });
    doubled
        .map(|(name, lines)| Fault {
            path: lock.path.clone(),
            line: lines[1],
            what: format!("{} versions of {name}", lines.len()),
            why: "two versions are twice the code and half a type",
            remedy: format!("align them (cargo tree --invert {name}), or add it with its reason to DOUBLED in xtask/src/tidy/dependencies.rs"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_without_a_reason_is_a_fault() {
        let text = "[workspace.dependencies]\nmpps-wire = { path = \"crates/wire\" }\n\n# Why.\nclap = \"4\"\nanyhow = \"1\"\n\nserde = \"1\"\n[profile.dev]\ndebug = 1\n";
        let faults = reasons(&Tree::from_files(&[("Cargo.toml", text)]));
        assert_eq!(faults.len(), 1);
        assert_eq!(
            (faults[0].line, faults[0].what.as_str()),
            (8, "dependency serde without a reason")
        );
    }

    #[test]
    fn two_versions_are_a_fault_unless_listed() {
        let twice = |name: &str| {
            format!(
                "[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"{name}\"\nversion = \"2.0.0\"\n"
            )
        };
        let faults = duplicates(&Tree::from_files(&[("Cargo.lock", &twice("nix"))]));
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].line, 6);
        assert_eq!(
            duplicates(&Tree::from_files(&[("Cargo.lock", &twice(DOUBLED[0].0))])),
            []
        );
    }
}
