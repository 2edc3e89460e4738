use super::*;
use crate::plan::tests::plan;
use crate::record::{Clock, simulated_run_line};
use crate::terminal::fixture::{doubt, line, unstable};
use crate::terminal::wrap::wrap;
use crate::verbs::contract::Measure;
use mpps_lab::doubt::Weight;
use mpps_lab::facts;
use mpps_method::Rate;
use mpps_method::simulate::Properties;
use mpps_record::{Bed, Doubt, LimitedBy, ResultLine, SetUpScript};

/// A run of the plan with these words, of a simulated pair.
fn simulated(words: &str) -> RunLine {
    let search = plan(words).offer;
    let pair = Properties::ideal(Rate::from_fps(1e6));
    simulated_run_line(Clock::now(), &search.job(), &pair, &facts::gather())
}

/// The same on a bed of our own, with a set-up script.
pub(in crate::terminal) fn run(words: &str) -> RunLine {
    let bed = Bed {
        dut_setup: Some("fw.sh".to_owned()),
        dut_setup_script: Some(SetUpScript {
            sha256: "0123456789abcdef".to_owned(),
            text: Some(String::new()),
            output: None,
        }),
        ..Bed::default()
    };
    RunLine {
        bed: RunBed::Namespaces(Box::new(bed)),
        ..simulated(words)
    }
}

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

fn text_of(run: &RunLine, lines: &[ResultLine], verbose: bool) -> String {
    let (rest, path) = (
        Run::default(),
        "/var/lib/mpps/.local/state/mpps/records/20261122T061930Z-2e66.jsonl",
    );
    let report = Report {
        run: Some(run),
        rows: &Row::each(lines),
        view: &View::new(&rest, path.as_ref(), false, verbose),
    };
    report.head() + &report.body()
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
            "64 B: UNSTABLE: at the low load of 75.0 kfps the DUT lost frames in 2 of 5 trials (9 of 75000)\n"
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
