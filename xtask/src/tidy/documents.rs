//! What the documents say must be so: links lead somewhere, paths exist, commands are there.
use super::Fault;
use super::tree::{File, Tree};

/// Places outside the repository, or inside the same page.
const ELSEWHERE: [&str; 4] = ["http://", "https://", "mailto:", "#"];

/// The rooms whose paths ARCHITECTURE.md may name in backticks; each must exist.
const ROOMS: [&str; 6] = ["crates/", "xtask/", "docs/", "bench/", "fuzz/", ".ci/"];

/// Links of every document, and the paths that ARCHITECTURE.md names.
pub fn links(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (index, text) in file.text.lines().enumerate() {
            let linked = between(text, "](", ')')
                .filter(|target| !ELSEWHERE.iter().any(|start| target.starts_with(start)));
            let named = between(text, "`", '`')
                .filter(|word| file.path == "ARCHITECTURE.md" && is_path(word));
            let targets = linked
                .map(|target| resolve(folder, target))
                .chain(named.map(|word| resolve("", word)));
            for target in
                targets.filter(|target| !target.is_empty() && !tree.paths.contains(target))
            {
                faults.push(Fault {
                    path: file.path.clone(),
                    line: index + 1,
                    what: format!("{target} does not exist"),
                    why: "a map that is wrong is worse than none",
                    remedy: "mend the document or the path".to_owned(),
                });
            }
        }
    }
    faults
}

/// Characters of a line at most.
const WIDTH: usize = 100;

/// Prose wraps. Tables, output in fenced or indented blocks, and summaries of benches are as wide as they are.
pub fn width(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    let wraps = |file: &&File| file.path.ends_with(".md") && !file.path.starts_with("bench/runs/");
    for file in tree.files.iter().filter(wraps) {
        let mut is_fenced = false;
        for (index, text) in file.text.lines().enumerate() {
            is_fenced ^= text.trim_start().starts_with("```");
            let is_prose = !is_fenced && !text.starts_with('|') && !text.starts_with("    ");
            let width = text.chars().count();
            if is_prose && width > WIDTH && text.trim().contains(' ') {
                faults.push(Fault {
                    path: file.path.clone(),
                    line: index + 1,
                    what: format!("a line of {width} characters"),
                    why: "differences between versions are read by line",
                    remedy: format!("wrap it at {WIDTH}"),
                });
            }
        }
    }
    faults
}

/// Commands in the fenced blocks of README.md: the workshop's verbs and the program's.
pub fn commands(tree: &Tree) -> Vec<Fault> {
    let Some(readme) = tree.get("README.md") else {
        return Vec::new();
    };
    let workshop: Vec<&str> = crate::VERBS
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    // A test of the program holds its verbs against these files.
    let of_program = |verb: &str| {
        tree.get(&format!("crates/cli/tests/help/{verb}.txt"))
            .is_some()
    };
    let mut faults = Vec::new();
    for (number, text) in fenced(readme) {
        let command = text.trim_start_matches("$ ").trim_start_matches("sudo ");
        let (verb, known) = if let Some(rest) = command
            .strip_prefix("cargo xtask run -- ")
            .or(command.strip_prefix("mpps "))
        {
            (first(rest), of_program(first(rest)))
        } else if let Some(rest) = command.strip_prefix("cargo xtask ") {
            (first(rest), workshop.contains(&first(rest)))
        } else {
            continue;
        };
        if !known && !verb.starts_with('-') {
            faults.push(Fault {
                path: readme.path.clone(),
                line: number,
                what: format!("the command '{verb}' does not exist"),
                why: "it is the first thing a newcomer types",
                remedy: "mend the README or the command line".to_owned(),
            });
        }
    }
    faults
}

fn first(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

fn is_path(word: &str) -> bool {
    ROOMS.iter().any(|room| word.starts_with(room))
        && !word.contains(['*', '<', ' ', '{'])
        && !word.contains("NAME")
}

/// The path that `target` means in a document of `folder`, its anchor cut off.
fn resolve(folder: &str, target: &str) -> String {
    let target = target.split('#').next().unwrap_or_default();
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// What stands between `open` and the next `close`, every time.
fn between<'a>(text: &'a str, open: &'a str, close: char) -> impl Iterator<Item = &'a str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let from = rest.find(open)? + open.len();
        let length = rest[from..].find(close)?;
        let found = &rest[from..from + length];
        rest = &rest[from + length + close.len_utf8()..];
        Some(found)
    })
}

fn fenced(file: &File) -> Vec<(usize, &str)> {
    let (mut inside, mut lines) = (false, Vec::new());
    for (index, text) in file.text.lines().enumerate() {
        let text = text.trim();
        if text.starts_with("```") {
            inside = !inside;
        } else if inside {
            lines.push((index + 1, text));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_nowhere_is_a_fault() {
        let text = "[a](docs/a.md) [b](docs/gone.md)\n[web](https://example.org/x) [here](#x)\n";
        let faults = links(&Tree::from_files(&[
            ("README.md", text),
            ("docs/a.md", "[up](../README.md#first)\n"),
        ]));
        assert_eq!(faults.len(), 1);
        assert_eq!(
            (faults[0].line, faults[0].what.as_str()),
            (1, "docs/gone.md does not exist")
        );
    }

    #[test]
    fn a_wide_line_of_prose_is_a_fault() {
        let wide = format!("{} b", "a".repeat(WIDTH));
        let text = format!(
            "{wide}\n```text\n{wide}\n```\n| {wide} |\n    {wide}\n{}\n",
            &wide[2..]
        );
        let tree = Tree::from_files(&[("docs/a.md", &text), ("bench/runs/a/summary.md", &text)]);
        let faults = width(&tree);
        assert_eq!((faults.len(), faults[0].line), (1, 1));
    }

    #[test]
    fn a_path_that_the_map_names_must_exist() {
        let map =
            "`crates/lab/src/bed/` and `crates/lab/src/gone.rs`, `crates/*/src`, `mpps bed`\n";
        let faults = links(&Tree::from_files(&[
            ("ARCHITECTURE.md", map),
            ("crates/lab/src/bed/mod.rs", ""),
        ]));
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].what, "crates/lab/src/gone.rs does not exist");
    }

    #[test]
    fn a_command_that_is_not_there_is_a_fault() {
        let readme = "```sh\ncargo xtask throughput\ncargo xtask fly\nsudo mpps back-to-back\n$ mpps gone\ncargo xtask run -- throughput --quick\n```\ncargo xtask prose\n";
        let faults = commands(&Tree::from_files(&[
            ("README.md", readme),
            ("crates/cli/tests/help/back-to-back.txt", ""),
            ("crates/cli/tests/help/throughput.txt", ""),
        ]));
        let lines: Vec<usize> = faults.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [3, 5]);
    }
}
