//! Licences: the kernel loads our eBPF programs only under a GPL-compatible one, and others may want the BSD terms.
use super::Fault;
use super::tree::Tree;

const SPDX: &str = "SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause";

/// The texts that the manifests and the SPDX lines point to.
const TEXTS: [&str; 4] = [
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "LICENSE-GPL-2.0",
    "LICENSE-BSD-2-Clause",
];

/// Every eBPF source begins with its licence.
pub fn ebpf_headers(tree: &Tree) -> Vec<Fault> {
    let sources = tree.files.iter().filter(|file| {
        file.path.ends_with(".bpf.c")
            || (file.path.starts_with("crates/ebpf/") && file.path.ends_with(".h"))
    });
    let bare = sources.filter(|file| !file.text.lines().next().unwrap_or_default().contains(SPDX));
    bare.map(|file| Fault {
        path: file.path.clone(),
        line: 1,
        what: "no SPDX line".to_owned(),
        why: "the file leaves the house under its own licence",
        remedy: format!("begin it with `// {SPDX}`"),
    })
    .collect()
}

/// The texts are there.
pub fn texts(tree: &Tree) -> Vec<Fault> {
    let absent = TEXTS.iter().filter(|name| !tree.paths.contains(**name));
    absent
        .map(|name| Fault {
            path: (*name).to_owned(),
            line: 1,
            what: "a licence text is missing".to_owned(),
            why: "a licence that is only named is not given",
            remedy: "put the full text there".to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ebpf_source_without_licence_is_a_fault() {
        let good = format!("/* {SPDX} */\n");
        let tree = Tree::from_files(&[
            ("crates/ebpf/src/a.bpf.c", "#include <x.h>\n"),
            ("crates/ebpf/src/a.h", "#define X\n"),
            ("crates/ebpf/src/b.h", &good),
        ]);
        assert_eq!(ebpf_headers(&tree).len(), 2);
    }

    #[test]
    fn a_missing_text_is_a_fault() {
        let tree = Tree::from_files(&[
            ("LICENSE-MIT", ""),
            ("LICENSE-APACHE", ""),
            ("LICENSE-BSD-2-Clause", ""),
        ]);
        let faults = texts(&tree);
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].path, "LICENSE-GPL-2.0");
    }
}
