//! Packet rings over a real link: what goes in comes out, and what the port refuses is said.

use crate::scratch::{MAC_C, MAC_D, joined, privileged, wait_for};
use mpps_linux::packet::{Filter, FlushEnd, PacketSocket, RxRing, RxSpec, TxRing, TxSpec};
use mpps_linux::{clock, links};

/// An EtherType for local experiments (IEEE 802): nobody answers.
const TYPE: [u8; 2] = [0x88, 0xb5];

fn frame(number: u32, length: usize) -> Vec<u8> {
    let mut frame = [&MAC_D[..], &MAC_C, &TYPE, &number.to_be_bytes()].concat();
    frame.extend((frame.len()..length).map(|at| (at as u32 + number) as u8));
    frame
}

fn spec(snap_octets: u32) -> RxSpec {
    RxSpec {
        blocks: 16,
        block_octets: 1 << 16,
        retire_ms: 2,
        snap_octets,
    }
}

fn send_all(ring: &mut TxRing, frames: &[Vec<u8>]) {
    for frame in frames {
        while !ring.stage(frame.len(), |octets| octets.copy_from_slice(frame)) {
            ring.flush().expect("flush");
        }
    }
    wait_for("frames to be taken", || {
        (ring.flush().expect("flush").end == FlushEnd::Done).then_some(())
    });
}

#[test]
fn frames_arrive_unchanged_in_order_and_stamped() {
    if !privileged() {
        return;
    }
    let (c, d) = joined(1);
    let mut receive = d.run(|| RxRing::open("mD", spec(9216))).expect("ring");
    // More than the ring has slots, of every length that matters.
    let lengths = [60, 61, 128, 1514, 1000];
    let frames: Vec<Vec<u8>> = (0..3000)
        .map(|number| frame(number, lengths[number as usize % lengths.len()]))
        .collect();
    let begun = clock::realtime_ns();
    let spec = TxSpec {
        slots: 64,
        frame_max: 1514,
    };
    let mut send = c.run(|| TxRing::open("mC", spec)).expect("ring");
    let waiter = receive.waiter().expect("handle");
    let mut got: Vec<Vec<u8>> = Vec::new();
    for some in frames.chunks(100) {
        send_all(&mut send, some);
        let wanted = got.len() + some.len();
        wait_for("all frames", || {
            waiter.wait(10).expect("wait");
            receive
                .drain(|arrival| {
                    assert_eq!(arrival.length, arrival.octets.len());
                    assert!(arrival.realtime_ns >= begun && !arrival.merged);
                    assert!(arrival.realtime_ns <= clock::realtime_ns());
                    got.push(arrival.octets.to_vec());
                })
                .expect("drain");
            (got.len() >= wanted).then_some(())
        });
    }
    assert_eq!(got, frames);
    let counts = receive.counts().expect("counts");
    assert_eq!((counts.seen, counts.dropped), (3000, 0));
    assert_eq!(
        receive.counts().expect("again"),
        counts,
        "added up, not anew"
    );
}

#[test]
fn only_as_many_octets_as_wanted_are_kept() {
    if !privileged() {
        return;
    }
    let (c, d) = joined(1);
    let mut receive = d.run(|| RxRing::open("mD", spec(96))).expect("ring");
    let spec = TxSpec {
        slots: 8,
        frame_max: 1514,
    };
    let mut send = c.run(|| TxRing::open("mC", spec)).expect("ring");
    send_all(&mut send, &[frame(7, 1514)]);
    let mut kept = Vec::new();
    wait_for("the frame", || {
        receive
            .drain(|arrival| kept.push((arrival.length, arrival.octets.to_vec())))
            .expect("drain");
        (!kept.is_empty()).then_some(())
    });
    assert_eq!(kept, [(1514, frame(7, 1514)[..96].to_vec())]);
}

#[test]
fn a_full_receive_ring_is_counted_to_the_frame() {
    if !privileged() {
        return;
    }
    let (c, d) = joined(1);
    let small = RxSpec {
        blocks: 2,
        block_octets: 4096,
        ..spec(96)
    };
    let mut receive = d.run(|| RxRing::open("mD", small)).expect("ring");
    let spec = TxSpec {
        slots: 512,
        frame_max: 60,
    };
    let mut send = c.run(|| TxRing::open("mC", spec)).expect("ring");
    let frames: Vec<Vec<u8>> = (0..400).map(|number| frame(number, 60)).collect();
    send_all(&mut send, &frames);
    let counts = wait_for("all frames to be counted", || {
        let counts = receive.counts().expect("counts");
        (counts.seen == 400).then_some(counts)
    });
    assert!(counts.dropped > 300, "{counts:?}");
    let mut got = 0;
    wait_for("what was kept", || {
        got += receive.drain(|_| ()).expect("drain");
        (got + counts.dropped == 400).then_some(())
    });
}

