//! Builds `mpps` and becomes it: the program takes this process' place, so that its exit code, its signals
//! (Ctrl-C lowers the bed) and its terminal are its own.
use crate::failure::Failure;
use crate::install;
use crate::privilege::Privilege;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// `cargo xtask throughput ARGS`: the first thing a newcomer types.
pub fn throughput(arguments: &[String]) -> Result<ExitCode, Failure> {
    let mut all = vec!["throughput".to_owned()];
    all.extend_from_slice(without_separator(arguments));
    become_mpps(&all)
}

/// `cargo xtask run -- ARGS`: any verb.
pub fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    become_mpps(without_separator(arguments))
}

fn without_separator(arguments: &[String]) -> &[String] {
    match arguments.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => arguments,
    }
}

fn become_mpps(arguments: &[String]) -> Result<ExitCode, Failure> {
    install::for_building()?;
    let mpps = build()?;
    let Some(mut command) = Privilege::here().command(&mpps) else {
        let line = format!(
            "not root and no sudo here; as root: {} {}",
            mpps.display(),
            arguments.join(" ")
        );
        return Err(Failure::new(line));
    };
    let error = command.args(arguments).exec();
    Err(Failure::new(format!("start {}: {error}", mpps.display())))
}

fn build() -> Result<PathBuf, Failure> {
    let status = Command::new("cargo")
        .args([
            "build",
            "--release",
            "--package",
            "mpps-cli",
            "--manifest-path",
        ])
        .arg(crate::root().join("Cargo.toml"))
        .status()
        .map_err(|error| {
            Failure::new(format!(
                "start cargo: {error} (is the Rust toolchain on PATH?)"
            ))
        })?;
    if !status.success() {
        return Err(Failure::new(
            "mpps was not built; the compiler's words stand above",
        ));
    }
    beside(std::env::current_exe().ok())
}

/// `TARGET/release/mpps` for an own path `TARGET/PROFILE/xtask`: cargo built both, so this holds wherever the
/// user keeps the target folder.
fn beside(own: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let target = own.as_deref().and_then(|path| path.parent()?.parent());
    let mpps = target.map(|folder| folder.join("release/mpps"));
    mpps.ok_or_else(|| {
        Failure::new("this program does not know where it lies; start target/release/mpps by hand")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpps_lies_in_the_same_target_folder() {
        let found = beside(Some("/home/ann/cache/debug/xtask".into())).expect("two folders up");
        assert_eq!(found, PathBuf::from("/home/ann/cache/release/mpps"));
        assert!(beside(None).is_err());
    }

    #[test]
    fn the_separator_is_taken_once() {
        let typed = ["--", "bed", "--", "x"].map(str::to_owned);
        assert_eq!(without_separator(&typed), ["bed", "--", "x"]);
        assert_eq!(without_separator(&typed[1..]), ["bed", "--", "x"]);
    }
}
