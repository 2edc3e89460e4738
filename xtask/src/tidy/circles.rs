//! Import circles: the modules of a crate stand in layers, so that each can be read without those above it.
use super::Fault;
use super::tree::{File, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Sources whose modules are layered.
const LAYERED: [&str; 3] = ["crates/cli/src/", "crates/lab/src/", "crates/report/src/"];

/// The modules that each module imports, and the first place where it does: path and line.
type Imports<'a> = BTreeMap<&'a str, BTreeMap<&'a str, (&'a str, usize)>>;

/// No module imports one that imports it again, at once or over others. Tests may import any.
pub fn of_imports(tree: &Tree) -> Vec<Fault> {
    let each = LAYERED
        .iter()
        .flat_map(|root| circles(&imports(tree, root)));
    each.collect()
}

/// Each import that is part of a circle.
fn circles(imports: &Imports<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (module, imported) in imports {
        for (other, (path, line)) in imported {
            if reached(imports, other).contains(module) {
                faults.push(Fault {
                    path: (*path).to_owned(),
                    line: *line,
                    what: format!("{module} imports {other}, which imports {module} again"),
                    why: "a circle can only be read as a whole",
                    remedy: "move what both share to a module below them".to_owned(),
                });
            }
        }
    }
    faults
}

/// All that a module imports, over others too.
fn reached<'a>(imports: &Imports<'a>, module: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![module];
    while let Some(module) = open.pop() {
        for other in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(*other) {
                open.push(other);
            }
        }
    }
    reached
}

fn imports<'a>(tree: &'a Tree, root: &str) -> Imports<'a> {
    let sources = tree.rust().filter_map(|file| {
        let below = file.path.strip_prefix(root)?;
        let module = below.split(['/', '.']).next()?;
        Some((module, below, file))
    });
    let sources: Vec<(&str, &str, &File)> = sources.collect();
    let modules: BTreeSet<&str> = sources.iter().map(|(module, ..)| *module).collect();
    let mut imports = Imports::new();
    for (module, below, file) in sources {
        if ["main", "lib"].contains(&module) {
            continue;
        }
        let is_top = !below.contains('/') || below == format!("{module}/mod.rs");
        for (line, name) in names(file, is_top) {
            if let Some(other) = modules.get(name).filter(|other| **other != module) {
                let of_module = imports.entry(module).or_default();
                of_module.entry(*other).or_insert((&file.path, line));
            }
        }
    }
    imports
}

/// What stands behind `crate::` in a file without its tests, each with its line; in the file of a top module also what
/// stands behind the `super::` of an import.
fn names(file: &File, is_top: bool) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in file.lines() {
        let at = start;
        start += line.text.len() + 1;
        if line.in_test || line.is_comment() {
            continue;
        }
        let is_super = is_top
            && line
                .text
                .trim_start_matches("pub ")
                .starts_with("use super::");
        let marks = ["crate::"].into_iter().chain(is_super.then_some("super::"));
        for mark in marks {
            for (place, _) in line.text.match_indices(mark) {
                // A group may go on in the lines below.
                let rest = &file.text[at + place + mark.len()..];
                found.extend(
                    first_names(rest)
                        .into_iter()
                        .map(|name| (line.number, name)),
                );
            }
        }
    }
    found
}

/// `plan` of `plan::Part`; `plan` and `exit` of `{plan::{Part, Plan}, exit}`.
fn first_names(path: &str) -> Vec<&str> {
    let name = |text: &'_ str| text.len() - text.trim_start_matches(is_of_name).len();
    let Some(group) = path.strip_prefix('{') else {
        return vec![&path[..name(path)]];
    };
    let (mut names, mut depth, mut begins) = (Vec::new(), 0, true);
    for (at, letter) in group.char_indices() {
        match letter {
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            '{' => depth += 1,
            ',' if depth == 0 => begins = true,
            _ if begins && is_of_name(letter) => {
                names.push(&group[at..at + name(&group[at..])]);
                begins = false;
            }
            _ => {}
        }
    }
    names
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        let path = |name: &str| format!("crates/cli/src/{name}");
        let files: Vec<(String, &str)> = (files.iter())
            .map(|(name, text)| (path(name), *text))
            .collect();
        let files: Vec<(&str, &str)> = (files.iter())
            .map(|(path, text)| (path.as_str(), *text))
            .collect();
        let faults = of_imports(&Tree::from_files(&files));
        let told = |fault: &Fault| format!("{}:{}", fault.path, fault.line);
        faults.iter().map(told).collect()
    }

    #[test]
    fn two_modules_that_import_each_other_are_a_fault() {
        let both = [
            (
                "plan.rs",
                "//! Plans.\n\nuse crate::{\n    args::Args,\n    verbs::{run, stop},\n};\n",
            ),
            ("args.rs", "pub struct Args;\n"),
            ("verbs/loss.rs", "fn run() {\n    crate::plan::new();\n}\n"),
        ];
        assert_eq!(
            faults(&both),
            ["crates/cli/src/plan.rs:3", "crates/cli/src/verbs/loss.rs:2"]
        );
        // Modules of the lower crates are not checked.
        let lower = [
            ("crates/wire/src/a.rs", "use crate::b;\n"),
            ("crates/wire/src/b.rs", "use crate::a;\n"),
        ];
        assert_eq!(of_imports(&Tree::from_files(&lower)), []);
    }

    #[test]
    fn a_circle_over_a_third_is_a_fault() {
        let three = [
            ("plan.rs", "use super::exit::Exit;\n"),
            ("exit.rs", "use crate::print;\n"),
            ("print/mod.rs", "use super::plan;\n"),
        ];
        assert_eq!(faults(&three).len(), 3);
    }

    #[test]
    fn layers_tests_and_comments_are_no_fault() {
        let layered = [
            ("main.rs", "use crate::plan;\n"),
            (
                "plan/mod.rs",
                "use crate::exit::Exit;\nuse crate::plan::loss;\n",
            ),
            (
                "plan/loss.rs",
                "use super::exit;\n// As crate::verbs does.\n",
            ),
            (
                "exit.rs",
                "#[cfg(test)]\nmod tests {\n    use crate::plan::Plan;\n}\n",
            ),
            ("verbs/loss.rs", "use crate::plan::Plan;\n"),
        ];
        assert_eq!(faults(&layered), [""; 0]);
    }
}
