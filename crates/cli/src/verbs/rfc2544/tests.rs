use super::suite::Lengths;
use super::*;
use crate::args::{Cli, Verb};
use clap::Parser;
use mpps_method::Span;

fn planned(words: &str) -> Result<Suite> {
    let typed = ["mpps", "rfc2544"].into_iter();
    let typed = typed.chain(words.split_whitespace());
    match Cli::try_parse_from(typed).expect(words).verb {
        Verb::Rfc2544(args) => Ok(super::plan(&args)?.offer),
        other => panic!("not rfc2544: {other:?}"),
    }
}

fn suite(words: &str) -> Suite {
    planned(words).expect(words)
}

fn sizes(suite: &Suite) -> Vec<String> {
    let sizes = suite.search.measurement.sizes.iter();
    sizes.map(ToString::to_string).collect()
}

fn verbs(suite: &Suite) -> Vec<&str> {
    suite.parts.iter().map(|part| part.verb).collect()
}

/// What RFC 2544 asks for, where it is shortened.
fn shortened(suite: &Suite) -> Vec<&str> {
    let parts = suite.parts.iter();
    let asked = parts.filter_map(|part| part.shortened_from(&suite.lengths));
    asked.collect()
}

fn refusal(words: &str) -> String {
    planned(words).expect_err(words).to_string()
}

#[test]
fn all_sizes_and_lengths_are_the_rfcs() {
    let all = suite("");
    let of_rfc = ["64", "128", "256", "512", "1024", "1280", "1518"];
    assert_eq!(sizes(&all), of_rfc);
    assert_eq!(sizes(&suite("-6"))[..2], ["78", "128"]);
    assert_eq!(all.lengths, FULL);
    assert_eq!(all.search.measurement.budget, None);
    let minute = Span::from_millis(60_000);
    assert_eq!(all.search.measurement.search.final_trial(), minute);
    let names = "throughput latency loss back-to-back recovery reset";
    assert_eq!(verbs(&all).join(" "), names);
    assert_eq!(shortened(&all), [""; 0]);
    let hours = all.left(0).as_secs_f64() / 3_600.0;
    assert!((8.0..20.0).contains(&hours), "{hours} h");
}

#[test]
fn quick_says_what_it_is_short_of() {
    let quick = suite("--quick");
    assert_eq!(sizes(&quick), ["64", "512", "1518"]);
    assert_eq!(quick.lengths, QUICK);
    let wanted = [
        "trials of 60 s",
        "20 streams of 120 s",
        "trials of 60 s",
        "50 repetitions, bursts of 2 s",
        "60 s of overload",
    ];
    assert_eq!(shortened(&quick), wanted);
    assert!(quick.left(0) < Span::from_millis(15 * 60_000));
    let last = quick.left(17);
    assert!(last > Span::ZERO && last < quick.left(16), "{last}");
    assert_eq!(quick.left(18), Span::ZERO);
    assert_eq!(sizes(&suite("--quick --frame 300")), ["300"]);
}

#[test]
fn shorter_trials_shorten_what_depends_on_them() {
    let short = suite("--quick --time 200ms --budget 5s").lengths;
    let wanted = Lengths {
        trial: Span::from_millis(200),
        latency: Span::from_millis(800),
        burst: Span::from_millis(400),
        reset: Span::from_millis(1_000),
        budget: Some(Span::from_millis(5_000)),
        ..QUICK
    };
    assert_eq!(short, wanted);
    let ten = suite("--time 10");
    assert_eq!(ten.parts[3].shortened_from(&ten.lengths), None);
    assert_eq!(ten.lengths.latency, Span::from_millis(400_000));
}

#[test]
fn parts_are_chosen_by_the_names_of_their_verbs() {
    // In the order of the RFC, however they are typed.
    let two = suite("--only latency,throughput");
    assert_eq!(verbs(&two), ["throughput", "latency"]);
    let others = suite("--except recovery");
    assert_eq!(
        verbs(&others),
        ["throughput", "latency", "loss", "back-to-back", "reset"]
    );
    for (words, wanted) in [
        (
            "--only latency,speed",
            "--only speed: there is no such part: give throughput, latency,",
        ),
        ("--except Loss", "--except Loss: there is no such part"),
        (
            "--except throughput,latency,loss,back-to-back,recovery,reset",
            "leaves no part",
        ),
        ("--bidirectional", "give --except recovery"),
        (
            "--bidirectional --only reset",
            "its own bed, in one direction",
        ),
    ] {
        let told = refusal(words);
        assert!(told.contains(wanted), "{told}");
    }
    let without = suite("--bidirectional --except recovery");
    assert!(without.search.measurement.traffic.bidirectional);
    assert_eq!(verbs(&without).last(), Some(&"back-to-back"));
}
