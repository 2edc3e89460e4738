use super::*;
use crate::args::{BedVerb, Cli, SideArg, ThroughputArgs, Verb};
use crate::verbs::throughput::{self, Throughput};
use clap::Parser;
use mpps_lab::tester::ReceiverPlace;
use mpps_method::{Accept, FrameSpec, Preset, Resolution, SearchGoal, SearchPlan, Span};

/// What `mpps throughput` with these words typed is asked.
pub(crate) fn args(words: &str) -> ThroughputArgs {
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

/// What it then means.
pub(crate) fn plan(words: &str) -> Planned<Throughput> {
    throughput::plan(&args(words)).expect(words)
}

/// The one line a person gets to read.
fn refusal(words: &str) -> String {
    let line = throughput::plan(&args(words)).expect_err(words);
    let line = format!("{line:#}");
    assert!(!line.contains('\n'), "{line}");
    line
}

fn names(plan: &Planned<Throughput>) -> Vec<String> {
    plan.offer
        .measurement
        .sizes
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn without_arguments_three_sizes_are_measured() {
    let plan = plan("");
    assert_eq!(names(&plan), ["64", "imix", "1518"]);
    let measurement = &plan.offer.measurement;
    let SearchPlan::Mlr {
        goals,
        trials_at_most: 25,
    } = &measurement.search
    else {
        panic!("{:?}", measurement.search)
    };
    assert_eq!(goals[..], [Preset::Quick.goal(0.0)]);
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
    assert_eq!(names(&plan), ["78", "imix6", "1518"]);
    assert!(plan.offer.measurement.traffic.ipv6);
}

#[test]
fn imix_means_the_mix_that_fits_the_headers() {
    for (words, expected) in [
        ("--frame 64,imix", ["64", "imix"]),
        ("-6 --frame 78,imix", ["78", "imix6"]),
        ("-6 --frame imix6,1518", ["imix6", "1518"]),
        ("--l4 tcp --frame 70,imix", ["70", "mix:70=7,594=4,1518=1"]),
    ] {
        assert_eq!(names(&plan(words)), expected, "{words}");
    }
    let sizes = &plan("-6 --frame imix").offer.measurement.sizes;
    let written = FrameSpec::parse_list("mix:78=7,594=4,1518=1").expect("a mix");
    assert_eq!(sizes[0].schedule(1, 100), written[0].schedule(1, 100));
}

#[test]
fn the_rfcs_rule_and_published_steps_can_be_asked_for() {
    let plan = plan("--trials-per-load 1 --accept all --resolution 50000 --time 30 --flows 32");
    let measurement = &plan.offer.measurement;
    let expected = SearchPlan::Bisection {
        trial: Span::from_millis(30_000),
        resolution: Resolution::StepFps(50_000.0),
        trials_per_load: 1,
        accept: Accept::All,
    };
    assert_eq!(measurement.search, expected);
    assert_eq!(measurement.traffic.flows, 32);
}

fn search_of(words: &str) -> SearchPlan {
    plan(words).offer.measurement.search
}

fn goals(words: &str) -> Vec<SearchGoal> {
    match search_of(words) {
        SearchPlan::Mlr { goals, .. } => goals,
        other => panic!("{words}: {other:?}"),
    }
}

#[test]
fn what_only_a_bisection_has_implies_it() {
    for words in [
        "--search bisection",
        "--resolution 20k",
        "--trials-per-load 2",
        "--accept all",
        "--verify-loss 2",
    ] {
        let search = search_of(words);
        assert!(matches!(search, SearchPlan::Bisection { .. }), "{words}");
    }
    let usual = SearchPlan::Bisection {
        trial: Span::from_millis(1_000),
        resolution: Resolution::Fraction(0.01),
        trials_per_load: 3,
        accept: Accept::Any,
    };
    assert_eq!(search_of("--search bisection"), usual);
    let SearchPlan::Bisection {
        trials_per_load,
        accept,
        ..
    } = search_of("--verify-loss 4:100")
    else {
        panic!("bisection")
    };
    let verified = Accept::Verified { lost_at_most: 100 };
    assert_eq!((trials_per_load, accept), (4, verified));
}

#[test]
fn presets_and_goals_say_what_the_flags_do_not() {
    assert_eq!(goals("--preset rfc2544"), [Preset::Rfc2544.goal(0.0)]);
    let csit = [Preset::Csit.goal(0.0), Preset::Csit.goal(0.005)];
    assert_eq!(goals("--preset csit"), csit);
    assert_eq!(goals("--preset csit --goal ndr --goal pdr:0.5%"), csit);
    assert_eq!(goals("--preset csit --goal ndr,pdr:0.5%"), csit);
    let seconds = Span::from_secs_f64;
    let [one] = goals("--goal pdr:1%,exceed=20%,final=5s --resolution 2%")[..] else {
        panic!("one goal")
    };
    let expected = SearchGoal {
        loss_ratio: 0.01,
        exceed_ratio: 0.2,
        initial_trial: seconds(1.0),
        final_trial: seconds(5.0),
        // As many trials as the preset has at a load.
        duration_sum: seconds(25.0),
        width: 0.02,
    };
    assert_eq!(one, expected);
    let [short] = goals("--time 0.2")[..] else {
        panic!("one goal")
    };
    assert_eq!(short.initial_trial, seconds(0.2));
    assert_eq!(short.duration_sum, seconds(1.0));
}

#[test]
fn trials_of_a_minute_ask_for_a_throughput() {
    let goal = Preset::Rfc2544.goal(0.0);
    assert_eq!(goals("--time 60"), [goal]);
    let longer = Span::from_millis(300_000);
    let five = SearchGoal {
        final_trial: longer,
        duration_sum: longer,
        ..goal
    };
    assert_eq!(goals("--time 5m"), [five]);
    assert!(!goals("--time 60 --preset csit")[0].tolerates_nothing());
}

#[test]
fn a_simulated_pair_takes_the_beds_place() {
    let plan = plan("--simulate capacity=1M --expect-min 900k");
    assert!(matches!(plan.bed, BedChoice::Simulated(pair) if pair.capacity.fps() == 1e6));
    assert_eq!(plan.offer.expect_min.map(Rate::fps), Some(900_000.0));
}

#[test]
fn a_receiver_is_where_it_was_asked_for() {
    for (words, place) in [
        ("", None),
        ("--receiver exit", Some(ReceiverPlace::Exit)),
        (
            "--receiver port --port af-packet",
            Some(ReceiverPlace::Port),
        ),
    ] {
        assert_eq!(plan(words).offer.measurement.receiver, place, "{words}");
    }
}

#[test]
fn a_low_maximum_takes_the_minimum_with_it() {
    assert_eq!(plan("--max-rate 5k").offer.measurement.minimum.fps(), 500.0);
    assert_eq!(
        plan("--max-rate 1M").offer.measurement.minimum.fps(),
        10_000.0
    );
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
    assert!(refusal("-6 --frame intel-2016").contains("64 (in intel-2016)"));
    assert!(refusal("--frame 60").contains("64 to 9216"));
}

#[test]
fn a_frame_that_needs_another_port_is_refused() {
    let line = refusal("--frame 9000");
    assert!(
        line.contains("--port af-packet") && line.contains("--frame 3400"),
        "{line}"
    );
    assert_eq!(names(&plan("--frame 3400")), ["3400"]);
    let jumbo = plan("--frame 9000,mix:64=1,9216=1 --port af-packet");
    assert_eq!(names(&jumbo), ["9000", "mix:64=1,9216=1"]);
    assert_eq!(jumbo.offer.measurement.traffic.port, PortKind::AfPacket);
    assert_eq!(plan("").offer.measurement.traffic.port, PortKind::Xdp);
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
        ("--resolution 2M --max-rate 1M", "smaller --resolution"),
        ("--min-rate 2M --max-rate 1M", "raise --max-rate"),
        ("--max-rate 100M", "at most 12.000 Mfps"),
        ("--time 10ms --min-rate 1 --max-rate 10", "no frame is due"),
        ("--expect-min 2M --max-rate 1M", "no result could reach it"),
        (
            "--goal ndr --accept all",
            "--accept belongs to bisection, --goal to MLRsearch",
        ),
        ("--search mlr --resolution 50k", "--search bisection"),
        ("--search bisection --preset csit", "--search mlr"),
        ("--goal ndr,ndr", "twice"),
        ("--goal ndr,sum=0.5", "duration sum"),
        ("--goal ndr,initial=2", "shorten the one"),
        ("--trials-at-most 0", "at least 1"),
        ("--bed Lab/1", "lower-case"),
        ("--bed a-name-that-is-by-far-too-long", "1 to 24"),
        ("--frame 1518-64/128", "first-last/step"),
        ("--frame mix:64=0", "weight"),
        ("--frame 64,,128", "empty frame size"),
        ("--receiver exit --port af-packet", "give --receiver port"),
        ("--receiver exit --l4 tcp-stream", "GRO merge frames"),
        (
            "--receiver exit --external a,b",
            "has no exit for the receiver",
        ),
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
        "--verify-loss 2 --accept all",
        "--simulate capacity=1M --bed lab1",
        "--simulate capacity=1M --rx-ring 512",
        "--simulate capacity=1M --receiver exit",
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
fn a_command_for_a_bed_needs_no_dashes() {
    for (words, side, command) in [
        ("lab1", SideArg::Dut, ""),
        ("lab1 ip -6 addr", SideArg::Dut, "ip -6 addr"),
        ("lab1 -- ip addr", SideArg::Dut, "ip addr"),
        (
            "lab1 --side in ip --json addr",
            SideArg::In,
            "ip --json addr",
        ),
        ("--side out lab1 tc --side x", SideArg::Out, "tc --side x"),
        ("lab1 ls --help", SideArg::Dut, "ls --help"),
    ] {
        let typed = ["mpps", "bed", "shell"]
            .into_iter()
            .chain(words.split_whitespace());
        let Verb::Bed(bed) = Cli::try_parse_from(typed).expect(words).verb else {
            panic!("bed")
        };
        let BedVerb::Shell(shell) = bed.verb else {
            panic!("shell")
        };
        assert_eq!((shell.name.as_str(), shell.side), ("lab1", side), "{words}");
        assert_eq!(shell.command.join(" "), command, "{words}");
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
    let wish = BedWish::new(&up.bed, Some(&up.name)).expect("a bed");
    assert_eq!(
        (wish.name.as_deref(), wish.nic),
        (Some("lab1"), Front::Softirq)
    );
}
