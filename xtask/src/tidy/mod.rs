//! The house rules that a machine can hold: each rule is a function from the tree to faults, tested by a planted fault.
//! A rule without a lint is kept a third of the time; so what CONTRIBUTING.md asks for stands here as code.
mod circles;
mod dependencies;
mod documents;
mod licence;
mod paths;
mod sentences;
mod size;
mod text;
mod tree;
mod wall;
mod words;

use crate::failure::Failure;
use std::process::ExitCode;
use tree::Tree;

/// One breach: where, what, why it is a rule, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    path: String,
    line: usize,
    what: String,
    why: &'static str,
    remedy: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}:{}: {}: {}; {}",
            self.path, self.line, self.what, self.why, self.remedy
        )
    }
}

/// Every rule. A new one is a function in a file named by its subject, a line here, and a test that trips it.
const RULES: [fn(&Tree) -> Vec<Fault>; 19] = [
    wall::inner,
    wall::outer,
    circles::of_imports,
    size::files,
    words::names,
    words::test_names,
    words::unfinished,
    words::dialect,
    words::purity,
    words::roots,
    licence::ebpf_headers,
    licence::texts,
    paths::of_machines,
    dependencies::reasons,
    dependencies::duplicates,
    documents::links,
    documents::width,
    documents::commands,
    sentences::length,
];

/// Reads the tree, prints faults on stdout and notes on stderr. Exit code 1 when there is a fault.
pub fn check() -> Result<ExitCode, Failure> {
    let tree = Tree::read(crate::root())?;
    for note in size::notes(&tree) {
        eprintln!("note: {note}");
    }
    let mut faults: Vec<Fault> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    faults.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    for fault in &faults {
        println!("{fault}");
    }
    println!("tidy: {} files, {} faults", tree.files.len(), faults.len());
    Ok(if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}
