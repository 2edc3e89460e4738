use super::*;
use crate::plan::tests::plan;
use crate::terminal::headline::tests::row;
use mpps_method::Rate;

#[test]
fn verbose_tells_where_a_load_failed_why_and_the_pace() {
    let below = mpps_method::headroom::At {
        rate: Rate::from_fps(600_000.0),
        busy: 0.6,
    };
    let explained = Figures {
        why_lost: Some(
            "cause of the loss at 900.0 kfps: overflow: frames arrived faster than the DUT took them"
                .to_owned(),
        ),
        headroom: Some(mpps_method::Headroom {
            rate: below.rate,
            basis: mpps_method::headroom::Basis::Measured(below),
        }),
        evenness: Some(mpps_method::Evenness {
            late_p50: mpps_method::Span::from_nanos(96),
            late_p999: mpps_method::Span::from_nanos(41_000),
            late_max: mpps_method::Span::from_nanos(310_271),
            burst_frames: 9_999,
            catch_up_frames: 82,
            ring_frames: 4_096,
        }),
        link_share: Some(0.026_04),
        gbit_per_s: Some(1.0416),
        loss_ratio: Some(0.0),
        disturbed: false,
        busy_share: Some(1.01),
        busy_ns_per_frame: Some(497.0),
        trials: 6,
        ceiling: Rate::from_fps(3e6),
        ..row()
    };
    // Two goals of one size.
    let rows = [explained.clone(), explained];
    let text = details(
        &rows,
        &plan("--link-speed 10G --bidirectional").measurement,
        Place::Bed,
    );
    for line in [
        "64: passes 1.380 Mfps, fails 1.410 Mfps; 6 trials; the search was ended by: DUT\n",
        "64: the receiver's program at the exit: 41 ns a frame of the bed's part, timed by the kernel in bursts of its \
         own (with about one reading of the clock)\n",
        "64: 2.6 % of 10 Gbit/s, 1.04 Gbit/s, loss 0, DUT 100 % busy, 497 ns a frame in all\n",
        "a load passes: ndr: up to 5 trials of 1 s at a load, half of them without loss\n",
        "link: 10 Gbit/s, notional: there is no wire of one direction; rates are the sum of both\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    for line in [
        "64: cause of the loss at 900.0 kfps: overflow: frames arrived faster than the DUT took them\n",
        "64: at 80 % DUT busy: 600.0 kfps (measured, at 60 %)\n",
        "64: sent: median 96 ns late, 99.9 % 41 us, worst 310 us; up to 82 frames sent back to back to catch up (2.0 % of the ring)\n",
        "64: tester's own ceiling: 3.000 Mfps (at overload)\n",
    ] {
        assert_eq!(text.matches(line).count(), 1, "{line}: {text}");
    }
}

#[test]
fn loss_never_rounds_to_zero() {
    assert_eq!(
        (loss(0.0), loss(0.000_000_1), loss(0.5)),
        ("0".into(), "< 0.01 %".into(), "50.00 %".into())
    );
}
