//! `cargo xtask test`: format, house rules, lints, then every test; the closing line counts them all.
use crate::failure::Failure;
use crate::install;
use crate::privilege::{self, Privilege};
use crate::tally::{Reader, Tally};
use crate::tidy;
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

/// Crates whose tests need no rights. All others are tested as root.
const UNPRIVILEGED: [&str; 3] = ["mpps-wire", "mpps-method", "xtask"];

/// Runs everything even when something fails, so that one run shows all there is to mend.
pub fn test() -> Result<ExitCode, Failure> {
    install::everything()?;
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
    tally.add(tests(&plain, &[])?);

    let mut rooted = vec!["test", "--no-fail-fast", "--workspace"];
    rooted.extend(UNPRIVILEGED.iter().flat_map(|name| ["--exclude", name]));
    tally.add(tests(&rooted, &environment_of_rooted_tests())?);

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
        skipped: 0,
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

fn tests(arguments: &[&str], environment: &[(String, String)]) -> Result<Tally, Failure> {
    let mut command = cargo(arguments);
    command
        .args(["--", "--show-output"])
        .envs(environment.iter().cloned());
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
    Ok(judge(reader.tally(), status.success()))
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
                    skipped: 0
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
                    skipped: 0
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
                skipped: 0
            }
        );
        assert_eq!(
            one("x", true),
            Tally {
                passed: 1,
                failed: 0,
                skipped: 0
            }
        );
    }
}
