//! The router's management path (RFC 2544 section 11.2): questions to an address of the router's own, which a program in its
//! namespace answers on the router's CPUs.
//!
//! The path has a port of its own (`mM` to `mN`), so no frame of a trial meets it, whichever front, family and direction a
//! trial has. Question and answer pass the IP and UDP of the router's namespace. The answering thread has to get time on the
//! router's CPUs, as a routing daemon has to.

use super::error::TesterError;
use crate::bed::{Bed, has_ipv6};
use crate::clock::{monotonic_ns, wait_for};
use mpps_linux::clock::thread_ns;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::links::{self, VethSpec};
use mpps_linux::netns::NetNs;
use mpps_linux::task;
use mpps_method::Queries;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long to wait for the last answers of a trial, ns.
const ANSWER_LIMIT_NS: u64 = 200_000_000;
/// How often to look for them, ns.
const ANSWER_LOOK_NS: u64 = 1_000_000;
/// A thread that waits for a datagram looks so often whether the path goes, ns.
const LOOK_NS: u64 = 100_000_000;
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
    asker: Arc<Asker>,
    threads: Vec<JoinHandle<u64>>,
}

impl Management {
    /// Puts the path up. Nobody asks yet.
    ///
    /// # Errors
    /// Only its owner reaches this DUT, or the kernel refused the ports or the sockets.
    pub(super) fn raise(bed: &Bed, per_s: u16) -> Result<Self, TesterError> {
        let [port, _] = bed.dut().ports().ok_or(TesterError::NoQueries)?;
        let router = Arc::clone(&port.netns);
        let connected = connect(&router, &bed.tester()[0].netns);
        let (answering, socket) = connected.inspect_err(|_| delete(&router))?;
        let asker = Arc::new(Asker {
            socket,
            every_ns: 1_000_000_000 / u64::from(per_s.max(1)),
            ending: AtomicBool::new(false),
            asked: Mutex::default(),
        });
        let (answerer, cpus) = (Arc::clone(&asker), bed.plan().cpus.dut_set());
        let asking = Arc::clone(&asker);
        let threads = vec![
            std::thread::spawn(move || {
                answer(&answering, &answerer.ending, &cpus);
                thread_ns()
            }),
            std::thread::spawn(move || {
                asking.run();
                thread_ns()
            }),
        ];
        Ok(Self {
            router,
            asker,
            threads,
        })
    }

    /// Asks at once, and from now on so often a second. Returns the number of the question.
    #[must_use]
    pub fn begin(&self) -> usize {
        let mut asked = self.asker.asked();
        self.asker.ask(&mut asked, monotonic_ns())
    }

    /// Asks no more, and waits a moment for answers. Counts the questions from this number on.
    ///
    /// # Errors
    /// Ctrl-C.
    pub fn pause(&self, first: usize) -> Result<Queries, TesterError> {
        self.asker.asked().next_ns = None;
        let mut queries = Queries::default();
        wait_for(ANSWER_LIMIT_NS, ANSWER_LOOK_NS, || {
            let asked = self.asker.asked();
            let these = asked.questions.get(first..).unwrap_or_default();
            let answered = these.iter().filter(|one| one.answered_ns.is_some());
            queries = Queries {
                asked: these.len() as u64,
                answered: answered.count() as u64,
            };
            Ok::<_, TesterError>(queries.answered == queries.asked)
        })?;
        Ok(queries)
    }

    /// Takes the path down. Returns the questions, and the CPU time that answering and asking took, ns.
    ///
    /// # Errors
    /// One of its threads panicked.
    pub fn end(mut self) -> Result<(Vec<Question>, [u64; 2]), TesterError> {
        let mut took = self.stop()?.into_iter();
        let mut next = || took.next().unwrap_or(0);
        let questions = std::mem::take(&mut self.asker.asked().questions);
        Ok((questions, [next(), next()]))
    }

