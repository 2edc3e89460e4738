//! `mpps table read` and `mpps table synthesize`, as typed.

use crate::program::{self, Ended, mpps, run};
use std::io::Write;
use std::process::{Command, Stdio};

/// Runs with these octets on standard input.
fn fed(command: &mut Command, octets: &[u8]) -> Ended {
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(octets).expect("it reads to the end");
    drop(stdin);
    child.wait_with_output().expect("it ends").into()
}

fn lines(ended: &Ended) -> Vec<&str> {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.stdout.lines().collect()
}

#[test]
fn what_is_synthesized_can_be_read_again() {
    let words = "table synthesize --ipv4 20k --ipv6 5k --seed 7";
    let words: Vec<&str> = words.split(' ').collect();
    let made = run(&mut mpps(&words));
    assert_eq!(lines(&made).len(), 25_000);
    assert_eq!(
        run(&mut mpps(&words)).stdout,
        made.stdout,
        "the seed decides"
    );
    let list = fed(
        &mut mpps(&["table", "read", "-", "--list"]),
        made.stdout.as_bytes(),
    );
    assert_eq!((&list.stdout, list.stderr.as_str()), (&made.stdout, ""));
    let json = fed(
        &mut mpps(&["table", "read", "-", "--json"]),
        made.stdout.as_bytes(),
    );
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("one object");
    assert_eq!(json["chosen"]["ipv4_prefixes"], 20_000);
    assert_eq!(json["distinct"]["ipv6_prefixes"], 5_000);
    assert_eq!(json["format"], "list of prefixes");
}

#[test]
fn lengths_can_be_those_of_another_table() {
    let folder = program::Scratch::new("like");
    let like = folder.path("like.txt");
    std::fs::write(
        &like,
        "20.0.0.0/14\n30.0.0.0/26\n31.0.0.0/26\n32.0.0.0/26\n",
    )
    .expect("write");
    let like = like.to_str().expect("UTF-8");
    let made = run(&mut mpps(&[
        "table",
        "synthesize",
        "--ipv4",
        "400",
        "--like",
        like,
    ]));
    let with = |length: &str| {
        lines(&made)
            .iter()
            .filter(|line| line.ends_with(length))
            .count()
    };
    assert_eq!((with("/14"), with("/26")), (100, 300));
}

#[test]
fn classes_are_counted_and_named() {
    let text = b"0.0.0.0/0\n10.0.0.0/8\n20.0.0.0/8\n21.0.0.0/8\n22.0.0.0/8\n22.1.0.0/16\n9.9.9.0/24\n2a00::/32\n";
    let mut command = mpps(&[
        "table",
        "read",
        "-",
        "-4",
        "--exclude",
        "21.5.0.0/16,22.1.1.1",
    ]);
    command.env("SSH_CONNECTION", "9.9.9.9 50000 192.0.2.1 22");
    let read = fed(&mut command, text);
    let row = |name: &str| {
        let line = lines(&read).into_iter().find(|line| line.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("{name} is not in {read:?}"));
        line[name.len()..]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(row("distinct prefixes"), "7 1");
    assert_eq!(row("- other family"), "0 1");
    assert_eq!(row("- default route"), "1 0");
    assert_eq!(row("- martian"), "1 0");
    assert_eq!(row("- covers the address you are logged in from"), "1 0");
    assert_eq!(row("- excluded"), "3 0");
    assert_eq!(row("left to use"), "1 0");
}

#[test]
fn damage_is_an_error_or_counted() {
    let text = b"20.0.0.0/8\nnonsense\n21.0.0.0/8\n";
    let strict = fed(&mut mpps(&["table", "read", "-"]), text);
    assert_eq!((strict.code, strict.stdout.as_str()), (Some(2), ""));
    let error = strict.error();
    assert!(
        error.contains("standard input: line 2 at octet 11: not a prefix: `nonsense`"),
        "{error}"
    );
    assert!(error.contains("--lenient"), "{error}");
    let lenient = fed(
        &mut mpps(&["table", "read", "-", "--lenient", "--list"]),
        text,
    );
    assert_eq!(lines(&lenient), ["20.0.0.0/8", "21.0.0.0/8"]);
    assert!(
        lenient
            .stderr
            .contains("1 damaged, left out; the first: line 2"),
        "{lenient:?}"
    );
    let lenient = fed(&mut mpps(&["table", "read", "-", "--lenient"]), text);
    assert!(
        lenient.stdout.contains("DAMAGED in 1 place,"),
        "{lenient:?}"
    );
    let nothing = fed(
        &mut mpps(&["table", "read", "-", "--lenient"]),
        b"nonsense\n",
    );
    let wanted = "no unicast route in it is whole (1 damaged, the first: line 1 at octet 0: not a prefix: `nonsense`";
    assert!(
        nothing.code == Some(2) && nothing.error().contains(wanted),
        "{nothing:?}"
    );
}

#[test]
fn a_sample_is_part_of_a_larger_one() {
    let text: String = (1..200).map(|n| format!("20.{n}.0.0/16\n")).collect();
    let sample = |count: &str| {
        let words = [
            "table", "read", "-", "--list", "--sample", count, "--seed", "9",
        ];
        fed(&mut mpps(&words), text.as_bytes())
    };
    let (small, large) = (sample("10"), sample("50"));
    assert_eq!((lines(&small).len(), lines(&large).len()), (10, 50));
    assert!(
        lines(&small)
            .iter()
            .all(|line| lines(&large).contains(line))
    );
}
