//! `cargo xtask kernel`: the tests that say whether a kernel will do, or any command, on a Debian release's own kernel in
//! an emulated machine. Correctness, not rates: an emulated machine has none worth telling.
mod boot;
mod guest;
mod package;
mod programs;
mod steps;

use crate::failure::Failure;
use crate::install;
use std::path::Path;
use std::process::{Command, ExitCode};

/// A kernel that can be fetched: its word here, Debian's name of the release, and the package that names it. The one of the
/// cloud is for virtual machines: the same source as the usual one, fewer drivers.
const RELEASES: [(&str, &str, &str); 3] = [
    ("debian12", "bookworm", "linux-image-cloud-amd64"),
    ("debian13", "trixie", "linux-image-cloud-amd64"),
    ("debian13-amd64", "trixie", "linux-image-amd64"),
];
/// CPUs where nobody says how many: as the smallest machine that gives tester and DUT one of their own.
const CPUS: usize = 2;
const CPUS_MAX: usize = 16;

/// What is wanted: a kernel, a machine, which of the steps, and commands instead of them.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    word: &'static str,
    suite: &'static str,
    package: &'static str,
    cpus: usize,
    tests: Vec<String>,
    /// Lines for the guest's shell.
    commands: Vec<String>,
}

/// Fetches the kernel, packs the machine's memory, boots it, and reads what it says.
pub fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let request = Request::read(arguments)?;
    let steps = request.steps();
    install::for_emulation()?;
    let folder = crate::root().join("target/kernel").join(request.word);
    let kernel = package::fetch(request.suite, request.package, &folder)?;
    eprintln!(
        "xtask: Linux {} on {} emulated CPUs; about an hour for all tests; rates measured here mean nothing",
        kernel.release, request.cpus
    );
    let built = programs::build(&steps)?;
    go_through(&steps::lines(&steps, &request.commands), |script, said| {
        let memory = guest::pack(&kernel, &built, script, &folder)?;
        boot::boot(&kernel.image, &memory, request.cpus, said)
    })
}

/// Boots until a guest came to its end. One that was lost on the way is followed by another, which begins where it was.
fn go_through(
    lines: &[String],
    mut boot: impl FnMut(&str, &mut boot::Said) -> Result<boot::End, Failure>,
) -> Result<ExitCode, Failure> {
    let (mut from, mut said, mut lost) = (0, boot::Said::default(), None);
    loop {
        let rest = lines.get(from..).unwrap_or_default();
        said.begin();
        let how = match boot(&rest.concat(), &mut said)? {
            boot::End::Over => return said.judge(),
            boot::End::Lost(how) => how,
        };
        from += said.done();
        let place = said.place();
        // Once is the emulator's doing (docs/kernels.md, "Tried on"); twice at one place is not.
        if lost == Some(from) || from >= lines.len() {
            return Err(Failure::new(format!("{how} {place}")));
        }
        println!("xtask: {how} {place}: another guest goes on from there");
        lost = Some(from);
    }
}

impl Request {
    fn read(arguments: &[String]) -> Result<Request, Failure> {
        let split = arguments.iter().position(|word| word == "--");
        let (own, tests) = match split {
            Some(at) => (&arguments[..at], &arguments[at + 1..]),
            None => (arguments, &[][..]),
        };
        let (mut release, mut cpus, mut commands) = (RELEASES[0], CPUS, Vec::new());
        let mut words = own.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--cpus" => cpus = count_of_cpus(words.next())?,
                "--run" => commands.push(command(words.next())?),
                word => release = known_release(word)?,
            }
        }
        let (word, suite, package) = release;
        let request = Request {
            word,
            suite,
            package,
            cpus,
            tests: tests.to_vec(),
            commands,
        };
        request.check()?;
        Ok(request)
    }

    fn check(&self) -> Result<(), Failure> {
        let known = |name: &&String| steps::all().any(|step| step.test == **name);
        if let Some(stranger) = self.tests.iter().find(|name| !known(name)) {
            let names: Vec<_> = steps::all().map(|step| step.test).collect();
            let names = names.join(", ");
            return Err(Failure::new(format!(
                "kernel: no test '{stranger}' for it; these are: {names}"
            )));
        }
        if self.steps().is_empty() && self.commands.is_empty() {
            let cpus = self.cpus;
            return Err(Failure::new(format!(
                "kernel: none of these tests is for a machine of {cpus} CPUs"
            )));
        }
        Ok(())
    }

    /// The tests asked for; all of them where nothing was.
    fn steps(&self) -> Vec<steps::Step> {
        if self.tests.is_empty() && !self.commands.is_empty() {
            return Vec::new();
        }
        steps::chosen(self.cpus, &self.tests)
    }
}

fn count_of_cpus(word: Option<&String>) -> Result<usize, Failure> {
    let count = word.and_then(|count| count.parse().ok());
    count
        .filter(|count| (1..=CPUS_MAX).contains(count))
        .ok_or_else(|| {
            Failure::new(format!(
                "kernel: --cpus wants a number from 1 to {CPUS_MAX}"
            ))
        })
}

