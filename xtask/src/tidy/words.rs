//! Words that may not stand in source files, or only in some rooms. The patterns are put together from pieces, so that
//! this file and its planted faults do not trip the rules themselves.
use super::Fault;
use super::text::{Line, crate_of};
use super::tree::{File, Tree};

const NAMES: [&str; 5] = ["utils", "common", "helpers", "misc", "manager"];

const UNFINISHED: [&str; 2] = [concat!("FIX", "ME"), concat!("#[ign", "ore")];

/// Clock and I/O, which the pure crates must not name.
const WORLD: [&str; 6] = [
    "std::fs",
    "std::process",
    "std::thread",
    "std::env",
    "Instant::now",
    "SystemTime",
];

/// Crates that know neither clock nor I/O.
const PURE: [&str; 2] = ["crates/method", "crates/wire"];

/// What every crate's root asks of clippy, for its product code alone; the crate that talks to the person may print.
const LINTS: [&str; 3] = [
    "clippy::too_many_lines",
    "clippy::print_stdout",
    "clippy::print_stderr",
];
const PRINTER: &str = "crates/cli";

/// Metaphors and coinages that once stood in this house, and what to write. Parts of a name in code count as words.
const DIALECT: [(&str, &str); 12] = [
    (concat!("be", "ll"), "receiver_wake"),
    (concat!("be", "lls"), "receiver_wake"),
    (concat!("ro", "pe"), "receiver_wake"),
    (concat!("cr", "owd"), "other_tasks"),
    (concat!("cr", "owds"), "other_tasks"),
    (concat!("far ad", "dress"), "destination"),
    (concat!("far ad", "dresses"), "destinations"),
    (concat!("in va", "in"), "what could not be done"),
    (concat!("pa", "ys"), "costs CPU time"),
    (concat!("char", "ged"), "counted"),
    (concat!("do", "or"), "command line, or kernel_interfaces"),
    (concat!("do", "ors"), "kernel_interfaces"),
];

/// Characters of a test's name at most.
const TEST_NAME_MAX: usize = 50;

/// A test's name is short enough to be read in a list.
pub fn test_names(tree: &Tree) -> Vec<Fault> {
    let mut is_next = false;
    let long = |line: &Line| {
        let code = line.text.trim_start();
        let name = code.strip_prefix("fn ").filter(|_| is_next);
        is_next = code == "#[test]" || is_next && name.is_none();
        let name = name?.split('(').next()?;
        (name.len() > TEST_NAME_MAX).then(|| format!("the test's name {name}"))
    };
    let why = "a longer name is no name but a comment";
    let remedy = "say it within 50 characters, and the rest in a comment";
    each_line(tree.rust(), long, why, remedy)
}

/// No file, folder or module has a name that could hold anything.
pub fn names(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    let remedy = "name it by the noun it defines";
    let why = "such a name says nothing, so everything ends up there";
    for path in &tree.paths {
        let last = path.rsplit('/').next().unwrap_or(path);
        let stem = last.split('.').next().unwrap_or(last);
        if NAMES.contains(&stem) {
            faults.push(Fault {
                path: path.clone(),
                line: 1,
                what: format!("the name '{stem}'"),
                why,
                remedy: remedy.to_owned(),
            });
        }
    }
    let module = |line: &Line| {
        let code = line.text.trim_start();
        let name = code
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub ")
            .strip_prefix("mod ")?;
        let name = name.split([' ', ';', '{']).next()?;
        NAMES
            .contains(&name)
            .then(|| format!("a module named '{name}'"))
    };
    faults.extend(each_line(tree.rust(), module, why, remedy));
    faults
}

/// No mark of unfinished work, no test that is switched off.
pub fn unfinished(tree: &Tree) -> Vec<Fault> {
    let code = tree.files.iter().filter(|file| is_code(&file.path));
    let mark = |line: &Line| {
        UNFINISHED
            .iter()
            .find(|mark| line.text.contains(**mark))
            .map(|mark| format!("'{mark}'"))
    };
    each_line(
        code,
        mark,
        "what is merged is finished; what cannot run here says SKIP: and why",
        "finish it, or take it out",
    )
}

/// Plain words, in code as in documents. The changelog tells of the past in the words of its time.
pub fn dialect(tree: &Tree) -> Vec<Fault> {
    let told = |file: &&File| {
        let document = file.path.ends_with(".md") && file.path != "CHANGELOG.md";
        is_code(&file.path) || document
    };
    let mut faults = Vec::new();
    for file in tree.files.iter().filter(told) {
        // An alias names a member as older records have it.
        let lines = file
            .lines()
            .into_iter()
            .filter(|line| !line.text.contains("alias = "));
        for line in lines {
            let spoken = words(line.text);
            let found = DIALECT.iter().filter(|(word, _)| {
                let wanted: Vec<&str> = word.split(' ').collect();
                let mut places = spoken.windows(wanted.len());
                places.any(|place| place == wanted)
            });
            faults.extend(found.map(|(word, plain)| Fault {
                path: file.path.clone(),
                line: line.number,
                what: format!("'{word}'"),
                why: "a stranger has to translate it",
                remedy: format!("write: {plain}"),
            }));
        }
    }
    faults
}

