//! What an adopted port is: its NIC and its link, as the kernel knows them.

use crate::facts::nic;
use mpps_linux::links;
use mpps_linux::netns::NetNs;
use mpps_method::LinkSpeed;
use mpps_record::Nic;

/// An adopted port, read while its link is up.
#[derive(Clone, Debug, PartialEq)]
pub struct Cable {
    /// What makes the link (`veth`, `macvlan`...); `None`: hardware, or what a hypervisor shows as such.
    kind: Option<String>,
    /// What driver and bus say.
    pub nic: Nic,
}

impl Cable {
    /// Reads what the port of a namespace is.
    ///
    /// # Errors
    /// The port is gone, or the namespace could not be entered.
    pub(crate) fn read(netns: &NetNs, port: &str) -> Result<Self, mpps_linux::Error> {
        Ok(Self {
            kind: netns.run(|| links::get(port))??.kind,
            nic: nic::in_netns(netns, port)?,
        })
    }

    /// Whether the port is one end of a veth: then the kernel does what stands behind the other end within our
    /// own transmission.
    #[must_use]
    pub fn is_veth(&self) -> bool {
        self.kind.as_deref() == Some("veth")
    }

    /// Frames the port's receive ring holds, where the driver says.
    #[must_use]
    pub fn rx_ring(&self) -> Option<u32> {
        let rings = self.nic.rings.known()?;
        (rings.rx_frames > 0).then_some(rings.rx_frames)
    }

    /// Speed of a real link; a virtual one has none, whatever number its driver makes up.
    #[must_use]
    pub fn link_speed(&self) -> Option<LinkSpeed> {
        let mbit = *self.nic.link_mbit_per_s.known()?;
        let real = self.kind.is_none() && mbit > 0;
        real.then(|| LinkSpeed::from_bits_per_second(mbit.saturating_mul(1_000_000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Root;
    use mpps_record::Rings;
    use mpps_record::facts::Reading;

    fn cable(kind: Option<&str>, mbit: u64) -> Cable {
        let nic = nic::from_sysfs(&Root::here(), "no such interface");
        Cable {
            kind: kind.map(str::to_owned),
            nic: Nic {
                link_mbit_per_s: Reading::Known(mbit),
                ..nic
            },
        }
    }

    #[test]
    fn only_hardware_has_a_speed() {
        let speed = |kind, mbit| {
            let speed = cable(kind, mbit).link_speed();
            speed.map(LinkSpeed::bits_per_second)
        };
        assert_eq!(speed(None, 25_000), Some(25_000_000_000));
        assert_eq!(speed(None, 0), None);
        assert_eq!(speed(Some("veth"), 10_000), None, "veth's driver says 10G");
    }

    #[test]
    fn a_ring_of_no_frames_is_none() {
        let mut cable = cable(None, 1_000);
        assert_eq!(cable.rx_ring(), None, "the driver was not asked");
        let rings = |rx_frames| Rings {
            rx_frames,
            rx_frames_max: 4096,
            tx_frames: 512,
            tx_frames_max: 4096,
        };
        cable.nic.rings = Reading::Known(rings(0));
        assert_eq!(cable.rx_ring(), None);
        cable.nic.rings = Reading::Known(rings(1024));
        assert_eq!(cable.rx_ring(), Some(1024));
    }
}
