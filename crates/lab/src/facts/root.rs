//! Files of a machine, below a root.

use mpps_record::facts::Reading;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where a machine's files are: this one's, or a tree that looks like one.
#[derive(Clone, Debug)]
pub struct Root {
    base: PathBuf,
    /// The sysfs that shows the interfaces, if another: each network namespace has one of its own.
    sys: Option<PathBuf>,
}

impl Root {
    /// This machine.
    #[must_use]
    pub fn here() -> Self {
        Self::at(Path::new("/"))
    }

    /// A tree that holds proc, sys, boot and lib.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self {
            base: path.to_owned(),
            sys: None,
        }
    }

    /// This machine with the interfaces of another sysfs, such as [`mpps_linux::netns::NetNs::with_sysfs`] shows.
    #[must_use]
    pub fn with_sysfs(sys: &Path) -> Self {
        Self {
            sys: Some(sys.to_owned()),
            ..Self::here()
        }
    }

    /// A file's place, from its usual absolute path.
    ///
    /// Only interfaces are looked up in another sysfs: nothing is mounted in it, neither debugfs nor selinuxfs.
    #[must_use]
    pub fn path(&self, usual: &str) -> PathBuf {
        let net = usual.strip_prefix("/sys/class/net");
        match (
            &self.sys,
            net.filter(|rest| rest.is_empty() || rest.starts_with('/')),
        ) {
            (Some(sys), Some(rest)) => sys.join(format!("class/net{rest}")),
            _ => self.base.join(usual.trim_start_matches('/')),
        }
    }

    /// A file's text without blanks around.
    #[must_use]
    pub fn text(&self, usual: &str) -> Reading<String> {
        let read = fs::read(self.path(usual));
        // What is not UTF-8 is shown as far as it is.
        let text = read.map(|octets| String::from_utf8_lossy(&octets).trim().to_owned());
        text.map_or_else(|error| refused(usual, &error), Reading::Known)
    }

    /// A file's one number, of any kind.
    #[must_use]
    pub fn number<T: std::str::FromStr>(&self, usual: &str) -> Reading<T> {
        let why = |text: &String| format!("{usual}: \"{}\" is no such number", shortened(text));
        self.text(usual).find(|text| text.parse().ok(), why)
    }

    /// Names in a folder, in order.
    #[must_use]
    pub fn names(&self, usual: &str) -> Reading<Vec<String>> {
        let names = fs::read_dir(self.path(usual)).map(|entries| {
            let mut names: Vec<String> = entries
                .flatten()
                .filter_map(|entry| entry.file_name().into_string().ok())
                .collect();
            names.sort();
            names
        });
        names.map_or_else(|error| refused(usual, &error), Reading::Known)
    }

    /// Numbers in names such as `cpu0`, `node1`: of those that begin with `prefix`, rising.
    #[must_use]
    pub fn numbered(&self, usual: &str, prefix: &str) -> Reading<Vec<usize>> {
        self.names(usual).map(|names| {
            let mut numbers: Vec<usize> = names
                .iter()
                .filter_map(|name| name.strip_prefix(prefix)?.parse().ok())
                .collect();
            numbers.sort_unstable();
            numbers
        })
    }
}

fn refused<T>(usual: &str, error: &io::Error) -> Reading<T> {
    Reading::unreadable(format!("{usual}: {}", why_refused(error)))
}

/// In words for people.
pub(super) fn why_refused(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "not there".to_owned(),
        io::ErrorKind::PermissionDenied => "needs root".to_owned(),
        _ => error.to_string(),
    }
}

/// So much of a text that a line of it can be shown.
pub(super) fn shortened(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(60)
        .collect()
}

/// The value of the first of `keys` that a `key : value` text has.
pub(super) fn first_value(text: &str, keys: &[&str]) -> Option<String> {
    let value_of = |key: &&str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == *key).then(|| value.trim().to_owned())
        })
    };
    keys.iter().find_map(value_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_says_where_and_why() {
        let root = Root::at(Path::new("/nowhere/at/all"));
        assert_eq!(
            root.text("/proc/version").why(),
            Some("/proc/version: not there")
        );
        assert_eq!(
            root.names("/sys/class/net").why(),
            Some("/sys/class/net: not there")
        );
        let here = Root::here();
        assert_eq!(
            here.number::<u32>("/proc/sys/kernel/ostype").why(),
            Some("/proc/sys/kernel/ostype: \"Linux\" is no such number")
        );
        assert!(
            here.text("/proc")
                .why()
                .is_some_and(|why| why.starts_with("/proc: "))
        );
    }

    #[test]
    fn only_interfaces_are_of_another_sysfs() {
        let planted = crate::facts::tests::planted::Planted::new(
            "sysfs",
            &[
                ("/sys/fs/selinux/enforce", "1\n"),
                ("/sys/class/net/host0/mtu", "1500\n"),
                ("/other/class/net/own0/mtu", "9000\n"),
            ],
        );
        let root = Root {
            sys: Some(planted.root().path("/other")),
            ..planted.root()
        };
        let known = |text: &str| Reading::Known(text.to_owned());
        assert_eq!(root.text("/sys/fs/selinux/enforce"), known("1"));
        assert_eq!(root.text("/sys/class/net/own0/mtu"), known("9000"));
        let names = root.names("/sys/class/net");
        assert_eq!(names, Reading::Known(vec!["own0".to_owned()]));
    }

    #[test]
    fn a_value_is_found_by_the_first_key_there_is() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n";
        assert_eq!(
            first_value(text, &["CPU part", "model name"]).as_deref(),
            Some("Some CPU @ 2 GHz")
        );
        assert_eq!(first_value(text, &["model"]), None);
        assert_eq!(first_value("", &["model name"]), None);
    }
}
