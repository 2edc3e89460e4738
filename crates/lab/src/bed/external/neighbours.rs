//! The tester as a neighbour of the device: asks for the device's Ethernet address, and answers for its own
//! for as long as the bed stands.

use super::Dual;
use crate::bed::BedError;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::netns::NetNs;
use mpps_linux::packet::Instruction::{Keep, LoadHalf, LoadOctet, SkipIfEqual};
use mpps_linux::packet::{Filter, PacketSocket};
use mpps_wire::ether::{MacAddr, TYPE_IPV6};
use mpps_wire::neighbour::{
    ADVERTISEMENT, ICMPV6, Neighbour, SOLICITATION, TYPE_ARP, solicited_group,
};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A question is asked so often (RFC 4861 section 10: three times), ns apart.
const QUESTIONS: u32 = 4;
const QUESTION_NS: u64 = 1_000_000_000;
/// How soon a thread sees that it shall end, ms.
const WAIT_MS: i32 = 50;
/// Room for any message of these.
const ROOM: usize = 128;

/// The tester's voice at one port.
pub struct Neighbours {
    voice: Option<Voice>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

struct Voice {
    socket: PacketSocket,
    port: String,
    mac: MacAddr,
    addresses: [IpAddr; 2],
}

impl std::fmt::Debug for Neighbours {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Neighbours").finish_non_exhaustive()
    }
}

impl Neighbours {
    /// Listens at the port, whose Ethernet address and addresses these are.
    pub fn new(netns: &NetNs, port: &str, (mac, own): ([u8; 6], Dual)) -> Result<Self, BedError> {
        let group = solicited_group(own.v6).0;
        let socket = netns.run(|| PacketSocket::open(port, &filter(), &[group]))??;
        let voice = Voice {
            socket,
            port: port.to_owned(),
            mac: MacAddr(mac),
            addresses: [IpAddr::V4(own.v4), IpAddr::V6(own.v6)],
        };
        Ok(Self {
            voice: Some(voice),
            stop: Arc::default(),
            thread: None,
        })
    }

    /// Asks who has `wanted` and waits for the answer; answers the device's own questions meanwhile.
    ///
    /// # Errors
    /// Nobody answers, the port fails, Ctrl-C.
    pub fn ask(&mut self, wanted: IpAddr, ipv6: bool) -> Result<[u8; 6], BedError> {
        match &self.voice {
            Some(voice) => voice.ask(wanted, ipv6),
            None => Err(BedError::BadPlan("it answers already".to_owned())),
        }
    }

    /// Answers from now on, in a thread of its own.
    ///
    /// # Errors
    /// No thread could be started.
    pub fn start(&mut self) -> Result<(), BedError> {
        let Some(voice) = self.voice.take() else {
            return Ok(());
        };
        let stop = Arc::clone(&self.stop);
        let answer = move || {
            while !stop.load(Ordering::Acquire) {
                // A port that is gone has no questions left; who sends or receives there will say so.
                if voice.hear(WAIT_MS).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("mpps-neighbour".into());
        let started = thread.spawn(answer);
        self.thread =
            Some(started.map_err(BedError::io("start a thread for the tester's addresses"))?);
        Ok(())
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic of its own was told on stderr; here only its end matters.
            let _ended = thread.join();
        }
    }
}

impl Voice {
    fn ask(&self, wanted: IpAddr, ipv6: bool) -> Result<[u8; 6], BedError> {
        let [v4, v6] = self.addresses;
        let asker = (self.mac, if ipv6 { v6 } else { v4 });
        let question = Neighbour::Question { asker, wanted };
        for _ in 0..QUESTIONS {
            self.say(&question)?;
            let end = monotonic_ns() + QUESTION_NS;
            while monotonic_ns() < end {
                if mpps_linux::interrupt::requested() {
                    return Err(BedError::Interrupted);
                }
                let heard = self.hear(WAIT_MS)?;
                if let Some(Neighbour::Answer { owner, .. }) = heard
                    && owner.1 == wanted
                {
                    return Ok(owner.0.0);
                }
            }
        }
        Err(BedError::port(
            &self.port,
            format!(
                "no answer for {wanted}: is it the device's address there (--dut-address)? \
                 A device that does not answer needs --dut-mac"
            ),
        ))
    }

    /// Hears one message, if there is one in time, and answers it where it asks for us.
    fn hear(&self, timeout_ms: i32) -> Result<Option<Neighbour>, BedError> {
        let mut room = [0; ROOM];
        let Some(frame) = self.socket.receive(&mut room, timeout_ms)? else {
            return Ok(None);
        };
        let heard = Neighbour::parse(frame);
        if let Some(Neighbour::Question { asker, wanted }) = heard
            && self.addresses.contains(&wanted)
        {
            let owner = (self.mac, wanted);
            self.say(&Neighbour::Answer { owner, to: asker })?;
        }
        Ok(heard)
    }

    fn say(&self, message: &Neighbour) -> Result<(), BedError> {
        match message.frame() {
            Some(frame) => Ok(self.socket.send(&frame)?),
            None => Ok(()),
        }
    }
}

/// ARP, and neighbour discovery.
fn filter() -> Filter {
    Filter::new(vec![
        LoadHalf(12),
        SkipIfEqual(u32::from(TYPE_ARP), 6, 0),
        SkipIfEqual(u32::from(TYPE_IPV6), 0, 6),
        LoadOctet(20),
        SkipIfEqual(u32::from(ICMPV6), 0, 4),
        LoadOctet(54),
        SkipIfEqual(u32::from(SOLICITATION), 1, 0),
        SkipIfEqual(u32::from(ADVERTISEMENT), 0, 1),
        Keep(ROOM as u32),
        Keep(0),
    ])
}
