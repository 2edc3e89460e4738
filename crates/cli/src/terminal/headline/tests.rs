use super::*;
use mpps_lab::search::saturation::Saturated;
use mpps_method::Passes;
use mpps_method::saturation::Saturation;

fn interval(low: f64, middle: f64, high: f64) -> Interval {
    Interval { low, middle, high }
}

/// A router that forwards 1.52 million frames/s, 1.38 million of them without loss.
pub(in crate::terminal) fn row() -> Figures {
    Figures {
        frames: "64".to_owned(),
        subject: "64".to_owned(),
        reading: Reading::Is(Rate::from_fps(1_380_000.0)),
        fails_at: Some(Rate::from_fps(1_410_000.0)),
        label: Some("Estimate"),
        limited_by: Some(LimitedBy::Dut),
        forwarding_limit: Some(ForwardingLimit::Cpu),
        receiver: Some(mpps_lab::tester::ReceiverPlace::Exit),
        passes: Passes {
            lossless: 3,
            judged: 3,
        },
        saturated: Saturated {
            at_most: Some(Saturation {
                offered: interval(2.9e6, 3e6, 3.1e6),
                forwarding: interval(1.461e6, 1.523e6, 1.574e6),
                busy: Some(0.98),
                windows: 200,
                disturbed: 20,
                distance_ns: None,
                elsewhere: 0,
                only_disturbed: false,
            }),
            at_little_more: None,
            cost: Some(FrameCost {
                bed_ns: interval(424.0, 430.4, 436.0),
                router_ns: interval(219.0, 225.3, 230.0),
                total_ns: interval(648.0, 655.7, 664.0),
            }),
            exit_program_ns: Some(41.4),
            ceiling: Rate::from_fps(3e6),
            overloaded: true,
        },
        ..Figures::default()
    }
}

/// The same router, which loses frames at a load far below.
pub(in crate::terminal) fn unstable() -> Figures {
    Figures {
        unstable: Some(mpps_method::Instability {
            rate: Rate::from_fps(75_000.0),
            lossy: 2,
            trials: 5,
            lost: 9,
            sent: 75_000,
            pattern: None,
        }),
        ..row()
    }
}

/// A tester that ends before the router.
fn weak_tester(rate: f64) -> Figures {
    Figures {
        forwarding_limit: Some(ForwardingLimit::Tester),
        limited_by: Some(LimitedBy::Tester),
        reading: Reading::AtLeast(Rate::from_fps(rate)),
        fails_at: None,
        ..row()
    }
}

fn without_overload(row: Figures) -> Figures {
    Figures {
        saturated: Saturated::default(),
        forwarding_limit: None,
        ..row
    }
}

#[test]
fn the_usual_result_is_one_sentence() {
    assert_eq!(
        headline(&row()),
        "64 B: forwards 1.52 million frames/s (1.46 to 1.57), limited by the router's CPU; 1.38 million without loss. \
         A frame costs the router 225 ns, the bed 430."
    );
}

