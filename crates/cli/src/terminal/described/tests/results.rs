use crate::outcome::{Outcome, View};
use crate::terminal::fixture::{doubt, line, run, simulated, unstable};
use crate::terminal::result::next;
use crate::terminal::wrap::wrap;
use mpps_lab::doubt::Weight;
use mpps_method::Rate;
use mpps_record::{
    Basis, BusyLoad, Doubt, Evenness, Headroom, LimitedBy, RateIs, ReceiverPlace, ResultLine, Run,
    RunLine, WhyLost,
};

fn result(frame: &str, doubts: Vec<Doubt>) -> ResultLine {
    ResultLine {
        frame: frame.to_owned(),
        doubts,
        ..line()
    }
}

/// Those of every result of such a bed.
fn always() -> Vec<Doubt> {
    let footnotes = [
        ("short-trial", "trials shorter than RFC 2544's 60 s"),
        ("notional-link", "no wire"),
        ("virtual-nic", "a virtual NIC"),
    ];
    let footnote = |(place, (name, words))| doubt(name, Weight::Footnote(place, words), words);
    (0..).zip(footnotes).map(footnote).collect()
}

/// Ten of a restless hour, each with numbers of its own.
fn restless(size: u32) -> Vec<Doubt> {
    let rate = Rate::from_fps(f64::from(1_000_000 + size));
    let many = u64::from(size) * 1_000;
    let seen = [
        format!(
            "whether the DUT loses frames at a low load is not known: {size} of 5000 trials were undisturbed"
        ),
        format!("the loss at {rate} does not look like load (mixed)"),
        format!("the hypervisor took {size} % of a CPU during a trial"),
        format!("void trials: {size} of {many}"),
        format!("a ring of 4096 frames hides an overload of {rate} in one trial"),
        format!(
            "at {rate} a pause of 128 us fills the ring of 256 frames, and the watch sees no pause below 2 ms"
        ),
        format!("{rate} passed in one trial and failed in another"),
        format!("the tester could not offer the load of 9 of {size} trials"),
        format!("at {rate} the DUT lost frames while its busiest CPU was 71 % busy"),
        format!("the DUT holds {many} routes and frames go to 1 destination(s)"),
    ];
    const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let each = NAMES.into_iter().zip(&seen);
    let restless = each.map(|(name, seen)| doubt(name, Weight::Shifted(0), seen));
    always().into_iter().chain(restless).collect()
}

fn text_of(begin: &RunLine, lines: &[ResultLine], verbose: bool) -> String {
    let mut run = Run::new("run");
    run.add(begin.clone());
    run.results = lines.to_vec();
    let path = "/var/lib/mpps/.local/state/mpps/records/20261122T061930Z-2e66.jsonl";
    let foot = View::new(&run, path.as_ref(), false, verbose).foot(Some(begin));
    run.results.text(&run, verbose) + &foot + next(&run, begin)
}

fn text(lines: &[ResultLine], verbose: bool) -> String {
    text_of(&run(""), lines, verbose)
}

#[test]
fn three_sizes_fit_the_screen() {
    let calm = ["64", "imix", "1518"].map(|frames| result(frames, always()));
    let calm = text(&calm, false);
    let seen = wrap(&calm, 100);
    assert!(seen.lines().count() <= 24, "{seen}");
    let hour = [("64", 64), ("imix", 360), ("1518", 1518)];
    let hour = hour.map(|(frames, size)| result(frames, restless(size)));
    let hour = text(&hour, false);
    let seen = wrap(&hour, 100);
    assert!(seen.lines().count() <= 40, "{seen}");
    assert!(seen.contains("- and 2 more (-v)"), "{seen}");
    assert!(
        seen.lines().all(|line| line.chars().count() <= 100),
        "{seen}"
    );
}

