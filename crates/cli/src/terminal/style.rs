//! Colour, where a terminal shows it and NO_COLOR is unset.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// Loss.
pub const LOSSY: Style = AnsiColor::Red.on_default();
/// What says nothing of the router.
pub const VOID: Style = Style::new().dimmed();

/// Text for stdout in bold; each line by itself, so that a pager keeps it.
pub fn bold(text: &str) -> String {
    painted(Style::new().bold(), text)
}

/// The same in any style.
pub fn painted(style: Style, text: &str) -> String {
    if AutoStream::choice(&std::io::stdout()) == ColorChoice::Never {
        return text.to_owned();
    }
    let line = |line: &str| format!("{style}{line}{style:#}\n");
    text.lines().map(line).collect()
}

/// Whether stderr shows colour.
pub fn on_stderr() -> bool {
    AutoStream::choice(&std::io::stderr()) != ColorChoice::Never
}
