use super::*;
use mpps_record::{Interval, PartCost, ProfiledLoad};

fn point(octets: f64, ns: f64) -> SweepPoint {
    let exact = |median| Interval {
        low: median,
        median,
        high: median,
    };
    let part = |part: &str, ns| PartCost {
        part: part.to_owned(),
        ns: exact(ns),
        ..PartCost::default()
    };
    SweepPoint {
        value: octets,
        frame: octets.to_string(),
        limited_by: Some(LimitedBy::Dut),
        load: ProfiledLoad {
            frame_ns: exact(ns),
            stages: vec![part("RX", ns - 100.0), part("routing", 100.0)],
            ..ProfiledLoad::default()
        },
        ..SweepPoint::default()
    }
}

fn swept(costs: &[(f64, f64)]) -> SweepLine {
    let points: Vec<_> = costs.iter().map(|&(at, ns)| point(at, ns)).collect();
    let mut swept = SweepLine {
        drift_ratio: drift(&points),
        points,
        ..SweepLine::default()
    };
    fit(Axis::Frame, &mut swept);
    swept
}

#[test]
fn held_out_points_are_predicted_and_drift_is_seen() {
    let costs = [
        (1024.0, 612.0),
        (64.0, 516.0),
        (1518.0, 660.0),
        (512.0, 561.0),
        (1024.0, 605.0),
    ];
    let line = swept(&costs);
    assert!((line.drift_ratio.expect("a drift") - (605.0 / 612.0 - 1.0)).abs() < 1e-9);
    let held: Vec<f64> = line
        .points
        .iter()
        .filter(|at| at.held_out)
        .map(|at| at.value)
        .collect();
    assert_eq!(held, [512.0]);
    let fitted = line.fit.expect("a fit");
    // The first, measured twice, is two of them.
    assert_eq!((fitted.points, fitted.stages.len()), (4, 2));
    assert!(
        (fitted.stages[1].constant_ns - 100.0).abs() < 1e-9
            && fitted.stages[1].slope_ns.abs() < 1e-9
    );
    assert!(
        fitted.held_out_error_ratio.expect("held out") < 0.01,
        "{fitted:?}"
    );
    assert!(line.distrust.is_empty(), "{:?}", line.distrust);
}

#[test]
fn drift_widens_the_fit_and_is_told() {
    let ends = [
        (64.0, 500.0),
        (512.0, 600.0),
        (1024.0, 700.0),
        (1518.0, 800.0),
    ];
    let again = |ns| swept(&[&ends[..], &[(64.0, ns)]].concat());
    let (steady, drifted) = (again(501.0), again(570.0));
    assert!(steady.distrust.is_empty(), "{:?}", steady.distrust);
    assert!(
        drifted
            .distrust
            .iter()
            .any(|told| told.contains("drifted by more than 10 %")),
        "{:?}",
        drifted.distrust
    );
    let off = |line: &SweepLine| line.fit.as_ref().expect("a fit").off_ns;
    assert!(off(&drifted) > 3.0 * off(&steady));
}

#[test]
fn a_sweep_that_cannot_be_fitted_says_why() {
    let line = swept(&[(64.0, 500.0), (512.0, 510.0)]);
    assert!(line.no_fit.expect("a reason").contains("needs 3"));
    let empty = swept(&[]);
    assert!(empty.fit.is_none() && empty.no_fit.is_some());
}

#[test]
fn a_function_has_its_own_time_over_all_stacks() {
    let stack = |frames: &str, ns| FoldedStack {
        frames: frames.to_owned(),
        stages: Vec::new(),
        ns,
    };
    let found = functions(&[
        stack("a;b", 2.0),
        stack("c;b", 3.0),
        stack("a", 4.0),
        stack("d", 0.1),
    ]);
    let found: Vec<(&str, f64)> = found
        .iter()
        .map(|at| (at.function.as_str(), at.ns))
        .collect();
    assert_eq!(found, [("b", 5.0), ("a", 4.0)]);
}

fn in_state(octets: f64, ns: f64, distance_ns: f64) -> SweepPoint {
    let mut point = point(octets, ns);
    point.load.cpu_distance_ns = Some(distance_ns);
    point.load.work_ns = Some(200.0);
    point
}

#[test]
fn published_scenarios_differ_in_their_frames() {
    // One flow in each: four places, of which one met another state.
    let distances = [60.0, 61.0, 300.0, 62.0];
    let sizes = [64, 512, 1024, 1500].into_iter().zip(distances);
    let (mut steps, mut points) = (Vec::new(), Vec::new());
    for (octets, distance_ns) in sizes {
        let frames = FrameSpec::parse_list(&octets.to_string()).expect("a size");
        steps.push(Step::new(Axis::Routes, 1, &frames[0]).expect("a step"));
        let mut point = in_state(f64::from(octets), 600.0, distance_ns);
        point.value = 1.0;
        points.push(point);
    }
    points.push(points[0].clone());
    mark_other_states(&mut points);
    let lacks: Vec<String> = (lacking(&steps, &points).iter())
        .map(|(_, step)| step.frames.to_string())
        .collect();
    assert_eq!(lacks, ["1024"]);
    assert_eq!(lacking_places(&points), 1);
}

#[test]
fn points_of_another_state_do_not_count() {
    let mut points = vec![
        in_state(1024.0, 612.0, 62.0),
        in_state(64.0, 516.0, 60.0),
        in_state(1518.0, 990.0, 310.0),
        in_state(512.0, 561.0, 64.0),
        in_state(1024.0, 900.0, 305.0),
    ];
    let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
    let steps =
        [64, 512, 1024, 1518].map(|at| Step::new(Axis::Frame, at, &frames).expect("a step"));
    let places = |points: &[SweepPoint]| -> Vec<f64> {
        let lacking = lacking(&steps, points).into_iter();
        lacking.map(|(_, step)| step.value).collect()
    };
    mark_other_states(&mut points);
    let others = points.iter().filter(|point| point.other_state);
    assert_eq!(
        others
            .map(|point| point.load.frame_ns.median)
            .collect::<Vec<_>>(),
        [990.0, 900.0]
    );
    // The first point needs two for the drift.
    assert_eq!(places(&points), [1024.0, 1518.0]);
    assert_eq!((drift(&points), lacking_places(&points)), (None, 1));
    points.push(in_state(1024.0, 606.0, 61.0));
    points.push(in_state(1518.0, 660.0, 59.0));
    mark_other_states(&mut points);
    assert_eq!(places(&points), [0.0; 0]);
    assert!((drift(&points).expect("a drift") - (606.0 / 612.0 - 1.0)).abs() < 1e-9);
    let mut line = SweepLine {
        drift_ratio: drift(&points),
        points,
        ..SweepLine::default()
    };
    fit(Axis::Frame, &mut line);
    let fitted = line.fit.expect("a fit");
    assert_eq!(fitted.points, 4);
    assert!(
        fitted.held_out_error_ratio.expect("held out") < 0.01,
        "{fitted:?}"
    );
    assert!(line.distrust.is_empty(), "{:?}", line.distrust);
}
