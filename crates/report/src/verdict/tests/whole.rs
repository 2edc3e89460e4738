//! A verdict covers no more than was tested: each part of a claim, and the router without the bed.

use super::*;
use mpps_record::FrameCost;

/// The check's bounds, for a sweep in which routing and the stage free cost so many times as much at the last point.
fn grown(most: f64, not_tested: Option<&str>, [routing, free]: [f64; 2]) -> (Verdict, String) {
    let growth = |of: Looked, least, most| check(of, least, most);
    let routing_alone = "routing".to_owned();
    let of = Looked::StageGrowth(routing_alone.clone());
    let mut line = cell(growth(of, Some(2.3), Some(most)));
    let claim = line.claim.as_mut().expect("a claim");
    claim
        .also
        .extend(growth(Looked::StagesGrowth(routing_alone), None, Some(1.1)));
    claim.not_tested = not_tested.map(str::to_owned);
    let first = [("routing", 200.0), ("free", 200.0)];
    let last = [("routing", 200.0 * routing), ("free", 200.0 * free)];
    judge(&line, Some(&swept([&first, &last])))
}

#[test]
fn a_claim_holds_by_all_of_its_checks() {
    let (verdict, why) = grown(6.2, None, [3.6, 1.0]);
    assert_eq!(verdict, Verdict::Holds);
    let [routing, rest] = [
        "3.60 times the cost of routing",
        "free: 1.00 times its cost",
    ];
    assert!(why.starts_with(routing) && why.contains(rest), "{why}");
    let (verdict, why) = grown(6.2, None, [3.6, 2.27]);
    assert_eq!(verdict, Verdict::DoesNotHold, "another stage grows too");
    assert!(why.contains("free: 2.27 times its cost"), "{why}");
    assert_eq!(grown(6.2, None, [47.0, 1.0]).0, Verdict::DoesNotHold);
    assert_eq!(grown(6.2, None, [3.6, 1.1]).0, Verdict::CannotTell);
    assert_eq!(grown(6.2, None, [47.0, 1.1]).0, Verdict::DoesNotHold);
}

#[test]
fn a_part_that_nothing_looks_at_is_told() {
    let (verdict, why) = grown(6.2, Some("the depth"), [3.6, 1.0]);
    assert_eq!(verdict.to_string(), "holds here in part");
    assert!(why.ends_with("; not tested: the depth"), "{why}");
    let (verdict, why) = grown(6.2, Some("the depth"), [47.0, 1.0]);
    assert_eq!(verdict, Verdict::DoesNotHold);
    assert!(why.ends_with("; not tested: the depth"), "{why}");
}

/// Of 64 octets.
fn costing(router: f64, bed: f64) -> FrameCost {
    FrameCost {
        router_ns: around(router, 1.0),
        bed_ns: around(bed, 1.0),
        total_ns: around(router + bed, 2.0),
    }
}

#[test]
fn a_change_that_the_bed_hides_decides_nothing() {
    let mut line = cell(check(Looked::RateChange, Some(-0.2), Some(-0.05)));
    let judged_at = |work, line: &CellLine, change: Difference, router: f64, bed: f64| {
        let base_line = CellLine {
            cell: "6.1.3".to_owned(),
            exit_code: Some(0),
            ..CellLine::default()
        };
        let mut result = forwarded("64", 1_000_000, 10_000, ForwardingLimit::RouterCpu);
        result.overload.cost = Some(costing(router, bed));
        result.overload.max_forwarding_work_ns = Some(150.0);
        let mut base = Run::new("base");
        base.results.push(result);
        let base = MeasuredCell {
            line: &base_line,
            run: Some(&base),
        };
        let mut run = compared(&[change]);
        run.comparisons[0].variants[0].overload_trials = vec![3];
        run.trials.push(TrialLine {
            trial: 3,
            work_ns: Some(work),
            ..TrialLine::default()
        });
        let cell = MeasuredCell {
            line,
            run: Some(&run),
        };
        let judged = Judged::new(&cell, &[base, cell]).expect("a claim");
        (judged.verdict, judged.reason())
    };
    let work = |median| Interval {
        low: 140,
        median,
        high: 300,
    };
    let judged =
        |line: &CellLine, change, router, bed| judged_at(work(160), line, change, router, bed);
    let little = || slower(-0.03, 0.005);
    assert_eq!(
        judged(&line, little(), 250.0, 530.0).0,
        Verdict::DoesNotHold
    );
    let check = line.claim.as_mut().and_then(|claim| claim.check.as_mut());
    check.expect("a check").bed_of = Some("6.1.3".to_owned());
    let (verdict, why) = judged(&line, little(), 250.0, 530.0);
    let words = "-3.0 % frames/s (-3.5 % to -2.5 %), or -8.8 % (-10.2 % to -7.4 %) without the bed's 68 % of a frame's \
                 cost; the claim holds from -20.0 % to -5.0 %; with and without the bed's part the number lies on \
                 different sides of a bound";
    assert_eq!((verdict, why.as_str()), (Verdict::CannotTell, words));
    assert_eq!(judged(&line, little(), 780.0, 20.0).0, Verdict::DoesNotHold);
    let (verdict, why) = judged_at(work(200), &line, little(), 780.0, 20.0);
    let words = "-3.0 % frames/s (-3.5 % to -2.5 %); the claim holds from -20.0 % to -5.0 %; fixed work took the router's CPU \
                 150 to 200 ns, which changes the bed's share too";
    assert_eq!((verdict, why.as_str()), (Verdict::CannotTell, words));
    assert_eq!(
        judged(&line, slower(-0.1, 0.005), 780.0, 530.0).0,
        Verdict::Holds
    );
    // Beyond the other end without the bed, so between both there is a router for which the claim holds.
    let (verdict, why) = judged(&line, slower(-0.04, 0.005), 100.0, 900.0);
    assert_eq!(verdict, Verdict::CannotTell, "{why}");
    let (verdict, why) = judged(&line, slower(0.5, 0.005), 250.0, 530.0);
    assert_eq!(verdict, Verdict::CannotTell);
    assert!(
        why.ends_with("; the change is greater than all of the router's part"),
        "{why}"
    );
    let check = line.claim.as_mut().and_then(|claim| claim.check.as_mut());
    check.expect("a check").bed_of = Some("6.1.4".to_owned());
    let (verdict, why) = judged(&line, little(), 250.0, 530.0);
    assert_eq!(verdict, Verdict::DoesNotHold);
    assert!(
        why.contains(", and cell 6.1.4 does not tell the bed's share;"),
        "{why}"
    );
}

#[test]
fn rates_that_the_bed_makes_alike_decide_nothing() {
    let line = cell(check(Looked::RateEvenness, Some(0.9), None));
    let of = |routers: [f64; 2]| {
        let mut run = Run::new("run");
        for (size, router) in ["64", "1518"].into_iter().zip(routers) {
            let mut result = forwarded(size, 1_000_000, 1_000, ForwardingLimit::RouterCpu);
            result.overload.cost = Some(costing(router, 800.0));
            run.results.push(result);
        }
        judge(&line, Some(&run))
    };
    assert_eq!(of([200.0, 201.0]).0, Verdict::Holds);
    let (verdict, why) = of([200.0, 240.0]);
    assert_eq!(verdict, Verdict::CannotTell);
    let words = "or 83.3 % (82.6 % to 84.1 %) without the bed's 78 % of a frame's cost";
    assert!(why.contains(words), "{why}");
}
