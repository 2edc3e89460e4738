//! The lines of docs/records.md that load a record elsewhere do so, where python3 has the package.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The blocks of Python of the document.
fn blocks() -> Vec<String> {
    let text = std::fs::read_to_string(file("../../docs/records.md")).expect("the document");
    let blocks = text.split("```python\n").skip(1);
    let block = |rest: &str| rest.split("```").next().expect("a block").to_owned();
    blocks.map(block).collect()
}

fn python(folder: &Path, code: &str) -> std::io::Result<Output> {
    let mut command = Command::new("timeout");
    command.args(["120", "python3", "-c", code]);
    command.current_dir(folder).output()
}

/// Loads the measured run: 15 trials, of which 9 lost frames, 5 did not, and one was void.
fn loads(package: &str) {
    let import = format!("import {package}\n");
    let blocks = blocks();
    let block = blocks.iter().find(|block| block.starts_with(&import));
    let block = block.unwrap_or_else(|| panic!("no lines for {package}"));
    assert_eq!(block.lines().count(), 3, "{block}");
    let name = format!("mpps-loading-{package}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::copy(file("tests/golden/bed.jsonl"), folder.join("run.jsonl")).expect("a record");
    let has = python(&folder, &import).is_ok_and(|ended| ended.status.success());
    let ended = has.then(|| python(&folder, block).expect("it starts"));
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    let Some(ended) = ended else {
        println!("SKIP: needs python3 with {package} (pip install {package})");
        return;
    };
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{ended:?}");
    for (verdict, trials) in [("lossless", "5"), ("lossy", "9"), ("void", "1")] {
        let line = said.lines().find(|line| line.contains(verdict));
        let line = line.unwrap_or_else(|| panic!("{verdict}: {said}"));
        let mut words = line.split([' ', '│']).filter(|word| !word.is_empty());
        assert_eq!(words.next_back(), Some(trials), "{said}");
    }
    assert!(said.contains(" 64 ") && !said.contains("64.0"), "{said}");
}

#[test]
fn duckdb_loads_a_record() {
    loads("duckdb");
}

#[test]
fn pandas_loads_a_record() {
    loads("pandas");
}
