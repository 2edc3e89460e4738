use super::*;
use crate::args::{BedVerb, Cli, Verb};
use clap::Parser;
use mpps_method::Span;

fn args(words: &str) -> ThroughputArgs {
    let typed = ["mpps", "throughput"]
        .into_iter()
        .chain(words.split_whitespace());
    match Cli::try_parse_from(typed)
        .expect("the parser takes it")
        .verb
    {
        Verb::Throughput(args) => *args,
        other => panic!("not throughput: {other:?}"),
    }
}

fn plan(words: &str) -> Plan {
    Plan::of(&args(words)).expect(words)
}

/// The one line a person gets to read.
fn refusal(words: &str) -> String {
    let line = Plan::of(&args(words)).expect_err(words);
    let line = format!("{line:#}");
    assert!(!line.contains('\n'), "{line}");
    line
}

fn names(plan: &Plan) -> Vec<String> {
    plan.measurement
        .sizes
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn without_arguments_three_sizes_are_measured_on_a_bed_of_its_own() {
    let plan = plan("");
    assert_eq!(names(&plan), ["64", "imix", "1518"]);
    let measurement = &plan.measurement;
    assert_eq!(measurement.trial, Span::from_millis(1000));
    assert_eq!(measurement.resolution, Resolution::Fraction(0.01));
    assert_eq!(
        (measurement.trials_per_load, measurement.accept),
        (3, Accept::Any)
    );
    assert_eq!(measurement.minimum.fps(), 10_000.0);
    assert_eq!(measurement.maximum, None);
    let BedChoice::Own(wish) = plan.bed else {
        panic!("a bed of its own")
    };
    assert_eq!(
        (wish.nic, wish.queues, wish.rx_ring),
        (Front::Cpumap, None, 4096)
    );
}

#[test]
fn ipv6_has_usual_sizes_that_fit_it() {
    let plan = plan("-6");
    assert_eq!(names(&plan), ["78", "mix:78=7,594=4,1518=1", "1518"]);
    assert!(plan.measurement.traffic.ipv6);
}

#[test]
fn the_rfcs_rule_and_published_steps_can_be_asked_for() {
    let plan = plan("--trials-per-load 1 --accept all --step-fps 50000 --time 30 --flows 32");
    let measurement = &plan.measurement;
    assert_eq!(measurement.resolution, Resolution::StepFps(50_000.0));
    assert_eq!(
        (measurement.trials_per_load, measurement.accept),
        (1, Accept::All)
    );
    assert_eq!(measurement.traffic.flows, 32);
}

#[test]
fn a_resolution_in_frames_a_second_is_a_step() {
    assert_eq!(
        plan("--resolution 20k").measurement.resolution,
        Resolution::StepFps(20_000.0)
    );
}

#[test]
fn a_low_maximum_takes_the_minimum_with_it() {
    assert_eq!(plan("--max-rate 5k").measurement.minimum.fps(), 500.0);
    assert_eq!(plan("--max-rate 1M").measurement.minimum.fps(), 10_000.0);
}

#[test]
fn a_kept_bed_is_taken_by_name() {
    assert!(matches!(plan("--bed lab1").bed, BedChoice::Kept(name) if name == "lab1"));
}

#[test]
fn a_frame_too_small_for_its_protocol_is_refused() {
    let line = refusal("-6 --frame 64");
    assert!(
        line.contains("too small for IPv6") && line.contains("--frame 78"),
        "{line}"
    );
    assert!(refusal("-6 --frame imix").contains("64 (in imix)"));
    assert!(refusal("--frame 60").contains("64 to 9216"));
}

#[test]
fn a_frame_that_needs_another_port_is_refused() {
    let line = refusal("--frame 9000");
    assert!(
        line.contains("another port") && line.contains("--frame 3400"),
        "{line}"
    );
    assert_eq!(names(&plan("--frame 3400")), ["3400"]);
}

#[test]
fn an_unknown_mix_is_answered_with_the_known() {
    let line = refusal("--frame simple");
    for name in ["imix", "ams-ix-2015", "intel-2016", "internet-2009"] {
        assert!(line.contains(name), "{line}");
    }
}

#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
    for (words, wanted) in [
        ("--flows 0", "give 1 to"),
        ("--dscp 64", "0 to 63"),
        ("--trials-per-load 0", "at least 1"),
        ("--queues 0", "1 to 64"),
        ("--queues 65", "1 to 64"),
        ("--rx-ring 7", "8 to 16384"),
        ("--rx-ring 16385", "8 to 16384"),
        ("--rx-ring 512 --nic napi", "--nic cpumap"),
        ("--step-fps 2M --max-rate 1M", "smaller --step-fps"),
        ("--min-rate 2M --max-rate 1M", "raise --max-rate"),
        ("--max-rate 100M", "at most 12.000 Mfps"),
        ("--time 10ms --min-rate 1 --max-rate 10", "no frame is due"),
        ("--bed Lab/1", "lower-case"),
        ("--bed a-name-that-is-by-far-too-long", "1 to 24"),
        ("--frame 1518-64/128", "first-last/step"),
        ("--frame mix:64=0", "weight"),
        ("--frame 64,,128", "empty frame size"),
    ] {
        let line = refusal(words);
        assert!(line.contains(wanted), "{words}: {line}");
    }
}

#[test]
fn what_excludes_each_other_is_refused_by_the_parser() {
    for words in [
        "--bed lab1 --nic napi",
        "--bed lab1 --queues 2",
        "-4 -6",
        "--resolution 2% --step-fps 50k",
    ] {
        let typed = ["mpps", "throughput"]
            .into_iter()
            .chain(words.split_whitespace());
        let error = Cli::try_parse_from(typed).expect_err(words);
        assert_eq!(
            error.kind(),
            clap::error::ErrorKind::ArgumentConflict,
            "{words}"
        );
    }
}

#[test]
fn a_bed_to_keep_has_a_name() {
    let cli =
        Cli::try_parse_from(["mpps", "bed", "up", "lab1", "--nic", "softirq"]).expect("parses");
    let Verb::Bed(bed) = cli.verb else {
        panic!("bed")
    };
    let BedVerb::Up(up) = bed.verb else {
        panic!("up")
    };
    let wish = BedWish::of(&up.bed, Some(&up.name)).expect("a bed");
    assert_eq!(
        (wish.name.as_deref(), wish.nic),
        (Some("lab1"), Front::Softirq)
    );
}
