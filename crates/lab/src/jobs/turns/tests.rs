use super::*;
use mpps_method::compare::Finding;
use mpps_method::saturation::Window;

#[test]
fn comparisons_of_a_run_are_told_together() {
    let rule = Rule {
        measure: ToldBy::Rate,
        within: 0.02,
        alike: 0.01,
    };
    let turn = |forwarded| Turn {
        overload: Block {
            sent: Rate::from_fps(3e6),
            windows: vec![
                Window {
                    duration: Span::from_millis(10),
                    forwarded,
                    ..Window::default()
                };
                20
            ],
            ..Block::default()
        },
        ..Turn::default()
    };
    // With two others each may be wrong half as often, which 8 pairs cannot show.
    for (variants, wanted) in [(2, 8), (3, 12), (8, 12)] {
        let mut all: Vec<_> = comparisons(rule, variants).collect();
        assert!(all[0].is_none() && all.len() == variants);
        let last = all.pop().flatten();
        let mut last = last.expect("a comparison");
        let mut pairs = 0;
        while pairs < 20 && !last.look() {
            last.add(&turn(10_000), &turn(8_000));
            pairs += 1;
        }
        assert_eq!(pairs, wanted, "{variants} variants");
    }
}

/// Forwards this rate of what it is offered.
struct Router {
    progress: Progress,
    fps: f64,
    /// In the first trials it forwards this share of it.
    first: f64,
}

impl Router {
    fn new(name: &str, fps: f64) -> Self {
        let progress = Progress::new(name);
        let first = 1.0;
        Self {
            progress,
            fps,
            first,
        }
    }

    fn block(sent: Rate, fps: f64) -> Block {
        let window = Window {
            duration: Span::from_millis(10),
            forwarded: (sent.fps().min(fps) / 100.0) as u64,
            ..Window::default()
        };
        Block {
            sent,
            windows: vec![window; 20],
            ..Block::default()
        }
    }
}

/// With the names of those that had turns.
impl TakesTurns<String> for Router {
    type Error = String;
    const FIRST_TRIALS: (u32, u32) = (2, 3);

    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn first(&mut self, load: Option<Rate>, _: &mut String) -> Result<First, String> {
        let load = load.unwrap_or(Rate::from_fps(3e6));
        Ok(First {
            block: Self::block(load, self.first * self.fps),
            whole_fps: self.fps,
            lost_nothing: self.fps >= load.fps(),
        })
    }

    fn turn(&mut self, fixed: Rate, names: &mut String) -> Result<(Turn, [u32; 2]), String> {
        names.push_str(&self.progress.name);
        if names.len() == 30 {
            return Err(names.clone());
        }
        let overload = Self::block(self.progress.forwards.overload(), self.fps);
        let fixed = Self::block(fixed, self.fps);
        Ok((Turn { overload, fixed }, [names.len() as u32; 2]))
    }
}

fn found(
    routers: &[(&str, f64)],
    whole_rounds: bool,
) -> (Vec<Measured>, String, Result<Rate, String>) {
    let mut all: Vec<Router> = routers
        .iter()
        .map(|(n, fps)| Router::new(n, *fps))
        .collect();
    let mut names = String::new();
    let measure = find_rates(&mut all, &mut names).expect("rates");
    let rule = Rule {
        measure,
        within: 0.02,
        alike: 0.01,
    };
    let (fixed, ended) = compare(&mut all, rule, (Deadline::NEVER, whole_rounds), &mut names);
    let measured = all.into_iter().map(|one| one.progress.end());
    (measured.collect(), names, ended.map(|()| fixed))
}

#[test]
fn turns_are_a_b_b_a_until_a_finding() {
    let (measured, names, ended) = found(&[("a", 1e6), ("b", 0.8e6)], false);
    assert_eq!(names, "abbabaababbabaab", "a pair a round, 8 of them");
    assert_eq!(ended, Ok(Rate::from_fps(0.8e6 * FIXED_SHARE)));
    let compared = measured[1].compared.expect("a comparison");
    assert_eq!(compared.finding, Finding::Different);
    let rate = compared.rate.expect("an interval").middle;
    assert!(
        (rate + 0.2).abs() < 0.001 && measured[0].compared.is_none(),
        "{rate}"
    );
    // Their numbers are those of their own turns.
    assert_eq!(measured[0].trials[..2], [[1; 2], [4; 2]]);
    assert_eq!(measured[1].trials[..2], [[2; 2], [3; 2]]);
}

#[test]
fn whole_rounds_go_on_after_a_finding() {
    let (measured, names, ended) = found(&[("a", 1e6), ("b", 0.8e6)], true);
    assert_eq!(names.len(), 30, "until a turn fails");
    assert_eq!(ended, Err(names));
    let turns = [0, 1].map(|at: usize| measured[at].turns.len());
    assert_eq!(turns, [14, 15]);
    // The finding is that of the eight pairs that told it.
    assert_eq!(measured[1].compared.expect("a comparison").pairs.counted, 8);
}

#[test]
fn a_turn_that_fails_keeps_those_before_it() {
    let (measured, names, ended) = found(&[("a", 1e6), ("b", 1e6), ("c", 0.99e6)], false);
    assert_eq!(ended, Err(names.clone()));
    let turns: usize = measured.iter().map(|one| one.turns.len()).sum();
    assert_eq!(turns, 29, "{names}");
    // Those about as fast as the first one get its load.
    assert!(
        measured
            .iter()
            .all(|one| one.overload == measured[0].overload)
    );
}

#[test]
fn what_a_turn_forwards_raises_the_load() {
    let slow = |name, fps| Router {
        first: 0.8,
        ..Router::new(name, fps)
    };
    let rule = Rule {
        measure: ToldBy::Rate,
        within: 0.02,
        alike: 0.01,
    };
    let (mut all, mut names) = ([slow("a", 1e6), slow("b", 0.99e6)], String::new());
    find_rates(&mut all, &mut names).expect("rates");
    let most = |all: &[Router; 2]| all.each_ref().map(|one| one.progress.forwards.most);
    assert_eq!(most(&all), [0.8e6; 2], "one load overloads both");
    let (_, ended) = compare(&mut all, rule, (Deadline::NEVER, false), &mut names);
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(most(&all), [1e6; 2]);
}

#[test]
fn no_round_begins_after_the_deadline() {
    let spent = Deadline::after(Some(Span::ZERO)).earlier(Span::from_millis(1));
    let mut all = [Router::new("a", 1e6), Router::new("b", 1e6)];
    let rule = Rule {
        measure: ToldBy::Rate,
        within: 0.02,
        alike: 0.01,
    };
    let mut names = String::new();
    let (_, ended) = compare(&mut all, rule, (spent, false), &mut names);
    assert!(ended.is_ok() && names.is_empty(), "{names}");
}
