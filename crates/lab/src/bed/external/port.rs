//! A port of the host that a bed adopts: what it was like, and how it gets there again.

use mpps_linux::links::{self, Configuration, Link};
use mpps_linux::netns::{self, NetNs};
use mpps_linux::{Error, ethtool};
use serde::{Deserialize, Serialize};

/// Offloads that merge frames on their way in: a tester counts frames, not what was made of them.
const MERGING: [&str; 5] = [
    "rx-gro",
    "rx-gro-hw",
    "rx-gro-list",
    "rx-udp-gro-forwarding",
    "rx-lro",
];

/// A port as it was before it was adopted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdoptedPort {
    /// Its name.
    pub name: String,
    /// Its Ethernet address: another link may have got the name meanwhile.
    pub mac: Vec<u8>,
    /// Inode number of the network namespace it comes from.
    pub home: u64,
    /// That namespace's cookie; `None` where the kernel has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_cookie: Option<u64>,
    /// Administratively up.
    pub up: bool,
    /// Largest layer 3 packet, octets.
    pub mtu: u32,
    /// Promiscuous by hand.
    pub promiscuous: bool,
    /// Offloads that were on and are switched off while it is adopted.
    pub offloads: Vec<String>,
    /// Addresses, as the kernel's messages in hexadecimal digits.
    pub addresses: Vec<String>,
    /// Routes over it, the same.
    pub routes: Vec<String>,
    /// Its own settings below /proc/sys, with `*` for its name.
    pub settings: Vec<(String, String)>,
}

impl AdoptedPort {
    /// What the port of the calling thread's namespace is like now.
    ///
    /// # Errors
    /// No such port, or a route over it that could not be put back.
    pub fn read(name: &str) -> Result<Self, Error> {
        let link = links::get(name)?;
        let configuration = Configuration::read(name)?;
        let features = ethtool::features(name)?;
        let merging = features
            .iter()
            .filter(|f| f.on && f.changeable && MERGING.contains(&&*f.name));
        Ok(Self {
            name: name.to_owned(),
            mac: link.mac,
            home: netns::own_inode()?,
            home_cookie: netns::own_cookie(),
            up: link.up,
            mtu: link.mtu,
            promiscuous: link.promiscuous,
            offloads: merging.map(|feature| feature.name.clone()).collect(),
            addresses: configuration.addresses.iter().map(|b| to_hex(b)).collect(),
            routes: configuration.routes.iter().map(|b| to_hex(b)).collect(),
            settings: configuration.settings,
        })
    }

    /// Gives the port back to its namespace, as it was, from wherever among `ours` it is. Whether it is
    /// still there at all: one that was unplugged meanwhile is not. Done again it does no harm.
    pub fn give_back(&self, ours: &[String]) -> Result<bool, Error> {
        let gone = || {
            Error::from_text("give back", &*self.name, "its network namespace is gone")
                .with_remedy("it is in one of the bed's namespaces: move it where it belongs")
        };
        let home = NetNs::find_exact(self.home, self.home_cookie)?.ok_or_else(gone)?;
        if !home.run(|| self.is_here())?? && !self.move_home(&home, ours)? {
            return Ok(false);
        }
        home.run(|| self.restore())??;
        Ok(true)
    }

    fn move_home(&self, home: &NetNs, ours: &[String]) -> Result<bool, Error> {
        for name in ours {
            // A name without a namespace is left by a maker that died in between.
            let Ok(netns) = NetNs::open(name) else {
                continue;
            };
            if netns.run(|| self.is_here())?? {
                netns.run(|| links::move_to(&self.name, home))??;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_here(&self) -> Result<bool, Error> {
        match links::get(&self.name) {
            Ok(link) => Ok(link.mac == self.mac),
            Err(error) if error.is_missing() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes the port what it was; it is in its own namespace by now.
    fn restore(&self) -> Result<(), Error> {
        let configuration = Configuration {
            addresses: self.addresses.iter().map(|text| from_hex(text)).collect(),
            routes: self.routes.iter().map(|text| from_hex(text)).collect(),
            settings: self.settings.clone(),
        };
        let now = links::get(&self.name)?;
        self.restore_link(&now)?;
        configuration.put_settings(&self.name)?;
        match (self.up, now.up) {
            (true, _) => links::set_up(&self.name)?,
            (false, true) => links::set_down(&self.name)?,
            (false, false) => {}
        }
        configuration.put_on(&self.name)
    }

    fn restore_link(&self, now: &Link) -> Result<(), Error> {
        if now.mtu != self.mtu {
            links::set_mtu(&self.name, self.mtu)?;
        }
        if now.promiscuous != self.promiscuous {
            links::set_promiscuous(&self.name, self.promiscuous)?;
        }
        for offload in &self.offloads {
            ethtool::set_feature(&self.name, offload, true)?;
        }
        Ok(())
    }

    /// Switches off what merges frames. The port is adopted by now.
    pub fn stop_merging(&self) -> Result<(), Error> {
        for offload in &self.offloads {
            ethtool::set_feature(&self.name, offload, false)?;
        }
        Ok(())
    }
}

fn to_hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// What is no digit is nothing: such a message the kernel refuses.
fn from_hex(text: &str) -> Vec<u8> {
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    let octet = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.iter().filter_map(octet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_journal() {
        let octets = [0, 1, 0x7f, 0xff];
        assert_eq!(to_hex(&octets), "00017fff");
        assert_eq!(from_hex("00017fff"), octets);
        assert!(from_hex("0x").is_empty());
    }
}
