use super::*;
use crate::plan::Planned;
use crate::plan::tests::args;
use crate::verbs::throughput::{self, Throughput};
use anyhow::Context as _;

fn plan(words: &str) -> Result<Planned<Throughput>> {
    throughput::plan(&args(words))
}

#[test]
fn a_million_destinations_unless_asked_otherwise() {
    assert_eq!(plan("").expect("a plan").destinations, None);
    let wanted = plan("--table t.mrt --destinations 4M --draw zipf:1.1").expect("a plan");
    let wanted = wanted.destinations.expect("destinations");
    assert_eq!(wanted.origin, Origin::File("t.mrt".into()));
    assert_eq!(
        (wanted.count, wanted.draw),
        (Some(4_000_000), Draw::Zipf(1.1))
    );
    let usual = plan("--dst-prefix 20.0.0.0/8")
        .expect("a plan")
        .destinations;
    let usual = usual.expect("destinations");
    assert_eq!((usual.count, usual.draw), (None, Draw::PerPrefix));
    assert_eq!(DESTINATIONS, 1_000_000);
}

#[test]
fn a_table_may_be_made_up() {
    let origin = |words: &str| {
        let plan = plan(words)?.destinations;
        plan.map(|plan| plan.origin).context("destinations")
    };
    let made = |v4, v6, seed| Origin::Synthetic { v4, v6, seed };
    let v4 = origin("--table synthetic:538738 --seed 3");
    assert_eq!(v4.expect("IPv4"), made(538_738, 0, 3));
    let v6 = origin("-6 --table synthetic:10k");
    assert_eq!(v6.expect("IPv6"), made(0, 10_000, 1));
    let refused = origin("--table synthetic:many").expect_err("no number");
    assert!(refused.to_string().contains("such as 1000"), "{refused}");
}

#[test]
fn route_changes_have_a_file_and_a_speed() {
    let asked = |words: &str| {
        let plan = plan(&format!("--table t --route-changes {words}")).expect("a plan");
        let asked = plan.destinations.and_then(|plan| plan.route_changes);
        let asked = asked.expect("route changes");
        (asked.file.display().to_string(), asked.speed.to_string())
    };
    let wanted = |file: &str, speed: &str| (file.to_owned(), speed.to_owned());
    assert_eq!(asked("day.xz"), wanted("day.xz", "1000/s"));
    assert_eq!(asked("a,b.xz,speed=12.5k/s"), wanted("a,b.xz", "12500/s"));
    assert_eq!(asked("u,speed=max"), wanted("u", "max"));
}

#[test]
fn nonsense_is_refused_with_a_remedy() {
    for (words, remedy) in [
        ("--destinations 5", "--table FILE"),
        ("--route-changes u", "--table FILE"),
        ("--draw sequential", "--table FILE"),
        ("--dst-prefix 20.0.0.0/8 -6", "-4"),
        ("--dst-prefix 2a00::/32", "-6"),
        ("--dst-prefix 20.0.0.0/8 --destinations 0", "give 1 to"),
        (
            "--table t --draw missing --bidirectional",
            "leave out --bidirectional",
        ),
        ("--table t --draw zipf:1 --flows 5000000", "give fewer"),
        ("--table t --bidirectional --flows 70000", "64512"),
        (
            "--table t --draw missing --route-changes u",
            "leave out one",
        ),
    ] {
        let line = format!("{:#}", plan(words).expect_err(words));
        assert!(
            line.contains(remedy) && !line.contains('\n'),
            "{words}: {line}"
        );
    }
}
