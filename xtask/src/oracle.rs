//! `cargo xtask oracle`: holds our MLRsearch against the PyPI package of its authors, over fresh random trial sets. The
//! package goes into a Python environment of its own below `target/`.
use crate::failure::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The package, at the version the committed answers are of.
const PACKAGE: &str = "MLRsearch==1.2.1";

/// Installs what is missing and runs the differential test.
pub fn run() -> Result<ExitCode, Failure> {
    let python = python()?;
    let status = Command::new("cargo")
        .args([
            "test",
            "--package",
            "mpps-method",
            "--test",
            "mlrsearch",
            "--manifest-path",
        ])
        .arg(crate::root().join("Cargo.toml"))
        .args(["--", "--show-output"])
        .env("MPPS_MLRSEARCH_PYTHON", python)
        .status()
        .map_err(|error| Failure::new(format!("start cargo: {error}")))?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// A Python that has the package.
fn python() -> Result<PathBuf, Failure> {
    let folder = crate::root().join("target/mlrsearch-venv");
    let python = folder.join("bin/python");
    if has_package(&python) {
        return Ok(python);
    }
    println!("xtask: installing {PACKAGE} into {}", folder.display());
    let venv = ["-m", "venv"].map(Into::into);
    let venv = venv.into_iter().chain([folder.clone().into_os_string()]);
    tool(Path::new("python3"), venv.collect(), "install python3-venv")?;
    let pip = ["-m", "pip", "install", "--quiet", PACKAGE].map(Into::into);
    tool(&python, pip.into(), "is a package registry in reach?")?;
    Ok(python)
}

fn has_package(python: &Path) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", "import MLRsearch"]);
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
