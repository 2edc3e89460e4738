//! `cargo xtask test`: format, house rules, lints, then every test; the closing line counts them all.
use crate::failure::Failure;
use crate::install;
use crate::oracle;
use crate::privilege::{self, Privilege};
use crate::tally::{Reader, Tally};
use crate::tidy;
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

/// Crates whose tests need no rights. All others are tested as root.
const UNPRIVILEGED: [&str; 3] = ["mpps-wire", "mpps-method", "xtask"];

/// How often failed tests on beds are tried again.
const TRIES_AGAIN: u32 = 2;
/// More failures than this are not tried again.
const DISTURBED_MOST: usize = 12;

/// Runs everything even when something fails, so that one run shows all there is to mend.
pub fn test() -> Result<ExitCode, Failure> {
    install::everything()?;
    oracle::ready();
    let mut tally = Tally::default();
    tally.add(tool("fmt", "fmt", &["fmt", "--all", "--check"])?);
    tally.add(house_rules());
    // Warnings of the compiler are errors here and nowhere else: a new compiler must not break anybody's build.
    tally.add(tool(
        "clippy",
        "clippy",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    )?);

    let mut plain = vec!["test", "--no-fail-fast"];
    plain.extend(UNPRIVILEGED.iter().flat_map(|name| ["--package", name]));
    tally.add(tests(&plain, &[], &[])?.tally);

    let mut rooted = vec!["test", "--no-fail-fast", "--workspace"];
    rooted.extend(UNPRIVILEGED.iter().flat_map(|name| ["--exclude", name]));
    tally.add(disturbed(|names| {
        tests(&rooted, &environment_of_rooted_tests(), names)
    })?);

    println!("{tally}");
    Ok(if tally.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn house_rules() -> Tally {
    let clean = tidy::check().is_ok_and(|code| code == ExitCode::SUCCESS);
    one("tidy", clean)
}

/// A check of cargo's own; skipped, and said so, where the toolchain lacks it.
fn tool(name: &str, verb: &str, arguments: &[&str]) -> Result<Tally, Failure> {
    if !install::has_cargo_verb(verb) {
        println!(
            "SKIP: cargo {verb} is not installed (rustup component add {})",
            if verb == "fmt" { "rustfmt" } else { verb }
        );
        return Ok(Tally {
            skipped: 1,
            ..Tally::default()
        });
    }
    let status = cargo(arguments).status().map_err(not_started)?;
    Ok(one(name, status.success()))
}

fn one(name: &str, held: bool) -> Tally {
    println!("check {name} ... {}", if held { "ok" } else { "FAILED" });
    Tally {
        passed: held.into(),
        failed: (!held).into(),
        ..Tally::default()
    }
}

/// Variables for the tests that raise beds. One at a time: a bed claims CPUs, and two that measure at once void each other.
/// Without root and without a sudo that runs unasked, the tests start as we are; each says `SKIP:` and why.
fn environment_of_rooted_tests() -> Vec<(String, String)> {
    let mut environment = Vec::new();
    if std::env::var_os("RUST_TEST_THREADS").is_none() {
        environment.push(("RUST_TEST_THREADS".to_owned(), "1".to_owned()));
    }
    if Privilege::here() == Privilege::Sudo && privilege::sudo_is_silent() {
        environment.push((runner_variable(), "sudo -E".to_owned()));
    } else if !privilege::is_root() {
        println!(
            "xtask: not root and no sudo that runs unasked: tests that need root will be skipped (as root: cargo xtask test)"
        );
    }
    environment
}

/// Cargo's variable that names the program every test binary is started through, for the machine we are on.
fn runner_variable() -> String {
    let arch = std::env::consts::ARCH.to_uppercase();
    let libc = if cfg!(target_env = "musl") {
        "MUSL"
    } else {
        "GNU"
    };
    format!("CARGO_TARGET_{arch}_UNKNOWN_LINUX_{libc}_RUNNER")
}

/// Tests on a bed judge the machine too: what another guest of the host takes from it can fail one that is right.
/// Those that failed are tried again after all others, alone, and the closing line says so. A test that is wrong
/// fails each time; failures in number are no passing disturbance.
fn disturbed(mut run: impl FnMut(&[String]) -> Result<Outcome, Failure>) -> Result<Tally, Failure> {
    let Outcome {
        mut tally,
        failed: mut left,
    } = run(&[])?;
    for _ in 0..TRIES_AGAIN {
        if left.is_empty() || left.len() as u64 != tally.failed || left.len() > DISTURBED_MOST {
            break;
        }
        println!("\nxtask: tried again, alone: {}", left.join(", "));
        let again = run(&left)?;
        if again.tally.failed != again.failed.len() as u64 {
            break;
        }
        let held = left.iter().filter(|name| !again.failed.contains(name));
        for name in held {
            println!("xtask: {name} failed at first and held when tried again");
            tally.failed -= 1;
            tally.passed += 1;
            tally.held_later += 1;
        }
        left = again.failed;
    }
    Ok(tally)
}

/// What came of a run of tests.
#[derive(Debug, Default)]
struct Outcome {
    tally: Tally,
    /// By name.
    failed: Vec<String>,
}

/// Runs the tests with these names; all where none is named.
fn tests(
    arguments: &[&str],
    environment: &[(String, String)],
    names: &[String],
) -> Result<Outcome, Failure> {
    let mut command = cargo(arguments);
    command
        .args(["--", "--show-output"])
        .envs(environment.iter().cloned());
    if !names.is_empty() {
        command.arg("--exact").args(names);
    }
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(not_started)?;
    let mut reader = Reader::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n') {
            let line = line
                .map_err(|error| Failure::new(format!("read the output of cargo test: {error}")))?;
            let line = String::from_utf8_lossy(&line);
            if reader.take(&line) {
                println!("{line}");
            }
        }
    }
    let status = child.wait().map_err(not_started)?;
    Ok(Outcome {
        tally: judge(reader.tally(), status.success()),
        failed: reader.failed(),
    })
}

