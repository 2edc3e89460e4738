//! A table in the DUT, and frames to all of it: delivered, counted, in order.

use crate::support;
use crate::support::PortsOfBed as _;
use mpps_ebpf::instruments::sender::Order;
use mpps_lab::bed::Side;
use mpps_lab::destinations::{Destinations, DrawPlan};
use mpps_lab::fib;
use mpps_lab::search::measurer::Measurer;
use mpps_lab::tester::{ReceiverMode, Tester, Wire};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_lab::trial::probe;
use mpps_method::destinations::Draw;
use mpps_method::{FrameSpec, Invalid, Offer, Rate, Span, Trial, Verdict};
use mpps_tables::Table;
use std::sync::OnceLock;

const FPS: f64 = 20_000.0;

fn run(tester: &mut Tester<'_>) -> Trial {
    let offer = Offer::new(Rate::from_fps(FPS), Span::from_millis(300));
    trial::run(tester, &offer).unwrap_or_else(|error| panic!("trial: {error}"))
}

/// Nearly all arrive, what a busy machine loses aside, and nothing is out of place.
fn assert_delivered(trial: &Trial, what: &str) {
    let verdict = trial.judge(&support::any_machine());
    let evidence = !matches!(verdict, Verdict::Invalid(Invalid::LedgerOpen(_)));
    assert!(evidence, "{what}: {verdict}");
    let counts = trial.counts();
    assert!(counts.received > counts.sent / 2, "{what}: {counts:?}");
    assert_eq!((counts.reordered, counts.foreign), (0, 0), "{what}");
}

/// 10 000 destinations of IPv4, drawn once: their schedule has millions of entries.
fn zipf() -> Destinations {
    static DRAWN: OnceLock<Destinations> = OnceLock::new();
    let drawn = DRAWN.get_or_init(|| support::destinations(Draw::Zipf(1.0), 10_000, false, 3));
    drawn.clone()
}

#[test]
fn frames_to_the_whole_table_are_routed_and_delivered() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let table = support::table();
    let loaded = fib::load_by(&bed, &table, 1, &|_| {}).expect("loaded");
    assert!(loaded.is_whole(), "{loaded:?}");
    for (ipv6, bidirectional, draw) in [
        (false, false, Draw::PerPrefix),
        (true, false, Draw::PerAddress),
        (false, true, Draw::Zipf(1.0)),
        (true, true, Draw::Sequential),
    ] {
        let drawn = match draw {
            Draw::Zipf(_) => zipf(),
            _ => support::destinations(draw, 700, ipv6, 3),
        };
        let traffic = Traffic {
            frames: FrameSpec::parse_list("78").expect("a size").remove(0),
            flows: 3,
            destinations: Some(drawn),
            ipv6,
            bidirectional,
            ..support::traffic()
        };
        let mut tester = Tester::raise(&bed, &traffic, 1 << 20, ReceiverMode::Polled)
            .unwrap_or_else(|error| panic!("tester: {error}"));
        assert_delivered(
            &run(&mut tester),
            &format!("{draw} ipv6 {ipv6} both ways {bidirectional}"),
        );
    }
    // Somebody's routes are there: whose would be cleared afterwards?
    let again = fib::load_by(&bed, &table, 1, &|_| {}).expect_err("loaded twice");
    assert!(again.to_string().contains("mpps table clear"), "{again}");
    fib::clear_from(&bed).expect("cleared");
    let left = bed.netns(Side::B).run(|| fib::contents(None));
    assert_eq!(left.expect("netns").expect("a dump").total(), 0);
}

/// 6 000 frames a trial and 10 000 destinations: two trials pass them all, and what passes a wire does not count.
#[test]
fn trials_together_pass_all_destinations() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    fib::load_by(&bed, &support::table(), 1, &|_| {}).expect("loaded");
    for (draw, continues) in [(Draw::PerPrefix, true), (Draw::Zipf(1.0), false)] {
        let drawn = match continues {
            true => support::destinations(draw, 10_000, false, 3),
            false => zipf(),
        };
        let traffic = Traffic {
            flows: 3,
            destinations: Some(drawn),
            ..support::traffic()
        };
        let mut tester = Tester::raise(&bed, &traffic, 1 << 20, ReceiverMode::Polled)
            .unwrap_or_else(|error| panic!("tester: {error}"));
        let mut sent = Vec::new();
        for _ in 0..2 {
            let trial = run(&mut tester);
            assert_delivered(&trial, &draw.to_string());
            sent.push(trial.counts().sent);
        }
        let passed = tester.surroundings().table.expect("a table").passed_frames;
        let next = tester.continued(Order::default()).entry_first;
        if continues {
            assert_eq!(passed, sent.iter().sum::<u64>());
            assert_eq!(u64::from(next), passed % 10_000);
        } else {
            // The receiver knows the flows of such a list by their places.
            assert_eq!((Some(passed), next), (sent.iter().copied().max(), 0));
        }
    }
}

