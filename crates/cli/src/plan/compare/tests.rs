use super::*;
use crate::args::{Cli, Verb};
use clap::Parser;

/// `mpps compare` with these words.
fn plan(words: &[&str]) -> Result<ComparePlan> {
    let typed: Vec<OsString> = ["compare"]
        .iter()
        .chain(words)
        .map(OsString::from)
        .collect();
    let all = std::iter::once(OsString::from("mpps")).chain(typed.clone());
    match Cli::try_parse_from(all)?.verb {
        Verb::Compare(args) => ComparePlan::new(&args, &typed),
        other => panic!("not compare: {other:?}"),
    }
}

fn names(words: &[&str]) -> Vec<String> {
    let plan = plan(words).unwrap_or_else(|error| panic!("{words:?}: {error:#}"));
    plan.variants
        .into_iter()
        .map(|variant| variant.name)
        .collect()
}

#[test]
fn a_variant_is_nothing_a_script_or_flags() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let named = format!("cargo={manifest}");
    assert_eq!(names(&["--a", "", "--b", manifest]), ["none", "Cargo"]);
    assert_eq!(names(&["--a=none", "--b", &named]), ["none", "cargo"]);
    assert_eq!(
        names(&["--a", "--queues=1", "--b", "two=--queues 2", "--c", "none"]),
        ["--queues=1", "two", "none"]
    );
    assert_eq!(
        names(&["--a=none", "--b=none", "--c=none"]),
        ["none", "none (b)", "none (c)"]
    );
}

#[test]
fn a_variants_flags_override_those_of_all() {
    let words = ["--a", "none", "--b", "--queues 2 --rx-ring 512 --flows '9'"];
    let more = [
        "--queues", "3", "--flows", "5", "--within", "1%", "--budget", "30s",
    ];
    let plan = plan(&[&words[..], &more].concat()).expect("a plan");
    let [a, b] = &plan.variants[..] else {
        panic!("two variants");
    };
    assert_eq!((a.bed.queues, a.traffic.flows), (Some(3), 5));
    assert_eq!(
        (b.bed.queues, b.bed.rx_ring, b.traffic.flows),
        (Some(2), 512, 9)
    );
    assert_eq!(
        b.flags,
        ["--queues", "2", "--rx-ring", "512", "--flows", "9"]
    );
    assert_eq!(a.traffic.frames.to_string(), "64");
    assert_eq!(plan.how.within, 0.01);
}

#[test]
fn combinations_of_changes_take_whole_rounds() {
    let whole = |words: &[&str]| plan(words).expect("a plan").how.whole_rounds;
    let four = [
        "--a=one+off=none",
        "--b=two+off=--bidirectional",
        "--c=one+on=--flows 9",
    ];
    let factorial = [&four[..], &["--c=two+on=--flows 9 --bidirectional"]].concat();
    assert!(whole(&factorial));
    assert!(whole(&[
        "--a=none",
        "--b=a=--flows 9",
        "--c=b=--bidirectional",
        "--c=both=--flows 9 --bidirectional"
    ]));
    assert!(!whole(&four));
    // CPUs may be a factor where those of the tester are named.
    let cpus = plan(&[
        "--a=--dut-cpus 1",
        "--b=--dut-cpus 1,2",
        "--tester-cpus",
        "0",
    ]);
    assert_eq!(cpus.expect("a plan").variants.len(), 2);
}

#[test]
fn a_table_raises_the_least_that_is_found() {
    let of_all = ["--a=none", "--b=none", "--networks", "256"];
    let of_one = ["--a=none", "--b=--networks 256"];
    for words in [&of_all[..], &of_one] {
        let within = |more: &[&str]| Ok(plan(&[words, more].concat())?.how.within);
        assert_eq!(
            within(&[]).map_err(|error: Error| error.to_string()),
            Ok(0.03)
        );
        for flag in ["--within", "--fail-if-slower"] {
            let error = within(&[flag, "2%"]).expect_err("refused");
            let wanted = format!("{flag} 2 %: differences up to 3 % count as none here");
            assert!(error.to_string().contains(&wanted), "{error}");
        }
    }
}

#[test]
fn a_variant_that_cannot_be_is_named() {
    for (words, wanted) in [
        (
            ["--a=none", "--b=--queue 2"].as_slice(),
            "--b \"--queue 2\": ",
        ),
        (&["--a=none", "--b=--queue 2"], "did you mean --queues?"),
        (&["--a=none", "--b=--queues 99"], "give 1 to 64"),
        (
            &["--a=none", "--b=./no-such-file"],
            "there is no file ./no-such-file",
        ),
        (
            &["--a=none", "--b=--within 5%"],
            "give it outside the quotes",
        ),
        (&["--a=none", "--b=--rss 'x"], "a quote has no end"),
        (&["--a=none", "--b=--frame 128"], "frames of all variants"),
        (
            &["--a=none", "--b=--dut-cpus 0"],
            "--dut-cpus: where variants differ in it, give --tester-cpus too",
        ),
        (
            &["--a=none", "--b=--tester-cpus 0"],
            "CPUs of the tester of all variants",
        ),
        (
            &["--a=none", "--b=none", "--frame", "64,128"],
            "one frame size",
        ),
        (
            &["--a=none", "--b=none", "--bed", "lab"],
            "raises a bed for each variant",
        ),
        (
            &["--a=none", "--b=--external x,y"],
            "raises a bed for each variant",
        ),
        (
            &["--a=x=none", "--b=x=none", "--c", "x (b)=none"],
            "there is no file",
        ),
        (&["--a=none"], "--b"),
        (
            &["--a=none", "--b=none", "--within", "2"],
            "give 0.1% to 50%",
        ),
        (
            &["--a=none", "--b=none", "--within", "0.3%"],
            "--within 0.3 %: differences up to 1 % count as none here",
        ),
        (
            &["--a=none", "--b=none", "--fail-if-slower", "0.5%"],
            "--fail-if-slower 0.5 %: differences up to 1 % count as none here",
        ),
    ] {
        let error = format!("{:#}", plan(words).expect_err("refused"));
        assert!(error.contains(wanted), "{words:?}: {error}");
    }
}
