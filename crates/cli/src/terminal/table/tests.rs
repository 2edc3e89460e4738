use super::*;
use crate::args::{Cli, Verb};
use crate::plan::Plan;
use clap::Parser;
use mpps_method::Rate;

fn plan(words: &str) -> ThroughputPlan {
    let typed = ["mpps", "throughput"]
        .into_iter()
        .chain(words.split_whitespace());
    let Verb::Throughput(args) = Cli::try_parse_from(typed).expect("parses").verb else {
        panic!("throughput")
    };
    Plan::of(&args).expect("a plan").measurement
}

fn row() -> Figures {
    Figures {
        frames: "64".to_owned(),
        subject: "64".to_owned(),
        fails_at: None,
        conditional_throughput: None,
        trials: 6,
        reading: Reading::AtLeast(Rate::from_fps(1_550_000.0)),
        label: Some("Estimate"),
        link_share: Some(0.026_04),
        gbit_per_s: Some(1.0416),
        loss_ratio: Some(0.0),
        busy_share: Some(0.77),
        busy_ns_per_frame: Some(497.0),
        limited_by: Some(Limit::Tester),
        why_lost: None,
        headroom: None,
        evenness: None,
        unstable: None,
        ceiling: Rate::from_fps(1_560_000.0),
        new_flows_per_s: None,
    }
}

#[test]
fn an_unstable_dut_is_the_first_thing_said_and_every_row_says_so() {
    let unstable = Figures {
        unstable: Some(mpps_method::Instability {
            rate: Rate::from_fps(75_000.0),
            lossy: 2,
            trials: 5,
            lost: 9,
            sent: 75_000,
            pattern: None,
        }),
        ..row()
    };
    // Two goals of one size.
    let text = table(&[unstable.clone(), unstable], &plan(""), Place::Bed);
    assert!(
        text.starts_with(
            "64: UNSTABLE: at 75.0 kfps, a load it should not feel, the DUT lost frames in 2 of 5 trials (9 of 75000)\n"
        ),
        "{text}"
    );
    assert_eq!(text.matches("UNSTABLE").count(), 1, "{text}");
    assert_eq!(text.matches("tester, unstable").count(), 2, "{text}");
    assert!(!table(&[row()], &plan(""), Place::Bed).contains("nstable"));
}

#[test]
fn why_frames_were_lost_the_headroom_and_the_pace_stand_below_the_rows() {
    let below = mpps_method::headroom::At {
        rate: Rate::from_fps(600_000.0),
        busy: 0.6,
    };
    let explained = Figures {
        why_lost: Some("why it lost at 900.0 kfps: overflow: more came than was taken".to_owned()),
        headroom: Some(mpps_method::Headroom {
            rate: below.rate,
            basis: mpps_method::headroom::Basis::Measured(below),
        }),
        evenness: Some(mpps_method::Evenness {
            late_p50: mpps_method::Span::from_nanos(96),
            late_p999: mpps_method::Span::from_nanos(41_000),
            late_max: mpps_method::Span::from_nanos(310_271),
            burst_frames: 9_999,
            made_up_frames: 82,
            ring_frames: 4_096,
        }),
        ..row()
    };
    let text = table(&[explained.clone(), explained], &plan(""), Place::Bed);
    for line in [
        "64: why it lost at 900.0 kfps: overflow: more came than was taken\n",
        "64: at 80 % DUT busy: 600.0 kfps (measured, at 60 %)\n",
        "64: sent: half at most 96 ns late, 99.9 % 41 us, all 310 us; up to 82 frames made up for at once (2.0 % of the ring)\n",
    ] {
        assert_eq!(text.matches(line).count(), 1, "{text}");
    }
}

#[test]
fn a_row_holds_every_column() {
    let text = table(&[row()], &plan(""), Place::Bed);
    let (head, first) = (
        text.lines().nth(2).expect("head"),
        text.lines().nth(3).expect("row"),
    );
    for column in HEAD {
        assert!(head.contains(column), "{head}");
    }
    let words: Vec<&str> = first
        .split("  ")
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    assert_eq!(
        words,
        [
            "64",
            "2.6",
            "1.04",
            ">= 1 550 000",
            "0",
            "77",
            "497",
            "tester"
        ]
    );
}