/// Every prefix has one of 40 next hops, all of them the tester's port; clearing takes them with the routes.
#[test]
fn many_next_hops_are_counted_used_and_removed() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let v4 = (0..2_000_u32).map(|n| {
        let address = std::net::Ipv4Addr::from(20 << 24 | n << 8);
        ipnet::IpNet::new(address.into(), 24).expect("a length")
    });
    let v6 = (0..2_000_u128).map(|n| {
        let address = std::net::Ipv6Addr::from(0x2a00 << 112 | n << 80);
        ipnet::IpNet::new(address.into(), 48).expect("a length")
    });
    let table = Table::from_prefixes(v4.chain(v6));
    let ours = || {
        let listed = || mpps_linux::links::neighbours().expect("neighbours");
        let all = bed.netns(Side::B).run(listed).expect("netns");
        let (ours, others): (Vec<_>, Vec<_>) =
            (all.into_iter()).partition(|one| one.protocol == fib::PROTOCOL);
        (ours.len(), others.len())
    };
    let (_, before) = ours();
    let loaded = fib::load_by(&bed, &table, 40, &|_| {}).expect("loaded");
    assert!(loaded.is_whole(), "{loaded:?}");
    assert_eq!(loaded.next_hops(), 2 * 40, "{loaded:?}");
    // The tester's own addresses, the first next hop of each family, are the bed's.
    assert_eq!(ours(), (2 * 39, before));
    for ipv6 in [false, true] {
        let wish = DrawPlan {
            draw: Draw::PerPrefix,
            count: 2_000,
            ipv6,
            flows: 1,
            seed: 1,
        };
        let drawn = Destinations::draw(&table, "a test", &wish).expect("enough");
        let traffic = Traffic {
            frames: FrameSpec::parse_list("78").expect("a size").remove(0),
            destinations: Some(drawn),
            ipv6,
            ..support::traffic()
        };
        let mut tester = Tester::raise(&bed, &traffic, 1 << 20, ReceiverMode::Polled)
            .unwrap_or_else(|error| panic!("tester: {error}"));
        assert_delivered(&run(&mut tester), &format!("ipv6 {ipv6}"));
    }
    fib::clear_from(&bed).expect("cleared");
    assert_eq!(ours(), (0, before));
    // By one next hop there is nothing to remove.
    let loaded = fib::load_by(&bed, &table, 1, &|_| {}).expect("loaded");
    assert_eq!((loaded.next_hops(), ours().0), (2, 0));
}

#[test]
fn more_flows_than_one_source_address_has_ports_for() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    for ipv6 in [false, true] {
        // 64 513: the last one alone has the second address.
        for flows in [64_513, 200_000] {
            let traffic = Traffic {
                frames: FrameSpec::parse_list("78").expect("a size").remove(0),
                flows,
                ipv6,
                ..support::traffic()
            };
            let mut tester = Tester::raise(&bed, &traffic, 1 << 20, ReceiverMode::Polled)
                .unwrap_or_else(|error| panic!("tester: {error}"));
            // 120 000 frames, as fast as this machine sends them.
            let offers = [200_000.0, 50_000.0, 12_500.0, 3_125.0]
                .map(|fps| Offer::new(Rate::from_fps(fps), Span::from_secs_f64(120_000.0 / fps)));
            let trial = offers
                .iter()
                .map(|offer| trial::run(&mut tester, offer).unwrap_or_else(|e| panic!("{e}")))
                .find(|trial| trial.counts().sent > 64_513);
            let trial = trial.expect("a load that this machine sends");
            assert_delivered(&trial, &format!("{flows} flows, ipv6 {ipv6}"));
        }
    }
}

/// A real table where there is one: the kernel's own answer for what was drawn.
#[test]
fn drawn_destinations_follow_the_tables_routes() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let table = support::table();
    fib::load_by(&bed, &table, 1, &|_| {}).expect("loaded");
    let drawn = |draw| {
        let wish = DrawPlan {
            draw,
            count: 200,
            ipv6: false,
            flows: 1,
            seed: 4,
        };
        Destinations::draw(&table, "a test", &wish).expect("enough")
    };
    let answer = |far: u128| {
        let address = std::net::Ipv4Addr::from(far as u32).to_string();
        let asked = std::process::Command::new("ip")
            .args(["netns", "exec", &format!("mpps-{}-dut", bed.name())])
            .args(["ip", "route", "get", &address])
            .output();
        let asked = asked.expect("ip (iproute2)");
        (
            asked.status.success(),
            String::from_utf8_lossy(&asked.stdout).into_owned(),
        )
    };
    for place in 0..200 {
        let (found, way) = answer(drawn(Draw::PerPrefix).at(place, 4));
        assert!(found && way.contains("via 198.19.0.2 dev mC"), "{way}");
        let (found, way) = answer(drawn(Draw::Missing).at(place, 4));
        assert!(!found, "a route to what the table lacks: {way}");
    }
}

