//! Where a run was, in one line.

use mpps_record::RunLine;
use mpps_record::facts::Reading;

/// On which machine and kernel, when, and with which version of this program: no plot and no summary is without it.
#[must_use]
pub fn machine_line(run: &RunLine) -> String {
    let facts = &run.facts;
    let named = |fact: &Reading<String>, otherwise: &str| {
        let known = fact.known().filter(|text| !text.is_empty());
        known.map_or(otherwise, String::as_str).to_owned()
    };
    let below = match (facts.platform.hypervisor.known(), facts.hypervisor.known()) {
        (Some(name), _) => format!("hypervisor {name}"),
        (None, Some(true)) => "a hypervisor".to_owned(),
        (None, Some(false)) => "no hypervisor".to_owned(),
        (None, None) => "hypervisor unknown".to_owned(),
    };
    format!(
        "{}, {below}, Linux {}, {}, mpps {}",
        named(&facts.cpu_model, "CPU unknown"),
        named(&facts.kernel_release, "unknown"),
        run.begun_utc,
        run.tool_version
    )
}

/// A command as a shell takes it.
#[must_use]
pub fn command(run: &RunLine) -> String {
    let words = run
        .arguments
        .iter()
        .map(|word| format!(" {}", quoted(word)));
    format!("mpps{}", words.collect::<String>())
}

/// A word of it.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:%+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