#[test]
fn a_refused_frame_stays_with_the_sender() {
    if !privileged() {
        return;
    }
    let (c, d) = joined(1);
    let spec = TxSpec {
        slots: 8,
        frame_max: 60,
    };
    let mut send = c.run(|| TxRing::open("mC", spec)).expect("ring");
    let stage = |ring: &mut TxRing| ring.stage(60, |octets| octets.copy_from_slice(&frame(1, 60)));
    // No carrier: the driver takes nothing.
    d.run(|| links::set_down("mD")).expect("down");
    assert!(stage(&mut send) && stage(&mut send));
    let dropped = || c.run(|| links::stats("mC")).expect("stats").tx_dropped;
    let before = dropped();
    let flushed = send.flush().expect("refused, not failed");
    assert_eq!((flushed.taken, flushed.end), (0, FlushEnd::Refused));
    assert_eq!((dropped() - before, send.staged()), (1, 2), "one attempt");
    send.recall();
    assert_eq!(send.staged(), 0);
    d.run(|| links::set_up("mD")).expect("up");
    wait_for("carrier", || {
        let link = c.run(|| links::get("mC")).expect("mC");
        link.carrier.then_some(())
    });
    assert!(stage(&mut send));
    let flushed = send.flush().expect("flush");
    assert_eq!((flushed.taken, flushed.end), (1, FlushEnd::Done));
    let taken = c.run(|| links::stats("mC")).expect("stats").tx_packets;
    assert_eq!(taken, 1, "what was recalled was never sent");
}

#[test]
fn a_port_that_is_down_or_gone_is_named() {
    if !privileged() {
        return;
    }
    let (c, d) = joined(1);
    let spec = TxSpec {
        slots: 8,
        frame_max: 2000,
    };
    let mut send = c.run(|| TxRing::open("mC", spec)).expect("ring");
    let mut stage = |length: usize| {
        send.recall();
        send.stage(length, |octets| octets.copy_from_slice(&frame(1, length)));
        send.flush().expect_err("no").to_string()
    };
    let error = stage(2000);
    assert!(
        error.contains("mC") && error.contains("EMSGSIZE"),
        "{error}"
    );
    c.run(|| links::set_down("mC")).expect("down");
    let error = stage(60);
    assert!(error.contains("send on mC: ENETDOWN"), "{error}");
    let receive = d.run(|| RxRing::open("mD", spec_of_one())).expect("ring");
    let waiter = receive.waiter().expect("handle");
    c.run(|| links::delete("mC")).expect("delete");
    let error = stage(60);
    assert!(error.contains("send on mC: ENXIO"), "{error}");
    let error = wait_for("the end of mD", || waiter.wait(10).err());
    assert!(
        error.to_string().contains("receive on mD: ENETDOWN"),
        "{error}"
    );
    // Once: a thread that waits for frames shall not spin on it.
    assert!(!waiter.wait(0).expect("silence"));
    let error = c.run(|| TxRing::open("mC", spec)).err().expect("gone");
    assert!(error.is_missing(), "{error}");
}

fn spec_of_one() -> RxSpec {
    spec(96)
}

#[test]
fn a_socket_without_ring_gets_what_its_filter_passes() {
    use mpps_linux::packet::Instruction::{Keep, LoadHalf, SkipIfEqual};
    if !privileged() {
        return;
    }
    let (c, d) = joined(1);
    let filter = Filter::new(vec![
        LoadHalf(14),
        SkipIfEqual(0, 0, 1),
        Keep(u32::MAX),
        Keep(0),
    ]);
    let group = [0x33, 0x33, 0, 0, 0, 9];
    let receive = d
        .run(|| PacketSocket::open("mD", &filter, &[group]))
        .expect("socket");
    let nothing = Filter::first_octets(0);
    let send = c
        .run(|| PacketSocket::open("mC", &nothing, &[]))
        .expect("socket");
    let mut room = [0; 64];
    assert_eq!(receive.receive(&mut room, 0).expect("receive"), None);
    // The filter looks at the number's first half.
    for number in [1 << 16, 3] {
        send.send(&frame(number, 60)).expect("send");
    }
    let got = receive.receive(&mut room, 1000).expect("receive");
    assert_eq!(got, Some(&frame(3, 60)[..]));
    assert_eq!(receive.receive(&mut room, 0).expect("receive"), None);
}
