//! The router's management path: ten times a second a question to an address of the router's own, which a program in its
//! namespace answers on the router's CPUs.
//!
//! The path has a port of its own (`mM` to `mN`), so the load fills no ring on it. Question and answer pass the IP and UDP of
//! the router's namespace. The answering thread has to get time on the router's CPUs, as a routing daemon has to.

use super::error::TesterError;
use crate::bed::Bed;
use crate::clock::monotonic_ns;
use mpps_linux::clock::thread_ns;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::links::{self, VethSpec};
use mpps_linux::netns::NetNs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// From one question to the next, ns.
const EVERY_NS: u64 = 100_000_000;
/// Port and address of the router, then of the tester.
const ENDS: [(&str, Ipv4Addr, [u8; 6]); 2] = [
    ("mM", Ipv4Addr::new(169, 254, 77, 1), [2, 0, 0, 0, 77, 1]),
    ("mN", Ipv4Addr::new(169, 254, 77, 2), [2, 0, 0, 0, 77, 2]),
];
const PREFIX: u8 = 30;
/// The port of the echo protocol (RFC 862).
const ECHO: u16 = 7;

/// One question, times by the monotonic clock, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// When it was sent.
    pub asked_ns: u64,
    /// When its answer came; `None`: not yet, or never.
    pub answered_ns: Option<u64>,
}

/// The path while it stands. It goes when this is dropped.
pub struct Management {
    router: Arc<NetNs>,
    ending: Arc<AtomicBool>,
    questions: Arc<Mutex<Vec<Question>>>,
    threads: Vec<JoinHandle<u64>>,
}

impl Management {
    /// Puts the path up and begins to ask. `None`: only its owner reaches this DUT.
    ///
    /// # Errors
    /// The kernel refused the ports or the sockets.
    pub fn raise(bed: &Bed) -> Result<Option<Self>, TesterError> {
        let Some([port, _]) = bed.dut().ports() else {
            return Ok(None);
        };
        let mut path = Self {
            router: Arc::clone(&port.netns),
            ending: Arc::default(),
            questions: Arc::default(),
            threads: Vec::new(),
        };
        let tester = &bed.tester()[0].netns;
        let [answering, asking] = connect(&path.router, tester)?;
        let (ending, cpus) = (Arc::clone(&path.ending), bed.plan().cpus.dut_set());
        path.threads.push(std::thread::spawn(move || {
            answer(&answering, &ending, &cpus);
            thread_ns()
        }));
        let (ending, questions) = (Arc::clone(&path.ending), Arc::clone(&path.questions));
        path.threads.push(std::thread::spawn(move || {
            ask(&asking, &ending, &questions);
            thread_ns()
        }));
        Ok(Some(path))
    }

    /// The questions so far.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        let questions = self.questions.lock();
        questions.map_or_else(|_| Vec::new(), |questions| questions.clone())
    }

    /// Takes the path down. Returns the questions, and the CPU time that answering and asking took, ns.
    #[must_use]
    pub fn end(mut self) -> (Vec<Question>, [u64; 2]) {
        let mut took = self.stop().into_iter();
        let mut next = || took.next().unwrap_or(0);
        (self.questions(), [next(), next()])
    }

    fn stop(&mut self) -> Vec<u64> {
        self.ending.store(true, Ordering::Release);
        let threads = self.threads.drain(..);
        threads.map(|thread| thread.join().unwrap_or(0)).collect()
    }
}

impl Drop for Management {
    fn drop(&mut self) {
        self.stop();
        // Where the namespace is gone already, the ports are too.
        let _gone = self.router.run(|| links::delete(ENDS[0].0));
    }
}

/// Both ports with their addresses, and a socket at each: the answering one, then the asking one.
fn connect(router: &NetNs, tester: &NetNs) -> Result<[UdpSocket; 2], TesterError> {
    let [(name, _, mac), (peer_name, _, peer_mac)] = ENDS;
    let spec = VethSpec {
        name,
        mac,
        peer_name,
        peer_mac,
        peer_netns: tester,
        rx_queues: 1,
        tx_queues: 1,
    };
    router.run(|| {
        // A kept bed still has the ports of a run that was killed.
        if links::exists(name)? {
            links::delete(name)?;
        }
        links::create_veth(&spec)
    })??;
    for (netns, (name, address, _)) in [(router, ENDS[0]), (tester, ENDS[1])] {
        netns.run(|| {
            links::set_multicast(name, false)?;
            links::set_addr_gen_mode_none(name)?;
            links::add_address(name, IpAddr::V4(address), PREFIX)?;
            links::set_up(name)
        })??;
    }
    let bind = |netns: &NetNs, address, port| {
        let socket = netns.run(|| UdpSocket::bind(SocketAddrV4::new(address, port)))?;
        socket.map_err(|error| refused("bind", &error))
    };
    let (answering, asking) = (bind(router, ENDS[0].1, ECHO)?, bind(tester, ENDS[1].1, 0)?);
    let connected = asking.connect((ENDS[0].1, ECHO));
    connected.map_err(|error| refused("connect", &error))?;
    Ok([answering, asking])
}

fn refused(operation: &str, error: &io::Error) -> TesterError {
    mpps_linux::Error::from_io(operation, "the management path's socket", error).into()
}

fn answer(socket: &UdpSocket, ending: &AtomicBool, cpus: &CpuSet) {
    // A thread that cannot be moved answers from where it is: then the answers say less, and still are some.
    let _moved = cpu::pin_current_thread(cpus);
    let mut text = [0; 8];
    while !ending.load(Ordering::Acquire) {
        if let Ok(from) = received(socket, EVERY_NS, || socket.recv_from(&mut text)) {
            // A question that cannot be answered stays without an answer.
            let _lost = socket.send_to(&text, from.1);
        }
    }
}

fn ask(socket: &UdpSocket, ending: &AtomicBool, questions: &Mutex<Vec<Question>>) {
    let mut text = [0; 8];
    let mut next = monotonic_ns();
    for number in 0_u64.. {
        if ending.load(Ordering::Acquire) {
            return;
        }
        if let Ok(mut questions) = questions.lock() {
            questions.push(Question {
                asked_ns: monotonic_ns(),
                answered_ns: None,
            });
        }
        // A question that cannot be sent has no answer.
        let _lost = socket.send(&number.to_ne_bytes());
        next = (next + EVERY_NS).max(monotonic_ns());
        while let left @ 1.. = next.saturating_sub(monotonic_ns()) {
            if received(socket, left, || socket.recv(&mut text)).is_err() {
                continue;
            }
            let number = usize::try_from(u64::from_ne_bytes(text)).unwrap_or(usize::MAX);
            if let Ok(mut questions) = questions.lock()
                && let Some(question) = questions.get_mut(number)
            {
                question.answered_ns.get_or_insert(monotonic_ns());
            }
        }
    }
}

/// What a socket receives within so many ns.
fn received<T>(
    socket: &UdpSocket,
    within_ns: u64,
    receive: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    socket.set_read_timeout(Some(Duration::from_nanos(within_ns)))?;
    receive()
}
