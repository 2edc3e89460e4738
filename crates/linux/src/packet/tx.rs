//! A ring of frames to send (`PACKET_TX_RING`), past the queueing discipline.
//!
//! It is TPACKET_V2, because version 3 sends from the same fixed slots behind a longer header. A slot is ours while it
//! is AVAILABLE. SEND_REQUEST hands it over with the next `send(2)`. The kernel makes it AVAILABLE again when the
//! frame's buffer is freed (`net/packet/af_packet.c`, `tpacket_snd`).
//!
//! With PACKET_QDISC_BYPASS a frame goes straight to the driver. A frame that the driver refuses stays in its slot as
//! SEND_REQUEST, and `send(2)` fails with ENOBUFS. So the slots are read to learn what was taken.

use std::os::fd::{AsRawFd, OwnedFd};

use super::socket;
use crate::error::{Error, Result};
use crate::links;
use crate::mapping::Mapping;
use crate::socket_option;

/// Where a frame begins in its slot, in octets: behind the header, aligned (`tpacket_snd`).
const DATA_OFFSET: usize = size_of::<libc::tpacket2_hdr>();
/// Octets of a block. Slots lie in blocks, none across two. A block has whole pages, and room for the longest frame.
const BLOCK: usize = 1 << 16;
/// A frame's share of the socket's send buffer beside its octets: what the kernel keeps of it, rounded up.
const OVERHEAD: usize = 4096;

/// A ring to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TxSpec {
    /// Slots at least.
    pub slots: usize,
    /// Longest frame, octets without FCS.
    pub frame_max: usize,
}

/// How a flush ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushEnd {
    /// Every staged frame was taken.
    Done,
    /// The driver refused the first frame left (its queue was full): it counted it as dropped.
    Refused,
    /// The socket has too many frames under way: try again.
    Busy,
}

/// What became of the staged frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flushed {
    /// Frames the driver took, from the first staged on.
    pub taken: usize,
    /// Why there are no more.
    pub end: FlushEnd,
}

/// A ring of frames to send on one link.
pub struct TxRing {
    mapping: Mapping,
    socket: OwnedFd,
    link: String,
    frame_max: usize,
    slot_octets: usize,
    slots: usize,
    /// The first slot that was staged and not taken.
    first: usize,
    /// Slots staged.
    staged: usize,
}