#[test]
fn what_limits_is_named() {
    for (limit, words) in [
        (
            ForwardingLimit::Unknown,
            " at least 1.46 million frames/s, its CPU 98 % busy: the limit is unknown; 1.38",
        ),
        (ForwardingLimit::Router, ", limited by the router; 1.38"),
        (
            ForwardingLimit::SharedCpu,
            ", limited by the CPU that router and tester share; 1.38",
        ),
    ] {
        let text = headline(&Figures {
            forwarding_limit: Some(limit),
            ..row()
        });
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_tester_that_ends_first_gives_a_bound() {
    assert_eq!(
        headline(&weak_tester(1_520_000.0)),
        "64 B: forwards at least 1.52 million frames/s without loss; the tester can offer no more. \
         A frame costs the router 225 ns, the bed 430."
    );
    assert_eq!(
        headline(&weak_tester(1_200_000.0)),
        "64 B: forwards at least 1.46 million frames/s; the tester can offer no more; at least 1.20 million without \
         loss. A frame costs the router 225 ns, the bed 430."
    );
}

#[test]
fn what_ended_the_search_is_told() {
    let ended = |limit| {
        let text = headline(&Figures {
            limited_by: Some(limit),
            reading: Reading::AtLeast(Rate::from_fps(1_380_000.0)),
            ..row()
        });
        let (_, text) = text.split_once("; ").expect("two clauses");
        let (text, _) = text.split_once(". A frame").expect("a cost");
        text.to_owned()
    };
    for (limit, words) in [
        (
            LimitedBy::Pause,
            ", above it frames were lost in pauses only",
        ),
        (LimitedBy::Link, ", which is all that the link carries"),
        (LimitedBy::MaxRate, ", the most that --max-rate allows"),
        (
            LimitedBy::Disturbed,
            ", the machine was too disturbed for more",
        ),
        (LimitedBy::Trials, ", the search ended before a load failed"),
        (LimitedBy::Tester, ", and the tester could offer no more"),
        (LimitedBy::SharedCpu, ""),
    ] {
        assert_eq!(
            ended(limit),
            format!("at least 1.38 million without loss{words}")
        );
    }
}

#[test]
fn a_load_that_did_not_always_pass_says_how_often() {
    let passes = Passes {
        lossless: 3,
        judged: 5,
    };
    let text = headline(&Figures { passes, ..row() });
    assert!(
        text.contains("1.38 million without loss in 3 of 5 trials. A"),
        "{text}"
    );
}

#[test]
fn loss_in_disturbances_is_not_hidden() {
    let text = headline(&Figures {
        disturbed: true,
        ..row()
    });
    let words = "1.38 million without loss outside disturbances. A";
    assert!(text.contains(words), "{text}");
}

#[test]
fn a_goal_with_loss_says_how_much() {
    let pdr = Figures {
        subject: "64 pdr 0.5 %".to_owned(),
        loss_allowed: 0.005,
        ..row()
    };
    let text = headline(&pdr);
    assert!(text.starts_with("64 B, pdr 0.5 %: forwards 1.52"), "{text}");
    assert!(
        text.contains("; 1.38 million with at most 0.5 % loss."),
        "{text}"
    );
}

#[test]
fn only_a_throughput_is_called_one() {
    let text = headline(&Figures {
        label: Some("Throughput"),
        ..row()
    });
    let words = "1.38 million without loss, an RFC 2544 throughput.";
    assert!(text.contains(words), "{text}");
    assert!(!headline(&row()).contains("throughput"));
}

#[test]
fn loss_at_every_load_is_told() {
    let none = Figures {
        reading: Reading::Below(Rate::from_fps(10_000.0)),
        fails_at: None,
        ..row()
    };
    let text = headline(&none);
    let words = "; no load down to 10.0 thousand frames/s passed without loss. A";
    assert!(text.contains(words), "{text}");
}

#[test]
fn nothing_found_says_why() {
    let nothing = Figures {
        frames: "imix".to_owned(),
        subject: "imix".to_owned(),
        reading: Reading::Nothing,
        fails_at: None,
        why: Some("13 trials in a row were disturbed".to_owned()),
        ..row()
    };
    let text = headline(&nothing);
    assert!(text.starts_with("imix: forwards 1.52 million"), "{text}");
    let words = "; the rate without loss is not measured: 13 trials in a row were disturbed.";
    assert!(text.contains(words), "{text}");
    assert_eq!(
        headline(&without_overload(nothing)),
        "imix: not measured: 13 trials in a row were disturbed."
    );
}

#[test]
fn without_overload_the_lossless_rate_is_the_result() {
    assert_eq!(
        headline(&without_overload(row())),
        "64 B: forwards 1.38 million frames/s without loss."
    );
    assert_eq!(
        headline(&without_overload(weak_tester(1_380_000.0))),
        "64 B: forwards at least 1.38 million frames/s without loss; the tester can offer no more."
    );
}

#[test]
fn a_device_has_no_cost() {
    let mut device = row();
    device.saturated.cost = None;
    let text = headline(&device);
    assert!(text.ends_with("; 1.38 million without loss."), "{text}");
}

#[test]
fn a_cost_near_zero_is_a_bound() {
    let mut cheap = row();
    let cost = cheap.saturated.cost.as_mut().expect("a cost");
    cost.router_ns = interval(-12.0, 4.0, 21.4);
    let text = headline(&cheap);
    let words = "A frame costs the router less than 21 ns, the bed 430.";
    assert!(text.ends_with(words), "{text}");
}
