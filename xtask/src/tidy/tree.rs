//! The files of the repository, in memory, so that a test can plant a fault without touching the disk.
use crate::failure::Failure;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Everything the rules look at.
#[derive(Debug, Default)]
pub struct Tree {
    /// Text files: path from the root with '/' between, and content.
    pub files: Vec<File>,
    /// Every path there is, folders and binary files too.
    pub paths: BTreeSet<String>,
}

/// One text file.
#[derive(Debug)]
pub struct File {
    /// Path from the root.
    pub path: String,
    /// Whole content.
    pub text: String,
}

impl Tree {
    /// Reads what git tracks or would track; without git (a source archive), everything but `target`.
    pub fn read(root: &Path) -> Result<Tree, Failure> {
        let names = match tracked(root) {
            Some(names) => names,
            None => walk(root)?,
        };
        let mut tree = Tree::default();
        for name in names {
            let path = root.join(&name);
            if !path.is_file() {
                continue; // deleted in the work tree, or a submodule
            }
            let bytes = std::fs::read(&path)
                .map_err(|error| Failure::new(format!("read {name}: {error}")))?;
            tree.add(name, String::from_utf8(bytes).ok());
        }
        Ok(tree)
    }

    /// Adds a file and the folders above it. `text` is `None` for a binary file.
    pub fn add(&mut self, path: String, text: Option<String>) {
        let cuts = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
        self.paths.extend(cuts);
        self.paths.insert(path.clone());
        if let Some(text) = text {
            self.files.push(File { path, text });
        }
    }

    /// The file at `path`.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Rust sources.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// Cargo manifests of crates: every one but the root's.
    pub fn manifests(&self) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(|file| file.path.ends_with("/Cargo.toml"))
    }

    #[cfg(test)]
    pub fn from_files(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.add((*path).to_owned(), Some((*text).to_owned()));
        }
        tree
    }
}

/// The folder may belong to somebody else than the one who checks (root in CI): git is told that this is fine.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args([
            "-c",
            "safe.directory=*",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let names = output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    Some(
        names
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect(),
    )
}

fn walk(root: &Path) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error: std::io::Error| {
            Failure::new(format!("read folder {}: {error}", folder.display()))
        };
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default();
            if path.is_dir() {
                if name != "target" && name != ".git" {
                    folders.push(path);
                }
            } else if let Ok(relative) = path.strip_prefix(root) {
                names.push(relative.to_string_lossy().into_owned());
            }
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_count_as_paths_and_binaries_are_not_read() {
        let mut tree = Tree::from_files(&[("docs/method.md", "")]);
        tree.add("bench/plot.png".to_owned(), None);
        assert!(tree.paths.contains("docs") && tree.paths.contains("bench/plot.png"));
        assert_eq!(tree.files.len(), 1);
    }

    #[test]
    fn the_walk_leaves_out_what_is_built() {
        let root = std::env::temp_dir().join(format!("xtask-walk-{}", std::process::id()));
        for folder in ["target/debug", "src"] {
            std::fs::create_dir_all(root.join(folder)).expect("a folder");
            std::fs::write(root.join(folder).join("a.rs"), "").expect("a file");
        }
        assert_eq!(walk(&root).expect("our own folder"), ["src/a.rs"]);
        std::fs::remove_dir_all(&root).expect("our own folder");
    }
}
