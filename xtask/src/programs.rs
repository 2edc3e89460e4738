//! Test programs as cargo builds them: one build for all. A crate's files of tests are one program; here each file is
//! one of its own again, so that it starts in a process of its own.
use crate::failure::Failure;
use crate::privilege::Privilege;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program that holds all of a crate's files of tests.
const ALL: &str = "all";

/// A crate's unit tests, or one of its files of tests, as a program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its crate's folder and its own name: "lab/bed"; a crate's unit tests are "lab/units".
    pub name: String,
    /// The file that cargo built.
    pub path: PathBuf,
    /// Its tests' whole names, where the file holds others' too.
    pub tests: Vec<String>,
    /// The crate's folder, in which cargo would start it.
    folder: PathBuf,
}

impl Program {
    /// A crate's tests beside its code, which need no rights.
    pub fn is_units(&self) -> bool {
        self.name.ends_with("/units")
    }

    /// The command that starts it, as root where `privileged` and where sudo does so unasked.
    pub fn command(&self, privileged: Option<Privilege>) -> Command {
        let mut command = Command::new(&self.path);
        if privileged == Some(Privilege::Sudo) {
            command = Command::new("sudo");
            command.args(["-n", "-E", "--"]).arg(&self.path);
        }
        command.current_dir(&self.folder);
        command
    }
}

/// Builds the test programs that these words of `cargo test` select, last of all that wants a CPU. Examples in documents
/// are none of them.
pub fn build(selected: &[&str]) -> Result<Vec<Program>, Failure> {
    collect(last(BUILD).args(selected))
}

/// The same by a compiler that lints as it compiles, and whether it had no warning.
pub fn build_linted(selected: &[&str]) -> Result<(Vec<Program>, bool), Failure> {
    let (read, written) = std::io::pipe().map_err(not_started)?;
    let told = std::thread::spawn(move || {
        let lines = BufReader::new(read).lines().map_while(Result::ok);
        lines.fold(false, |warned, line| {
            eprintln!("{line}");
            warned || is_of_warnings(&line)
        })
    });
    let built = {
        let mut command = last(BUILD);
        // A quiet cargo counts no warnings.
        linting(&mut command).env("CARGO_TERM_QUIET", "false");
        command.args(selected).stderr(written);
        collect(&mut command)
    };
    let warned = told.join().unwrap_or(true);
    Ok((built?, !warned))
}

/// Lets cargo start `clippy-driver` as the compiler of this workspace, so that nothing is compiled twice. It optimises less
/// than rustc, which does not matter to tests.
pub fn linting(command: &mut Command) -> &mut Command {
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
}

/// Whether cargo counts a crate's warnings in this line; it does so too where it has compiled the crate before.
fn is_of_warnings(line: &str) -> bool {
    line.contains(") generated ") && line.contains(" warning")
}

const BUILD: &[&str] = &[
    "test",
    "--no-run",
    "--message-format",
    "json-render-diagnostics",
];

/// The test programs that this command builds.
fn collect(build: &mut Command) -> Result<Vec<Program>, Failure> {
    let mut child = build.stdout(Stdio::piped()).spawn().map_err(not_started)?;
    let mut programs = Vec::new();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line =
                line.map_err(|error| Failure::new(format!("read what cargo built: {error}")))?;
            programs.extend(program(&line));
        }
    }
    if !child.wait().map_err(not_started)?.success() {
        return Err(Failure::new(
            "the tests were not built; the compiler's words stand above",
        ));
    }
    let files: Result<Vec<_>, _> = programs.into_iter().map(by_file).collect();
    Ok(files?.into_iter().flatten().collect())
}

/// The files of tests that a program holds.
fn by_file(program: Program) -> Result<Vec<Program>, Failure> {
    let Some(package) = program.name.strip_suffix(ALL) else {
        return Ok(vec![program]);
    };
    let not_listed = |why: String| Failure::new(format!("list the tests {}: {why}", program.name));
    let mut list = program.command(None);
    let listed = list.args(["--list", "--format", "terse"]).output();
    let listed = listed.map_err(|error| not_listed(error.to_string()))?;
    if !listed.status.success() {
        return Err(not_listed(listed.status.to_string()));
    }
    let mut files: Vec<Program> = Vec::new();
    for (file, test) in tests(&String::from_utf8_lossy(&listed.stdout)) {
        let name = format!("{package}{file}");
        if files.last().is_none_or(|last| last.name != name) {
            files.push(Program {
                name,
                ..program.clone()
            });
        }
        if let Some(last) = files.last_mut() {
            last.tests.push(test);
        }
    }
    Ok(files)
}

/// File and whole name of each test that a program lists; those of a file follow one another.
fn tests(listed: &str) -> impl Iterator<Item = (&str, String)> {
    let names = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    names.filter_map(|name| Some((name.split_once("::")?.0, name.to_owned())))
}

/// Runs cargo to its end.
pub fn cargo(arguments: &[&str]) -> Result<bool, Failure> {
    holds(&mut command(arguments))
}

