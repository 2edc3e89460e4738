//! The workshop: set-up, run, test, tidy. Standard library only, so that `cargo xtask` builds on a machine
//! that has a Rust toolchain and nothing else yet. It installs what is missing, says what, and starts the real thing.
#![forbid(unsafe_code)]

mod check;
mod dist;
mod failure;
mod install;
mod kernel;
mod measure;
mod needs;
mod privilege;
mod programs;
mod retry;
mod suite;
mod tally;
mod tidy;

use failure::Failure;
use std::process::ExitCode;

/// The verbs; tidy holds the README's commands against the first words of these lines.
pub const VERBS: &str = "\
  throughput [ARGS...]   install what is missing, build, measure this machine's kernel router (mpps throughput ARGS)
  run -- ARGS...         install what is missing, build, run any verb of mpps
  test [--quick]         install what is missing, run every check and every test; with --quick the format, the house
                         rules and the unit tests alone: no rights, no bed, nothing installed, within a minute
  tidy                   check the house rules only
  kernel [debian12|debian13|debian13-amd64] [--cpus N] [--run LINE]... [-- TEST...]
                         run the tests that judge a kernel on a Debian release's own, in an emulated machine (no rates);
                         with --run a command in its shell instead, as 'mpps throughput --frame 64'
  dist [--check]         pack the last commit: a Debian package and an archive in target/dist, the same octets each time;
                         with --check it is built twice and compared; the package and cargo install are tried
  setup                  install what building and testing needs, nothing else
  help                   this text";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let (verb, rest) = match arguments.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("help", arguments),
    };
    match verb {
        "throughput" => measure::throughput(rest),
        "run" => measure::run(rest),
        "test" => check::test(rest),
        "tidy" => tidy::check(),
        "kernel" => kernel::run(rest),
        "dist" => dist::run(rest),
        "setup" => install::everything().map(|()| ExitCode::SUCCESS),
        "help" | "--help" | "-h" => {
            println!("cargo xtask VERB\n\n{VERBS}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(Failure::new(format!(
            "no verb '{other}' (`cargo xtask help` lists them)"
        ))),
    }
}

/// The repository's root folder: the parent of this crate's own.
pub fn root() -> &'static std::path::Path {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}
