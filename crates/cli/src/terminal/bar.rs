//! How far something has come, on one line of the terminal that is written over and over.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

/// Between two drawings: often enough to look alive, seldom enough to cost nothing.
const EVERY: Duration = Duration::from_millis(100);
/// Cells of the bar.
const CELLS: usize = 30;

/// A bar on stderr; invisible where stderr is no terminal.
pub struct Bar {
    what: String,
    shown: bool,
    drawn: Option<Instant>,
    begun: Instant,
}

impl Bar {
    /// For this job; nothing is drawn before it has taken a while.
    #[must_use]
    pub fn new(what: impl Into<String>, quiet: bool) -> Self {
        Self {
            what: what.into(),
            shown: !quiet && std::io::stderr().is_terminal(),
            drawn: None,
            begun: Instant::now(),
        }
    }

    /// Draws, if it is time to: so much of so much, and a word on it.
    pub fn update(&mut self, done: u64, total: Option<u64>, word: &str) {
        let since = self.drawn.unwrap_or(self.begun);
        if !self.shown || since.elapsed() < EVERY {
            return;
        }
        self.drawn = Some(Instant::now());
        let line = line(&self.what, done, total, word);
        // \r and "erase to the end of the line" (ECMA-48 EL): the cursor stays on this line.
        let _ = write!(std::io::stderr().lock(), "\r{line}\x1b[K");
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

fn line(what: &str, done: u64, total: Option<u64>, word: &str) -> String {
    let mut line = format!("{what} ");
    if let Some(total) = total.filter(|&total| total > 0) {
        let share = (done as f64 / total as f64).min(1.0);
        let full = (share * CELLS as f64) as usize;
        let _ = write!(
            line,
            "[{}{}] {:3.0} % ",
            "=".repeat(full),
            " ".repeat(CELLS - full),
            share * 100.0
        );
    }
    line + word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_the_share_where_there_is_one() {
        assert_eq!(
            line("rib.bz2", 50, Some(100), "7 prefixes"),
            "rib.bz2 [===============               ]  50 % 7 prefixes"
        );
        assert!(line("x", 200, Some(100), "").contains("] 100 %"));
        assert_eq!(line("-", 50, None, "7 prefixes"), "- 7 prefixes");
        assert_eq!(line("x", 0, Some(0), "y"), "x y");
    }
}