/// One line: a second would be a line of the guest's own script.
fn command(word: Option<&String>) -> Result<String, Failure> {
    word.filter(|line| !line.trim().is_empty() && !line.contains('\n'))
        .cloned()
        .ok_or_else(|| {
            Failure::new(
                "kernel: --run wants a line for the guest's shell, as 'mpps throughput --frame 64'",
            )
        })
}

fn known_release(word: &str) -> Result<(&'static str, &'static str, &'static str), Failure> {
    let found = RELEASES.iter().find(|(known, ..)| *known == word);
    found.copied().ok_or_else(|| {
        let known = RELEASES.map(|(word, ..)| word).join(", ");
        Failure::new(format!(
            "kernel: no release '{word}' here; these are: {known}"
        ))
    })
}

/// Runs a program to its end; its last words only when it fails.
fn quietly(command: &mut Command, what: &str) -> Result<String, Failure> {
    let output = command
        .output()
        .map_err(|error| Failure::new(format!("{what}: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Err(Failure::new(format!(
        "{what}: {}",
        last.unwrap_or("it failed and said nothing").trim()
    )))
}

fn make_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path)
        .map_err(|error| Failure::new(format!("make {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(words: &[&str]) -> Result<Request, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Request::read(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn without_a_word_it_is_debian_12_on_two_cpus() {
        let plain = request(&[]).expect("a request");
        assert_eq!((plain.suite, plain.cpus), ("bookworm", 2));
        let all = request(&["debian13", "--cpus", "4", "--", "bed", "trial"]).expect("a request");
        assert_eq!((all.suite, all.cpus), ("trixie", 4));
        assert_eq!(all.tests, ["bed", "trial"]);
        let usual = request(&["debian13-amd64"]).expect("a request");
        assert_eq!(usual.package, "linux-image-amd64");
    }

    #[test]
    fn commands_replace_tests_that_are_not_named() {
        let line = "mpps throughput --frame 64";
        let only =
            request(&["--cpus", "1", "--run", line, "--run", "mpps doctor"]).expect("a request");
        assert_eq!(only.commands, [line, "mpps doctor"]);
        assert_eq!(only.steps().len(), 0);
        let both = request(&["--run", line, "--", "bed"]).expect("a request");
        assert_eq!((both.steps().len(), both.commands.len()), (1, 1));
        for wrong in [&["--run"][..], &["--run", " "], &["--run", "a\nb"]] {
            let line = request(wrong).expect_err("no line");
            assert!(line.contains("--run wants a line"), "{line}");
        }
    }

    /// The first guests end so; the one behind them does all that it is asked for. What came of it, and each guest's script.
    fn booted(ends: &[(usize, &'static str)]) -> (Result<ExitCode, String>, Vec<String>) {
        let lines = ["one\n", "two\n", "three\n"].map(str::to_owned);
        let (mut scripts, mut ends) = (Vec::new(), ends.iter());
        let ended = go_through(&lines, |script, said| {
            scripts.push(script.to_owned());
            let lost = ends.next();
            let done = lost.map_or(script.lines().count(), |(done, _)| *done);
            said.hear(["guest: run begins", "guest: run ended 0"].repeat(done));
            let Some((_, how)) = lost else {
                said.hear(["guest: all ended"]);
                return Ok(boot::End::Over);
            };
            Ok(boot::End::Lost(how))
        });
        (ended.map_err(|failure| failure.to_string()), scripts)
    }

    #[test]
    fn a_lost_guest_is_followed_by_one_more() {
        let panic = "the guest's kernel panicked";
        let (ended, scripts) = booted(&[(1, panic)]);
        assert_eq!(ended, Ok(ExitCode::SUCCESS));
        assert_eq!(scripts, ["one\ntwo\nthree\n", "two\nthree\n"]);
        // At boot; then elsewhere, which is another place.
        let (ended, scripts) = booted(&[(0, panic), (1, panic)]);
        assert_eq!((ended, scripts.len()), (Ok(ExitCode::SUCCESS), 3));
        let (ended, scripts) = booted(&[(1, panic), (0, panic)]);
        assert_eq!(ended, Err(format!("{panic} before its first step")));
        assert_eq!(scripts.len(), 2);
        // Nothing is left to go on with.
        let (ended, scripts) = booted(&[(3, panic)]);
        assert_eq!((ended.is_err(), scripts.len()), (true, 1));
    }

    #[test]
    fn what_is_not_known_is_answered_with_what_is() {
        let line = request(&["debian9"]).expect_err("unknown");
        assert!(line.contains("debian12, debian13"), "{line}");
        let line = request(&["--", "speed"]).expect_err("unknown");
        assert!(line.contains("trial"), "{line}");
        for cpus in [&["--cpus", "0"][..], &["--cpus"], &["--cpus", "many"]] {
            assert!(request(cpus).is_err());
        }
    }
}
