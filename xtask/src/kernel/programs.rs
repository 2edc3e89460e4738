//! The programs that go along: `mpps`, and the tests of the steps, as cargo builds them.
use super::steps::Step;
use crate::failure::Failure;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program here, and its path in the guest.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file that cargo built.
    pub from: PathBuf,
    /// Below the guest's root.
    pub to: String,
}

/// Builds `mpps` and the steps' tests.
pub fn build(steps: &[Step]) -> Result<Vec<Program>, Failure> {
    cargo(&["build", "--package", "mpps-cli"])?;
    let own = std::env::current_exe()
        .map_err(|error| Failure::new(format!("find this program's own path: {error}")))?;
    let mpps = own.with_file_name("mpps");
    // The tests of the door know it by the path that cargo gave it.
    let known_as = mpps.to_string_lossy().trim_start_matches('/').to_owned();
    let mut programs = vec![program(&mpps, known_as)];
    for step in steps {
        let said = cargo(&[
            "test",
            "--no-run",
            "--package",
            step.package,
            "--test",
            step.test,
        ])?;
        let path = executable(&said).ok_or_else(|| {
            Failure::new(format!(
                "cargo named no program of {}'s test {}",
                step.package, step.test
            ))
        })?;
        programs.push(program(&crate::root().join(path), step.path()));
    }
    Ok(programs)
}

fn program(from: &Path, to: String) -> Program {
    let from = from.to_owned();
    Program { from, to }
}

/// Runs cargo; what it said on stderr, where it names what it built.
fn cargo(arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new("cargo")
        .args(arguments)
        .current_dir(crate::root())
        .output()
        .map_err(|error| {
            Failure::new(format!(
                "start cargo: {error} (is the Rust toolchain on PATH?)"
            ))
        })?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    Err(Failure::new(format!(
        "cargo {} failed:\n{said}",
        arguments.join(" ")
    )))
}

/// The path in a line such as `Executable tests/bed.rs (target/debug/deps/bed-4d9d)`.
fn executable(said: &str) -> Option<PathBuf> {
    let of_line = |line: &str| {
        let rest = line.trim().strip_prefix("Executable tests/")?;
        let (_, path) = rest.split_once(" (")?;
        Some(PathBuf::from(path.strip_suffix(')')?))
    };
    said.lines().find_map(of_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tests_program_is_read_off_what_cargo_says() {
        let said = "   Compiling x\n  Executable unittests src/lib.rs (target/debug/deps/x-1)\n  \
                    Executable tests/bed.rs (target/debug/deps/bed-4d9d)\n";
        assert_eq!(
            executable(said),
            Some(PathBuf::from("target/debug/deps/bed-4d9d"))
        );
        assert_eq!(executable("Finished\n"), None);
    }
}
