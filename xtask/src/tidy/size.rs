//! How long files and functions may be.
use super::Fault;
use super::text::is_test_file;
use super::tree::{File, Tree};

/// Above this a file is refused.
const FILE_LINES_MAX: usize = 600;
/// Above this a file is noted: it wants a reason.
const FILE_LINES_NOTED: usize = 400;
/// Above this a function is refused; blank and comment lines are free.
const FUNCTION_LINES_MAX: usize = 70;
/// A file whose head says this is data in the shape of code: no limit.
const TABLE_MARK: &str = "tidy: a table";

/// No source file is longer than a person reads in one sitting.
pub fn files(tree: &Tree) -> Vec<Fault> {
    let long = sources(tree).filter(|(_, lines)| *lines > FILE_LINES_MAX);
    long.map(|(file, lines)| Fault {
        path: file.path.clone(),
        line: 1,
        what: format!("{lines} lines without tests"),
        why: "600 is the most a reader can hold",
        remedy: "split it by the nouns it defines".to_owned(),
    })
    .collect()
}

/// Files on their way there.
pub fn notes(tree: &Tree) -> Vec<String> {
    let noted =
        sources(tree).filter(|(_, lines)| (FILE_LINES_NOTED + 1..=FILE_LINES_MAX).contains(lines));
    noted
        .map(|(file, lines)| {
            format!(
                "{}: {lines} lines without tests (over {FILE_LINES_NOTED} wants a reason)",
                file.path
            )
        })
        .collect()
}

/// No function is longer than a page.
pub fn functions(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.rust().filter(|file| !is_test_file(&file.path)) {
        for (line, length) in lengths(file) {
            if length > FUNCTION_LINES_MAX {
                faults.push(Fault {
                    path: file.path.clone(),
                    line,
                    what: format!("a function of {length} lines"),
                    why: "70 is a page: a job is read without scrolling",
                    remedy: "name its steps".to_owned(),
                });
            }
        }
    }
    faults
}

fn sources(tree: &Tree) -> impl Iterator<Item = (&File, usize)> {
    let code = |file: &&File| {
        [".rs", ".c", ".h"]
            .iter()
            .any(|end| file.path.ends_with(end))
    };
    let counted = tree
        .files
        .iter()
        .filter(code)
        .filter(|file| !is_table(file));
    counted.map(|file| {
        (
            file,
            file.lines().iter().filter(|line| !line.in_test).count(),
        )
    })
}

fn is_table(file: &File) -> bool {
    file.text
        .lines()
        .take(5)
        .any(|line| line.contains(TABLE_MARK))
}

/// First line and length of each function outside tests, a nested one counted in its own right and in its owner's.
fn lengths(file: &File) -> Vec<(usize, usize)> {
    let lines: Vec<_> = file
        .lines()
        .into_iter()
        .filter(|line| !line.in_test)
        .collect();
    let indent = |text: &str| text.len() - text.trim_start().len();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if !begins_function(line.text) {
            continue;
        }
        let rest = &lines[at..];
        let end = rest.iter().position(|other| {
            let code = other.text.trim_start();
            indent(other.text) == indent(line.text)
                && (code == "}" || code.ends_with(';') || code.ends_with("{}"))
        });
        let body = &rest[..end.map_or(rest.len(), |end| end + 1)];
        let counted = body
            .iter()
            .filter(|line| !line.is_comment() && !line.text.trim().is_empty())
            .count();
        found.push((line.number, counted));
    }
    found
}

fn begins_function(text: &str) -> bool {
    let words = text.trim_start().split(' ');
    let mut words = words.skip_while(|word| {
        matches!(*word, "const" | "unsafe" | "async" | "extern" | "\"C\"")
            || word.starts_with("pub")
    });
    words.next() == Some("fn")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Tree {
        Tree::of(&[("crates/lab/src/a.rs", text)])
    }

    #[test]
    fn a_long_file_is_a_fault_and_its_tests_are_free() {
        assert_eq!(files(&tree(&"use a;\n".repeat(601))).len(), 1);
        assert_eq!(files(&tree(&"use a;\n".repeat(600))), []);
        let tested = format!(
            "use a;\n#[cfg(test)]\nmod tests {{\n{}}}\n",
            "    use b;\n".repeat(900)
        );
        assert_eq!(files(&tree(&tested)), []);
    }

    #[test]
    fn a_table_has_no_limit() {
        let table = format!(
            "//! Symbols by stage.\n// {TABLE_MARK}\n{}",
            "use a;\n".repeat(900)
        );
        assert_eq!(files(&tree(&table)), []);
    }

    #[test]
    fn a_growing_file_is_noted() {
        assert_eq!(notes(&tree(&"use a;\n".repeat(401))).len(), 1);
        assert_eq!(notes(&tree(&"use a;\n".repeat(400))), Vec::<String>::new());
    }

    #[test]
    fn a_long_function_is_a_fault_where_it_begins() {
        let long = format!(
            "impl A {{\n    pub(crate) fn a() {{\n{}    }}\n}}\n",
            "        b();\n".repeat(69)
        );
        let faults = functions(&tree(&long));
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].line, 2);
        let comments = format!("fn a() {{\n{}    b();\n}}\n", "    // why\n".repeat(90));
        assert_eq!(functions(&tree(&comments)), []);
    }

    #[test]
    fn a_function_ends_where_it_ends() {
        let short = format!(
            "fn a(\n    b: u8,\n) {{\n    c();\n}}\n{}",
            "use a;\n".repeat(90)
        );
        assert_eq!(functions(&tree(&short)), []);
    }
}
