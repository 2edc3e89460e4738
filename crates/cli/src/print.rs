//! Standard output and standard error: results go to the one, everything else to the other.

pub mod wrap;

use std::io::{self, Write};
use std::sync::OnceLock;

pub use wrap::fitted;

/// The first error of standard output. It is kept here and not returned, so that no verb can forget it.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes a result. The program asks [`lost_output`] at its end whether all of it was written.
pub fn out(text: &str) {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes());
    keep_error(written.and_then(|()| stdout.flush()));
}

/// Keeps the error of a write to standard output. A reader who has gone (`| head`) is no error.
pub fn keep_error(written: io::Result<()>) {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => drop(LOST.set(error)),
        _ => {}
    }
}

/// Why a part of the result is not on standard output, if so.
pub fn lost_output() -> Option<&'static io::Error> {
    LOST.get()
}

/// Writes an error: one line, whatever it was made of.
pub fn error(text: &str) {
    note(&format!(
        "mpps: {}",
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    ));
}

/// Writes a line beside the result.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
