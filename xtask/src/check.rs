//! `cargo xtask test`: lints, then every test, and format and house rules beside them; the closing line counts them all.
use crate::failure::Failure;
use crate::install;
use crate::privilege::{self, Privilege};
use crate::programs::{self, Program};
use crate::retry;
use crate::suite::{self, Group, Outcome};
use crate::tally::Tally;
use crate::tidy;
use std::process::ExitCode;
use std::time::Instant;

/// The feature that only tests turn on.
const SCHEMA: &str = "--features=mpps-record/schema";

/// Runs everything, or with `--quick` what needs no rights and no bed.
pub fn test(arguments: &[String]) -> Result<ExitCode, Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let tally = match words[..] {
        [] => whole()?,
        ["--quick"] => quick()?,
        _ => {
            return Err(Failure::new(
                "test takes --quick or nothing (`cargo xtask help`)",
            ));
        }
    };
    println!("{tally}");
    if !words.is_empty() {
        println!("left out: lints, and all tests outside the crates' own code (cargo xtask test)");
    }
    Ok(if tally.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Installs nothing and asks for no rights.
fn quick() -> Result<Tally, Failure> {
    let mut tally = of_text()?;
    let programs = programs::build(&["--workspace", "--lib", "--bins"])?;
    for (_, ended) in suite::run_lanes(&programs, &[&[Group::Free]], None)? {
        tally.add(ended.tally);
    }
    Ok(tally)
}

/// Everything, even when something fails, so that one run shows all there is to mend.
fn whole() -> Result<Tally, Failure> {
    install::everything()?;
    // Units are built while tests on beds wait. Their build compiles nothing of this one again.
    let Some((programs, _)) = build(&["--workspace", SCHEMA, "--test", "*"])? else {
        let mut tally = one("build", false);
        tally.add(of_text()?);
        return Ok(tally);
    };
    let mut tally = Tally::default();
    let able = rights();
    // Those on beds mostly wait: for a trial's time, for what the kernel takes down. What computes comes last, because it
    // has both CPUs when the other lane is done.
    let lanes: [&[Group]; 2] = [&[Group::Beside, Group::Free], &[Group::Counted]];
    let (checked, ended) = std::thread::scope(|scope| {
        let checks = scope.spawn(further_checks);
        let ended = suite::run_lanes(&programs, &lanes, able);
        let crashed = |_| Err(Failure::new("a thread that runs checks crashed"));
        (checks.join().unwrap_or_else(crashed), ended)
    });
    tally.add(checked?);
    let mut ended = ended?;
    ended.extend(suite::run_lanes(&programs, &[&[Group::Alone]], able)?);
    let mut on_beds = Outcome::default();
    let mut took = Vec::new();
    for (group, ended) in ended {
        took.extend(ended.took.iter().cloned());
        match group {
            Group::Free => tally.add(ended.tally),
            _ => on_beds.add(ended),
        }
    }
    tally.add(retry::failed(on_beds, &programs, able)?);
    println!(
        "\nxtask: the slowest test programs:\n{}",
        suite::slowest(took)
    );
    Ok(tally)
}

/// These test programs, and whether the lints hold: the two are one build. `None`: they do not compile.
fn build(selected: &[&str]) -> Result<Option<(Vec<Program>, bool)>, Failure> {
    if install::has_cargo_verb("clippy") {
        match programs::build_linted(selected) {
            Ok(built) => return Ok(Some(built)),
            // A lint that is an error keeps no test from its run.
            Err(failure) => println!("xtask: {failure}"),
        }
    }
    match programs::build(selected) {
        Ok(programs) => Ok(Some((programs, false))),
        Err(failure) => {
            println!("xtask: {failure}");
            Ok(None)
        }
    }
}

/// The crates' unit tests, and all lints. Warnings of the compiler are errors here and nowhere else: a new compiler must not
/// break anybody's build.
fn units() -> Result<Tally, Failure> {
    let Some((mut programs, is_clean)) = build(&["--workspace", SCHEMA])? else {
        return Ok(one("build of the unit tests", false));
    };
    let mut tally = match install::has_cargo_verb("clippy") {
        true => one("clippy", is_clean),
        false => lacks("clippy"),
    };
    programs.retain(Program::is_units);
    for (_, ended) in suite::run_lanes(&programs, &[&[Group::Free]], None)? {
        tally.add(ended.tally);
    }
    Ok(tally)
}

/// Checks that need no machine of their own, unit tests among them: they run beside tests that hold whatever disturbs the
/// machine.
fn further_checks() -> Result<Tally, Failure> {
    let begun = Instant::now();
    let without_lab = ["-p", "mpps-cli", "--no-default-features"];
    // The tests' build compiles only the tests of xtask, so its program is linted here.
    let alone = [&without_lab[..], &["-p", "xtask"]].concat();
    let strict = ["--all-targets", "--", "-D", "warnings"];
    let lint = [&["clippy"], &alone[..], &strict].concat();
    let mut tally = of_text()?;
    tally.add(units()?);
    tally.add(tool("clippy without the lab", "clippy", &lint)?);
    tally.add(another_system(&without_lab)?);
    // Other programs build on these two.
    for library in ["mpps-record", "mpps-method"] {
        let documents = ["rustdoc", "-p", library, "--lib", "--", "-D", "warnings"];
        tally.add(one("documents", programs::cargo_last(&documents)?));
    }
    // As the tests were built, so that nothing is compiled again: fewer crates would have fewer features.
    let mut examples = programs::last(&["test", "--quiet", "--doc", "--workspace", SCHEMA]);
    if install::has_cargo_verb("clippy") {
        programs::linting(&mut examples);
    }
    tally.add(one(
        "examples in documents",
        programs::holds(&mut examples)?,
    ));
    println!(
        "xtask: further checks took {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    Ok(tally)
}

/// README says that the program without the lab builds wherever Rust does.
fn another_system(selected: &[&str]) -> Result<Tally, Failure> {
    let system = install::OTHER_SYSTEM;
    if !install::has_other_system() {
        return Ok(skip(&format!(
            "no library of Rust or no crates for {system} (rustup target add {system}; cargo fetch)"
        )));
    }
    let check = [&["check"], selected, &["--target", system]].concat();
    Ok(one(
        &format!("build for {system}"),
        programs::cargo_last(&check)?,
    ))
}

/// Format and house rules, which need no build.
fn of_text() -> Result<Tally, Failure> {
    let mut tally = tool("fmt", "fmt", &["fmt", "--all", "--check"])?;
    let clean = tidy::check().is_ok_and(|code| code == ExitCode::SUCCESS);
    tally.add(one("tidy", clean));
    Ok(tally)
}

/// A check of cargo's own; skipped, and said so, where the toolchain lacks it.
fn tool(name: &str, verb: &str, arguments: &[&str]) -> Result<Tally, Failure> {
    if !install::has_cargo_verb(verb) {
        return Ok(lacks(verb));
    }
    Ok(one(name, programs::cargo_last(arguments)?))
}

fn lacks(verb: &str) -> Tally {
    let component = if verb == "fmt" { "rustfmt" } else { verb };
    skip(&format!(
        "cargo {verb} is not installed (rustup component add {component})"
    ))
}

fn skip(why: &str) -> Tally {
    println!("SKIP: {why}");
    Tally {
        skipped: 1,
        ..Tally::default()
    }
}

fn one(name: &str, held: bool) -> Tally {
    println!("check {name} ... {}", if held { "ok" } else { "FAILED" });
    Tally {
        passed: held.into(),
        failed: (!held).into(),
        ..Tally::default()
    }
}

/// How root's rights are had here. Without root and without a sudo that runs unasked, the tests start as we are; each
/// says `SKIP:` and why.
fn rights() -> Option<Privilege> {
    match Privilege::here() {
        Privilege::Sudo if privilege::sudo_is_silent() => Some(Privilege::Sudo),
        Privilege::Root => Some(Privilege::Root),
        _ => {
            println!(
                "xtask: not root and no sudo that runs unasked: tests that need root will be skipped (as root: cargo xtask test)"
            );
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_check_counts_as_failed() {
        let held = one("x", true);
        assert_eq!((held.passed, held.failed), (1, 0));
        let failed = one("x", false);
        assert_eq!((failed.passed, failed.failed), (0, 1));
    }

    #[test]
    fn an_unknown_word_runs_nothing() {
        assert!(test(&["--fast".to_owned()]).is_err());
    }
}
