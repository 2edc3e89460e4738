use super::*;
use crate::row::NOT_CONFIRMED;
use mpps_record::{Doubt, OtherStates, Overload, RateIs, ResultLine};

fn interval(low: f64, median: f64, high: f64) -> Interval<f64> {
    Interval { low, median, high }
}

/// The sentence of one line.
fn headline(line: &ResultLine) -> String {
    super::headline(&Row::each(std::slice::from_ref(line))[0])
}

/// A router that forwards 1.52 million frames/s, 1.38 million of them without loss.
fn line() -> ResultLine {
    let line = include_str!("../../../record/tests/golden/result.json");
    serde_json::from_str(line).expect("a result")
}

fn limited(limit: ForwardingLimit) -> ResultLine {
    let mut line = line();
    line.overload.max_forwarding_limited_by = Some(limit);
    line
}

/// A tester that ends before the router.
fn weak_tester(rate_fps: u64) -> ResultLine {
    let mut line = limited(ForwardingLimit::Tester);
    line.overload.max_forwarding_busy_share = Some(0.94);
    ResultLine {
        limited_by: Some(LimitedBy::Tester),
        rate_is: Some(RateIs::AtLeast),
        rate_fps: Some(rate_fps),
        lossy_fps: None,
        ..line
    }
}

fn without_overload(line: ResultLine) -> ResultLine {
    ResultLine {
        overload: Overload::default(),
        ..line
    }
}