/// Runs a command of cargo's to its end.
pub fn holds(command: &mut Command) -> Result<bool, Failure> {
    Ok(command.status().map_err(not_started)?.success())
}

/// The same for a check, beside tests on beds: whatever else wants a CPU has it first, because the check is over before
/// them all the same.
pub fn cargo_last(arguments: &[&str]) -> Result<bool, Failure> {
    holds(&mut last(arguments))
}

/// Its command.
pub fn last(arguments: &[&str]) -> Command {
    let mut last = Command::new("nice");
    last.args(["-n", "19", "cargo"]).args(arguments);
    last.current_dir(crate::root());
    last
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments).current_dir(crate::root());
    command
}

fn not_started(error: std::io::Error) -> Failure {
    Failure::new(format!(
        "run cargo: {error} (is the Rust toolchain on PATH?)"
    ))
}

/// The program that a message of cargo's names, where it is about a test program.
fn program(message: &str) -> Option<Program> {
    let path = text(message, "executable")?;
    if !message.contains("\"test\":true},\"features\"") {
        return None; // built for the tests to start
    }
    let folder = Path::new(text(message, "manifest_path")?).parent()?;
    let source = text(message, "src_path")?;
    let own = match source.contains("/tests/") {
        true => Path::new(source).file_stem()?.to_str()?,
        false => "units",
    };
    Some(Program {
        name: format!("{}/{own}", folder.file_name()?.to_str()?),
        path: path.into(),
        tests: Vec::new(),
        folder: folder.to_owned(),
    })
}

/// The text of a member, the first of that name. Paths with quotes in them are not understood.
fn text<'a>(message: &'a str, member: &str) -> Option<&'a str> {
    let (_, rest) = message.split_once(&format!("\"{member}\":\""))?;
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = r#"{"reason":"compiler-artifact","package_id":"path+file:///src/mpps/crates/lab#mpps-lab@0.1.0","manifest_path":"/src/mpps/crates/lab/Cargo.toml","target":{"kind":["test"],"crate_types":["bin"],"name":"bed","src_path":"/src/mpps/crates/lab/tests/bed.rs","edition":"2024","doc":false,"doctest":false,"test":true},"profile":{"opt_level":"0","debuginfo":1,"debug_assertions":true,"overflow_checks":true,"test":true},"features":[],"filenames":["/t/bed-1"],"executable":"/t/bed-1","fresh":true}"#;

    #[test]
    fn programs_are_named_by_crate_and_file() {
        let bed = program(MESSAGE).expect("a program");
        assert_eq!(bed.name, "lab/bed");
        assert_eq!(bed.path, Path::new("/t/bed-1"));
        assert_eq!(bed.folder, Path::new("/src/mpps/crates/lab"));
        let units = MESSAGE.replace("tests/bed.rs", "src/lib.rs");
        assert!(program(&units).expect("a program").is_units());
    }

    #[test]
    fn a_crates_warnings_are_found_by_cargos_count() {
        for line in [
            "warning: `mpps-lab` (lib) generated 1 warning (run `cargo fix --lib` to apply 1 suggestion)",
            "warning: `xtask` (bin \"xtask\" test) generated 12 warnings",
        ] {
            assert!(is_of_warnings(line), "{line}");
        }
        assert!(!is_of_warnings("   Compiling mpps-lab v0.1.0"));
    }

    #[test]
    fn a_crates_program_holds_its_files_of_tests() {
        let listed = "bed::a: test\nfib::b: test\nfib::c::d: test\n\n3 tests, 0 benchmarks\n";
        let all: Vec<(&str, String)> = tests(listed).collect();
        let named = [("bed", "bed::a"), ("fib", "fib::b"), ("fib", "fib::c::d")];
        assert_eq!(all, named.map(|(file, test)| (file, test.to_owned())));
    }

    #[test]
    fn no_file_of_tests_is_left_out_of_its_crates_program() {
        let mut files = 0;
        for package in folders(&crate::root().join("crates")) {
            let tests = package.join("tests");
            let Ok(all) = std::fs::read_to_string(tests.join("all.rs")) else {
                continue;
            };
            for file in folders(&tests) {
                let name = file
                    .file_stem()
                    .and_then(|name| name.to_str())
                    .expect("a name");
                let is_test = file.extension().is_some() && name != ALL;
                let named = all.contains(&format!("\nmod {name};"));
                assert!(!is_test || named, "{} is in no program", file.display());
                files += usize::from(is_test);
            }
        }
        assert!(files > 80, "{files}");
    }

    fn folders(of: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(of).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    #[test]
    fn libraries_and_products_are_no_tests() {
        let library = MESSAGE.replace("\"executable\":\"/t/bed-1\"", "\"executable\":null");
        assert_eq!(program(&library), None);
        let product = MESSAGE.replace(
            "\"overflow_checks\":true,\"test\":true},",
            "\"overflow_checks\":true,\"test\":false},",
        );
        assert_eq!(program(&product), None);
    }
}
