//! docs/tutorial.md: its commands in order, in one folder, as a reader types them.

use crate::program::{MPPS, Scratch, has, privileged, run};
use std::process::Command;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorial.md");

/// The blocks of commands of the document.
fn blocks() -> Vec<String> {
    let text = std::fs::read_to_string(DOCUMENT).expect("the document");
    let blocks = text.split("```sh\n").skip(1);
    let block = |rest: &str| rest.split("```").next().expect("a block").to_owned();
    blocks.map(block).collect()
}

/// With less time than a reader gives it, which changes nothing that the text speaks of.
fn hastened(block: &str) -> String {
    block.replace("--budget 20s", "--budget 6s")
}

/// Every place at which the document shows the program at work is one of these blocks.
#[test]
fn every_command_is_in_a_block_of_its_own() {
    let text = std::fs::read_to_string(DOCUMENT).expect("the document");
    let fences: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("```"))
        .filter(|word| !word.is_empty())
        .collect();
    assert!(
        fences.iter().all(|word| ["sh", "text"].contains(word)),
        "{fences:?}"
    );
    let commands = text
        .lines()
        .filter(|line| line.starts_with("mpps "))
        .count();
    let in_blocks = blocks().concat();
    let in_blocks = in_blocks.lines().filter(|line| line.starts_with("mpps "));
    assert_eq!(in_blocks.count(), commands);
    assert!(commands >= 8, "{commands} commands");
}

#[test]
fn each_command_runs() {
    if !privileged() || !has("nft") {
        return;
    }
    let scratch = Scratch::new("tutorial");
    let bin = scratch.path("bin");
    std::fs::create_dir(&bin).expect("a folder");
    std::os::unix::fs::symlink(MPPS, bin.join("mpps")).expect("a link");
    let path = std::env::var("PATH").unwrap_or_default();
    let (mut said, mut disturbed) = (String::new(), false);
    for block in blocks() {
        let ended = run(Command::new("bash")
            .args(["-e", "-c", &hastened(&block)])
            .current_dir(scratch.path("."))
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("XDG_STATE_HOME", scratch.path("state"))
            .env_remove("COLUMNS"));
        // A disturbed machine may leave no result, or none without loss. The record is there all the same.
        let without_result = ended.code == Some(4)
            || ended.code == Some(1) && ended.stdout.contains("; no load down to ");
        let good = ended.code == Some(0) || block.contains("--budget") && without_result;
        assert!(good, "{block}: {ended:?}");
        disturbed |= without_result;
        said += &ended.stdout;
    }
    // The text speaks of these.
    let results = [
        "64 B: forwards 1.200 million",
        "Doubts",
        "Compared with none, in turns on one machine",
        "    next: ",
        "1 record in ",
        "The report is in report.html.",
        "exit code 1",
    ];
    for wanted in results {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    if disturbed {
        println!("SKIP: the machine was too disturbed for a result");
    } else {
        assert!(said.contains("A frame costs the router "), "{said}");
        assert!(said.contains("\n64 B, rules against none: "), "{said}");
    }
    let page = std::fs::read_to_string(scratch.path("report.html")).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>"), "{:.80}", page);
    for name in ["first.csv", "summary.md"] {
        let text = std::fs::read_to_string(scratch.path(name)).expect("a file");
        assert!(text.lines().count() > 5, "{name}: {text}");
    }
}