#[test]
fn the_usual_result_is_one_sentence() {
    assert_eq!(
        headline(&line()),
        "64 B: forwards 1.52 million frames/s (1.46 to 1.57), limited by the router's CPU; 1.38 million without loss. \
         A frame costs the router 225 ns (219 to 230), the bed 430."
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
        let text = headline(&limited(limit));
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_tester_that_ends_first_gives_a_bound() {
    assert_eq!(
        headline(&weak_tester(1_520_000)),
        "64 B: forwards at least 1.52 million frames/s without loss; the tester can offer no more. \
         A frame costs the router 225 ns (219 to 230), the bed 430."
    );
    assert_eq!(
        headline(&weak_tester(1_200_000)),
        "64 B: forwards at least 1.46 million frames/s; the tester can offer no more; at least 1.20 million without \
         loss. A frame costs the router 225 ns (219 to 230), the bed 430."
    );
    let mut full = weak_tester(1_520_000);
    full.overload.max_forwarding_busy_share = Some(0.95);
    assert_eq!(
        headline(&full),
        "64 B: forwards at least 1.52 million frames/s without loss; the tester can offer no more, with the router's CPU \
         95 % busy. A frame costs the router 225 ns (219 to 230), the bed 430."
    );
}

#[test]
fn disturbed_windows_alone_give_a_bound() {
    let mut line = limited(ForwardingLimit::SharedCpu);
    line.overload.max_forwarding_only_disturbed = Some(true);
    let words = "64 B: forwards at least 1.46 million frames/s, limited by the CPU that router and tester share; 1.38";
    let text = headline(&line);
    assert!(text.starts_with(words), "{text}");
}

#[test]
fn what_ended_the_search_is_told() {
    let ended = |limit| {
        let text = headline(&ResultLine {
            limited_by: Some(limit),
            rate_is: Some(RateIs::AtLeast),
            ..line()
        });
        let (_, text) = text.split_once("; ").expect("two clauses");
        let (text, _) = text.split_once(". A frame").expect("a cost");
        text.to_owned()
    };
    for (limit, words) in [
        (
            LimitedBy::Pause,
            ", above it frames were lost at some moments only",
        ),
        (LimitedBy::Link, ", which is all that the link carries"),
        (LimitedBy::MaxRate, ", the most that --max-rate allows"),
        (
            LimitedBy::Disturbed,
            ", the machine was too disturbed for more",
        ),
        (
            LimitedBy::Trials,
            ", and the search ended before it knew the lowest load that fails",
        ),
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
    let text = headline(&ResultLine {
        judged_trials: Some(5),
        ..line()
    });
    assert!(
        text.contains("1.38 million without loss (3 of 5 trials). A"),
        "{text}"
    );
}

#[test]
fn loss_in_disturbances_is_not_hidden() {
    let text = headline(&ResultLine {
        doubts: vec![Doubt {
            name: mpps_record::doubts::LOST_DISTURBED.to_owned(),
            ..Doubt::default()
        }],
        ..line()
    });
    let words = "1.38 million without loss outside disturbances. A";
    assert!(text.contains(words), "{text}");
}

#[test]
fn frames_that_bypassed_routing_are_told_first() {
    let mut line = line();
    line.doubts.push(Doubt {
        name: mpps_record::doubts::NOT_ROUTED.to_owned(),
        ..Doubt::default()
    });
    let words = "64 B: frames bypassed routing, so this is no router's rate: forwards 1.52 million";
    let text = headline(&line);
    assert!(text.starts_with(words), "{text}");
}

#[test]
fn a_goal_with_loss_says_how_much() {
    let ndr = ResultLine {
        goal: Some("ndr".to_owned()),
        ..line()
    };
    let pdr = ResultLine {
        goal: Some("pdr 0.5 %".to_owned()),
        goal_loss_ratio: Some(0.005),
        ..line()
    };
    let text = super::headline(&Row::each(&[ndr, pdr])[1]);
    assert!(text.starts_with("64 B, pdr 0.5 %: forwards 1.52"), "{text}");
    assert!(
        text.contains("; 1.38 million with at most 0.5 % loss."),
        "{text}"
    );
}

#[test]
fn only_a_throughput_is_called_one() {
    let text = headline(&ResultLine {
        claim: Some(Claim::Throughput),
        ..line()
    });
    let words = "1.38 million without loss, an RFC 2544 throughput.";
    assert!(text.contains(words), "{text}");
    assert!(!headline(&line()).contains("throughput"));
}

#[test]
fn loss_at_every_load_is_told() {
    let none = ResultLine {
        rate_is: Some(RateIs::Below),
        rate_fps: Some(10_000),
        lossy_fps: None,
        ..line()
    };
    let text = headline(&none);
    let words = "; no load down to 10.0 thousand frames/s passed without loss. A";
    assert!(text.contains(words), "{text}");
    // Nobody tried a lower one.
    let none = ResultLine {
        rate_fps: Some(10_012),
        ..none
    };
    assert!(headline(&none).contains(" down to 10.1 thousand "));
    // The time was over before a lower load had a trial that counts.
    let ended = ResultLine {
        limited_by: Some(LimitedBy::Trials),
        ..none
    };
    let words = "; the search ended before a load passed without loss, the lowest judged at 10.1 thousand frames/s. A";
    assert!(headline(&ended).contains(words), "{}", headline(&ended));
}

#[test]
fn nothing_found_says_why() {
    let nothing = ResultLine {
        frame: "imix".to_owned(),
        rate_is: None,
        rate_fps: None,
        lossy_fps: None,
        why: Some("13 trials in a row were disturbed".to_owned()),
        ..line()
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
        headline(&without_overload(line())),
        "64 B: forwards 1.38 million frames/s without loss."
    );
    assert_eq!(
        headline(&without_overload(weak_tester(1_380_000))),
        "64 B: forwards at least 1.38 million frames/s without loss; the tester can offer no more."
    );
}

#[test]
fn a_device_has_no_cost() {
    let mut device = line();
    device.overload.cost = None;
    let text = headline(&device);
    assert!(text.ends_with("; 1.38 million without loss."), "{text}");
}

#[test]
fn a_cost_near_zero_is_a_bound() {
    let mut cheap = line();
    let cost = cheap.overload.cost.as_mut().expect("a cost");
    cost.router_ns = interval(-12.0, 4.0, 21.4);
    let text = headline(&cheap);
    let words = "A frame costs the router less than 22 ns, the bed 430.";
    assert!(text.ends_with(words), "{text}");
    let cost = cheap.overload.cost.as_mut().expect("a cost");
    cost.router_ns.high = 1.9;
    assert!(headline(&cheap).contains(" router less than 2 ns,"));
}

#[test]
fn a_cost_that_misses_a_part_is_a_bound() {
    let doubted = |name: &str| ResultLine {
        doubts: vec![Doubt {
            name: name.to_owned(),
            ..Doubt::default()
        }],
        ..line()
    };
    for name in [EXIT_UNTIMED, BUSY_UNCOUNTED] {
        let text = headline(&doubted(name));
        let words = "A frame costs the router at least 219 ns, the bed 430.";
        assert!(text.ends_with(words), "{text}");
    }
    let mut nothing = doubted(EXIT_UNTIMED);
    let cost = nothing.overload.cost.as_mut().expect("a cost");
    cost.router_ns.low = -3.0;
    let text = headline(&nothing);
    assert!(
        text.contains("the router an unknown time, the bed"),
        "{text}"
    );
}

/// A load that passed was forwarded: the maximum cannot be below it, whatever overload said.
#[test]
fn a_maximum_is_not_below_what_passed() {
    for (rate_is, words) in [
        (RateIs::Equal, "64 B: forwards 1.6"),
        (RateIs::AtLeast, "64 B: forwards at least 1.6"),
    ] {
        let faster = ResultLine {
            rate_is: Some(rate_is),
            rate_fps: Some(1_604_000),
            lossy_fps: None,
            ..line()
        };
        let text = headline(&faster);
        assert!(text.starts_with(words), "{text}");
        assert!(
            !text.contains("1.52") && !text.contains("limited"),
            "{text}"
        );
        assert!(is_bound(&faster));
        assert_eq!(at_least_forwarded(&faster), Some(1_604_000));
    }
    // Within the interval both may hold, and with loss less came back than was offered.
    let within = ResultLine {
        rate_fps: Some(1_570_000),
        ..line()
    };
    assert!(!is_bound(&within));
    let with_loss = ResultLine {
        rate_fps: Some(1_604_000),
        loss_ratio: Some(0.05),
        ..line()
    };
    assert!(!is_bound(&with_loss));
}

/// The maximum is of the search's trials then, and the cost of overload's.
#[test]
fn a_maximum_of_the_search_says_what_overload_is() {
    let mut more = line();
    let at = |fps: u64| {
        let rates = serde_json::json!({ "low": fps - 20_000, "median": fps, "high": fps + 20_000 });
        let load = serde_json::json!({
            "offered_fps": rates, "forwarding_fps": rates, "windows": 40, "disturbed_windows": 0
        });
        serde_json::from_value(load).expect("a load")
    };
    more.overload.at_overload = Some(at(1_400_000));
    assert_eq!(
        headline(&more),
        "64 B: forwards 1.52 million frames/s (1.46 to 1.57), limited by the router's CPU; 1.38 million without loss; \
         only 1.40 million at overload. At overload a frame costs the router 225 ns (219 to 230), the bed 430."
    );
    more.overload.at_overload = Some(at(1_500_000));
    assert!(!headline(&more).contains("only"), "as much");
}

/// The maximum is what came back of the load that passed, not what was offered.
#[test]
fn an_allowed_loss_is_no_part_of_the_maximum() {
    let lossy = ResultLine {
        rate_fps: Some(1_700_000),
        loss_ratio: Some(0.05),
        ..line()
    };
    assert_eq!(at_least_forwarded(&lossy), Some(1_615_000));
}

#[test]
fn a_router_that_overload_slows_down_says_so() {
    let mut slowed = ResultLine {
        rate_fps: Some(2_000_000),
        lossy_fps: None,
        ..line()
    };
    let text = headline(&slowed);
    assert!(
        text.contains(" without loss; only 1.52 million at overload. "),
        "{text}"
    );
    let moved = serde_json::json!({
        "name": "distance-changed", "seen": "", "why": "", "next": "", "weight": 1
    });
    slowed.doubts = vec![serde_json::from_value(moved).expect("a doubt")];
    let text = headline(&slowed);
    assert!(
        text.contains(" without loss, in another state of the machine. "),
        "{text}"
    );
    slowed.doubts.clear();
    // Where the tester was the limit, overload was none.
    slowed.overload.max_forwarding_limited_by = Some(ForwardingLimit::Tester);
    assert!(!headline(&slowed).contains("overload"));
}

/// Both were measured, and contradict each other only where the machine was the same.
#[test]
fn rates_of_two_states_say_so() {
    let mut apart = ResultLine {
        rate_fps: Some(1_530_000),
        rate_is: Some(RateIs::AtLeast),
        ..line()
    };
    apart.doubts = vec![Doubt {
        name: DISTANCE_CHANGED.to_owned(),
        ..Doubt::default()
    }];
    let words = "; at least 1.53 million without loss, in another state of the machine";
    let text = headline(&apart);
    assert!(text.contains(words), "{text}");
    apart.doubts.clear();
    assert!(!headline(&apart).contains("state"));
}

#[test]
fn short_trials_that_passed_below_all_others_are_told() {
    let text = headline(&ResultLine {
        rate_is: Some(RateIs::Below),
        rate_fps: Some(552_000),
        gate_lossless_fps: Some(126_400),
        ..line()
    });
    let wanted = "; no load down to 552 thousand frames/s passed without loss, but 126 thousand did in short trials.";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn a_trial_that_passed_raises_a_bound_of_overload() {
    let text = headline(&ResultLine {
        rate_is: Some(RateIs::Unconfirmed),
        rate_fps: Some(1_700_000),
        lossless_trials: Some(1),
        judged_trials: Some(2),
        ..weak_tester(1_520_000)
    });
    let wanted = "64 B: forwards at least 1.70 million frames/s; the tester can offer no more; 1.70 million without loss (1 \
                  of 2 trials), not confirmed. ";
    assert!(text.starts_with(wanted), "{text}");
    // The router's CPU was the limit, so the machine was another one.
    let text = headline(&ResultLine {
        rate_is: Some(RateIs::Unconfirmed),
        rate_fps: Some(1_700_000),
        ..line()
    });
    assert!(
        text.contains("not confirmed, which is more than at overload"),
        "{text}"
    );
}

#[test]
fn an_unconfirmed_rate_is_no_bound() {
    let early = |fails, limited_by| {
        headline(&ResultLine {
            limited_by: Some(limited_by),
            rate_is: Some(RateIs::Unconfirmed),
            rate_fps: Some(1_389_670),
            lossless_trials: Some(1),
            judged_trials: Some(1),
            lossy_fps: Some(1_424_343),
            lossless_below_fps: fails,
            ..line()
        })
    };
    let known = early(Some(1_424_343), LimitedBy::Trials);
    let less =
        "; 1.38 million without loss (1 of 1 trial), not confirmed, less than 1.43 million. A";
    assert!(known.contains(less), "{known}");
    let unknown = early(None, LimitedBy::Trials);
    let alone = "; 1.38 million without loss (1 of 1 trial), not confirmed. A frame";
    assert!(unknown.contains(alone), "{unknown}");
    let disturbed = early(None, LimitedBy::Disturbed);
    let why = ", not confirmed because of disturbances. A frame";
    assert!(disturbed.contains(why), "{disturbed}");
}

/// Before version 19 of the method such a rate was written as a bound.
#[test]
fn an_older_unconfirmed_rate_is_no_bound_either() {
    for lacks in NOT_CONFIRMED {
        let text = headline(&ResultLine {
            limited_by: Some(LimitedBy::Trials),
            rate_is: Some(RateIs::AtLeast),
            irregular: Some(lacks.to_owned()),
            ..line()
        });
        assert!(text.contains(" trials), not confirmed. A"), "{text}");
    }
}

/// A measured maximum stands, and so does the tester's limit.
#[test]
fn an_unconfirmed_rate_moves_no_maximum() {
    let lucky = ResultLine {
        rate_is: Some(RateIs::Unconfirmed),
        rate_fps: Some(1_604_000),
        ..line()
    };
    assert!(!is_bound(&lucky));
    let text = headline(&lucky);
    assert!(
        text.contains("forwards 1.52 million frames/s (1.46 to 1.57)"),
        "{text}"
    );
    let weak = ResultLine {
        rate_is: Some(RateIs::Unconfirmed),
        ..weak_tester(1_520_000)
    };
    let text = headline(&weak);
    let bound = "forwards at least 1.46 million frames/s; the tester can offer no more; 1.5";
    assert!(text.contains(bound), "{text}");
}

#[test]
fn other_states_of_the_machine_are_told() {
    let line = line();
    let overload = Overload {
        other_states: Some(OtherStates {
            share: 0.75,
            forwarding_fps: 1_050_000,
        }),
        ..line.overload.clone()
    };
    let told = headline(&ResultLine { overload, ..line });
    let expected = "64 B: forwards 1.52 million frames/s (1.46 to 1.57), limited by the router's CPU; but 1.05 \
                    million at overload in other states of the machine (75 % of the undisturbed time); 1.38";
    assert!(told.starts_with(expected), "{told}");
}

#[test]
fn a_bound_of_a_cost_is_one_in_a_table_too() {
    let around = |low: f64, median: f64, high: f64| Interval { low, median, high };
    let part = |router_ns, doubts: &[&str]| {
        let cost = FrameCost {
            router_ns,
            ..FrameCost::default()
        };
        let row = ResultLine {
            doubts: doubts
                .iter()
                .map(|name| Doubt {
                    name: (*name).to_owned(),
                    ..Doubt::default()
                })
                .collect(),
            ..ResultLine::default()
        };
        [router_part(&row, &cost), short_router_part(&row, &cost)]
    };
    for (router, doubts, words, short) in [
        (
            around(219.0, 225.0, 230.0),
            &[][..],
            "225 ns (219 to 230)",
            "225",
        ),
        (around(-9.0, 150.0, 298.4), &[], "less than 299 ns", "< 299"),
        (
            around(36.4, 50.0, 60.0),
            &[EXIT_UNTIMED],
            "at least 36 ns",
            ">= 36",
        ),
        (
            around(-9.0, 50.0, 60.0),
            &[EXIT_UNTIMED],
            "an unknown time",
            "?",
        ),
    ] {
        assert_eq!(part(router, doubts), [words, short]);
    }
}