#[test]
fn a_tester_limited_row_says_so() {
    let text = table(&[row()], &plan(""), Place::Bed);
    assert!(
        text.contains("64: >= 1.550 Mfps, DUT 77 % busy; the tester could do no more"),
        "{text}"
    );
    assert!(
        text.contains("tester's own ceiling: 64: 1.560 Mfps"),
        "{text}"
    );
}

#[test]
fn a_row_that_a_pause_bounds_says_so_and_where_it_lost() {
    let paused = Figures {
        limited_by: Some(Limit::Pause),
        fails_at: Some(Rate::from_fps(1_560_000.0)),
        ..row()
    };
    assert_eq!(cells(&paused)[7], "pause");
    assert_eq!(
        remark(&paused).as_deref(),
        Some(
            "64: >= 1.550 Mfps, fails 1.560 Mfps, DUT 77 % busy; \
             it lost frames there at moments only, not to the end; 6 trials\n"
        )
    );
}

#[test]
fn the_name_throughput_is_for_rows_that_are_one() {
    let estimate = table(&[row()], &plan(""), Place::Bed);
    assert!(
        estimate.starts_with("Estimate (ndr: up to 5 trials of 1 s at a load, half of them without loss; a Throughput needs"),
        "{estimate}"
    );
    for (words, wanted) in [
        ("--trials-per-load 1", "all of 1"),
        ("--accept all", "all of 3"),
    ] {
        let text = table(&[row()], &plan(words), Place::Bed);
        assert!(text.contains(&format!("(1 s trials, {wanted};")), "{text}");
    }
    let final_row = Figures {
        label: Some("Throughput"),
        ..row()
    };
    let text = table(
        std::slice::from_ref(&final_row),
        &plan("--time 60"),
        Place::Bed,
    );
    assert!(
        text.starts_with(
            "Throughput (RFC 2544 section 26.1: ndr: one trial of 60 s at a load, without loss)"
        ),
        "{text}"
    );
    let mixed = table(
        &[
            final_row,
            Figures {
                label: None,
                ..row()
            },
        ],
        &plan("--time 60"),
        Place::Bed,
    );
    assert!(mixed.starts_with("Rates (ndr"), "{mixed}");
}

#[test]
fn what_was_not_measured_is_a_dash_and_loss_never_rounds_to_zero() {
    let nothing = Figures {
        reading: Reading::Nothing,
        link_share: None,
        gbit_per_s: None,
        loss_ratio: None,
        busy_share: None,
        busy_ns_per_frame: None,
        limited_by: None,
        ..row()
    };
    assert_eq!(
        cells(&nothing),
        ["64", "-", "-", "not measured", "-", "-", "-", "-"].map(str::to_owned)
    );
    assert_eq!(
        (loss(0.0), loss(0.000_000_1), loss(0.5)),
        ("0".into(), "< 0.01 %".into(), "50.00 %".into())
    );
}

#[test]
fn the_notes_say_what_the_columns_mean() {
    let text = table(
        &[row()],
        &plan("--link-speed 10G --bidirectional"),
        Place::Bed,
    );
    assert!(
        text.contains("of 10 Gbit/s, notional") && text.contains("sum of both"),
        "{text}"
    );
    assert!(text.contains("preamble and gap"), "{text}");
}

#[test]
fn a_row_of_the_duts_says_where_it_fails_and_a_goal_with_loss_what_comes_through() {
    let pdr = Figures {
        subject: "64 pdr 0.5 %".to_owned(),
        reading: Reading::Is(Rate::from_fps(785_000.0)),
        fails_at: Some(Rate::from_fps(789_000.0)),
        conditional_throughput: Some(Rate::from_fps(781_100.0)),
        limited_by: Some(Limit::Dut),
        ..row()
    };
    let text = table(&[row(), pdr], &plan("--preset csit"), Place::Bed);
    assert!(
        text.contains(
            "64 pdr 0.5 %: passes 785.0 kfps, fails 789.0 kfps, Conditional Throughput 781.1 kfps; 6 trials"
        ),
        "{text}"
    );
    assert_eq!(
        text.matches("64: 1.560 Mfps").count(),
        1,
        "one ceiling: {text}"
    );
}

#[test]
fn what_was_simulated_says_so_first() {
    let pair = Properties::ideal(Rate::from_fps(1e6));
    let text = table(&[row()], &plan(""), Place::Simulated(&pair));
    assert!(
        text.starts_with("SIMULATED, nothing was measured: capacity=1000000,"),
        "{text}"
    );
    assert!(text.contains("(as simulated)"), "{text}");
}