    fn stop(&mut self) -> mpps_linux::Result<Vec<u64>> {
        self.asker.ending.store(true, Ordering::Release);
        let threads = self.threads.drain(..);
        // All have ended before the first that panicked is told.
        let ended: Vec<_> = threads
            .map(|thread| task::joined(thread.join(), "a thread of the management path"))
            .collect();
        ended.into_iter().collect()
    }
}

impl Drop for Management {
    fn drop(&mut self) {
        // A panic of a thread was told on stderr; here only their end matters.
        let _ended = self.stop();
        delete(&self.router);
    }
}

fn delete(router: &NetNs) {
    // Where the namespace is gone already, the ports are too.
    let _gone = router.run(|| links::delete(ENDS[0].0));
}

/// Takes away the ports that a killed process left in a kept bed.
pub(super) fn sweep(bed: &Bed) -> Result<(), TesterError> {
    let Some([port, _]) = bed.dut().ports() else {
        return Ok(());
    };
    let name = ENDS[0].0;
    Ok(port.netns.run(|| match links::exists(name)? {
        true => links::delete(name),
        false => Ok(()),
    })??)
}

/// Both ports with their addresses, and a socket at each: the answering one, then the asking one.
fn connect(router: &NetNs, tester: &NetNs) -> Result<(UdpSocket, UdpSocket), TesterError> {
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
    router.run(|| links::create_veth(&spec))??;
    for (netns, (name, address, _)) in [(router, ENDS[0]), (tester, ENDS[1])] {
        netns.run(|| {
            links::set_multicast(name, false)?;
            if has_ipv6() {
                links::set_addr_gen_mode_none(name)?;
            }
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
    Ok((answering, asking))
}

fn refused(operation: &str, error: &io::Error) -> TesterError {
    mpps_linux::Error::from_io(operation, "the management path's socket", error).into()
}

fn answer(socket: &UdpSocket, ending: &AtomicBool, cpus: &CpuSet) {
    // A thread that cannot be moved answers from where it is: then the answers say less, and still are some.
    let _moved = cpu::pin_current_thread(cpus);
    let mut text = [0; 8];
    while !ending.load(Ordering::Acquire) {
        if let Ok(from) = received(socket, LOOK_NS, || socket.recv_from(&mut text)) {
            // A question that cannot be answered stays without an answer.
            let _lost = socket.send_to(&text, from.1);
        }
    }
}

/// The tester's end of the path.
struct Asker {
    socket: UdpSocket,
    every_ns: u64,
    ending: AtomicBool,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    /// By their numbers.
    questions: Vec<Question>,
    /// When the next one is due; `None`: nobody asks now.
    next_ns: Option<u64>,
}

impl Asker {
    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the question that was due then.
    fn ask(&self, asked: &mut Asked, due_ns: u64) -> usize {
        let number = asked.questions.len();
        let asked_ns = monotonic_ns();
        asked.questions.push(Question {
            asked_ns,
            answered_ns: None,
        });
        asked.next_ns = Some((due_ns + self.every_ns).max(asked_ns));
        // A question that cannot be sent has no answer.
        let _lost = self.socket.send(&(number as u64).to_ne_bytes());
        number
    }

    /// Asks when a question is due, and hears the answers. The answer to the first question of a trial wakes this thread, so
    /// that the second is in time.
    fn run(&self) {
        let mut text = [0; 8];
        while !self.ending.load(Ordering::Acquire) {
            let mut asked = self.asked();
            let now_ns = monotonic_ns();
            let wait_ns = match asked.next_ns {
                Some(due_ns) if due_ns <= now_ns => {
                    self.ask(&mut asked, due_ns);
                    continue;
                }
                Some(due_ns) => LOOK_NS.min(due_ns - now_ns),
                None => LOOK_NS,
            };
            drop(asked);
            if received(&self.socket, wait_ns, || self.socket.recv(&mut text)).is_err() {
                continue;
            }
            let number = usize::try_from(u64::from_ne_bytes(text)).unwrap_or(usize::MAX);
            if let Some(question) = self.asked().questions.get_mut(number) {
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
