//! The running kernel: its release and its boot; and the users it knows: the one of this process, and their homes.

use crate::error::{Error, Result};

/// A kernel release, as in `6.18.44-amd64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// First number: 6.
    pub major: u32,
    /// Second number: 18.
    pub minor: u32,
    /// The whole text as `uname -r` prints it.
    pub text: String,
}

impl Release {
    /// Whether this kernel is `major.minor` or newer.
    #[must_use]
    pub fn at_least(&self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) >= (major, minor)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(|c: char| !c.is_ascii_digit());
        Some(Self {
            major: numbers.next()?.parse().ok()?,
            minor: numbers.next()?.parse().ok()?,
            text: text.to_owned(),
        })
    }
}

/// The running kernel's release (`uname -r`).
///
/// # Errors
/// /proc not mounted, or a release that does not begin with two numbers.
pub fn release() -> Result<Release> {
    let path = "/proc/sys/kernel/osrelease";
    let text = std::fs::read_to_string(path)
        .map_err(|e| Error::from_io("read kernel release", path, &e))?;
    let text = text.trim();
    Release::parse(text)
        .ok_or_else(|| Error::from_text("parse kernel release", format!("`{text}`"), "not N.M..."))
}

/// This boot's random identity (`/proc/sys/kernel/random/boot_id`), 36 characters.
///
/// # Errors
/// /proc not mounted.
pub fn boot_id() -> Result<String> {
    crate::setting::Setting::sysctl("kernel.random.boot_id").read()
}

/// Home of a user as the system's user database has it, whatever `$HOME` says; `None` for an unknown user.
#[must_use]
pub fn home_of(user: u32) -> Option<std::path::PathBuf> {
    let known = nix::unistd::User::from_uid(user.into()).ok()?;
    known.map(|user| user.dir)
}

/// Effective user id of this process; 0 is root.
#[must_use]
pub fn effective_uid() -> u32 {
    nix::unistd::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_compare_by_number() {
        let r = Release::parse("6.18.44-amd64").unwrap();
        assert_eq!((r.major, r.minor), (6, 18));
        assert!(r.at_least(5, 18) && r.at_least(6, 18));
        assert!(!r.at_least(6, 19) && !r.at_least(7, 0));
        assert_eq!(Release::parse("6-rt").map(|r| r.minor), None);
        assert_eq!(Release::parse("linux"), None);
    }

    #[test]
    fn this_machine_has_a_release_and_a_boot() {
        assert!(release().unwrap().major >= 4);
        assert_eq!(boot_id().unwrap().len(), 36);
    }
}
