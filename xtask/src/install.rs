//! Installs what is missing with apt-get, quietly, after saying what and why.
use crate::failure::Failure;
use crate::needs::{self, Need, Places};
use crate::privilege::Privilege;
use std::path::Path;
use std::process::{Command, Stdio};

/// Installs what building needs.
pub fn for_building() -> Result<(), Failure> {
    install(&Places::here().missing(needs::BUILD))
}

/// Installs what building and testing need.
pub fn everything() -> Result<(), Failure> {
    let places = Places::here();
    let mut missing = places.missing(needs::BUILD);
    missing.extend(places.missing(needs::TEST));
    install(&missing)?;
    if let Err(failure) = install(&places.missing(needs::PAGE)) {
        eprintln!("xtask: {failure}; the tests in a browser will be skipped");
    }
    toolchain_components();
    other_system();
    Ok(())
}

/// Installs what booting another kernel needs.
pub fn for_emulation() -> Result<(), Failure> {
    everything()?;
    install(&Places::here().missing(needs::EMULATION))
}

/// Installs what building and packing need.
pub fn for_packing() -> Result<(), Failure> {
    for_building()?;
    install(&Places::here().missing(needs::PACKING))
}

/// Installs these packages.
fn install(missing: &[Need]) -> Result<(), Failure> {
    if missing.is_empty() {
        return Ok(());
    }
    for need in missing {
        eprintln!("xtask: installing {} ({})", need.package, need.why);
    }
    let names: Vec<&str> = missing.iter().map(|need| need.package).collect();
    let apt = Apt::here(&names)?;
    if no_package_lists(Path::new("/var/lib/apt/lists")) {
        apt.update()?;
        return apt.install();
    }
    // Lists that are there may be stale: packages they name can be gone from the mirror. One fresh look, then give up.
    apt.install().or_else(|_| {
        apt.update()?;
        apt.install()
    })
}

/// A way to run apt-get for these packages.
struct Apt<'a> {
    able: Privilege,
    names: &'a [&'a str],
}

impl<'a> Apt<'a> {
    fn here(names: &'a [&'a str]) -> Result<Apt<'a>, Failure> {
        let list = names.join(" ");
        if needs::find_program("apt-get").is_none() {
            return Err(Failure::new(format!(
                "missing: {list} (Debian's names), and there is no apt-get here; install their likes by this system's own means and start again"
            )));
        }
        match Privilege::here() {
            Privilege::None => Err(Failure::new(format!(
                "missing: {list}; not root and no sudo here; as root: apt-get install {list}"
            ))),
            able => Ok(Apt { able, names }),
        }
    }

    fn update(&self) -> Result<(), Failure> {
        self.run(&["update"])
    }

    fn install(&self) -> Result<(), Failure> {
        let mut arguments = vec!["install", "-y", "--no-install-recommends"];
        arguments.extend(self.names);
        self.run(&arguments)
    }

    /// Quiet while it works; the last thing apt-get said on stderr is shown when it fails. stdin stays: sudo may ask.
    fn run(&self, arguments: &[&str]) -> Result<(), Failure> {
        let list = self.names.join(" ");
        let failed = |why: &str| {
            let what = arguments.first().unwrap_or(&"");
            Failure::new(format!(
                "missing: {list}; apt-get {what} failed: {why}; as root: apt-get install {list}"
            ))
        };
        let Some(mut command) = self.able.command("env") else {
            return Err(failed("not root"));
        };
        // Another apt run (unattended upgrades on a machine just started) is waited for, not stumbled over.
        command.args([
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "-qq",
            "-o",
            "DPkg::Lock::Timeout=120",
        ]);
        command
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let output = command.spawn().and_then(|child| child.wait_with_output());
        let output = output.map_err(|error| failed(&error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        Err(failed(last.unwrap_or("it said nothing").trim()))
    }
}

/// True when apt has never fetched its lists, as in a fresh container image.
fn no_package_lists(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return true;
    };
    !entries
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().contains("_Packages"))
}

/// rustfmt and clippy, which rustup's minimal profile leaves out. Without rustup nothing is done: the checks then say so.
fn toolchain_components() {
    for (component, verb) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if !has_cargo_verb(verb) && needs::find_program("rustup").is_some() {
            eprintln!("xtask: installing {component} (a check of `cargo xtask test`)");
            if !quietly("rustup", &["component", "add", component]) {
                eprintln!("xtask: rustup could not add {component}; its check will be skipped");
            }
        }
    }
}

/// A system other than Linux, for which the program that only reads records is checked.
pub const OTHER_SYSTEM: &str = "x86_64-pc-windows-gnu";

/// Rust's library for it. Without rustup nothing is done: the check then says so.
fn other_system() {
    if has_other_system() || needs::find_program("rustup").is_none() {
        return;
    }
    eprintln!(
        "xtask: installing Rust's library for {OTHER_SYSTEM} (a check of `cargo xtask test`)"
    );
    let added = quietly("rustup", &["target", "add", OTHER_SYSTEM]);
    if !added || !quietly("cargo", &["fetch", "--locked", "--target", OTHER_SYSTEM]) {
        eprintln!("xtask: it or crates for it could not be fetched; the check will be skipped");
    }
}

/// True when the compiler has its library for that system, and cargo has the crates.
pub fn has_other_system() -> bool {
    let asked = ["--print", "target-libdir", "--target", OTHER_SYSTEM];
    let Ok(told) = Command::new("rustc").args(asked).output() else {
        return false;
    };
    let folder = String::from_utf8_lossy(&told.stdout);
    let fetch = ["fetch", "--locked", "--offline", "--target", OTHER_SYSTEM];
    Path::new(folder.trim()).is_dir() && quietly("cargo", &fetch)
}

/// Whether a program ends well. It shows nothing.
fn quietly(program: &str, arguments: &[&str]) -> bool {
    let ended = Command::new(program).args(arguments).output();
    ended.is_ok_and(|output| output.status.success())
}

/// True when `cargo VERB` works.
pub fn has_cargo_verb(verb: &str) -> bool {
    quietly("cargo", &[verb, "--version"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_absent_until_one_is_there() {
        let folder = std::env::temp_dir().join(format!("xtask-lists-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        assert!(no_package_lists(&folder));
        std::fs::create_dir_all(folder.join("partial")).expect("a folder");
        assert!(no_package_lists(&folder));
        std::fs::write(
            folder.join("deb.example_dists_stable_main_binary-amd64_Packages.lz4"),
            "",
        )
        .expect("a file");
        assert!(!no_package_lists(&folder));
        std::fs::remove_dir_all(&folder).expect("our own folder");
    }

    #[test]
    fn nothing_missing_asks_nobody() {
        assert!(install(&[]).is_ok());
    }
}
