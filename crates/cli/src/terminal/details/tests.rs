use super::*;
use crate::terminal::fixture::line;
use crate::terminal::report::tests::run;
use mpps_record::{ResultLine, WhyLost};

#[test]
fn verbose_tells_where_a_load_failed_why_and_the_pace() {
    let below = BusyLoad {
        rate_fps: 600_000.0,
        busy_share: 0.6,
    };
    let explained = ResultLine {
        why_lost: Some(WhyLost {
            rate_fps: 900_000.0,
            bounds: Some(true),
            pattern: "overflow".to_owned(),
            text: "900.0 kfps: overflow: frames arrived faster than the DUT took them".to_owned(),
            lost_frames: 1,
            sent_frames: 900_000,
            dut_busiest_cpu_share: None,
        }),
        headroom: Some(Headroom {
            rate_fps: 600_000.0,
            basis: Basis::Measured,
            below,
            above: below,
        }),
        evenness: Some(Evenness {
            late_ns_p50: 96,
            late_ns_p999: 41_000,
            late_ns_max: 310_271,
            largest_burst_frames: 9_999,
            catch_up_frames: Some(82),
            ring_frames: Some(4_096),
            ring_share: Some(82.0 / 4_096.0),
        }),
        link_share: Some(0.026_04),
        rate_gbit_per_s: Some(1.0416),
        loss_ratio: Some(0.0),
        dut_busiest_cpu_share: Some(1.01),
        dut_busy_ns_per_frame: Some(497.0),
        trials: 6,
        tester_ceiling_fps: 3_000_000,
        ..line()
    };
    // Two goals of one size.
    let lines = [explained.clone(), explained];
    let text = details(
        &Row::each(&lines),
        Some(&run("--link-speed 10G --bidirectional")),
    );
    for line in [
        "64: passes 1.380 Mfps, fails 1.410 Mfps; 6 trials; the search was ended by: DUT\n",
        "64: the receiver's program at the exit takes 41 ns a frame, which are in the bed's part. The kernel timed it \
         in trials of its own, with about one reading of the clock\n",
        "64: 2.6 % of 10 Gbit/s, 1.04 Gbit/s, loss 0 %, DUT 100 % busy, 497 ns a frame in all\n",
        "a load passes by this rule: ndr: up to 5 trials of 1 s at a load, half of them without loss\n",
        "link: 10 Gbit/s, notional: there is no physical link of one direction; rates are the sum of both\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    for line in [
        "64: cause of the loss at 900.0 kfps: overflow: frames arrived faster than the DUT took them\n",
        "64: at 80 % DUT busy: 600.0 kfps (measured, at 60 %)\n",
        "64: sent: median 96 ns late, 99.9 % 41 us, worst 310 us. Up to 82 frames were sent back to back to catch up \
        (2.0 % of the ring)\n",
        "64: tester's own ceiling: 3.000 Mfps (at overload)\n",
    ] {
        assert_eq!(text.matches(line).count(), 1, "{line}: {text}");
    }
}

#[test]
fn a_headroom_between_two_loads_names_both() {
    let load = |rate_fps, busy_share| BusyLoad {
        rate_fps,
        busy_share,
    };
    let found = Headroom {
        rate_fps: 800_000.0,
        basis: Basis::Interpolated,
        below: load(600_000.0, 0.6),
        above: load(900_000.0, 0.9),
    };
    assert_eq!(
        headroom(&found),
        "at 80 % DUT busy: 800.0 kfps (interpolated between 60 % at 600.0 kfps and 90 % at 900.0 kfps)"
    );
}
