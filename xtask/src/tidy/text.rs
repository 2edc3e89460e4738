//! How a source file is looked at: line by line, knowing which lines are test code, without parsing Rust. It leans on
//! rustfmt: an item that begins at some indent ends with a closing brace at the same indent.
use super::tree::File;

/// One line of a source file.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// Without the line end.
    pub text: &'a str,
    /// Inside `#[cfg(test)]`, or in a file of tests.
    pub in_test: bool,
}

impl Line<'_> {
    /// True for a line that is only a comment.
    pub fn is_comment(&self) -> bool {
        let text = self.text.trim_start();
        text.starts_with("//") || text.starts_with("/*") || text.starts_with("* ")
    }
}

impl File {
    /// The file's lines.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let whole = is_test_file(&self.path);
        let mut zone = Zone::Outside;
        let mut lines = Vec::new();
        for (index, text) in self.text.lines().enumerate() {
            zone = zone.entering(text);
            let in_test = whole || zone != Zone::Outside;
            lines.push(Line {
                number: index + 1,
                text,
                in_test,
            });
            zone = zone.leaving(text);
        }
        lines
    }
}

/// `tests/`, `benches/`, `foo/tests.rs`, `foo_tests.rs`.
pub fn is_test_file(path: &str) -> bool {
    let in_folder = path
        .split('/')
        .any(|part| part == "tests" || part == "benches");
    in_folder || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

/// The crate a path belongs to: "crates/lab" for `crates/lab/src/bed/mod.rs`, "xtask" for the workshop.
pub fn crate_of(path: &str) -> Option<&str> {
    let end = match path.strip_prefix("crates/") {
        Some(rest) => "crates/".len() + rest.find('/')?,
        None => path.find('/')?,
    };
    path.get(..end)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zone {
    Outside,
    /// After `#[cfg(test)]`, before the item's own line.
    Marked,
    /// Inside an item that closes with a brace at this indent.
    Inside(usize),
}

impl Zone {
    fn entering(self, text: &str) -> Zone {
        let code = text.trim_start();
        match self {
            Zone::Outside if code.starts_with("#[cfg(test)]") => Zone::Marked,
            Zone::Marked if code.ends_with('{') => Zone::Inside(text.len() - code.len()),
            other => other,
        }
    }

    fn leaving(self, text: &str) -> Zone {
        let code = text.trim_start();
        match self {
            // `#[cfg(test)] mod tests;` and `use` lines end at their semicolon.
            Zone::Marked if code.ends_with(';') => Zone::Outside,
            Zone::Inside(indent) if code.starts_with('}') && text.len() - code.len() == indent => {
                Zone::Outside
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zones(path: &str, text: &str) -> Vec<bool> {
        let file = File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        file.lines().iter().map(|line| line.in_test).collect()
    }

    #[test]
    fn a_test_module_is_test_code_and_what_follows_is_not() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        assert_eq!(
            zones("src/a.rs", text),
            [false, true, true, true, true, true, false]
        );
    }

    #[test]
    fn a_declared_test_module_ends_at_its_semicolon() {
        assert_eq!(
            zones("src/a.rs", "#[cfg(test)]\nmod tests;\nfn c() {}\n"),
            [true, true, false]
        );
    }

    #[test]
    fn test_files_are_test_code_throughout() {
        assert_eq!(zones("crates/lab/tests/bed.rs", "fn a() {}\n"), [true]);
        assert_eq!(zones("crates/lab/src/bed/tests.rs", "fn a() {}\n"), [true]);
    }

    #[test]
    fn crates_are_known_by_their_folder() {
        assert_eq!(crate_of("crates/lab/src/lib.rs"), Some("crates/lab"));
        assert_eq!(crate_of("xtask/src/main.rs"), Some("xtask"));
        assert_eq!(crate_of("Cargo.toml"), None);
    }
}
