//! What each kind of router and goal comes to, row by row.

use super::*;

/// One search on a simulated router.
struct Row {
    name: &'static str,
    goal: fn(&mut Goal),
    router: fn(&mut Properties),
    ends: &'static str,
}

/// Golden: what each kind of router and goal comes to. An ideal router of 777 kfps unless changed.
const TABLE: [Row; 16] = [
    Row {
        name: "one percent",
        goal: |_| {},
        router: |_| {},
        ends: "773.9 kfps .. 780.2 kfps by Dut, 9 trials, 0 voided",
    },
    Row {
        name: "the thesis' steps",
        goal: |goal| goal.resolution = Resolution::StepFps(50_000.0),
        router: |_| {},
        ends: "750.0 kfps .. 800.0 kfps by Dut, 6 trials, 0 voided",
    },
    Row {
        name: "the thesis' rule: any of 3",
        goal: |goal| {
            goal.resolution = Resolution::StepFps(50_000.0);
            (goal.trials_per_load, goal.accept) = (3, Accept::Any);
        },
        router: |_| {},
        ends: "750.0 kfps .. 800.0 kfps by Dut, 10 trials, 0 voided",
    },
    Row {
        name: "all of 3",
        goal: |goal| goal.trials_per_load = 3,
        router: |_| {},
        ends: "773.9 kfps .. 780.2 kfps by Dut, 21 trials, 0 voided",
    },
    Row {
        name: "a DUT above the tester's ceiling",
        goal: |_| {},
        router: |router| router.capacity = kfps(2_000.0),
        ends: "1.600 Mfps .. none by Tester, 1 trials, 0 voided",
    },
    Row {
        name: "a DUT that fills the link",
        goal: |goal| goal.maximum = Ceiling::Link(kfps(1_488.095)),
        router: |router| router.capacity = kfps(2_000.0),
        ends: "1.488 Mfps .. none by Link, 1 trials, 0 voided",
    },
    Row {
        name: "a step below the ceiling is the most that is offered",
        goal: |goal| {
            goal.resolution = Resolution::StepFps(50_000.0);
            goal.maximum = Ceiling::Tester(kfps(1_549.0));
        },
        router: |router| router.capacity = kfps(2_000.0),
        ends: "1.500 Mfps .. none by Tester, 1 trials, 0 voided",
    },
    Row {
        name: "a tester weaker than promised",
        goal: |_| {},
        router: |router| {
            router.capacity = kfps(2_000.0);
            router.tester_ceiling = Some(kfps(1_000.0));
        },
        ends: "997.5 kfps .. none by Disturbed, 12 trials, 0 voided",
    },
    Row {
        name: "a tester weaker than promised, a DUT weaker still",
        goal: |_| {},
        router: |router| router.tester_ceiling = Some(kfps(1_000.0)),
        ends: "773.9 kfps .. 780.2 kfps by Dut, 9 trials, 0 voided",
    },
    Row {
        name: "a tester that cannot even offer the minimum",
        goal: |_| {},
        router: |router| router.tester_ceiling = Some(kfps(5.0)),
        ends: "the lowest load, 10.0 kfps, could not be offered: the tester left 5000 of 10000 \
               frames unsent (50.00 %), 32 trials, 0 voided",
    },
    Row {
        name: "a DUT below the minimum",
        goal: |_| {},
        router: |router| router.capacity = kfps(9.0),
        ends: "none down to 10.0 kfps, 16 trials, 0 voided",
    },
    Row {
        name: "a DUT just at the minimum",
        goal: |_| {},
        router: |router| router.capacity = kfps(10.0),
        ends: "10.0 kfps .. 10.1 kfps by Dut, 16 trials, 0 voided",
    },
    Row {
        name: "a ring hides an overload of its size in each trial",
        goal: |goal| goal.resolution = Resolution::Fraction(0.001),
        router: |router| router.ring = 4_096,
        ends: "780.9 kfps .. 781.7 kfps by Dut, 12 trials, 0 voided",
    },
    Row {
        name: "a DUT that loses one frame in a million",
        goal: |_| {},
        router: |router| router.random_loss = 1e-6,
        ends: "699.4 kfps .. 705.6 kfps by Dut, 9 trials, 0 voided",
    },
    Row {
        name: "a machine that stands still in half the trials",
        goal: |_| {},
        router: |router| (router.stall_chance, router.stall) = (0.5, Span::from_millis(600)),
        ends: "773.9 kfps .. 780.2 kfps by Dut, 15 trials, 6 voided",
    },
    Row {
        name: "a machine that stands still in nine of ten trials",
        goal: |_| {},
        router: |router| (router.stall_chance, router.stall) = (0.9, Span::from_millis(600)),
        ends: "773.9 kfps .. 780.2 kfps by Dut, 83 trials, 74 voided",
    },
];

fn written(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Found {
            lossless,
            lossy,
            limited_by,
            trials,
            voided,
        } => {
            let lossy = lossy.map_or("none".to_owned(), |rate| rate.to_string());
            format!("{lossless} .. {lossy} by {limited_by:?}, {trials} trials, {voided} voided")
        }
        Outcome::NoneLossless {
            lowest,
            trials,
            voided,
        } => {
            format!("none down to {lowest}, {trials} trials, {voided} voided")
        }
        Outcome::CouldNotMeasure {
            why,
            trials,
            voided,
        } => format!("{why}, {trials} trials, {voided} voided"),
    }
}

#[test]
fn golden_table() {
    let mut found = Vec::new();
    for row in &TABLE {
        let (mut goal, mut router) = (goal(), Properties::ideal(kfps(777.0)));
        (row.goal)(&mut goal);
        (row.router)(&mut router);
        let mut search = Bisection::new(goal).unwrap();
        let (_, results) = run(
            &mut search,
            &mut Simulated::new(router),
            &Rules::default(),
            1_000,
        )
        .unwrap();
        found.push(format!("{}: {}", row.name, written(&results[0].outcome)));
    }
    let golden: Vec<String> = TABLE
        .iter()
        .map(|row| format!("{}: {}", row.name, row.ends))
        .collect();
    assert_eq!(found, golden, "{found:#?}");
}
