//! `cargo xtask dist`: a Debian package and an archive of the last commit, and their checksums. The same commit gives
//! the same octets in whatever folder the same compilers build it. `--check` builds it twice, and tries the package
//! and what `cargo install` gives.
//!
//! Debian's own programs pack both, so no crate is needed for it; a script starts them.
use crate::failure::Failure;
use crate::install;
use crate::privilege::Privilege;
use std::path::Path;
use std::process::{Command, ExitCode};

const PACK: &str = include_str!("dist/pack.sh");
const TRY: &str = include_str!("dist/try.sh");
const INSTALL: &str = include_str!("dist/install.sh");

/// Makes what people install, and with `--check` makes it again elsewhere and tries it.
pub fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let check = match words[..] {
        [] => false,
        ["--check"] => true,
        _ => {
            return Err(Failure::new(
                "dist takes --check or nothing (`cargo xtask help`)",
            ));
        }
    };
    install::for_packing()?;
    let folder = crate::root().join("target/dist");
    let builds = crate::root().join("target/dist-build");
    let sums = pack(&folder, &builds.join("first"))?;
    print!("{sums}");
    if !check {
        return Ok(ExitCode::SUCCESS);
    }
    let elsewhere = builds.join("another/place");
    let _ = std::fs::remove_dir_all(&elsewhere);
    let again = pack(&elsewhere, &elsewhere.join("b"))?;
    if again != sums {
        println!("{again}xtask: two builds of one commit differ");
        return Ok(ExitCode::from(1));
    }
    println!("xtask: a second build, in another folder, gave the same octets");
    let packed = [".deb", ".tar.gz"].map(|end| made(&sums, end));
    let [Some(package), Some(archive)] = packed.map(|name| Some(folder.join(name?))) else {
        return Err(Failure::new("no package or no archive was made"));
    };
    match Privilege::here().command("bash") {
        Some(bash) => script(bash, TRY, &[&package, &archive, &builds.join("root")])?,
        None => println!("SKIP: not root and no sudo here: the package was not installed"),
    }
    script(
        Command::new("bash"),
        INSTALL,
        &[crate::root(), &builds.join("installed")],
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Builds and packs in `folder`; what is made, and the checksums, lie in `to` then.
fn pack(to: &Path, folder: &Path) -> Result<String, Failure> {
    script(Command::new("bash"), PACK, &[crate::root(), folder, to])?;
    let sums = to.join("SHA256SUMS");
    std::fs::read_to_string(&sums)
        .map_err(|error| Failure::new(format!("read {}: {error}", sums.display())))
}

/// Runs a script, which stops at its first error.
fn script(mut bash: Command, text: &str, arguments: &[&Path]) -> Result<(), Failure> {
    bash.args(["-euo", "pipefail", "-c", text, "dist"]);
    let status = bash.args(arguments).status();
    match status.map_err(|error| Failure::new(format!("run bash: {error}")))? {
        status if status.success() => Ok(()),
        status => Err(Failure::new(format!(
            "dist ended with {status}; what stopped it stands above"
        ))),
    }
}

/// The file whose name ends so among the checksums.
fn made<'a>(sums: &'a str, end: &str) -> Option<&'a str> {
    let mut words = sums.split_whitespace();
    words.find(|word| word.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_among_the_checksums() {
        let sums = "00  mpps-1-linux-amd64.tar.gz\n01  mpps_1_amd64.deb\n";
        assert_eq!(made(sums, ".deb"), Some("mpps_1_amd64.deb"));
        assert_eq!(made(sums, ".tar.gz"), Some("mpps-1-linux-amd64.tar.gz"));
        assert_eq!(made("00  x.tar.gz\n", ".deb"), None);
    }

    #[test]
    fn a_script_stops_at_its_first_error() {
        let stops = |text| script(Command::new("bash"), text, &[]).is_err();
        assert!(stops("false | cat; true"));
        assert!(stops("echo $absent"));
        assert!(!stops("true"));
    }
}
