//! Parameters that only generic netlink has (family `ethtool`, `include/uapi/linux/ethtool_netlink.h`). Each is one octet.

use super::object;
use crate::error::{Error, Result};
use crate::napi::family_id;
use crate::netlink::{GenericRequest, Refusal, transact_generic, value_of};
use netlink_packet_core::{DefaultNla, Emitable, NLA_F_NESTED};

/// `ETHTOOL_A_xxx_HEADER`, and `ETHTOOL_A_HEADER_DEV_NAME` in it.
const HEADER: u16 = 1;
const DEV_NAME: u16 = 2;
const ALL: [Parameter; 4] = [
    of_rings("rings/tcp-data-split", 11),
    of_rings("rings/tx-push", 13),
    of_coalescing("coalescing/cqe-mode-tx", 24),
    of_coalescing("coalescing/cqe-mode-rx", 25),
];

/// A parameter: the commands that read and write it, and its attribute.
pub(super) struct Parameter {
    name: &'static str,
    read: u8,
    write: u8,
    attribute: u16,
}

/// `ETHTOOL_MSG_RINGS_GET` and `_SET`.
const fn of_rings(name: &'static str, attribute: u16) -> Parameter {
    Parameter {
        name,
        read: 15,
        write: 16,
        attribute,
    }
}

/// `ETHTOOL_MSG_COALESCE_GET` and `_SET`.
const fn of_coalescing(name: &'static str, attribute: u16) -> Parameter {
    Parameter {
        name,
        read: 19,
        write: 20,
        attribute,
    }
}

/// The parameter of this name, if netlink has it.
pub(super) fn find(name: &str) -> Option<&'static Parameter> {
    const KNOWN: &[Parameter] = &ALL;
    KNOWN.iter().find(|known| known.name == name)
}

impl Parameter {
    pub(super) fn read(&self, link: &str) -> Result<String> {
        let operation = format!("read {} of", self.name);
        let lacks = |why| Error::from_text(&*operation, object(link), why);
        let answers = ask(self.read, attributes(link, None));
        let answers = answers.map_err(|refusal| match refusal.errno() {
            Some(libc::EOPNOTSUPP) => lacks("the driver does not say"),
            _ => refusal.into_error(&operation, object(link)),
        })?;
        let mut values = answers
            .iter()
            .map(|answer| value_of(answer, self.attribute));
        let octet = values.find_map(|value| value?.first().copied());
        let octet = octet.ok_or_else(|| lacks("the driver does not have it"))?;
        Ok(octet.to_string())
    }

    pub(super) fn write(&self, operation: &str, link: &str, value: u8) -> Result<()> {
        let value = DefaultNla::new(self.attribute, vec![value]);
        let answer = ask(self.write, attributes(link, Some(value)));
        answer.map_err(|refusal| refusal.into_error(operation, object(link)))?;
        Ok(())
    }
}

fn ask(command: u8, attributes: Vec<DefaultNla>) -> std::result::Result<Vec<Vec<u8>>, Refusal> {
    transact_generic(&GenericRequest {
        family: family_id("ethtool")?,
        command,
        attributes,
        dump: false,
    })
}

/// The link, and what is set.
fn attributes(link: &str, value: Option<DefaultNla>) -> Vec<DefaultNla> {
    let name = DefaultNla::new(DEV_NAME, format!("{link}\0").into_bytes());
    let name = [name];
    let mut inside = vec![0; name.as_slice().buffer_len()];
    name.as_slice().emit(&mut inside);
    let header = DefaultNla::new(HEADER | NLA_F_NESTED, inside);
    std::iter::once(header).chain(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_lies_in_a_header_of_its_own() {
        let value = DefaultNla::new(13, vec![1]);
        let all = attributes("eth0", Some(value));
        let mut octets = vec![0; all.as_slice().buffer_len()];
        all.as_slice().emit(&mut octets);
        let words = |numbers: [u16; 2]| numbers.map(u16::to_ne_bytes).concat();
        let wanted = [
            words([16, 0x8001]),
            words([9, 2]),
            b"eth0\0\0\0\0".to_vec(),
            words([5, 13]),
            vec![1, 0, 0, 0],
        ];
        assert_eq!(octets, wanted.concat());
    }

    #[test]
    fn parameters_of_ioctls_are_not_here() {
        assert!(find("rings/rx").is_none());
        let push = find("rings/tx-push").expect("known");
        assert_eq!((push.read, push.write, push.attribute), (15, 16, 13));
    }
}