/// The words of a line in small letters; `wake_up`, `WakeUp` and "wake up" are two each.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_small = false;
    for letter in text.chars() {
        let begins = !letter.is_alphabetic() || (letter.is_uppercase() && before_small);
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        before_small = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphabetic()) {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// The arithmetic knows neither clock nor I/O.
pub fn purity(tree: &Tree) -> Vec<Fault> {
    let pure = |file: &&File| {
        crate_of(&file.path).is_some_and(|name| PURE.contains(&name)) && file.path.contains("/src/")
    };
    let world = |line: &Line| {
        let found = WORLD
            .iter()
            .find(|word| !line.in_test && !line.is_comment() && line.text.contains(**word));
        found.map(|word| format!("{word} in a pure crate"))
    };
    each_line(
        tree.rust().filter(pure),
        world,
        "the same input gives the same answer, and tests need nothing",
        "take the value as an argument",
    )
}

/// Every crate's root asks clippy for what it cannot ask for tests too.
pub fn roots(tree: &Tree) -> Vec<Fault> {
    let root = |file: &&File| {
        let root = file.path.ends_with("/src/lib.rs") || file.path.ends_with("/src/main.rs");
        root && file.path.starts_with("crates/")
    };
    let lacks = |file: &File| {
        let printer = crate_of(&file.path) == Some(PRINTER);
        let wanted = LINTS.iter().take(if printer { 1 } else { LINTS.len() });
        wanted.copied().find(|lint| !file.text.contains(lint))
    };
    let open = tree.rust().filter(root);
    open.filter_map(|file| {
        lacks(file).map(|lint| Fault {
            path: file.path.clone(),
            line: 1,
            what: format!("{lint} is not denied"),
            why: "a function fits a page, and only cli talks to the person",
            remedy: format!("write #![cfg_attr(not(test), deny({lint}))]"),
        })
    })
    .collect()
}

fn is_code(path: &str) -> bool {
    [".rs", ".c", ".h", ".sh"]
        .iter()
        .any(|end| path.ends_with(end))
}

fn each_line<'a>(
    files: impl Iterator<Item = &'a File>,
    mut found: impl FnMut(&Line) -> Option<String>,
    why: &'static str,
    remedy: &str,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in files {
        for line in file.lines() {
            if let Some(what) = found(&line) {
                faults.push(Fault {
                    path: file.path.clone(),
                    line: line.number,
                    what,
                    why,
                    remedy: remedy.to_owned(),
                });
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(faults: &[Fault]) -> Vec<usize> {
        faults.iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn a_long_name_of_a_test_is_a_fault() {
        let long = "a".repeat(TEST_NAME_MAX + 1);
        let text =
            format!("#[test]\nfn {long}() {{}}\nfn {long}() {{}}\n#[test]\nfn short() {{}}\n");
        let tree = Tree::from_files(&[("crates/lab/tests/a.rs", &text)]);
        assert_eq!(lines_of(&test_names(&tree)), [2]);
    }

    #[test]
    fn names_that_say_nothing_are_faults() {
        let tree = Tree::from_files(&[
            ("crates/lab/src/utils.rs", ""),
            ("crates/lab/src/misc/bed.rs", ""),
            ("crates/lab/src/a.rs", "use b;\npub mod helpers;\n"),
        ]);
        assert_eq!(names(&tree).len(), 3);
        assert_eq!(
            names(&Tree::from_files(&[(
                "crates/lab/src/common_flows.rs",
                "mod common_flows;\n"
            )])),
            []
        );
    }

    #[test]
    fn every_unfinished_mark_is_a_fault() {
        for mark in UNFINISHED {
            let text = format!("fn a() {{\n    {mark}\n}}\n");
            assert_eq!(
                lines_of(&unfinished(&Tree::from_files(&[(
                    "crates/lab/src/a.rs",
                    &text
                )]))),
                [2],
                "{mark}"
            );
        }
    }

    #[test]
    fn dialect_is_a_fault_in_prose_and_in_names() {
        let (one, phrase) = (DIALECT[0].0, DIALECT[7].0);
        let upper = one[..1].to_uppercase() + &one[1..];
        let text = format!(
            "// The {one}.\nlet give_{one} = 1;\nstruct Cast{upper};\nlet label = {one}ow;\n// {phrase}\n"
        );
        let tree = Tree::from_files(&[("crates/lab/src/a.rs", &text), ("CHANGELOG.md", &text)]);
        assert_eq!(lines_of(&dialect(&tree)), [1, 2, 3, 5]);
    }

    #[test]
    fn a_clock_in_the_arithmetic_is_a_fault() {
        let text = "use std::time::Instant;\nfn a() {\n    Instant::now();\n}\n";
        assert_eq!(
            lines_of(&purity(&Tree::from_files(&[(
                "crates/method/src/a.rs",
                text
            )]))),
            [3]
        );
        assert_eq!(
            purity(&Tree::from_files(&[("crates/lab/src/a.rs", text)])),
            []
        );
    }

    #[test]
    fn a_root_without_the_lints_is_a_fault() {
        let asks = format!("#![deny({})]\n", LINTS.join(", "));
        let lib = |text: &str| roots(&Tree::from_files(&[("crates/lab/src/lib.rs", text)])).len();
        assert_eq!((lib("//! The meter.\n"), lib(&asks)), (1, 0));
        let main = |text: &str| roots(&Tree::from_files(&[("crates/cli/src/main.rs", text)])).len();
        assert_eq!((main(""), main(LINTS[0])), (1, 0));
    }
}