/// A run of a restless hour, with the doubts of its time.
#[test]
fn a_real_run_fits_the_screen() {
    let record = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../bench/runs/2026-11-24-epyc-vm-2cpu/readme/raw.jsonl"
    );
    let record = std::fs::read_to_string(record).expect("the record");
    let of_kind = |kind: &'static str| {
        let is_kind = move |line: &&str| line.contains(&format!(r#""kind":"{kind}""#));
        record.lines().filter(is_kind)
    };
    let begin = of_kind("run").next().expect("a run");
    let begin: RunLine = serde_json::from_str(begin).expect("a run's line");
    let parsed = of_kind("result").map(|line| serde_json::from_str(line).expect("a result"));
    let mut lines: Vec<ResultLine> = parsed.collect();
    let screen = |lines: &[ResultLine]| wrap(&text_of(&begin, lines, false), 100);
    let seen = screen(&lines);
    assert!(seen.lines().count() <= 40, "{seen}");
    let doubts = seen.lines().skip_while(|line| *line != "Doubts").skip(1);
    let doubts = doubts.take_while(|line| !line.is_empty());
    for line in doubts {
        assert!(line.starts_with("- "), "one line each: {seen}");
    }
    lines.iter_mut().for_each(|line| line.doubts.clear());
    let seen = screen(&lines);
    assert!(seen.lines().count() <= 24, "{seen}");
}

#[test]
fn the_sentences_come_first_and_say_what_ran() {
    let text = text(
        &["64", "imix", "1518"].map(|frames| result(frames, always())),
        false,
    );
    assert!(
        text.starts_with("64 B: forwards 1.52 million frames/s"),
        "{text}"
    );
    for line in [
        "bed: virtual NIC and exit (receiver's program: 41 ns), measured through a wire\n",
        "set-up script: fw.sh, sha256 0123456789ab...\n",
        "\nLimits of every such result: trials shorter than RFC 2544's 60 s, no wire, a virtual NIC (docs/method.md)\n",
    ] {
        assert_eq!(text.matches(line).count(), 1, "{line}: {text}");
    }
    assert!(!text.contains("why:") && !text.contains("Doubts"), "{text}");
}

#[test]
fn the_exit_program_of_all_sizes_is_a_range() {
    let mut lines = ["64", "imix", "1518"].map(|frames| result(frames, Vec::new()));
    for (line, ns) in lines.iter_mut().zip([44.4, 40.6, 42.0]) {
        line.overload.exit_program_ns = Some(ns);
    }
    let of_all = text(&lines, false);
    assert!(
        of_all.contains("exit (receiver's program: 41 to 44 ns), measured"),
        "{of_all}"
    );
    for line in &mut lines {
        line.overload.exit_program_ns = None;
    }
    let untimed = text(&lines, false);
    assert!(
        untimed.contains("bed: virtual NIC and exit, measured"),
        "{untimed}"
    );
}

#[test]
fn a_receiver_at_the_port_has_a_cable() {
    let port = ResultLine {
        receiver: Some(ReceiverPlace::Port),
        ..line()
    };
    let text = text(&[port], false);
    assert!(
        text.contains("bed: virtual NIC and cable, measured"),
        "{text}"
    );
}

