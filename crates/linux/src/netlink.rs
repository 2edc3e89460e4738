//! One synchronous netlink transaction: a request out, its answers and acknowledgement in.
//!
//! A socket is opened for each transaction, because a socket belongs for ever to the namespace of
//! the thread that opened it. Set-up of a bed is some dozens of transactions; none is hot.

use netlink_packet_core::{
    DefaultNla, Emitable, ErrorMessage, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST,
    NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::{NETLINK_GENERIC, NETLINK_ROUTE};
use netlink_sys::{Socket, SocketAddr};

use crate::error::Error;

/// A refused transaction: the error number and the kernel's own words, if it sent any.
#[derive(Debug)]
pub(crate) struct Refusal {
    errno: Option<i32>,
    words: Option<String>,
}

impl Refusal {
    /// The crate's error for this operation on this object.
    pub(crate) fn into_error(self, operation: &str, object: String) -> Error {
        match self.errno {
            Some(number) => {
                Error::from_errno(operation, object, number).with_kernel_words(self.words)
            }
            None => Error::from_text(operation, object, self.words.unwrap_or_default()),
        }
    }

    /// The error number, if the kernel gave one.
    pub(crate) fn errno(&self) -> Option<i32> {
        self.errno
    }

    /// A refusal with this error number and no words.
    pub(crate) fn number(errno: i32) -> Self {
        Self {
            errno: Some(errno),
            words: None,
        }
    }

    fn io(error: &std::io::Error) -> Self {
        Self {
            errno: error.raw_os_error(),
            words: None,
        }
    }

    fn text(words: impl ToString) -> Self {
        Self {
            errno: None,
            words: Some(words.to_string()),
        }
    }

    fn from_kernel(message: &ErrorMessage) -> Option<Self> {
        let code = message.code?;
        Some(Self {
            errno: Some(code.get().abs()),
            words: explanation(&message.header),
        })
    }
}

/// Sends one rtnetlink request (`flags` beside REQUEST and ACK: CREATE, EXCL, DUMP...) and returns
/// the messages that answer it.
pub(crate) fn transact(
    request: RouteNetlinkMessage,
    flags: u16,
) -> Result<Vec<RouteNetlinkMessage>, Refusal> {
    exchange(NETLINK_ROUTE, request, flags)
}

/// A request of generic netlink.
pub(crate) struct GenericRequest {
    /// Number of the family (it differs from boot to boot).
    pub(crate) family: u16,
    /// Command of the family.
    pub(crate) command: u8,
    /// Its attributes.
    pub(crate) attributes: Vec<DefaultNla>,
    /// Ask for all objects, not one.
    pub(crate) dump: bool,
}

/// Sends one generic netlink request and returns the attributes of each answer.
pub(crate) fn transact_generic(request: &GenericRequest) -> Result<Vec<Vec<u8>>, Refusal> {
    // struct genlmsghdr: command, version, two reserved octets.
    const VERSION: u8 = 1;
    let mut body = vec![request.command, VERSION, 0, 0];
    let header = body.len();
    let attributes = request.attributes.as_slice();
    body.resize(header + attributes.buffer_len(), 0);
    attributes.emit(&mut body[header..]);
    let kind = request.family;
    let flags = if request.dump { NLM_F_DUMP } else { 0 };
    let answers = exchange(NETLINK_GENERIC, Raw { kind, body }, flags)?;
    let attributes = |answer: Raw| answer.body.get(header..).unwrap_or(&[]).to_vec();
    Ok(answers.into_iter().map(attributes).collect())
}

/// Sends one rtnetlink request whose body we wrote ourselves, and returns the bodies that answer it.
pub(crate) fn transact_raw(kind: u16, body: Vec<u8>, flags: u16) -> Result<Vec<Vec<u8>>, Refusal> {
    let answers = exchange(NETLINK_ROUTE, Raw { kind, body }, flags)?;
    Ok(answers.into_iter().map(|answer| answer.body).collect())
}

/// A netlink message's type and its body as octets.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) kind: u16,
    pub(crate) body: Vec<u8>,
}

impl NetlinkSerializable for Raw {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.body.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..self.body.len()].copy_from_slice(&self.body);
    }
}

impl NetlinkDeserializable for Raw {
    type Error = std::convert::Infallible;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, Self::Error> {
        Ok(Self {
            kind: header.message_type,
            body: payload.to_vec(),
        })
    }
}

