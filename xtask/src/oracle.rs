//! `cargo xtask oracle`: writes the answers that our MLRsearch is held against, by the PyPI package of its authors over
//! random trial sets. The package goes into a Python environment of its own below `target/`.
use crate::failure::Failure;
use crate::install;
use crate::needs::{Need, Sign};
use crate::programs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The package, at the version the committed answers are of.
const PACKAGE: &str = "MLRsearch==1.2.1";
/// The trial sets of the committed answers.
const SEED: &str = "9971";
/// As many as the differential test asks for.
const CASES: &str = "400";
/// Beside the differential test.
const FOLDER: &str = "crates/method/tests/mlrsearch";

/// What makes environments on Debian.
const VENV: Need = Need {
    package: "python3-venv",
    sign: Sign::Program("python3"),
    why: "a Python environment for the authors' MLRsearch, which ours is held against",
};

/// Installs what is missing, writes the answers over the trial sets of this seed, and runs the differential test.
pub fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let seed = match arguments {
        [] => SEED,
        [seed] if seed.parse::<u64>().is_ok() => seed,
        _ => return Err(Failure::new("oracle takes a whole number or nothing")),
    };
    let python = python()?;
    let folder = crate::root().join(FOLDER);
    let output = Command::new(&python)
        .arg(folder.join("oracle.py"))
        .args([seed, CASES])
        .output()
        .map_err(|error| Failure::new(format!("start {}: {error}", python.display())))?;
    if !output.status.success() {
        return Err(Failure::new(format!(
            "oracle.py ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    let answers = folder.join("answers.txt");
    std::fs::write(&answers, output.stdout)
        .map_err(|error| Failure::new(format!("write {}: {error}", answers.display())))?;
    println!("xtask: wrote {}, seed {seed}", answers.display());
    let held = programs::cargo(&["test", "--package", "mpps-method", "--test", "mlrsearch"])?;
    Ok(if held {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// A Python that has the package.
fn python() -> Result<PathBuf, Failure> {
    let folder = crate::root().join("target/mlrsearch-venv");
    let python = folder.join("bin/python");
    if has_module(&python, "MLRsearch") {
        return Ok(python);
    }
    println!("xtask: installing {PACKAGE} into {}", folder.display());
    let made = environment(&folder).and_then(|()| {
        // Without a network the answer is to come soon.
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--retries",
            "1",
            "--timeout",
            "15",
            PACKAGE,
        ];
        tool(
            &python,
            pip.map(Into::into).into(),
            "is a package registry in reach?",
        )
    });
    if made.is_err() {
        // Half of it would look like all of it to the test.
        let _ = std::fs::remove_dir_all(&folder);
    }
    made.map(|()| python)
}

/// An empty environment; Debian's Python makes one only with a package of its own.
fn environment(folder: &Path) -> Result<(), Failure> {
    let python = Path::new("python3");
    if !has_module(python, "ensurepip") {
        install::install(&[VENV])?;
    }
    let venv = ["-m", "venv"].map(Into::into);
    let venv = venv.into_iter().chain([folder.as_os_str().to_owned()]);
    tool(python, venv.collect(), "install python3-venv")
}

fn has_module(python: &Path, module: &str) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", &format!("import {module}")]);
    command.output().is_ok_and(|output| output.status.success())
}

fn tool(program: &Path, arguments: Vec<std::ffi::OsString>, remedy: &str) -> Result<(), Failure> {
    let status = Command::new(program).args(&arguments).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::new(format!(
            "{} ended with {status} ({remedy})",
            program.display()
        ))),
        Err(error) => Err(Failure::new(format!(
            "start {}: {error} ({remedy})",
            program.display()
        ))),
    }
}
