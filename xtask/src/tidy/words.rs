//! Words that may not stand in source files, or only in some rooms. The patterns are put together from pieces, so that
//! this file and its planted faults do not trip the rules themselves.
use super::Fault;
use super::text::{Line, crate_of, has_word};
use super::tree::{File, Tree};

const NAMES: [&str; 5] = ["utils", "common", "helpers", "misc", "manager"];

const UNFINISHED: [&str; 5] = [
    concat!("to", "do!("),
    concat!("unimpl", "emented!("),
    concat!("d", "bg!("),
    concat!("FIX", "ME"),
    concat!("#[ign", "ore"),
];

const SLEEPS: [&str; 2] = [concat!("thread::sl", "eep"), concat!("sl", "eep(")];

const PRINTS: [&str; 4] = [
    concat!("print", "ln!("),
    concat!("eprint", "ln!("),
    concat!("pri", "nt!("),
    concat!("epri", "nt!("),
];

/// Only these crates may print. (build.rs talks to cargo by printing; tests and examples may too.)
const PRINTERS: [&str; 3] = ["crates/cli", "xtask", "bench"];

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

/// Crates that may hold unsafe code; each block says why it is sound (clippy denies it otherwise).
const FENCED: [&str; 3] = ["crates/linux", "crates/ebpf", "dpdk"];

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

/// Tests wait for a condition with a deadline; they do not hope that a while is long enough.
pub fn sleeping_tests(tree: &Tree) -> Vec<Fault> {
    let asleep = |line: &Line| {
        let found = line.in_test
            && !line.is_comment()
            && SLEEPS.iter().any(|word| has_word(line.text, word));
        found.then(|| "a test that sleeps".to_owned())
    };
    each_line(
        tree.rust(),
        asleep,
        "it is slow on a fast machine and wrong on a slow one",
        "wait until what it waits for is so, with a deadline",
    )
}

/// Only the door prints.
pub fn prints(tree: &Tree) -> Vec<Fault> {
    let silent = |file: &&File| {
        let owner = crate_of(&file.path);
        owner.is_some_and(|name| !PRINTERS.contains(&name))
            && !file.path.ends_with("/build.rs")
            && !file.path.contains("/examples/")
    };
    let print = |line: &Line| {
        let found = !line.in_test
            && !line.is_comment()
            && PRINTS.iter().any(|word| has_word(line.text, word));
        found.then(|| "a print".to_owned())
    };
    each_line(
        tree.rust().filter(silent),
        print,
        "only cli talks to the person",
        "return a value, or report progress through the observer",
    )
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

/// Every crate root outside the fence forbids unsafe code.
pub fn unsafe_fence(tree: &Tree) -> Vec<Fault> {
    let outside = |file: &&File| {
        let root = file.path.ends_with("/src/lib.rs")
            || file.path.ends_with("/src/main.rs")
            || file.path.contains("/src/bin/");
        root && crate_of(&file.path).is_some_and(|name| !FENCED.contains(&name))
    };
    let open = tree.rust().filter(outside).filter(|file| {
        !file
            .text
            .lines()
            .any(|line| line.trim() == "#![forbid(unsafe_code)]")
    });
    open.map(|file| Fault {
        path: file.path.clone(),
        line: 1,
        what: "unsafe code is not forbidden".to_owned(),
        why: "hand-written unsafe stands in linux, ebpf and dpdk only",
        remedy: "write #![forbid(unsafe_code)] below the crate's head comment".to_owned(),
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
    found: impl Fn(&Line) -> Option<String>,
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
    fn names_that_say_nothing_are_faults() {
        let tree = Tree::of(&[
            ("crates/lab/src/utils.rs", ""),
            ("crates/lab/src/misc/bed.rs", ""),
            ("crates/lab/src/a.rs", "use b;\npub mod helpers;\n"),
        ]);
        assert_eq!(names(&tree).len(), 3);
        assert_eq!(
            names(&Tree::of(&[(
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
                lines_of(&unfinished(&Tree::of(&[("crates/lab/src/a.rs", &text)]))),
                [2],
                "{mark}"
            );
        }
    }

    #[test]
    fn a_test_that_sleeps_is_a_fault_and_a_product_that_does_is_not() {
        let planted = format!("    std::{}(second);\n", SLEEPS[0]);
        let text = format!("fn a() {{\n{planted}}}\n#[cfg(test)]\nmod tests {{\n{planted}}}\n");
        assert_eq!(
            lines_of(&sleeping_tests(&Tree::of(&[(
                "crates/lab/src/a.rs",
                &text
            )]))),
            [6]
        );
        assert_eq!(
            lines_of(&sleeping_tests(&Tree::of(&[(
                "crates/lab/tests/a.rs",
                &planted
            )]))),
            [1]
        );
    }

    #[test]
    fn a_library_that_prints_is_a_fault() {
        let text = format!("fn a() {{\n    {}\"x\");\n}}\n", PRINTS[1]);
        assert_eq!(
            lines_of(&prints(&Tree::of(&[("crates/lab/src/a.rs", &text)]))),
            [2]
        );
        for allowed in [
            "crates/cli/src/a.rs",
            "xtask/src/a.rs",
            "crates/ebpf/build.rs",
            "crates/lab/examples/a.rs",
            "crates/lab/tests/a.rs",
        ] {
            assert_eq!(prints(&Tree::of(&[(allowed, &text)])), [], "{allowed}");
        }
    }

    #[test]
    fn a_clock_in_the_arithmetic_is_a_fault() {
        let text = "use std::time::Instant;\nfn a() {\n    Instant::now();\n}\n";
        assert_eq!(
            lines_of(&purity(&Tree::of(&[("crates/method/src/a.rs", text)]))),
            [3]
        );
        assert_eq!(purity(&Tree::of(&[("crates/lab/src/a.rs", text)])), []);
    }

    #[test]
    fn a_crate_that_does_not_forbid_unsafe_is_a_fault() {
        assert_eq!(
            unsafe_fence(&Tree::of(&[("crates/lab/src/lib.rs", "//! The meter.\n")])).len(),
            1
        );
        assert_eq!(
            unsafe_fence(&Tree::of(&[(
                "crates/lab/src/lib.rs",
                "#![forbid(unsafe_code)]\n"
            )])),
            []
        );
        assert_eq!(
            unsafe_fence(&Tree::of(&[("crates/linux/src/lib.rs", "")])),
            []
        );
    }
}