#[test]
fn frames_without_a_route_are_not_lost() {
    if !support::can_run() {
        return;
    }
    for ipv6 in [false, true] {
        let bed = support::bed();
        let wish = DrawPlan {
            draw: Draw::Missing,
            count: 500,
            ipv6,
            flows: 1,
            seed: 2,
        };
        let table = support::table();
        fib::load_by(&bed, &table, 1, &|_| {}).expect("loaded");
        let traffic = Traffic {
            frames: FrameSpec::parse_list("78").expect("a size").remove(0),
            destinations: Some(Destinations::draw(&table, "a test", &wish).expect("gaps")),
            ipv6,
            ..support::traffic()
        };
        let raise = || {
            Tester::raise(&bed, &traffic, 1 << 20, ReceiverMode::Polled)
                .unwrap_or_else(|error| panic!("tester: {error}"))
        };
        let mut tester = raise();
        probe::probe(&mut tester).unwrap_or_else(|error| panic!("probe: {error}"));
        let trial = run(&mut tester);
        let counts = trial.counts();
        let open = matches!(
            trial.judge(&support::any_machine()),
            Verdict::Invalid(Invalid::LedgerOpen(_))
        );
        assert!(!open, "{trial:?}");
        assert_eq!((counts.received, counts.foreign), (0, 0), "{counts:?}");
        assert!(counts.unrouted > counts.sent / 2, "{counts:?}");
        assert_eq!(counts.unrouted + counts.lost, counts.sent, "{counts:?}");
        // Through a wire every one of them arrives: the tester's ceiling can be found.
        let wire = Wire::lay(&bed, &tester.ways())
            .expect("laid")
            .expect("a wire");
        let counts = run(&mut tester).counts();
        assert!(
            counts.received > counts.sent / 2 && counts.unrouted == 0,
            "{counts:?}"
        );
        drop((wire, tester));
        // With a default route they are no longer missing, and the probe says so.
        let to = bed.port(Side::D);
        let (any, via) = if ipv6 {
            ("-6", to.v6.to_string())
        } else {
            ("-4", to.v4.to_string())
        };
        let added = std::process::Command::new("ip")
            .args(["netns", "exec", &format!("mpps-{}-dut", bed.name())])
            .args(["ip", any, "route", "add", "default", "via", &via])
            .status();
        assert!(added.expect("ip (iproute2)").success());
        let error = probe::probe(&mut raise()).expect_err("a route where none should be");
        assert!(error.to_string().contains("default route"), "{error}");
    }
}

/// `mpps table load --bed` and one destination: what a reader of the rate has to be told.
#[test]
fn the_tester_knows_its_share_of_the_table() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let many = (0..5_000_u32).map(|n| {
        let address = std::net::Ipv4Addr::from(20 << 24 | n << 8);
        ipnet::IpNet::new(address.into(), 24).expect("a length")
    });
    let table = Table::from_prefixes(many);
    let loaded = fib::load_by(&bed, &table, 1, &|_| {}).expect("loaded");
    assert!(loaded.is_whole(), "{loaded:?}");
    let met = |destinations| {
        let traffic = Traffic {
            destinations,
            ..support::traffic()
        };
        let tester = Tester::raise(&bed, &traffic, 1 << 10, ReceiverMode::Polled)
            .unwrap_or_else(|error| panic!("tester: {error}"));
        tester.surroundings().table.expect("routes are there")
    };
    let none_drawn = met(None);
    // The router's own addresses and networks are counted too.
    assert!(
        (5_000..5_100).contains(&none_drawn.routes) && none_drawn.destinations == 1,
        "{none_drawn:?}"
    );
    let wish = DrawPlan {
        draw: Draw::PerPrefix,
        count: 700,
        ipv6: false,
        flows: 1,
        seed: 1,
    };
    let drawn = Destinations::draw(&table, "a test", &wish).expect("enough");
    let drawn = met(Some(drawn));
    assert_eq!(
        (drawn.routes, drawn.destinations, drawn.period_frames),
        (5_000, 700, 700)
    );
}
