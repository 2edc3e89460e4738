//! Many requests a system call, refusals kept apart.
//!
//! The kernel handles a batch message by message, inside `send(2)`. A message without NLM_F_ACK is answered only when
//! it is refused. The last one of a batch is always answered. So when that answer has come, the whole batch was read.

use std::collections::HashMap;
use std::fmt;

use ipnet::IpNet;

use super::request::{Request, want_answer};
use super::socket::{Message, RouteSocket};
use crate::error::{Error, Result};
use crate::netlink::explanation;

/// Octets of requests handed over at once: about 190 requests. More than 100 make nothing faster. If all 190 are
/// refused, their answers still fit the socket (each is counted as about 1 KiB).
const BATCH: usize = 8 << 10;
/// Answer to a message: an error number, 0 for none, before the quoted request.
const NLMSG_ERROR: u16 = libc::NLMSG_ERROR as u16;

/// Why requests were refused: the kernel's error number and words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// Positive error number.
    pub errno: i32,
    /// The kernel's explanation, if it sent one.
    pub kernel_says: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::error::Cause::Errno {
            number: self.errno,
            kernel_says: self.kernel_says.clone(),
        }
        .fmt(f)
    }
}

/// Which requests were refused, and why: causes are few, requests may be a million.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    causes: Vec<Refusal>,
    /// Sequence number and place in `causes`.
    requests: Vec<(u32, u32)>,
}

impl Refusals {
    /// Number of requests refused.
    #[must_use]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether none was.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// The causes, in the order they came up.
    #[must_use]
    pub fn causes(&self) -> &[Refusal] {
        &self.causes
    }

    /// Each refused request's sequence number with its cause, in the order they were sent.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Refusal)> {
        self.requests.iter().filter_map(|&(sequence, cause)| {
            let cause = self.causes.get(usize::try_from(cause).ok()?)?;
            Some((sequence, cause))
        })
    }
}

/// Sends requests by the batch.
pub struct Bulk {
    socket: RouteSocket,
    batch: Vec<u8>,
    /// Where the last message of the batch begins, and its sequence number.
    last: Option<(usize, u32)>,
    refusals: Refusals,
    known: HashMap<Refusal, u32>,
}

impl Bulk {
    /// Opens a socket in the calling thread's namespace; it stays with that namespace.
    ///
    /// # Errors
    /// No socket to be had.
    pub fn open() -> Result<Self> {
        Ok(Self {
            socket: RouteSocket::open()?,
            batch: Vec::with_capacity(BATCH + 256),
            last: None,
            refusals: Refusals::default(),
            known: HashMap::new(),
        })
    }

    /// Adds a request; `sequence` is the caller's name for it in [`Refusals`], from 1 on. Whether a
    /// batch was sent: then all requests so far have been handled.
    ///
    /// # Errors
    /// The batch could not be sent or its answers not be read. A refused request is no error here.
    pub fn push(&mut self, request: &Request, prefix: IpNet, sequence: u32) -> Result<bool> {
        let start = self.batch.len();
        if !request.write(prefix, sequence, &mut self.batch) {
            let object = format!("{prefix} among routes of the other family");
            return Err(Error::from_text("encode", object, "families differ"));
        }
        self.last = Some((start, sequence));
        if self.batch.len() + request.len() <= BATCH {
            return Ok(false);
        }
        self.flush()?;
        Ok(true)
    }

    /// Refusals so far, of the batches that were sent.
    #[must_use]
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Sends what is left and tells what was refused.
    ///
    /// # Errors
    /// As [`Bulk::push`].
    pub fn finish(mut self) -> Result<Refusals> {
        self.flush()?;
        Ok(self.refusals)
    }

    /// Sends what waits: then all requests so far have been handled.
    ///
    /// # Errors
    /// As [`Bulk::push`].
    pub fn flush(&mut self) -> Result<()> {
        let Some((start, last)) = self.last.take() else {
            return Ok(());
        };
        want_answer(&mut self.batch, start);
        self.socket.send(&self.batch)?;
        self.batch.clear();
        loop {
            let Self {
                socket,
                refusals,
                known,
                ..
            } = self;
            let ended = socket.receive(|message| {
                note(message, refusals, known);
                message.kind != NLMSG_ERROR || message.sequence != last
            })?;
            if ended {
                return Ok(());
            }
        }
    }
}

fn note(message: &Message<'_>, refusals: &mut Refusals, known: &mut HashMap<Refusal, u32>) {
    let code = message.body.get(..4).and_then(|code| code.try_into().ok());
    let errno = match code.map(i32::from_ne_bytes) {
        Some(code) if code != 0 && message.kind == NLMSG_ERROR => code.wrapping_neg(),
        _ => return,
    };
    let refusal = Refusal {
        errno,
        kernel_says: message.body.get(4..).and_then(explanation),
    };
    let next = u32::try_from(refusals.causes.len()).unwrap_or(u32::MAX);
    let cause = *known.entry(refusal).or_insert_with_key(|refusal| {
        refusals.causes.push(refusal.clone());
        next
    });
    refusals.requests.push((message.sequence, cause));
}
