use super::*;

fn goal(resolution: Resolution) -> Goal {
    Goal {
        trial: Span::from_secs_f64(1.0),
        resolution,
        trials_per_load: 1,
        accept: Accept::All,
        maximum: Ceiling::Tester(Rate::from_fps(1_620_000.0)),
        minimum: Rate::from_fps(10_000.0),
    }
}

#[test]
fn steps_are_whole_multiples_inside_the_range() {
    let goal = goal(Resolution::StepFps(50_000.0));
    assert_eq!(goal.highest().fps(), 1_600_000.0);
    assert_eq!(goal.lowest().fps(), 50_000.0);
    let odd = Goal {
        minimum: Rate::from_fps(60_000.0),
        ..goal
    };
    assert_eq!(odd.lowest().fps(), 100_000.0);
    let middle = goal.between(goal.lowest(), goal.highest()).unwrap();
    assert_eq!(middle.fps(), 800_000.0);
    assert_eq!(goal.between(Rate::from_fps(750_000.0), middle), None);
}

#[test]
fn a_fraction_is_of_the_failed_load() {
    let goal = goal(Resolution::Fraction(0.01));
    let at = |low, high| {
        goal.between(Rate::from_fps(low), Rate::from_fps(high))
            .map(Rate::fps)
    };
    assert_eq!(at(100.0, 200.0), Some(150.0));
    assert_eq!(at(990.0, 1000.0), None);
    assert_eq!(at(989.0, 1000.0), Some(994.5));
}

#[test]
fn each_senseless_goal_is_refused() {
    let good = goal(Resolution::Fraction(0.01));
    assert_eq!(good.check(), Ok(()));
    let refused = [
        Goal {
            trials_per_load: 0,
            ..good
        },
        Goal {
            trial: Span::ZERO,
            ..good
        },
        Goal {
            minimum: Rate::from_fps(0.0),
            ..good
        },
        Goal {
            minimum: Rate::from_fps(2e6),
            ..good
        },
        Goal {
            maximum: Ceiling::Link(Rate::from_fps(0.0)),
            minimum: Rate::from_fps(0.0),
            ..good
        },
        Goal {
            resolution: Resolution::Fraction(0.0),
            ..good
        },
        Goal {
            resolution: Resolution::Fraction(1.0),
            ..good
        },
        Goal {
            resolution: Resolution::Fraction(f64::NAN),
            ..good
        },
        Goal {
            resolution: Resolution::StepFps(0.0),
            ..good
        },
        Goal {
            resolution: Resolution::StepFps(2e6),
            ..good
        },
    ];
    for goal in refused {
        let error = goal.check().expect_err("senseless");
        assert!(!error.to_string().is_empty());
    }
}