#[test]
fn verbose_adds_details_and_reasons() {
    let text = text(&[result("64", restless(64))], true);
    for words in ["\nDetails\n", "\nDoubts\n", "why:", "next:", "method "] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn an_unstable_router_is_told_first() {
    // Two goals of one size.
    let text = text(&[unstable(), unstable()], false);
    assert!(
        text.starts_with(
            "64 B: UNSTABLE: at the low load of 75.0 kfps the DUT lost frames in 2 of 5 trials (9 of 75000).\n"
        ),
        "{text}"
    );
    assert_eq!(text.matches("UNSTABLE").count(), 1, "{text}");
}

#[test]
fn what_was_simulated_says_so_first() {
    let text = text_of(&simulated(""), &[line()], false);
    let words = "SIMULATED, nothing was measured: capacity=1000000,";
    assert!(text.starts_with(words), "{text}");
}

/// Another try may tell more, unless what was asked for is excluded.
#[test]
fn what_may_pass_below_leaves_the_rate_open() {
    let exit = |expected_min_fps, (gate_lossless_fps, limited_by): &(_, LimitedBy)| {
        let lossy = ResultLine {
            rate_is: Some(mpps_record::RateIs::Below),
            rate_fps: Some(552_000),
            gate_lossless_fps: *gate_lossless_fps,
            limited_by: Some(limited_by.clone()),
            ..line()
        };
        let mut begin = simulated("--frame 64");
        begin.plan.expected_min_fps = expected_min_fps;
        let run = Run {
            begin: Some(begin),
            ..Run::default()
        };
        vec![lossy].exit(&run).code()
    };
    assert_eq!(exit(None, &(None, LimitedBy::Dut)), 1);
    let gate = (Some(126_000), LimitedBy::Dut);
    let ended = (None, LimitedBy::Trials);
    for open in &[gate, ended] {
        assert_eq!(exit(None, open), 4);
        assert_eq!(exit(Some(500_000), open), 4);
        assert_eq!(exit(Some(1_000_000), open), 1);
    }
}

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
    let text = text_of(&run("--link-speed 10G --bidirectional"), &lines, true);
    for line in [
        "64: passes 1 380 000 frames/s, fails 1 410 000 frames/s; 6 trials; the search was ended by: DUT\n",
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
        "64: at 80 % DUT busy: 600 000 frames/s (measured, at 60 %)\n",
        "64: sent: median 96.0 ns late, 99.9 % 41.0 µs, worst 310 µs. Up to 82 frames were sent back to back to catch up \
        (2.0 % of the ring)\n",
        "64: tester's own ceiling: 3 000 000 frames/s (at overload)\n",
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
    let between = ResultLine {
        headroom: Some(Headroom {
            rate_fps: 800_000.0,
            basis: Basis::Interpolated,
            below: load(600_000.0, 0.6),
            above: load(900_000.0, 0.9),
        }),
        ..line()
    };
    let text = text(&[between], true);
    let wanted = "64: at 80 % DUT busy: 800 000 frames/s (interpolated between 60 % at 600 000 frames/s and 90 % at \
        900 000 frames/s)\n";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn the_table_fits_80_columns() {
    let imix = ResultLine {
        frame: "imix".to_owned(),
        rate_is: Some(RateIs::AtLeast),
        rate_fps: Some(1_199_000),
        ..line()
    };
    let text = text(&[line(), imix], false);
    assert!(
        text.contains(
            "frame  max forwarding      without  lossless  router  bed        limited\n\
             size   rate, frames/s         loss    trials      ns   ns  busy  by\n\
             64     1.52M (1.46-1.57)     1.38M    3 of 3     225  430  98 %  router CPU\n\
             imix   1.52M (1.46-1.57)  >= 1.19M    3 of 3     225  430  98 %  router CPU\n"
        ),
        "{text}"
    );
    let rows = text.lines().filter(|line| line.contains("  "));
    let widest = rows.map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
}

#[test]
fn a_run_that_failed_has_no_table() {
    let failed = ResultLine {
        frame: "64".to_owned(),
        ..ResultLine::default()
    };
    let text = text(&[failed], false);
    assert!(!text.contains("frame  "), "{text}");
}

#[test]
fn a_column_that_nothing_is_known_of_is_left_out() {
    let mut device = line();
    device.overload.cost = None;
    let text = text(&[device], false);
    let mut lines = text.lines();
    let first = lines.find(|line| line.starts_with("frame  "));
    let second = lines.next().expect("two lines of headings");
    let head = format!("{}\n{second}", first.expect("a table"));
    assert!(!head.contains("ns") && head.contains("busy"), "{head}");
}

#[test]
fn what_was_not_measured_is_a_dash() {
    let nothing = ResultLine {
        frame: "1518".to_owned(),
        ..ResultLine::default()
    };
    let text = text(&[line(), nothing], false);
    let row = text.lines().find(|line| line.starts_with("1518  "));
    let cells: Vec<&str> = row.expect("a row").split_whitespace().collect();
    assert_eq!(cells, ["1518", "-", "-", "-", "-", "-", "-", "-"]);
}

#[test]
fn an_unstable_router_is_marked_in_its_row() {
    assert!(text(&[unstable()], false).contains("router CPU, unstable"));
}

#[test]
fn a_bound_from_above_is_rounded_up() {
    let line = ResultLine {
        rate_is: Some(RateIs::Below),
        rate_fps: Some(1_231_000),
        ..ResultLine::default()
    };
    let text = text(&[line], false);
    assert!(text.contains("< 1.24M"), "{text}");
}
