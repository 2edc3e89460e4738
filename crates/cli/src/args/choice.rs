//! Flags whose value is one of a few words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use mpps_lab::bed::{Front, Interfaces, RssKey};
use mpps_lab::fib::{Pointing, Spread};
use mpps_lab::jobs::calibrate::FaultKind;
use mpps_lab::tester::{PortKind, ReceiverPlace};
use mpps_method::{Accept, Preset, Transport};

/// A word, its help, and what it means.
type Choice<T> = (&'static str, &'static str, T);

/// Makes tables of choices, a line each.
macro_rules! choices {
    ($($(#[$about:meta])* $name:ident: $type:ty { $($word:literal $help:literal $value:expr;)* })*) => {$(
        $(#[$about])*
        pub const $name: &[Choice<$type>] = &[$(($word, $help, $value)),*];
    )*};
}
choices! {
    /// What carries the frames at the tester's ports.
    PORTS: PortKind {
        "xdp" "Live XDP frames out, an XDP program in" PortKind::Xdp;
        "af-packet" "Packet sockets with rings" PortKind::AfPacket;
    }
    /// Where the tester receives.
    RECEIVERS: ReceiverPlace {
        "port" "At the tester's own port" ReceiverPlace::Port;
        "exit" "At the egress of the router's outgoing port" ReceiverPlace::Exit;
    }
    /// Faults that a calibration plants.
    FAULTS: FaultKind {
        "loss" "Frames that the DUT loses" FaultKind::Loss;
        "duplicates" "Frames that it sends twice" FaultKind::Duplicates;
        "reordering" "Frames that it sends late" FaultKind::Reordering;
        "policer" "A highest rate" FaultKind::Policer;
        "ring" "A burst that fills its receive ring" FaultKind::Ring;
        "cost" "CPU time for each frame" FaultKind::COST;
        "delay" "Time that frames are held back" FaultKind::DELAY;
    }
    /// Which part of the kernel receives for the DUT.
    FRONTS: Front {
        "cpumap" "A virtual NIC with rings of its own (XDP redirect to CPUMAP)" Front::Cpumap;
        "napi" "veth's NAPI, in a thread" Front::Napi;
        "softirq" "veth's backlog, in softirq" Front::Softirq;
    }
    /// Keys of the virtual NIC's RSS hash.
    RSS_KEYS: RssKey {
        "default" "The key most drivers begin with" RssKey::Default;
        "symmetric" "Both directions of a flow in one queue" RssKey::Symmetric;
    }
    /// Which of the kernel's interfaces the tester works with.
    INTERFACES: Interfaces {
        "newest" "The newer where there are two" Interfaces::Newest;
        "oldest" "Those of Linux 6.1" Interfaces::Oldest;
    }
    /// How prefixes are spread over next hops.
    SPREADS: Spread {
        "round-robin" "One after the other" Spread::RoundRobin;
        "hash" "By a hash of the prefix" Spread::Hash;
    }
    /// What routes point to.
    NEXT_HOPS: Pointing {
        "auto" "Nexthop objects where the kernel has them" Pointing::Best;
        "objects" "Nexthop objects" Pointing::Objects;
        "plain" "A gateway each" Pointing::Plain;
    }
    /// Attributes of goals by name.
    PRESETS: Preset {
        "quick" "1 s trials, 25 at most" Preset::Quick;
        "csit" "As FD.io CSIT measures" Preset::Csit;
        "rfc2544" "RFC 2544 section 24" Preset::Rfc2544;
    }
    /// When a load has passed, of a bisection.
    ACCEPTS: Accept {
        "any" "One lossless trial at a load is enough" Accept::Any;
        "all" "Every trial at a load has to be lossless" Accept::All;
    }
    /// What stands behind the IP header.
    TRANSPORTS: Transport {
        "udp" "Datagrams" Transport::Udp;
        "tcp" "Segments each of which stands where the one before it did" Transport::Tcp;
        "tcp-stream" "Segments each of which stands where the one before it ended" Transport::TcpStream;
    }
}

/// The parser of a flag that takes one of these words.
pub fn one_of<T: Copy + Send + Sync + 'static>(choices: &'static [Choice<T>]) -> ValueParser {
    let words = choices
        .iter()
        .map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    ValueParser::new(PossibleValuesParser::new(words).try_map(move |said| {
        let mut said = choices.iter().filter(|(word, ..)| *word == said);
        said.next().map(|(.., value)| *value).ok_or("no such word")
    }))
}
