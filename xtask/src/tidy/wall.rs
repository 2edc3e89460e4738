//! The wall between the rooms: which crate may know which (ARCHITECTURE.md, "The wall"), read from the manifests.
use super::Fault;
use super::text::crate_of;
use super::tree::{File, Tree};

/// For each crate, those of ours it may depend on.
const MAY_KNOW: [(&str, &[&str]); 12] = [
    (
        "crates/cli",
        &["lab", "method", "record", "report", "tables"],
    ),
    (
        "crates/lab",
        &["method", "record", "tables", "wire", "linux", "ebpf"],
    ),
    // Fuzz targets read tables, and build without clang and libbpf.
    ("crates/tables", &["wire"]),
    ("crates/wire", &[]),
    // Readings of a trial, and words for what limits it, are written once: as records have them.
    ("crates/method", &["record"]),
    ("crates/record", &[]),
    ("crates/report", &["record"]),
    ("crates/linux", &[]),
    ("crates/ebpf", &[]),
    ("xtask", &[]),
    ("fuzz", &["tables", "wire"]),
    ("bench", &[]),
];

/// Workspaces of their own: there is no root manifest to take versions from (fuzz/README.md, bench/README.md).
const ALONE: [&str; 2] = ["fuzz/Cargo.toml", "bench/mrt/rust-peer/Cargo.toml"];

const WHY: &str = "the leaves build and are tested alone";

/// Our crates depend on each other only as the table says, in every kind of dependency.
pub fn inner(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for manifest in tree.manifests() {
        let Some(allowed) = may_know(&manifest.path) else {
            faults.push(fault(
                manifest,
                1,
                "a crate that the wall does not know",
                "add it to MAY_KNOW in xtask/src/tidy/wall.rs and to ARCHITECTURE.md",
            ));
            continue;
        };
        for dependency in dependencies(manifest) {
            let Some(ours) = dependency.name.strip_prefix("mpps-") else {
                continue;
            };
            if !allowed.contains(&ours) {
                let what = format!("{} depends on {}", manifest.path, dependency.name);
                let list = if allowed.is_empty() {
                    "none of ours".to_owned()
                } else {
                    allowed.join(", ")
                };
                faults.push(fault(
                    manifest,
                    dependency.line,
                    &what,
                    &format!("it may know {list}: pass values, or move the code"),
                ));
            }
        }
    }
    faults
}

/// A dependency from outside is named once, in the root manifest, under its reason; xtask has none at all.
pub fn outer(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for manifest in tree
        .manifests()
        .filter(|manifest| !ALONE.contains(&manifest.path.as_str()))
    {
        let workshop = manifest.path == "xtask/Cargo.toml";
        for dependency in dependencies(manifest) {
            let what = format!("dependency {}", dependency.name);
            if workshop {
                let mut found = fault(manifest, dependency.line, &what, "use the standard library");
                found.why = "the workshop must build before anything is installed";
                faults.push(found);
            } else if !dependency.from_workspace {
                let mut found = fault(
                    manifest,
                    dependency.line,
                    &what,
                    "name it in the root Cargo.toml, write `.workspace = true` here",
                );
                found.why = "versions and reasons stand in one place";
                faults.push(found);
            }
        }
    }
    faults
}

fn may_know(path: &str) -> Option<&'static [&'static str]> {
    let own = crate_of(path)?;
    MAY_KNOW
        .iter()
        .find(|(name, _)| *name == own)
        .map(|(_, allowed)| *allowed)
}

fn fault(manifest: &File, line: usize, what: &str, remedy: &str) -> Fault {
    Fault {
        path: manifest.path.clone(),
        line,
        what: what.to_owned(),
        why: WHY,
        remedy: remedy.to_owned(),
    }
}

struct Dependency {
    name: String,
    line: usize,
    from_workspace: bool,
}

/// `name = ...`, `name.workspace = true` and `[dependencies.name]`, of any kind and for any target.
fn dependencies(manifest: &File) -> Vec<Dependency> {
    let mut found: Vec<Dependency> = Vec::new();
    let mut in_section = false;
    for (index, text) in manifest.text.lines().enumerate() {
        let text = text.trim();
        if let Some(header) = text.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            in_section = header.ends_with("dependencies");
            if let Some((_, name)) = header.split_once("dependencies.") {
                // The lines of such a section are its settings; `workspace = true` among them counts.
                let from_workspace = manifest
                    .text
                    .lines()
                    .skip(index + 1)
                    .take_while(|line| !line.starts_with('['));
                let from_workspace = from_workspace
                    .into_iter()
                    .any(|line| line.replace(' ', "") == "workspace=true");
                found.push(Dependency {
                    name: name.to_owned(),
                    line: index + 1,
                    from_workspace,
                });
            }
        } else if in_section
            && !text.starts_with('#')
            && let Some((key, value)) = text.split_once('=')
        {
            let name = key
                .trim()
                .split('.')
                .next()
                .unwrap_or_default()
                .trim_matches('"')
                .to_owned();
            let from_workspace =
                key.contains(".workspace") || value.replace(' ', "").contains("workspace=true");
            found.push(Dependency {
                name,
                line: index + 1,
                from_workspace,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lab_that_links_the_program_is_a_fault() {
        let tree = Tree::from_files(&[(
            "crates/lab/Cargo.toml",
            "[dependencies]\nmpps-method.workspace = true\nmpps-cli.workspace = true\n",
        )]);
        let faults = inner(&tree);
        assert_eq!(faults.len(), 1);
        assert_eq!(
            (faults[0].path.as_str(), faults[0].line),
            ("crates/lab/Cargo.toml", 3)
        );
    }

    #[test]
    fn a_leaf_that_knows_another_crate_is_a_fault() {
        for section in [
            "[dev-dependencies]\nmpps-linux = { workspace = true }",
            "[target.'cfg(unix)'.dependencies.mpps-linux]\nworkspace = true",
        ] {
            assert_eq!(
                inner(&Tree::from_files(&[("crates/wire/Cargo.toml", section)])).len(),
                1,
                "{section}"
            );
        }
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_a_fault() {
        assert_eq!(
            inner(&Tree::from_files(&[(
                "crates/extra/Cargo.toml",
                "[dependencies]\n"
            )]))
            .len(),
            1
        );
    }

    #[test]
    fn the_allowed_ways_are_no_fault() {
        let tree = Tree::from_files(&[
            (
                "crates/cli/Cargo.toml",
                "[dependencies]\nmpps-lab.workspace = true\nmpps-method.workspace = true\n",
            ),
            (
                "crates/lab/Cargo.toml",
                "[dependencies]\nmpps-linux.workspace = true\n[features]\nx = []\n",
            ),
        ]);
        assert_eq!(inner(&tree), []);
        assert_eq!(outer(&tree), []);
    }

    #[test]
    fn a_version_outside_the_root_manifest_is_a_fault() {
        let planted = [
            ("crates/cli/Cargo.toml", "[dependencies]\nclap = \"4\"\n"),
            (
                "xtask/Cargo.toml",
                "[dependencies]\nclap.workspace = true\n",
            ),
        ];
        assert_eq!(outer(&Tree::from_files(&planted)).len(), 2);
    }

    #[test]
    fn separate_workspaces_have_own_versions() {
        let manifest =
            "[dependencies]\nlibfuzzer-sys = \"0.4\"\nmpps-cli = { path = \"../crates/cli\" }\n";
        for alone in ALONE {
            let tree = Tree::from_files(&[(alone, manifest)]);
            assert_eq!(outer(&tree), []);
            assert_eq!(inner(&tree).len(), 1);
        }
    }
}
