//! How long files may be. (Functions: clippy, by clippy.toml.)
use super::Fault;
use super::tree::{File, Tree};

/// Above this a file is refused.
const FILE_LINES_MAX: usize = 600;
/// Above this a file is noted: it wants a reason.
const FILE_LINES_NOTED: usize = 400;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Tree {
        Tree::from_files(&[("crates/lab/src/a.rs", text)])
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
}
