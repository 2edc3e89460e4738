//! Who we are, and how a command is made to run as root.
use crate::needs::find_program;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

/// True when the effective user is root: the owner of `/proc/self` is the process' effective user.
pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// How root's rights are had here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// We are root.
    Root,
    /// Not root, but sudo is installed; it may still refuse, or ask for a password.
    Sudo,
    /// Not root, and nothing to become root with.
    None,
}

impl Privilege {
    /// What this process has.
    pub fn here() -> Privilege {
        if is_root() {
            Privilege::Root
        } else if find_program("sudo").is_some() {
            Privilege::Sudo
        } else {
            Privilege::None
        }
    }

    /// `program` as a command that runs as root, or `None` when there is no way.
    pub fn command(self, program: impl AsRef<OsStr>) -> Option<Command> {
        match self {
            Privilege::Root => Some(Command::new(program)),
            Privilege::Sudo => {
                let mut sudo = Command::new("sudo");
                sudo.arg("--").arg(program);
                Some(sudo)
            }
            Privilege::None => None,
        }
    }
}

/// True when sudo runs a command now without asking for a password.
pub fn sudo_is_silent() -> bool {
    let tried = Command::new("sudo").args(["-n", "true"]).output();
    tried.is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_runs_the_program_others_use_sudo() {
        let direct = Privilege::Root
            .command("mpps")
            .expect("root can run anything");
        assert_eq!(direct.get_program(), "mpps");
        let through = Privilege::Sudo.command("mpps").expect("sudo is a way");
        assert_eq!(through.get_program(), "sudo");
        assert_eq!(through.get_args().collect::<Vec<_>>(), ["--", "mpps"]);
        assert!(Privilege::None.command("mpps").is_none());
    }
}