/// A run that ended badly without a failed test did not compile or was killed: that is a failure too.
fn judge(counted: Tally, ended_well: bool) -> Tally {
    let mut tally = counted;
    if !ended_well && tally.failed == 0 {
        println!(
            "xtask: cargo test ended badly without a failed test (did not compile, or a test binary died)"
        );
        tally.failed = 1;
    }
    tally
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(crate::root());
    command
}

fn not_started(error: std::io::Error) -> Failure {
    Failure::new(format!(
        "run cargo: {error} (is the Rust toolchain on PATH?)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_did_not_compile_is_not_green() {
        assert_eq!(judge(Tally::default(), false).failed, 1);
        assert_eq!(
            judge(
                Tally {
                    passed: 3,
                    failed: 2,
                    ..Tally::default()
                },
                false
            )
            .failed,
            2
        );
        assert_eq!(
            judge(
                Tally {
                    passed: 3,
                    failed: 0,
                    ..Tally::default()
                },
                true
            )
            .failed,
            0
        );
    }

    #[test]
    fn a_failed_check_counts_as_failed() {
        assert_eq!(
            one("x", false),
            Tally {
                passed: 0,
                failed: 1,
                ..Tally::default()
            }
        );
        assert_eq!(
            one("x", true),
            Tally {
                passed: 1,
                failed: 0,
                ..Tally::default()
            }
        );
    }

    /// A machine whose tests fail as told, one list of names a run.
    fn machine(runs: &[&[&str]]) -> (Tally, Vec<Vec<String>>) {
        let mut asked = Vec::new();
        let tally = disturbed(|names| {
            let failed: Vec<String> = runs[asked.len()].iter().map(ToString::to_string).collect();
            asked.push(names.to_vec());
            Ok(Outcome {
                tally: Tally {
                    passed: 20 - failed.len() as u64,
                    failed: failed.len() as u64,
                    ..Tally::default()
                },
                failed,
            })
        });
        (tally.unwrap_or_default(), asked)
    }

    #[test]
    fn a_disturbed_test_is_tried_again_and_that_is_said() {
        let (tally, asked) = machine(&[&["a", "b"], &["b"], &["b"]]);
        assert_eq!((tally.passed, tally.failed, tally.held_later), (19, 1, 1));
        assert_eq!(
            asked,
            [
                vec![],
                vec!["a".to_owned(), "b".to_owned()],
                vec!["b".to_owned()]
            ]
        );
        assert_eq!(
            tally.to_string(),
            "19 passed, 1 failed, 0 skipped, 1 only when tried again"
        );
        let (tally, asked) = machine(&[&[]]);
        assert_eq!((tally.failed, tally.held_later, asked.len()), (0, 0, 1));
    }

    #[test]
    fn many_failures_are_no_disturbance() {
        let (tally, asked) = machine(&[&["x"; 13]]);
        assert_eq!((tally.failed, asked.len()), (13, 1));
    }
}
