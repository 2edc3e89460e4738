//! A ring of received frames (`PACKET_RX_RING`, TPACKET_V3). The kernel fills one block after the other with frames. It
//! hands a block over when it is full, or after a time.

use std::os::fd::{AsRawFd, OwnedFd};

use super::filter::Filter;
use super::socket;
use crate::error::{Error, Result};
use crate::links;
use crate::mapping::Mapping;
use crate::socket_option;

/// Offset of the block's status in `struct tpacket_block_desc`: behind version and private offset.
const BLOCK_HEADER: usize = 8;
/// Only a sanity check of the kernel's: the longest header and a short frame.
const FRAME_STEP: usize = 2048;
/// `TP_STATUS_GSO_TCP` (`linux/if_packet.h`): several TCP segments merged into one buffer.
const MERGED: u32 = 1 << 8;

/// A ring to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RxSpec {
    /// Blocks.
    pub blocks: usize,
    /// Octets of a block: a power of two, whole pages.
    pub block_octets: usize,
    /// A block that is not full is handed over after so many milliseconds, 1 at least.
    pub retire_ms: u32,
    /// Octets kept of each frame.
    pub snap_octets: u32,
}

/// Frames as the kernel counted them for this socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RingCounts {
    /// Frames that reached the socket, those without room included (`tp_packets`).
    pub seen: u64,
    /// Of these, frames that found no room in the ring (`tp_drops`).
    pub dropped: u64,
}

/// One received frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// Its first octets, from the Ethernet header on.
    pub octets: &'a [u8],
    /// Its whole length, octets without FCS.
    pub length: usize,
    /// When the kernel took it, ns of the *realtime* clock.
    pub realtime_ns: u64,
    /// Several segments that the kernel or the NIC merged into one.
    pub merged: bool,
}

/// A ring of frames received on one link.
pub struct RxRing {
    mapping: Mapping,
    socket: OwnedFd,
    link: String,
    spec: RxSpec,
    next: usize,
    counts: RingCounts,
}

/// Waits for blocks of a ring that somebody else reads.
#[derive(Debug)]
pub struct RxWaiter {
    socket: OwnedFd,
    link: String,
}

impl RxRing {
    /// Makes the ring on a link of the calling thread's namespace and begins to receive. Frames the link
    /// itself sends are not among them.
    ///
    /// # Errors
    /// No such link (ENODEV), no right (EPERM: CAP_NET_RAW), a block of a length the kernel does not take
    /// (EINVAL), no memory (ENOMEM).
    pub fn open(link: &str, spec: RxSpec) -> Result<Self> {
        let index = links::index(link)?;
        let socket = socket::open(link)?;
        let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
        socket::set(&socket, libc::PACKET_VERSION, version, link)?;
        socket::set(&socket, libc::PACKET_IGNORE_OUTGOING, 1, link)?;
        let request = libc::tpacket_req3 {
            tp_block_size: spec.block_octets as u32,
            tp_block_nr: spec.blocks as u32,
            tp_frame_size: FRAME_STEP as u32,
            tp_frame_nr: (spec.blocks * (spec.block_octets / FRAME_STEP)) as u32,
            tp_retire_blk_tov: spec.retire_ms,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        socket_option::set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request).map_err(
            |number| Error::from_errno("make receive ring of", socket::object(link), number),
        )?;
        let mapping = Mapping::new(&socket, spec.blocks * spec.block_octets)?;
        Filter::first_octets(spec.snap_octets).attach(&socket)?;
        socket::bind(&socket, index, libc::ETH_P_ALL as u16, link)?;
        Ok(Self {
            mapping,
            socket,
            link: link.to_owned(),
            spec,
            next: 0,
            counts: RingCounts::default(),
        })
    }

