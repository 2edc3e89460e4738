//! The programs that go along: `mpps`, and the tests of the steps, as cargo builds them.
use super::steps::Step;
use crate::failure::Failure;
use crate::programs;
use std::path::{Path, PathBuf};

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
    let own = std::env::current_exe()
        .map_err(|error| Failure::new(format!("find this program's own path: {error}")))?;
    let mpps = own.with_file_name("mpps");
    // The tests of the command line know it by the path that cargo gave it.
    let known_as = mpps.to_string_lossy().trim_start_matches('/').to_owned();
    if !programs::cargo(&["build", "--package", "mpps-cli"])? {
        return Err(Failure::new(
            "mpps was not built; the compiler's words stand above",
        ));
    }
    let packages = steps.iter().map(|step| format!("mpps-{}", step.folder));
    let packages: Vec<String> = packages.collect();
    let each = packages.iter().flat_map(|package| ["--package", package]);
    let selected: Vec<&str> = each.chain(["--test", "*"]).collect();
    let built = programs::build(&selected)?;
    let mut programs = vec![program(&mpps, known_as)];
    for step in steps {
        let name = format!("{}/{}", step.folder, step.test);
        let found = built.iter().find(|program| program.name == name);
        let found = found.ok_or_else(|| Failure::new(format!("cargo built no test {name}")))?;
        programs.push(program(&found.path, step.path()));
    }
    programs.dedup_by(|one, other| one.to == other.to);
    Ok(programs)
}

fn program(from: &Path, to: String) -> Program {
    let from = from.to_owned();
    Program { from, to }
}
