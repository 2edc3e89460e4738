//! What the tester counts around a device of somebody else's, held against what the device counts itself, and
//! against what is on the cable.

use crate::device::{Lab, ip, nft_counter, plan, raised, run_in, traffic};
use crate::host::alone;
use crate::support;
use mpps_lab::bed::Bed;
use mpps_lab::tester::{PortKind, ReceiverMode, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_linux::ethtool;
use mpps_linux::packet::{RxRing, RxSpec};
use mpps_method::reason::Invalid;
use mpps_method::{Offer, Rate, Span, Transport, Trial, Verdict};
use mpps_wire::tag::Tag;

/// Trials until one is as it should be: a busy machine takes CPUs away.
const ATTEMPTS: u32 = 8;

fn run(bed: &Bed, traffic: &Traffic, offer: &Offer) -> Trial {
    let mut tester = Tester::raise(bed, traffic, 1 << 20, ReceiverMode::Polled)
        .unwrap_or_else(|error| panic!("tester: {error}"));
    trial::run(&mut tester, offer).unwrap_or_else(|error| panic!("trial: {error}"))
}

fn offer(fps: f64, millis: u64) -> Offer {
    Offer::new(Rate::from_fps(fps), Span::from_millis(millis))
}

#[test]
fn what_the_device_drops_is_lost_to_the_frame() {
    if !support::can_run() || !alone("what_the_device_drops_is_lost_to_the_frame") {
        return;
    }
    let lab = Lab::new();
    // Room for the canaries, which come at 20 000 a second.
    let rules = "table ip t {
        counter drops {}
        chain forward {
            type filter hook forward priority 0
            limit rate over 1000/second burst 60 packets counter name drops drop
        }
    }";
    run_in(&lab.device, &["nft", "-f", "-"], rules);
    let done = lab.host.run(|| {
        let bed = raised(&plan("x1", "x2", false, false));
        let traffic = traffic(PortKind::AfPacket, "64", false, false);
        // Where a CPU stands still for long, a port's ring drops frames too, or none is due.
        let mut seen = Vec::new();
        let is_exact = (0..ATTEMPTS).any(|_| {
            let before = nft_counter(&lab.device, "drops");
            let trial = run(&bed, &traffic, &offer(4_000.0, 500));
            let dropped = nft_counter(&lab.device, "drops") - before;
            let (counts, ledger) = (trial.counts(), trial.ledger());
            let canaries = |c: mpps_method::Canaries| c.sent_frames - c.received_frames;
            let canaries = canaries(ledger.opening) + canaries(ledger.closing);
            let lost = counts.lost + canaries;
            assert_eq!(trial.stack, None, "the device's own counts are not known");
            seen.push((dropped, lost, ledger));
            dropped > 100 && lost == dropped && ledger.lost_in_dut == dropped
        });
        assert!(is_exact, "{seen:?}");
    });
    done.expect("host");
}

/// Segments that the device's GRO merges and its port does not cut again: a count of them is no count of frames.
#[test]
fn merged_frames_make_a_trial_invalid() {
    let test = "merged_frames_make_a_trial_invalid";
    if !support::can_run() || !alone(test) {
        return;
    }
    let lab = Lab::new();
    let gro = lab
        .device
        .run(|| ethtool::set_feature("d1", "rx-gro", true));
    gro.expect("device").expect("GRO");
    // What leaves a veth that can send merged segments goes past the GRO of its other end.
    let sends_singly = lab.host.run(|| {
        let all = ethtool::features("x1")?;
        let merged = all.iter().filter(|f| f.on && f.name.starts_with("tx-tcp"));
        merged
            .into_iter()
            .try_for_each(|f| ethtool::set_feature("x1", &f.name, false))
    });
    sends_singly.expect("host").expect("no TSO");
    // The sender hands over frame by frame, each a poll of its own; what it finds is kept for longer than that.
    let keep = "echo 2000000 > /sys/class/net/d1/gro_flush_timeout";
    run_in(&lab.device, &["sh", "-ec", keep], "");
    let done = lab.host.run(|| {
        let bed = raised(&plan("x1", "x2", false, false));
        let of = |transport| Traffic {
            transport,
            flows: 1,
            ..traffic(PortKind::AfPacket, "512", false, false)
        };
        let offer = offer(20_000.0, 200);
        // Every segment at the same place of its stream: nothing merges them.
        let plain = run(&bed, &of(Transport::Tcp), &offer).judge(&support::any_machine());
        assert!(!matches!(plain, Verdict::Invalid(_)), "{plain}");
        let stream = run(&bed, &of(Transport::TcpStream), &offer);
        let verdict = stream.judge(&support::any_machine());
        assert!(
            matches!(verdict, Verdict::Invalid(Invalid::SizesDisagree { .. })),
            "{verdict}\n{:?}",
            stream.counts()
        );
        let line = verdict.to_string();
        assert!(line.contains("GRO") && line.contains("--l4 tcp"), "{line}");
        // Cut again before they leave, they are what they were.
        for offload in ["tx-tcp-segmentation", "tx-generic-segmentation"] {
            let off = lab
                .device
                .run(|| ethtool::set_feature("d2", offload, false));
            off.expect("device").expect(offload);
        }
        // Where a CPU stands still, a port's ring overflows.
        let is_whole = (0..ATTEMPTS).any(|_| {
            let cut = run(&bed, &of(Transport::TcpStream), &offer);
            let verdict = cut.judge(&support::any_machine());
            assert!(!matches!(verdict, Verdict::Invalid(_)), "{verdict}");
            println!("{:?}", cut.counts());
            cut.counts().sent > 0 && cut.counts().lost == 0
        });
        assert!(is_whole, "lost each time");
    });
    done.expect("host");
}

