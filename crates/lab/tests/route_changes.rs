//! Routes that change while frames flow: counted by the replay, found in the kernel, harmless to what stays routed.

use crate::support;
use crate::support::PortsOfBed as _;
use crate::support::trials::tries;
use mpps_lab::destinations::{Destinations, DrawPlan};
use mpps_lab::fib::{self, ReplayedChanges};
use mpps_lab::tester::{ReceiverMode, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial;
use mpps_method::destinations::Draw;
use mpps_method::{ChangeSpeed, Offer, Rate, Span, Trial, Verdict};
use mpps_tables::{ChooseOptions, Source, Table, read_changes_from};
use std::fmt::Write as _;
use std::sync::Arc;

const CHANGES_PER_S: f64 = 2_000.0;

/// 500 prefixes of a family: those with even numbers last, those with odd ones are withdrawn and come again.
fn prefix(ipv6: bool, n: u32) -> String {
    match ipv6 {
        true => format!("2a00:{n:x}::/32"),
        false => format!("20.{}.{}.0/24", n / 256, n % 256),
    }
}

fn table(ipv6: bool) -> Table {
    let prefixes = (0..500).map(|n| prefix(ipv6, n).parse().expect("a prefix"));
    Table::from_prefixes(prefixes)
}

/// Each round of the file: two more-specific or new routes come, odd ones go and come again, even ones move.
fn changes(ipv6: bool, speed: ChangeSpeed) -> Arc<ReplayedChanges> {
    let mut text = String::new();
    for n in 0..500 {
        let _ = match n % 4 {
            1 => writeln!(text, "{} W {}", n / 10, prefix(ipv6, n)),
            3 => writeln!(text, "{} W {1}\n{0} A {1}", n / 10, prefix(ipv6, n)),
            _ => writeln!(text, "{} A {}", n / 10, prefix(ipv6, n)),
        };
        if n % 100 == 0 {
            let _ = writeln!(text, "{} A {}", n / 10, prefix(ipv6, 1_000 + n));
        }
    }
    let source = Source::File("changes".into());
    let choosing = ChooseOptions::default();
    let changes = read_changes_from(source, Box::new(text.as_bytes()), &choosing);
    let changes = changes.expect("changes");
    Arc::new(ReplayedChanges::new(
        "changes".into(),
        "hash".into(),
        speed,
        changes,
    ))
}

fn run(tester: &mut Tester<'_>) -> Trial {
    let offer = Offer::new(Rate::from_fps(20_000.0), Span::from_millis(1_000));
    trial::run(tester, &offer).unwrap_or_else(|error| panic!("trial: {error}"))
}

#[test]
fn frames_to_lasting_prefixes_survive_changes() {
    if !support::can_run() {
        return;
    }
    for ipv6 in [false, true] {
        let bed = support::bed();
        let table = table(ipv6);
        fib::load_by(&bed, &table, 1, &|_| {}).expect("loaded");
        let replayed = changes(ipv6, ChangeSpeed::PerSecond(CHANGES_PER_S));
        replayed.begin(&bed, &table).expect("begun");
        let lasting = replayed.changes.lasting(&table);
        assert_eq!(lasting.len(), 250);
        let wish = DrawPlan {
            draw: Draw::PerPrefix,
            count: 1_000,
            ipv6,
            flows: 1,
            seed: 1,
        };
        let traffic = Traffic {
            frames: mpps_method::FrameSpec::parse_list("78")
                .expect("a size")
                .remove(0),
            ipv6,
            destinations: Some(Destinations::draw(&lasting, "lasting", &wish).expect("enough")),
            route_changes: Some(Arc::clone(&replayed)),
            ..support::traffic()
        };
        let mut tester = Tester::raise(&bed, &traffic, 1 << 20, ReceiverMode::Polled)
            .unwrap_or_else(|error| panic!("tester: {error}"));
        // What makes the changes may wait for its CPU.
        let share = |trial: &Trial| {
            let made = trial.route_changes.expect("changes were made");
            made.applied_per_s() / CHANGES_PER_S
        };
        let mut trials = vec![run(&mut tester)];
        for _ in tries() {
            trials.push(run(&mut tester));
            if trials.iter().any(|trial| share(trial) > 0.7) {
                break;
            }
        }
        let shares: Vec<f64> = trials.iter().map(share).collect();
        assert!(shares.iter().any(|share| *share > 0.7), "{shares:?}");
        assert!(shares.iter().all(|share| *share < 1.01), "{shares:?}");
        let mut there = table.len() as u64;
        for trial in &trials {
            let verdict = trial.judge(&support::any_machine());
            let no_route = trial.stack.map(|stack| stack.no_route);
            assert!(!matches!(verdict, Verdict::Invalid(_)), "{verdict}");
            assert_eq!(no_route, Some(0), "ipv6 {ipv6}: {verdict}");
            let lost = trial.counts().lost;
            assert!(
                lost == 0 || trial.disturbances().next().is_some(),
                "{lost} lost"
            );
            let made = trial.route_changes.expect("changes were made");
            assert_eq!(made.refused, 0, "{made:?}");
            assert!(
                made.added > 0 && made.replaced > 0 && made.withdrawn > 0,
                "{made:?}"
            );
            assert!(made.applied() <= made.due, "{made:?}");
            assert!(made.cpu_ns > 0 && made.cpu_ns < made.time_ns, "{made:?}");
            assert!(bed.plan().cpus.tester.contains(&made.cpu));
            there = there + made.added - made.withdrawn;
        }
        drop(tester);
        let counted = replayed.count_back(&bed, &table).expect("as expected");
        let counted = counted.expect("it was begun");
        assert_eq!(counted.routes, there);
        assert!(counted.rounds > 1, "{counted:?}");
        let contents = bed
            .netns(mpps_lab::bed::Side::B)
            .run(|| fib::contents(None));
        assert_eq!(contents.expect("netns").expect("a dump").total(), there);
    }
}

#[test]
fn a_fib_that_another_program_changed_is_told() {
    if !support::can_run() {
        return;
    }
    let bed = support::bed();
    let table = table(false);
    fib::load_by(&bed, &table, 1, &|_| {}).expect("loaded");
    let replayed = changes(false, ChangeSpeed::Max);
    replayed.begin(&bed, &table).expect("begun");
    let replay = replayed.start().expect("a thread").expect("begun");
    let made = replay.stop().expect("made");
    assert_eq!(made.applied(), made.due);
    fib::clear_from(&bed).expect("cleared behind its back");
    let error = replayed.count_back(&bed, &table).expect_err("they differ");
    assert!(
        error
            .to_string()
            .contains("prefixes from table and changes"),
        "{error}"
    );
    assert!(
        replayed.start().expect("no thread").is_none(),
        "it has ended"
    );
}

#[test]
fn the_times_of_the_file_set_the_pace() {
    if !support::can_run() {
        return;
    }
    let table = table(false);
    // Both threads may wait for a CPU.
    let is_in_time = tries().any(|_| {
        let bed = support::bed();
        fib::load_by(&bed, &table, 1, &|_| {}).expect("loaded");
        // The file is 49 s long and has about 630 changes: 50 times as fast it takes a second.
        let replayed = changes(false, ChangeSpeed::Times(50.0));
        replayed.begin(&bed, &table).expect("begun");
        let replay = replayed.start().expect("a thread").expect("begun");
        mpps_lab::clock::wait_until(mpps_lab::clock::monotonic_ns() + 500_000_000);
        let made = replay.stop().expect("made");
        assert!(replayed.count_back(&bed, &table).is_ok());
        println!("{made:?}");
        let share = made.applied() as f64 / replayed.changes.list.len() as f64;
        (0.4..0.7).contains(&share)
    });
    assert!(is_in_time);
}
