use super::{Outcome, Run};
use mpps_lab::doubt::few_route_changes;
use mpps_lab::jobs::fixed_load::{Load, load_trial};
use mpps_lab::jobs::{Judged, Phase, Report};
use mpps_lab::line::{self, doubt};
use mpps_method::{
    Counts, CpuBusy, Direction, FrameSpec, Ledger, Offer, Rate, RouteChanges, Shortfall, Span,
    Trial, Verdict, Void,
};
use mpps_record::{LoadLine, ReceiverPlace, TrialLine};

/// A load with the lines of its trials.
type Offered = (LoadLine, Vec<TrialLine>);

fn fixed_load((load, trials): Offered) -> String {
    let run = Run {
        trials,
        ..Run::default()
    };
    vec![load].text(&run, false)
}

/// 2 s at this load; so many frames stay unsent, so many are lost in the ring.
fn tried(fps: f64, unsent: u64, lost: u64, ns: u64, verdict: Verdict) -> Judged {
    let intended = (2.0 * fps) as u64;
    let sent = intended - unsent;
    let counts = Counts {
        intended,
        sent,
        unsent,
        received: sent - lost,
        lost,
        ..Counts::default()
    };
    let ledger = Ledger {
        nic_accepted: sent - lost,
        lost_nic_ring: lost,
        ..Ledger::default()
    };
    let mut trial = Trial {
        offered: Rate::from_fps(fps),
        duration: Span::from_millis(2_000),
        directions: vec![Direction { counts, ledger }],
        busy: vec![CpuBusy {
            run_ns: (sent - lost) * ns,
            ..CpuBusy::default()
        }],
        ..Trial::default()
    };
    trial.latency.add_many(Span::from_nanos(12_345), 999);
    trial.latency.add(Span::from_millis(7));
    Judged {
        number: 1,
        trial,
        verdict,
    }
}

fn offered(load: Load, judged: Judged) -> Offered {
    let wire = Judged {
        number: 2,
        ..tried(400e3, 0, 0, 430, Verdict::Lossless)
    };
    let changes = few_route_changes(judged.trial.route_changes);
    let found = LoadLine {
        frame: "64".to_owned(),
        load: load.to_string(),
        receiver: Some(ReceiverPlace::Exit),
        trials: vec![load_trial(&judged, 0)],
        wire: Some(load_trial(&wire, 0)),
        bed_ns: Some(430.0),
        doubts: changes.iter().map(doubt).collect(),
        ..LoadLine::default()
    };
    let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
    let line = |(judged, phase): (Judged, Phase)| {
        let report = Report {
            number: judged.number,
            frames: &frames,
            phase,
            offer: Offer {
                rate: judged.trial.offered,
                duration: judged.trial.duration,
            },
            trial: &judged.trial,
            verdict: &judged.verdict,
        };
        line::trial(&report)
    };
    let trials = [(judged, Phase::Fixed), (wire, Phase::Wire)];
    (found, trials.map(line).to_vec())
}

fn at(fps: f64) -> Load {
    Load::At(Rate::from_fps(fps))
}

