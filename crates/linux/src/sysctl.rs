//! Kernel parameters below /proc/sys, by their dotted names.
//!
//! Parameters of `net.` belong to a network namespace: the one of the calling thread (the kernel
//! looks the table up with the caller's namespaces at each access; `fs/proc/proc_sysctl.c`).

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::netns;

/// The value of a parameter, without the final newline: `read("net.ipv4.ip_forward")` -> `"0"`.
///
/// A name holding a `/` is taken as a path below /proc/sys instead, for interface names that hold
/// a dot (`net/ipv4/conf/eth0.5/forwarding`).
///
/// # Errors
/// No such parameter in this namespace (ENOENT), or no right to read it.
pub fn read(name: &str) -> Result<String> {
    let text = std::fs::read_to_string(path(name)?)
        .map_err(|e| Error::from_io("read sysctl", object(name), &e))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// Sets a parameter; the name as for [`read`].
///
/// # Errors
/// No such parameter, no right, or a value the kernel refuses (EINVAL).
pub fn write(name: &str, value: &str) -> Result<()> {
    std::fs::write(path(name)?, value)
        .map_err(|e| Error::from_io("write sysctl", format!("{}={value}", object(name)), &e))
}

/// Whether the parameter exists in the calling thread's namespace.
#[must_use]
pub fn exists(name: &str) -> bool {
    path(name).is_ok_and(|p| p.exists())
}

fn object(name: &str) -> String {
    format!("{name}{}", netns::place())
}

fn path(name: &str) -> Result<PathBuf> {
    let relative = if name.contains('/') {
        name.to_owned()
    } else {
        name.replace('.', "/")
    };
    let escapes = relative.starts_with('/')
        || relative
            .split('/')
            .any(|part| part.is_empty() || part == "." || part == "..");
    if escapes {
        return Err(
            Error::from_text("name sysctl", format!("`{name}`"), "not a parameter name")
                .with_remedy("write it as net.ipv4.ip_forward"),
        );
    }
    Ok(PathBuf::from("/proc/sys").join(relative))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_slashes_unless_there_are_slashes() {
        assert_eq!(
            path("net.ipv4.conf.mB.forwarding").unwrap(),
            PathBuf::from("/proc/sys/net/ipv4/conf/mB/forwarding")
        );
        assert_eq!(
            path("net/ipv4/conf/eth0.5/forwarding").unwrap(),
            PathBuf::from("/proc/sys/net/ipv4/conf/eth0.5/forwarding")
        );
    }

    #[test]
    fn a_name_cannot_leave_proc_sys() {
        for bad in [
            "",
            "/etc/passwd",
            "../etc/passwd",
            "net..ipv4",
            "net/../../etc",
        ] {
            assert!(path(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn reading_gives_the_bare_value_and_a_missing_one_is_said() {
        assert_eq!(read("kernel.ostype").unwrap(), "Linux");
        let error = read("kernel.no_such_parameter").unwrap_err();
        assert!(error.is_missing());
        assert!(
            error
                .to_string()
                .starts_with("read sysctl kernel.no_such_parameter: ENOENT")
        );
    }
}
