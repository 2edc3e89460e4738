//! Each verb's `--help` is as committed in `tests/help/`: a flag that changes shows up in review.
//! `MPPS_WRITE_HELP=1 cargo test -p mpps-cli --test all help::` writes the files anew.

use crate::program;
use std::path::Path;

/// Verbs that no help lists.
const HIDDEN: [&str; 2] = ["man", "completions"];

/// Every verb, and the program itself as "", as the helps list them.
fn verbs() -> Vec<String> {
    let mut all: Vec<String> = HIDDEN.map(str::to_owned).into();
    let mut open = vec![String::new()];
    while let Some(verb) = open.pop() {
        let words: Vec<&str> = verb.split_whitespace().chain(["--help"]).collect();
        let shown = program::run(&mut program::mpps(&words)).stdout;
        let listed = shown.lines().skip_while(|line| *line != "Commands:");
        let listed = listed.skip(1).take_while(|line| line.starts_with("  "));
        let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let names = names.filter(|name| !["", "help"].contains(name));
        open.extend(names.map(|name| format!("{verb} {name}").trim().to_owned()));
        all.push(verb);
    }
    all
}

/// Lines of a screen.
const SCREEN: usize = 32;

#[test]
fn help_is_as_committed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    let verbs = verbs();
    for verb in &verbs {
        let words: Vec<&str> = verb.split_whitespace().chain(["--help"]).collect();
        let ended = program::run(&mut program::mpps(&words));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{verb}");
        let name = if verb.is_empty() {
            "mpps".to_owned()
        } else {
            verb.replace(' ', "-")
        };
        let file = folder.join(format!("{name}.txt"));
        if std::env::var_os("MPPS_WRITE_HELP").is_some() {
            std::fs::write(&file, &ended.stdout).expect("write help");
        }
        let committed = std::fs::read_to_string(&file).expect("committed help");
        assert_eq!(
            ended.stdout, committed,
            "help of \"{verb}\" changed: see the head of this file"
        );
    }
    let files = std::fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(verbs.len(), files, "each file is of a verb");
}

#[test]
fn short_help_fits_a_screen() {
    for verb in verbs() {
        let words: Vec<&str> = verb.split_whitespace().chain(["-h"]).collect();
        let ended = program::run(&mut program::mpps(&words));
        let (lines, shown) = (ended.stdout.lines().count(), &ended.stdout);
        assert_eq!(ended.code, Some(0), "{verb}");
        assert!(
            lines <= SCREEN,
            "mpps {verb} -h has {lines} lines:\n{shown}"
        );
    }
    let shown = program::run(&mut program::mpps(&["throughput", "-h"])).stdout;
    for flag in [
        "--frame",
        "--table",
        "--dut-setup",
        "--preset",
        "--expect-min",
        "--json",
    ] {
        assert!(shown.contains(flag), "{flag}: {shown}");
    }
    assert!(!shown.contains("--verify-loss"), "{shown}");
}

#[test]
fn short_help_has_the_main_flags_of_a_verb() {
    for (verb, flags) in [
        ("explain", &["--against", "--sweep", "--cpus", "--for"][..]),
        ("loss", &["--overload", "--for", "--time"]),
        ("tune measure", &["--screen", "--by-stage", "--only"]),
    ] {
        let words: Vec<&str> = verb.split_whitespace().chain(["-h"]).collect();
        let shown = program::run(&mut program::mpps(&words)).stdout;
        for flag in flags {
            assert!(shown.contains(flag), "{verb} {flag}: {shown}");
        }
        assert!((24..=30).contains(&shown.lines().count()), "{shown}");
        // The first line says what the verb is for; a terminal breaks it between words.
        let longest = shown.lines().skip(1).map(|line| line.chars().count()).max();
        assert!(longest <= Some(80), "{shown}");
    }
}

#[test]
fn help_names_the_environment_of_scripts() {
    for verb in ["throughput", "trial", "bed up", "bed shell"] {
        let words: Vec<&str> = verb.split_whitespace().chain(["--help"]).collect();
        let shown = program::run(&mut program::mpps(&words)).stdout;
        for name in ["MPPS_DUT_IN", "MPPS_DUT_OUT", "MPPS_BED", "MPPS_NETNS_IN"] {
            assert!(shown.contains(name), "{name}: {shown}");
        }
    }
}

#[test]
fn the_version_is_the_crates() {
    let ended = program::run(&mut program::mpps(&["--version"]));
    assert_eq!(
        ended.stdout,
        format!("mpps {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn every_flag_says_its_unit_or_kind() {
    let help = program::run(&mut program::mpps(&["throughput", "--help"])).stdout;
    for (flag, unit) in [
        ("--frame <SIZES>", "octets"),
        ("--time <SECONDS>", "seconds"),
        ("--max-rate <FPS>", "frames/s"),
        ("--min-rate <FPS>", "frames/s"),
        ("--link-speed <SPEED>", "bit/s"),
        ("--rx-ring <FRAMES>", "Frames"),
        ("--time <SECONDS>", "RFC 2544 section 24"),
        ("--frame <SIZES>", "RFC 2544 section 9"),
    ] {
        let from = help
            .find(flag)
            .unwrap_or_else(|| panic!("{flag} is not in the help"));
        let entry = help[from..]
            .split("\n\n")
            .next()
            .unwrap_or_default()
            .replace('\n', " ");
        let entry = entry.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(entry.contains(unit), "{flag} does not say {unit}: {entry}");
    }
}
