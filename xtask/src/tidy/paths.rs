//! Nothing in the repository may speak of one person's machine.
use super::Fault;
use super::tree::Tree;

/// Put together from pieces so that this file does not trip its own rule.
const MACHINE: [&str; 3] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/tmp/ba", "sh_jobs"),
];

/// No path that exists only where it was written.
pub fn of_machines(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in &tree.files {
        for (index, text) in file.text.lines().enumerate() {
            if let Some(path) = MACHINE.iter().find(|path| begins(text, path)) {
                faults.push(Fault {
                    path: file.path.clone(),
                    line: index + 1,
                    what: format!("the path {path}"),
                    why: "it is one machine's, and means nothing on the reader's",
                    remedy: "write it relative to the repository, or leave it out".to_owned(),
                });
            }
        }
    }
    faults
}

/// True where the path begins in `text`: not the tail of a longer one.
fn begins(text: &str, path: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || "._-~/".contains(c);
    text.match_indices(path)
        .any(|(at, _)| !text[..at].ends_with(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_path_is_a_fault_in_any_text_file() {
        for path in MACHINE {
            let text = format!("first\nsee {path}x\n");
            let faults = of_machines(&Tree::from_files(&[("docs/a.md", &text)]));
            assert_eq!(faults.len(), 1, "{path}");
            assert_eq!(faults[0].line, 2);
        }
    }

    #[test]
    fn the_tail_of_a_longer_path_is_none() {
        let text = format!("https://example.org{}x\n", MACHINE[0]);
        assert_eq!(of_machines(&Tree::from_files(&[("docs/a.md", &text)])), []);
    }
}
