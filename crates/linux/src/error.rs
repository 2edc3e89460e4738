//! The one error of this crate: operation, object, cause, remedy.

use std::io;

use nix::errno::Errno;

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// A request the kernel refused, or could not be understood.
///
/// Displays as one line, for instance
/// `set link up mB in netns mpps-3f2a-dut: EPERM (needs CAP_NET_ADMIN; run as root)`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{operation} {object}: {cause}{}", in_brackets(remedy.as_deref()))]
pub struct Error {
    /// What was asked, as a verb phrase: `set link up`.
    pub operation: String,
    /// What it was asked of: `mB in netns mpps-3f2a-dut`.
    pub object: String,
    /// Why it failed.
    pub cause: Cause,
    /// What the reader can do about it, if that is known.
    pub remedy: Option<String>,
}

/// Why an operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The kernel's error number (`errno(3)`), positive, and its own words where it gave any
    /// (netlink extended acknowledgement).
    #[error("{}{}", symbol(*number), after_comma(kernel_says.as_deref()))]
    Errno {
        /// Positive error number.
        number: i32,
        /// The kernel's explanation, if it sent one.
        kernel_says: Option<String>,
    },
    /// Anything that has no error number, such as text that could not be parsed.
    #[error("{0}")]
    Text(String),
}

impl Error {
    /// An error from an error number (positive).
    #[must_use]
    pub fn from_errno(
        operation: impl Into<String>,
        object: impl Into<String>,
        number: i32,
    ) -> Self {
        Self {
            operation: operation.into(),
            object: object.into(),
            cause: Cause::Errno {
                number,
                kernel_says: None,
            },
            remedy: default_remedy(number).map(str::to_owned),
        }
    }

    /// An error from the calling thread's `errno`, to be called right after the failed call.
    #[must_use]
    pub fn last(operation: impl Into<String>, object: impl Into<String>) -> Self {
        Self::from_errno(operation, object, Errno::last_raw())
    }

    /// An error from a standard library I/O error.
    #[must_use]
    pub fn from_io(
        operation: impl Into<String>,
        object: impl Into<String>,
        source: &io::Error,
    ) -> Self {
        match source.raw_os_error() {
            Some(number) => Self::from_errno(operation, object, number),
            None => Self::from_text(operation, object, source.to_string()),
        }
    }

    /// An error that has words but no error number.
    #[must_use]
    pub fn from_text(
        operation: impl Into<String>,
        object: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            operation: operation.into(),
            object: object.into(),
            cause: Cause::Text(text.into()),
            remedy: None,
        }
    }

    /// The same error with this remedy instead of the default one.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The same error with the kernel's own explanation.
    #[must_use]
    pub(crate) fn with_kernel_words(mut self, words: Option<String>) -> Self {
        if let Cause::Errno { kernel_says, .. } = &mut self.cause {
            *kernel_says = words;
        }
        self
    }

    /// The error number, where there is one.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self.cause {
            Cause::Errno { number, .. } => Some(number),
            Cause::Text(_) => None,
        }
    }

    /// Whether nobody without the right may ask (EPERM, EACCES).
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self.errno(), Some(libc::EPERM | libc::EACCES))
    }

    /// Whether the object asked about does not exist (ENOENT, ENODEV, ESRCH, ENXIO).
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(
            self.errno(),
            Some(libc::ENOENT | libc::ENODEV | libc::ESRCH | libc::ENXIO)
        )
    }
}

fn in_brackets(remedy: Option<&str>) -> String {
    remedy.map_or_else(String::new, |remedy| format!(" ({remedy})"))
}

/// The symbolic name of an error number (EPERM): what a reader can search for.
fn symbol(number: i32) -> String {
    match Errno::from_raw(number) {
        Errno::UnknownErrno => format!("errno {number}"),
        known => format!("{known:?}"),
    }
}

fn after_comma(words: Option<&str>) -> String {
    words.map_or_else(String::new, |words| format!(", the kernel says: {words}"))
}

/// What almost always helps against this error number, whatever was asked.
fn default_remedy(number: i32) -> Option<&'static str> {
    match number {
        libc::EPERM | libc::EACCES => Some("needs CAP_NET_ADMIN and CAP_SYS_ADMIN; run as root"),
        libc::EMFILE => Some("too many open files; raise `ulimit -n`"),
        libc::ENOMEM => Some("the kernel is out of memory; ask for smaller rings or fewer objects"),
        libc::ENOSYS => Some("this kernel has no such system call; use Linux 5.18 or newer"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_operation_object_cause_and_remedy() {
        let error = Error::from_errno("set link up", "mB in netns mpps-3f2a-dut", libc::EPERM)
            .with_remedy("needs CAP_NET_ADMIN; run as root");
        assert_eq!(
            error.to_string(),
            "set link up mB in netns mpps-3f2a-dut: EPERM (needs CAP_NET_ADMIN; run as root)"
        );
    }

    #[test]
    fn the_kernels_words_follow_the_number() {
        let error = Error::from_errno("add route", "10.0.0.0/8", libc::EINVAL)
            .with_kernel_words(Some("Nexthop has invalid gateway".into()));
        assert_eq!(
            error.to_string(),
            "add route 10.0.0.0/8: EINVAL, the kernel says: Nexthop has invalid gateway"
        );
    }

    #[test]
    fn an_error_without_a_number_says_its_text() {
        let error = Error::from_text("parse CPU list", "`3-1`", "range runs backwards");
        assert_eq!(
            error.to_string(),
            "parse CPU list `3-1`: range runs backwards"
        );
        assert_eq!(error.errno(), None);
        assert!(!error.is_missing());
    }

    #[test]
    fn missing_objects_are_told_apart_from_refusals() {
        assert!(Error::from_errno("open", "x", libc::ENOENT).is_missing());
        assert!(!Error::from_errno("open", "x", libc::EPERM).is_missing());
    }
}
