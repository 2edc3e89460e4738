//! Flows that live a few frames each, as a DUT that tracks connections counts them.

use crate::device::run_in;
use crate::support;
use crate::support::PortsOfBed as _;
use mpps_lab::bed::Side;
use mpps_lab::tester::{ReceiverMode, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_linux::setting::Setting;
use mpps_method::{Offer, Rate, Span};

/// A rule that looks at a connection's state makes the kernel track connections.
const TRACKED: &str = "table ip t {
    chain forward {
        type filter hook forward priority 0
        ct state new accept
    }
}";

/// Connections the DUT knows. One whose answer never comes is kept for 30 s.
fn known(tester: &Tester<'_>) -> u64 {
    let dut = tester.bed.netns(Side::B);
    let count = dut.run(|| Setting::sysctl("net.netfilter.nf_conntrack_count").read());
    let count = count.expect("DUT").expect("connections are tracked");
    count.trim().parse().expect("a number")
}

#[test]
fn the_dut_sees_each_short_flow_once() {
    if !support::can_run() {
        return;
    }
    for (flows, length, frames) in [(1, 4, 1_000), (8, 16, 3_200), (3, 1, 300)] {
        // A DUT that knows nobody.
        let bed = support::bed();
        run_in(bed.netns(Side::B), &["nft", "-f", "-"], TRACKED);
        let traffic = Traffic {
            flows,
            flow_length: Some(length),
            ..support::traffic()
        };
        let mut tester =
            Tester::raise(&bed, &traffic, 1 << 20, ReceiverMode::Polled).expect("tester");
        for trial in 1..=3 {
            let before = known(&tester);
            let offer = Offer::new(
                Rate::from_fps(20_000.0),
                Span::from_secs_f64(frames as f64 / 20_000.0),
            );
            let sent =
                trial::run(&mut tester, &offer).unwrap_or_else(|error| panic!("trial: {error}"));
            let counts = sent.counts();
            // A frame that the tester's own ring lost has passed the DUT all the same.
            assert_eq!(sent.lost_at_dut(), 0, "{counts:?}");
            // A machine that stands still for a while leaves many unsent.
            assert!(counts.sent > frames / 10, "{counts:?}");
            let begun = traffic.flow_order().begun(counts.sent);
            assert_eq!(known(&tester) - before, begun, "trial {trial}: {counts:?}");
        }
        drop(tester);
        bed.lower().expect("lower");
    }
}