    /// A handle to wait with while others read the ring.
    ///
    /// # Errors
    /// Too many open files (EMFILE).
    pub fn waiter(&self) -> Result<RxWaiter> {
        let socket = self.socket.try_clone().map_err(|e| {
            Error::from_io("duplicate the socket of", socket::object(&self.link), &e)
        })?;
        Ok(RxWaiter {
            socket,
            link: self.link.clone(),
        })
    }

    /// Gives every frame of every block that was handed over to `each`, and the blocks back; how many
    /// frames that were.
    ///
    /// # Errors
    /// A block that cannot be: the kernel's layout is another than this build's.
    pub fn drain(&mut self, mut each: impl FnMut(Arrival<'_>)) -> Result<u64> {
        let mut frames = 0;
        loop {
            let block = self.next * self.spec.block_octets;
            if self.mapping.status(block + BLOCK_HEADER) & libc::TP_STATUS_USER == 0 {
                return Ok(frames);
            }
            frames += self.read_block(block, &mut each)?;
            self.mapping
                .set_status(block + BLOCK_HEADER, libc::TP_STATUS_KERNEL);
            self.next = (self.next + 1) % self.spec.blocks;
        }
    }

    fn read_block(&self, block: usize, each: &mut impl FnMut(Arrival<'_>)) -> Result<u64> {
        let head: libc::tpacket_hdr_v1 = self.mapping.read(block + BLOCK_HEADER);
        let mut offset = head.offset_to_first_pkt as usize;
        for _ in 0..head.num_pkts {
            let arrival = self
                .arrival(block, offset)
                .ok_or_else(|| self.nonsense(offset))?;
            each(arrival.0);
            offset += arrival.1;
        }
        Ok(u64::from(head.num_pkts))
    }

    /// The frame at this offset of the block, and how far on the next lies; `None` where the offsets lead
    /// out of the block.
    fn arrival(&self, block: usize, offset: usize) -> Option<(Arrival<'_>, usize)> {
        let room = self.spec.block_octets;
        if offset + size_of::<libc::tpacket3_hdr>() > room {
            return None;
        }
        let head: libc::tpacket3_hdr = self.mapping.read(block + offset);
        let (at, kept) = (offset + usize::from(head.tp_mac), head.tp_snaplen as usize);
        if at + kept > room {
            return None;
        }
        let arrival = Arrival {
            octets: self.mapping.octets(block + at, kept),
            length: head.tp_len as usize,
            realtime_ns: u64::from(head.tp_sec) * 1_000_000_000 + u64::from(head.tp_nsec),
            merged: head.tp_status & MERGED != 0,
        };
        Some((arrival, head.tp_next_offset as usize))
    }

    fn nonsense(&self, offset: usize) -> Error {
        Error::from_text(
            "read receive ring of",
            socket::object(&self.link),
            format!("a frame at offset {offset} of its block"),
        )
        .with_remedy("the kernel uses another ring layout; rebuild mpps")
    }

    /// What the kernel counted since the ring was made.
    ///
    /// # Errors
    /// None in practice.
    pub fn counts(&mut self) -> Result<RingCounts> {
        let mut new = libc::tpacket_stats_v3 {
            tp_packets: 0,
            tp_drops: 0,
            tp_freeze_q_cnt: 0,
        };
        let mut length = size_of::<libc::tpacket_stats_v3>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` octets into a live structure of that length.
        let result = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut new).cast(),
                &raw mut length,
            )
        };
        if result != 0 {
            return Err(Error::last(
                "read packet statistics of",
                socket::object(&self.link),
            ));
        }
        // The kernel begins anew with each reading.
        self.counts.seen += u64::from(new.tp_packets);
        self.counts.dropped += u64::from(new.tp_drops);
        Ok(self.counts)
    }
}

impl RxWaiter {
    /// Waits until a block is handed over; false when none was in time, or a signal came.
    ///
    /// # Errors
    /// None in practice.
    pub fn wait(&self, timeout_ms: i32) -> Result<bool> {
        socket::wait(&self.socket, timeout_ms, &self.link)
    }
}