#[test]
fn a_load_without_loss_is_a_sentence_and_a_table() {
    let text = fixed_load(offered(
        at(400e3),
        tried(400e3, 0, 0, 655, Verdict::Lossless),
    ));
    let wanted = "64 B: 400 thousand frames/s offered for 2.00 s: all forwarded.\n\
        a frame costs 655 ns of the router's CPU: about 230 the router, 430 the bed.\n\n\
        received at the exit  the router  a wire instead\n\
        intended, frames         800 000         800 000\n\
        offered                  800 000         800 000\n";
    assert!(text.contains(wanted), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    for row in [
        "lost                           0               0\n",
        "latency, 50 %            12.5 µs         12.5 µs\n",
        "latency, most            7.08 ms         7.08 ms\n",
    ] {
        assert!(text.contains(row), "{row}{text}");
    }
    assert!(!text.contains("ring"), "no row without loss: {text}");
}

#[test]
fn loss_is_told_with_its_place() {
    let lossy = Verdict::Lossy { lost: 378_000 };
    let offered = offered(at(1.5e6), tried(1.5e6, 0, 378_000, 655, lossy));
    let text = fixed_load(offered);
    assert!(text.contains(
        "64 B: 1.5 million frames/s offered for 2.00 s: 1.311 million frames/s forwarded, 12.6 % lost in the router's receive ring.\n"
    ), "{text}");
    let row = text.lines().find(|line| line.starts_with("  in the"));
    let cells: Vec<&str> = row
        .unwrap_or_default()
        .split("  ")
        .filter(|cell| !cell.is_empty())
        .map(str::trim)
        .collect();
    assert_eq!(
        cells,
        ["in the router's receive ring", "378 000", "0"],
        "{text}"
    );
}

#[test]
fn a_load_the_tester_cannot_offer_is_told() {
    let why = Shortfall::UnsentAboveBound {
        unsent: 4_000_000,
        intended: 10_000_000,
    };
    let short = offered(
        at(5e6),
        tried(5e6, 4_000_000, 0, 300, Verdict::NotOffered(why)),
    );
    let text = fixed_load(short);
    let wanted =
        "64 B: 5 million frames/s intended for 2.00 s, 3 million offered: all forwarded.\n";
    assert!(text.contains(wanted), "{text}");
    let wanted = "\nnot offered: the tester left 4000000 of 10000000 frames unsent (40.00 %).\n";
    assert!(text.contains(wanted), "{text}");
    let most = offered(Load::Max, tried(3.21e6, 0, 0, 300, Verdict::Lossless));
    let text = fixed_load(most);
    let wanted = "64 B: 3.21 million frames/s, the most, offered for 2.00 s: all forwarded.\n";
    assert!(text.contains(wanted), "{text}");
    let wanted = "\nthe tester can offer no more, so it could not overload this router.\n";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn no_part_of_the_cost_is_below_zero() {
    let text = fixed_load(offered(
        at(400e3),
        tried(400e3, 0, 0, 400, Verdict::Lossless),
    ));
    let line =
        "a frame costs 400 ns of the router's CPU: the router's part is too small for one trial.";
    assert!(text.contains(line), "{text}");
    let (mut found, lines) = offered(at(400e3), tried(400e3, 0, 0, 655, Verdict::Lossless));
    found.bed_ns = None;
    let text = fixed_load((found, lines));
    let line = "a frame costs 655 ns of the router's CPU.\n";
    assert!(text.contains(line), "no part is known: {text}");
}

#[test]
fn what_disturbed_every_try_is_one_line() {
    let why = Void::Steal {
        cpu: 1,
        share: 0.05,
        bound: 0.02,
    };
    let disturbed = tried(400e3, 0, 0, 655, Verdict::Void(why));
    let mut disturbed = offered(at(400e3), disturbed);
    disturbed.0.trials[0].disturbed_tries = 3;
    let text = fixed_load(disturbed);
    let line =
        "disturbed 4 times, the last time because 5.0 % of CPU 1 was stolen (bound 2.0 %).\n";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("\noffered  "), "the counts are shown: {text}");
}

#[test]
fn few_route_changes_are_doubted() {
    let mut one = tried(400e3, 0, 0, 430, Verdict::Lossless);
    let made = |added| RouteChanges {
        added,
        due: 1_000,
        time_ns: 2_000_000_000,
        ..RouteChanges::default()
    };
    one.trial.route_changes = Some(made(990));
    let text = fixed_load(offered(at(400e3), one.clone()));
    assert!(!text.contains("Doubts"), "{text}");
    one.trial.route_changes = Some(made(500));
    let text = fixed_load(offered(at(400e3), one));
    let wanted = "Doubts\n- 500 of 1000 route changes that were due were made, 250 a second";
    assert!(text.contains(wanted), "{text}");
}
