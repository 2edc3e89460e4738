//! What a bed changes on the host: each kind of change with its way back.

use super::external::AdoptedPort;
use super::{names, namespace};
use crate::journal::{self, JournalError, RevertError, Reverted};
use mpps_linux::netns;
use mpps_linux::setting::SettingChange;
use serde::{Deserialize, Serialize};

/// A change that a bed's journal announces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Change {
    /// A folder of the host is made.
    Folder {
        /// Its path.
        path: String,
    },
    /// A network namespace is made.
    NetNs {
        /// Its name.
        name: String,
    },
    /// A port of the host is moved into one of our namespaces.
    Port {
        /// What it was like before.
        port: Box<AdoptedPort>,
    },
    /// A setting of the kernel gets another value.
    Setting {
        /// The setting, and its value before.
        change: SettingChange,
    },
}

impl journal::Change for Change {
    fn check(&self, bed: &str) -> Result<(), JournalError> {
        match self {
            Self::NetNs { name } => namespace::check(name, bed),
            Self::Folder { path } if path != netns::DIRECTORY => {
                Err(JournalError::names_foreign(bed, path))
            }
            Self::Folder { .. } | Self::Port { .. } | Self::Setting { .. } => Ok(()),
        }
    }

    fn revert(&self, bed: &str, reverted: &mut Reverted) -> Result<(), RevertError> {
        match self {
            Self::NetNs { name } => namespace::remove(name, reverted)?,
            // Others may use it by now: only an empty one goes.
            Self::Folder { path } => drop(std::fs::remove_dir(path)),
            Self::Port { port } => {
                if port.give_back(&names::netns(bed))? {
                    reverted.ports.push(port.name.clone());
                }
            }
            Self::Setting { change } => {
                reverted.settings += usize::from(change.revert()?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::Change as _;
    use mpps_linux::setting::Setting;

    /// As the version before wrote them.
    #[test]
    fn lines_of_the_version_before_are_understood() {
        let line = |change: &Change| serde_json::to_string(change).unwrap();
        for text in [
            r#"{"entry":"folder","path":"/run/netns"}"#,
            r#"{"entry":"net_ns","name":"mpps-x-out"}"#,
            r#"{"entry":"port","port":{"name":"eth1","mac":[2,0,0,0,0,1],"home":4026531840,"up":true,"mtu":1500,"promiscuous":false,"offloads":["rx-gro"],"addresses":["0218"],"routes":[],"settings":[["net/ipv4/conf/*/rp_filter","1"]]}}"#,
        ] {
            let change: Change = serde_json::from_str(text).unwrap();
            assert_eq!(line(&change), text);
            change.check("x").unwrap();
        }
    }

    #[test]
    fn a_setting_is_put_back_from_its_line() {
        let change = SettingChange {
            setting: Setting::sysctl("net.core.no_such_setting"),
            netns: netns::own_inode().unwrap(),
            cookie: netns::own_cookie(),
            before: "1".to_owned(),
            value: "2".to_owned(),
        };
        let text = serde_json::to_string(&Change::Setting { change }).unwrap();
        let change: Change = serde_json::from_str(&text).unwrap();
        let mut reverted = Reverted::default();
        // The setting is gone, so nothing has to be put back.
        change.check("x").unwrap();
        assert!(change.revert("x", &mut reverted).is_ok());
        assert_eq!(reverted, Reverted::default());
    }
}
