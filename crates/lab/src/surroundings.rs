//! Prefixes that a table must not take away from the machine it is loaded into: its own networks, and the addresses
//! that users are logged in from.

use ipnet::IpNet;
use mpps_linux::{links, task};
use mpps_tables::ChooseOptions;
use std::ffi::OsStr;
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;

/// The variables by which sshd tells a session where it comes from (ssh(1), ENVIRONMENT); the address is their first
/// word.
const SSH_VARIABLES: [&str; 2] = ["SSH_CONNECTION", "SSH_CLIENT"];

/// Networks and addresses to keep clear of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Networks on the machine's links, and its own addresses.
    pub local: Vec<IpNet>,
    /// Addresses that users are logged in from.
    pub logged_in_from: Vec<IpAddr>,
}

impl Surroundings {
    /// Of the calling thread's network namespace, and of the session this process belongs to.
    ///
    /// # Errors
    /// The kernel does not tell its addresses.
    pub fn here() -> Result<Self, mpps_linux::Error> {
        let mut local = Vec::new();
        for address in links::addresses()? {
            local.push(IpNet::from(address.own));
            local.extend(IpNet::new(address.network, address.prefix_len).map(|net| net.trunc()));
        }
        local.sort_unstable();
        local.dedup();
        Ok(Self {
            local,
            logged_in_from: logged_in_from(),
        })
    }

    /// Has these left out.
    pub fn keep_clear(self, options: &mut ChooseOptions) {
        options.local.extend(self.local);
        options.logged_in_from.extend(self.logged_in_from);
    }
}

/// What our environment says, and that of the processes we come from: sudo takes the variables away, the shell
/// before it has them.
fn logged_in_from() -> Vec<IpAddr> {
    let own = SSH_VARIABLES.iter().filter_map(std::env::var_os);
    let mut found: Vec<IpAddr> = own.filter_map(|value| first_word(&value)).collect();
    let mut pid = task::current_pid();
    // No process has more ancestors than this; the bound also ends a circle.
    for _ in 0..64 {
        let Some(parent) = parent_of(pid).filter(|&parent| parent > 1) else {
            break;
        };
        // Unreadable: another user's process, so not of our session.
        let environment = std::fs::read(format!("/proc/{parent}/environ")).unwrap_or_default();
        found.extend(in_environment(&environment));
        pid = parent;
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn parent_of(pid: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

/// Addresses in an environment as /proc shows it: `NAME=value`, each ended by a zero octet.
fn in_environment(environment: &[u8]) -> Vec<IpAddr> {
    let variables = environment.split(|&octet| octet == 0);
    let values = variables.filter_map(|variable| {
        let at = variable.iter().position(|&octet| octet == b'=')?;
        let (name, value) = (variable.get(..at)?, variable.get(at + 1..)?);
        let wanted = SSH_VARIABLES.iter().any(|wanted| wanted.as_bytes() == name);
        wanted.then(|| first_word(OsStr::from_bytes(value)))?
    });
    values.collect()
}

fn first_word(value: &OsStr) -> Option<IpAddr> {
    let word = value.to_str()?.split_whitespace().next()?;
    // A link-local address comes with its link: fe80::1%eth0.
    word.split('%').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_says_where_the_session_comes_from() {
        let environment =
            b"HOME=/\0SSH_CLIENT=192.0.2.7 50000 22\0PATH=x\0SSH_CONNECTION=2001:db8::9 1 ::1 22\0\
            MY_SSH_CLIENT=192.0.2.8 1 2\0SSH_CONNECTION=\0SSH_TTY=/dev/pts/0\0";
        let wanted: Vec<IpAddr> = ["192.0.2.7", "2001:db8::9"]
            .map(|ip| ip.parse().expect("an address"))
            .to_vec();
        assert_eq!(in_environment(environment), wanted);
        assert_eq!(
            first_word(OsStr::new("fe80::1%eth0 1 fe80::2 22")),
            "fe80::1".parse().ok()
        );
        assert!(in_environment(b"").is_empty());
    }

    #[test]
    fn the_line_of_ancestors_is_found() {
        let parent = parent_of(task::current_pid());
        assert_eq!(parent, Some(std::os::unix::process::parent_id() as i32));
        assert_eq!(parent_of(-1), None);
    }

    #[test]
    fn loopback_is_local_everywhere() {
        let here = Surroundings::here().expect("the kernel tells its addresses");
        let loopback: IpNet = "127.0.0.0/8".parse().expect("a prefix");
        assert!(here.local.contains(&loopback), "{here:?}");
        let mut options = ChooseOptions::default();
        here.clone().keep_clear(&mut options);
        assert_eq!(
            (options.local, options.logged_in_from),
            (here.local, here.logged_in_from)
        );
    }
}
