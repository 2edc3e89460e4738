//! Management traffic (RFC 2544 section 11.2): queries to the router itself while it forwards, and its answers.
//!
//! A query is an ICMP echo request from the tester's first port to the router's address there, so it takes a place in the
//! receive ring as the frames of a trial do. It is no frame of the trial: `trial` leaves it out of the counters.

use crate::bed::{Bed, Front};
use crate::tester::TesterError;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::packet::Instruction::{Keep, LoadHalf, LoadOctet, SkipIfEqual};
use mpps_linux::packet::{Filter, PacketSocket};
use mpps_linux::{cpu, task};
use mpps_method::Queries;
use mpps_wire::checksum;
use mpps_wire::ether::{self, Ether, MacAddr};
use mpps_wire::ipv4::{self, Ipv4};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

/// Queries each second at most: each wakes a thread on the tester's CPU.
pub const QUERIES_MAX: u16 = 100;
/// An answer that comes later than this after the trial's last frame is none, ns.
const ANSWER_LIMIT_NS: u64 = 200_000_000;
/// How often to look whether the sender has ended, ms.
const LOOK_MS: u64 = 20;
/// The asking thread runs while the sender has the CPU.
const PRIORITY: u8 = 1;
/// Octets of a query without FCS: the smallest frame.
const LENGTH: usize = 60;
/// What all queries have in their ICMP identifier.
const IDENTIFIER: u16 = 0x6d70;
/// Protocol number of ICMP.
const ICMP: u8 = 1;
/// ICMP's type of a query (RFC 792); that of an answer is 0.
const ECHO: u8 = 8;
/// Where ICMP begins.
const AT: usize = ether::HEADER_LEN + ipv4::HEADER_LEN;

/// Asks the router while it forwards.
pub struct Manager {
    socket: PacketSocket,
    per_s: u16,
    /// A query whose number is 0.
    query: [u8; LENGTH],
    /// The number of the next query.
    next: AtomicU16,
}

impl Manager {
    /// Prepares so many queries a second to the router of this bed.
    ///
    /// # Errors
    /// Queries cannot be told from frames there, or the socket could not be opened.
    pub(super) fn open(bed: &Bed, per_s: u16) -> Result<Self, TesterError> {
        let [from, _] = bed.tester();
        let ports = bed.dut().ports();
        let Some([to, _]) = ports.filter(|_| bed.plan().nic == Front::Cpumap) else {
            return Err(TesterError::NoQueries);
        };
        let filter = Filter::new(vec![
            LoadHalf(12),
            SkipIfEqual(u32::from(ether::TYPE_IPV4), 0, 4),
            LoadOctet(23),
            SkipIfEqual(u32::from(ICMP), 0, 2),
            LoadHalf(38),
            SkipIfEqual(u32::from(IDENTIFIER), 1, 0),
            Keep(0),
            Keep(LENGTH as u32),
        ]);
        let open = || PacketSocket::open(&from.name, &filter, &[]);
        let mut query = [0; LENGTH];
        let ether = Ether {
            destination: MacAddr(to.mac),
            source: MacAddr(from.mac),
            ethertype: ether::TYPE_IPV4,
        };
        let ip = Ipv4 {
            dscp: 0,
            total_length: (LENGTH - ether::HEADER_LEN) as u16,
            dont_fragment: true,
            ttl: 64,
            protocol: ICMP,
            source: from.v4,
            destination: to.v4,
        };
        let rest = ether.emit(&mut query).and_then(|rest| ip.emit(rest));
        if rest.is_err() {
            return Err(TesterError::NoQueries);
        }
        query[AT] = ECHO;
        query[AT + 4..AT + 6].copy_from_slice(&IDENTIFIER.to_be_bytes());
        Ok(Self {
            socket: from.netns.run(open)??,
            per_s,
            query,
            next: AtomicU16::new(0),
        })
    }

    /// Sends, and asks meanwhile: once as it begins, and then each period.
    ///
    /// # Errors
    /// Those of sending, and what the kernel said to a query.
    pub fn beside<T>(
        &self,
        send: impl FnOnce() -> Result<T, TesterError>,
    ) -> Result<(T, Queries), TesterError> {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| self.ask_until(&stop));
            let sent = send();
            stop.store(true, Ordering::Release);
            let asked = asking.join();
            let asked = asked.map_err(|_| TesterError::Panicked("the asking thread"))?;
            Ok((sent?, asked?))
        })
    }

    fn ask_until(&self, stop: &AtomicBool) -> Result<Queries, TesterError> {
        // Where that is not allowed, some queries are late.
        let _late = cpu::set_fifo(task::current_tid(), PRIORITY);
        let first = self.next.load(Ordering::Relaxed);
        let begun_ns = monotonic_ns();
        let mut queries = Queries::default();
        let mut end_ns = None;
        let mut room = [0; LENGTH];
        loop {
            let now_ns = monotonic_ns();
            if end_ns.is_none() && stop.load(Ordering::Acquire) {
                end_ns = Some(now_ns + ANSWER_LIMIT_NS);
            }
            let due_ns = begun_ns + queries.asked * 1_000_000_000 / u64::from(self.per_s);
            let wait_ns = match end_ns {
                Some(end_ns) if queries.answered >= queries.asked || now_ns >= end_ns => {
                    return Ok(queries);
                }
                Some(end_ns) => end_ns - now_ns,
                None if now_ns >= due_ns => {
                    self.ask()?;
                    queries.asked += 1;
                    continue;
                }
                None => due_ns - now_ns,
            };
            let wait_ms = (wait_ns / 1_000_000 + 1).min(LOOK_MS);
            let heard = self.socket.receive(&mut room, wait_ms as i32)?;
            let is_new = heard
                .is_some_and(|frame| u64::from(number(frame).wrapping_sub(first)) < queries.asked);
            queries.answered += u64::from(is_new);
        }
    }

    fn ask(&self) -> Result<(), TesterError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut query = self.query;
        query[AT + 6..AT + 8].copy_from_slice(&number.to_be_bytes());
        let checksum = checksum::of(&query[AT..]);
        query[AT + 2..AT + 4].copy_from_slice(&checksum.to_be_bytes());
        Ok(self.socket.send(&query)?)
    }
}

/// The number of a query in its answer.
fn number(answer: &[u8]) -> u16 {
    match answer.get(AT + 6..AT + 8) {
        Some(&[high, low]) => u16::from_be_bytes([high, low]),
        _ => 0,
    }
}