/// Lengths and sequences of a trial's own frames as they pass the device's port.
fn on_the_cable(lab: &Lab, bed: &Bed, traffic: &Traffic) -> (Vec<(u64, usize)>, Trial) {
    let spec = RxSpec {
        blocks: 64,
        block_octets: 1 << 17,
        // Longer than a trial: a block holds all its frames, and is read afterwards.
        retire_ms: 1_000,
        snap_octets: 96,
    };
    let ring = lab.device.run(|| RxRing::open("d1", spec));
    let mut ring = ring.expect("device").expect("ring");
    let trial = run(bed, traffic, &offer(4_000.0, 250));
    let waiter = ring.waiter().expect("waiter");
    let mut frames: Vec<(u16, u64, usize)> = Vec::new();
    while waiter.wait(3_000).expect("wait") {
        let each = |arrival: mpps_linux::packet::Arrival<'_>| {
            let is_udp =
                arrival.octets.get(12..14) == Some(&[8, 0]) && arrival.octets.get(23) == Some(&17);
            let tag = arrival.octets.get(42..).and_then(|at| Tag::parse(at).ok());
            if let Some((tag, _)) = tag.filter(|_| is_udp) {
                frames.push((tag.id, tag.sequence, arrival.length));
            }
        };
        ring.drain(each).expect("drain");
    }
    // Canaries have an id of their own.
    let of = |id: u16| frames.iter().filter(|(one, ..)| *one == id).count();
    let longest = frames.iter().map(|(id, ..)| *id).max_by_key(|id| of(*id));
    let id = longest.expect("frames");
    frames.retain(|(one, ..)| *one == id);
    let seen = frames
        .into_iter()
        .map(|(_, sequence, length)| (sequence, length));
    (seen.collect(), trial)
}

#[test]
fn a_genome_is_on_the_cable_in_its_order() {
    if !support::can_run() || !alone("a_genome_is_on_the_cable_in_its_order") {
        return;
    }
    let lab = Lab::new();
    // Octets with FCS: RFC 6985's letters, and two of one's own.
    let (text, wanted) = ("genome:aabAgz,A=594,z=1400", [64, 64, 128, 594, 1518, 1400]);
    let gro = lab.device.run(|| {
        ethtool::set_feature("d1", "rx-gro", true).and(ethtool::set_feature("d2", "rx-gro", true))
    });
    gro.expect("device").expect("GRO");
    for cable in ["d1", "d2"] {
        ip(&lab.device, &format!("link set {cable} mtu 1500"));
    }
    let done = lab.host.run(|| {
        let bed = raised(&plan("x1", "x2", false, false));
        for port in [PortKind::AfPacket, PortKind::Xdp] {
            let traffic = traffic(port, text, false, false);
            let mut whole = false;
            for _ in 0..ATTEMPTS {
                let (frames, trial) = on_the_cable(&lab, &bed, &traffic);
                let counts = trial.counts();
                assert_eq!(frames.len() as u64, counts.sent, "{port:?}: {counts:?}");
                for (number, (sequence, length)) in (0..).zip(&frames) {
                    assert_eq!(*sequence, number, "{port:?}");
                    let size = wanted[number as usize % wanted.len()];
                    assert_eq!(*length, size - 4, "{port:?}: frame {number}");
                }
                whole = frames.len() > 2 * wanted.len();
                if whole {
                    break;
                }
            }
            assert!(whole, "{port:?}: hardly a frame in {ATTEMPTS} trials");
        }
    });
    done.expect("host");
}
