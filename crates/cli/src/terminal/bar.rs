//! A live line on stderr.

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// A live line of this form on stderr, gone with its value; nothing where stderr is no terminal. It is drawn when it is
/// updated and never by a thread, which would take a CPU in the middle of a trial.
pub fn live(quiet: bool, form: &str) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::no_length()
        .with_style(style.progress_chars("=> "))
        .with_finish(ProgressFinish::AndClear)
}

/// How far something has come that is no trial: of `total`, where that is known.
pub fn bar(what: impl Into<String>, total: Option<u64>, quiet: bool) -> ProgressBar {
    let bar = live(quiet, "{prefix} [{bar:30}] {percent:>3} % {msg}").with_prefix(what.into());
    if let Some(total) = total {
        bar.set_length(total);
    }
    bar
}