/// Sends one request of a protocol and returns the messages that answer it.
pub(crate) fn exchange<M>(protocol: isize, request: M, flags: u16) -> Result<Vec<M>, Refusal>
where
    M: NetlinkSerializable + NetlinkDeserializable,
{
    const SEQUENCE: u32 = 1;
    let mut socket = Socket::new(protocol).map_err(|e| Refusal::io(&e))?;
    socket.bind_auto().map_err(|e| Refusal::io(&e))?;
    // Explanations in words, and without our whole request quoted back.
    socket.set_ext_ack(true).map_err(|e| Refusal::io(&e))?;
    socket.set_cap_ack(true).map_err(|e| Refusal::io(&e))?;

    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    header.sequence_number = SEQUENCE;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(request));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket
        .send_to(&bytes, &SocketAddr::new(0, 0), 0)
        .map_err(|e| Refusal::io(&e))?;

    let dump = flags & NLM_F_DUMP == NLM_F_DUMP;
    let mut answers = Vec::new();
    loop {
        let (datagram, _) = socket.recv_from_full().map_err(|e| Refusal::io(&e))?;
        if read_datagram(&datagram, SEQUENCE, dump, &mut answers)? {
            return Ok(answers);
        }
    }
}

/// Takes all messages out of one datagram; true when the transaction has ended.
fn read_datagram<M: NetlinkDeserializable>(
    mut rest: &[u8],
    sequence: u32,
    dump: bool,
    answers: &mut Vec<M>,
) -> Result<bool, Refusal> {
    while !rest.is_empty() {
        let message = NetlinkMessage::<M>::deserialize(rest)
            .map_err(|e| Refusal::text(format!("answer not understood: {e}")))?;
        let length = message.header.length as usize;
        if message.header.sequence_number == sequence {
            match message.payload {
                NetlinkPayload::InnerMessage(inner) => answers.push(inner),
                NetlinkPayload::Error(error) => match Refusal::from_kernel(&error) {
                    Some(refusal) => return Err(refusal),
                    // The acknowledgement; a dump ends with Done instead.
                    None if !dump => return Ok(true),
                    None => {}
                },
                NetlinkPayload::Done(done) => match done.code {
                    0 => return Ok(true),
                    code => return Err(Refusal::number(code.abs())),
                },
                NetlinkPayload::Overrun(_) => return Err(Refusal::text("answers overran")),
                _ => {}
            }
        }
        // Messages are aligned to 4 octets (NLMSG_ALIGN); the last may lack its padding.
        let aligned = (length + 3) & !3;
        if aligned == 0 {
            return Err(Refusal::text("answer of length 0"));
        }
        rest = rest.get(aligned..).unwrap_or(&[]);
    }
    Ok(false)
}

/// Kind and value of each attribute (`struct nlattr`) in these octets, until one is not whole.
pub(crate) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    const HEADER: usize = 4;
    /// `NLA_TYPE_MASK`: without the flags for nested ones and for network order.
    const KIND: u16 = 0x3fff;
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes([*rest.first()?, *rest.get(1)?]));
        let kind = u16::from_ne_bytes([*rest.get(2)?, *rest.get(3)?]) & KIND;
        let value = rest.get(HEADER..length)?;
        rest = rest.get((length + 3) & !3..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The value of the first attribute of this kind.
pub(crate) fn value_of(octets: &[u8], kind: u16) -> Option<&[u8]> {
    let mut all = attributes(octets);
    all.find(|(of, _)| *of == kind).map(|(_, value)| value)
}

/// The text of `NLMSGERR_ATTR_MSG` in an error's extended acknowledgement. The bytes are the
/// request's header (16 octets, nothing more of it thanks to NETLINK_CAP_ACK), then attributes.
pub(crate) fn explanation(after_code: &[u8]) -> Option<String> {
    const REQUEST_HEADER: usize = 16;
    const NLMSGERR_ATTR_MSG: u16 = 1;
    let value = value_of(after_code.get(REQUEST_HEADER..)?, NLMSGERR_ATTR_MSG)?;
    let text = value.split(|&b| b == 0).next().unwrap_or(value);
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An attribute as the kernel sends it, with its padding.
    pub(crate) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = u16::try_from(4 + value.len())
            .unwrap()
            .to_ne_bytes()
            .to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn kernel_words_are_found_behind_other_attributes() {
        let mut bytes = vec![0; 16];
        bytes.extend(attribute(2, &7u32.to_ne_bytes()));
        bytes.extend(attribute(1, b"Nexthop has invalid gateway\0"));
        assert_eq!(
            explanation(&bytes).as_deref(),
            Some("Nexthop has invalid gateway")
        );
    }

    #[test]
    fn no_words_or_broken_ones_are_none() {
        assert_eq!(explanation(&[]), None);
        assert_eq!(explanation(&[0; 16]), None);
        let mut short = vec![0; 16];
        short.extend([200, 0, 1, 0, b'x']);
        assert_eq!(explanation(&short), None);
        let mut zero = vec![0; 16];
        zero.extend([0, 0, 9, 0]);
        assert_eq!(explanation(&zero), None);
    }
}