impl TxRing {
    /// Makes the ring on a link of the calling thread's namespace.
    ///
    /// # Errors
    /// No such link (ENODEV), no right (EPERM: CAP_NET_RAW), no memory (ENOMEM), a frame longer than a
    /// slot can be.
    pub fn open(link: &str, spec: TxSpec) -> Result<Self> {
        let fail = |what: &str, number: i32| Error::from_errno(what, socket::object(link), number);
        let slot_octets = (DATA_OFFSET + spec.frame_max).next_multiple_of(libc::TPACKET_ALIGNMENT);
        if slot_octets > BLOCK || spec.slots == 0 {
            let text = format!("frames of {} octets do not fit", spec.frame_max);
            return Err(Error::from_text(
                "make send ring of",
                socket::object(link),
                text,
            ));
        }
        let per_block = BLOCK / slot_octets;
        let blocks = spec.slots.div_ceil(per_block);
        let index = links::index(link)?;
        let socket = socket::open(link)?;
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        socket::set(&socket, libc::PACKET_VERSION, version, link)?;
        socket::set(&socket, libc::PACKET_QDISC_BYPASS, 1, link)?;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: slot_octets as u32,
            tp_frame_nr: (blocks * per_block) as u32,
        };
        socket_option::set(&socket, libc::SOL_PACKET, libc::PACKET_TX_RING, &request)
            .map_err(|number| fail("make send ring of", number))?;
        // Or frames under way would be bounded by the buffer's default, not by the ring.
        let buffer = (blocks * per_block * (spec.frame_max + OVERHEAD)).min(1 << 30) as libc::c_int;
        socket_option::set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &buffer)
            .map_err(|number| fail("size send buffer of", number))?;
        let mapping = Mapping::new(&socket, blocks * BLOCK)?;
        // Protocol 0: this socket receives nothing.
        socket::bind(&socket, index, 0, link)?;
        Ok(Self {
            mapping,
            socket,
            link: link.to_owned(),
            frame_max: spec.frame_max,
            slot_octets,
            slots: blocks * per_block,
            first: 0,
            staged: 0,
        })
    }

    /// Frames staged and not yet taken.
    #[must_use]
    pub fn staged(&self) -> usize {
        self.staged
    }

    /// Lets `write` fill the next slot with a frame of this length; false when the ring is full of frames
    /// under way. The slot holds whatever frame was there before.
    ///
    /// # Panics
    /// A frame longer than the ring was made for.
    pub fn stage(&mut self, length: usize, write: impl FnOnce(&mut [u8])) -> bool {
        assert!(length <= self.frame_max, "a frame longer than its slot");
        if self.staged == self.slots {
            return false;
        }
        let offset = self.offset(self.first + self.staged);
        if self.mapping.status(offset) != libc::TP_STATUS_AVAILABLE {
            return false;
        }
        write(self.mapping.octets_mut(offset + DATA_OFFSET, length));
        self.mapping.write(
            offset,
            libc::tpacket2_hdr {
                tp_status: libc::TP_STATUS_AVAILABLE,
                tp_len: length as u32,
                tp_snaplen: 0,
                tp_mac: 0,
                tp_net: 0,
                tp_sec: 0,
                tp_nsec: 0,
                tp_vlan_tci: 0,
                tp_vlan_tpid: 0,
                tp_padding: [0; 4],
            },
        );
        self.mapping
            .set_status(offset, libc::TP_STATUS_SEND_REQUEST);
        self.staged += 1;
        true
    }

    /// Hands the staged frames to the driver, in order, without waiting.
    ///
    /// # Errors
    /// The link is down (ENETDOWN) or gone (ENXIO), a frame is longer than its MTU allows (EMSGSIZE), or
    /// the kernel took offence at a frame.
    pub fn flush(&mut self) -> Result<Flushed> {
        if self.staged == 0 {
            let (taken, end) = (0, FlushEnd::Done);
            return Ok(Flushed { taken, end });
        }
        // SAFETY: no octets are passed; the kernel reads the ring, whose slots in SEND_REQUEST we no
        // longer touch.
        let result = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                std::ptr::null(),
                0,
                libc::MSG_DONTWAIT,
            )
        };
        let number = if result < 0 {
            nix::errno::Errno::last_raw()
        } else {
            0
        };
        let taken = self.take();
        match number {
            _ if self.staged == 0 => Ok(Flushed {
                taken,
                end: FlushEnd::Done,
            }),
            libc::ENOBUFS => Ok(Flushed {
                taken,
                end: FlushEnd::Refused,
            }),
            0 | libc::EAGAIN | libc::EINTR => Ok(Flushed {
                taken,
                end: FlushEnd::Busy,
            }),
            number => Err(self.failure(number)),
        }
    }

    /// Takes back all staged frames that the driver did not take; their slots are staged anew.
    pub fn recall(&mut self) {
        for slot in self.first..self.first + self.staged {
            let offset = self.offset(slot);
            self.mapping.set_status(offset, libc::TP_STATUS_AVAILABLE);
        }
        self.staged = 0;
    }

    /// Counts the staged slots that are no longer requests, from the first on.
    fn take(&mut self) -> usize {
        let mut taken = 0;
        while self.staged > 0 {
            let status = self.mapping.status(self.offset(self.first));
            if status & (libc::TP_STATUS_SEND_REQUEST | libc::TP_STATUS_WRONG_FORMAT) != 0 {
                break;
            }
            self.first = (self.first + 1) % self.slots;
            self.staged -= 1;
            taken += 1;
        }
        taken
    }

    fn failure(&self, number: i32) -> Error {
        let error = Error::from_errno("send on", socket::object(&self.link), number);
        match number {
            libc::ENXIO | libc::ENODEV => error.with_remedy("the port is gone"),
            libc::ENETDOWN => error.with_remedy("the port is down"),
            libc::EMSGSIZE => error.with_remedy("a frame is longer than the port's MTU allows"),
            _ => error,
        }
    }

    fn offset(&self, slot: usize) -> usize {
        let slot = slot % self.slots;
        let per_block = BLOCK / self.slot_octets;
        slot / per_block * BLOCK + slot % per_block * self.slot_octets
    }
}
