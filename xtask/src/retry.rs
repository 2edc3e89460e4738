//! Tests on a bed judge the machine too: what another guest of the host takes from it can fail one that is right. Those that
//! failed are tried again after all others, alone, and the closing line says so. A test that is wrong fails each time.
use crate::failure::Failure;
use crate::privilege::Privilege;
use crate::programs::Program;
use crate::suite::{self, Failed, Outcome};
use crate::tally::Tally;

/// How often a test that failed is tried again.
const TRIES: u32 = 2;
/// How often it may skip meanwhile: a machine that is too restless for it proves neither that it holds nor that it fails.
const SKIPS: u32 = 3;
/// More failures than this are no passing disturbance: none is tried again.
const DISTURBED_MOST: usize = 12;

/// What came of a test that was tried again.
#[derive(Debug, PartialEq, Eq)]
enum Again {
    /// It ran and held.
    Held,
    /// It failed again.
    Failed,
    /// It skipped three times and never failed: the machine is too restless for it, and may have been before.
    Skipped,
}

/// The tally of tests on beds, after those that failed were tried again.
pub fn failed(
    first: Outcome,
    programs: &[Program],
    able: Option<Privilege>,
) -> Result<Tally, Failure> {
    judged(first, |one| {
        println!(
            "\nxtask: tried again, alone: {} {}",
            programs[one.program].name, one.test
        );
        Ok(suite::run_again(programs, one, able)?.tally)
    })
}

/// The same with whatever runs a test.
fn judged(
    first: Outcome,
    mut run: impl FnMut(&Failed) -> Result<Tally, Failure>,
) -> Result<Tally, Failure> {
    let mut tally = first.tally;
    let failed = first.failed;
    // A program that was killed has no failed test to run.
    if failed.len() as u64 != tally.failed || failed.len() > DISTURBED_MOST {
        return Ok(tally);
    }
    for one in &failed {
        let said = match again(|| run(one))? {
            Again::Held => {
                tally.failed -= 1;
                tally.passed += 1;
                tally.held_later += 1;
                "and held when tried again"
            }
            Again::Failed => "and failed again",
            Again::Skipped => {
                tally.failed -= 1;
                tally.skipped += 1;
                "and could not run again, so it counts as skipped: nothing is known of it"
            }
        };
        println!("xtask: {} failed at first {said}", one.test);
    }
    Ok(tally)
}

/// Runs one test until it holds, has failed twice, or has skipped too often.
fn again(mut run: impl FnMut() -> Result<Tally, Failure>) -> Result<Again, Failure> {
    let (mut failures, mut skips) = (0, 0);
    while failures < TRIES && skips < SKIPS {
        let tally = run()?;
        match (tally.failed, tally.skipped, tally.passed) {
            (0, 0, 1..) => return Ok(Again::Held),
            (0, 1.., _) => skips += 1,
            // One that is not found any more holds nothing.
            _ => failures += 1,
        }
    }
    Ok(match failures {
        0 => Again::Skipped,
        _ => Again::Failed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: Tally = counted(1, 0, 0);
    const FAILED: Tally = counted(0, 1, 0);
    const SKIPPED: Tally = counted(0, 0, 1);

    const fn counted(passed: u64, failed: u64, skipped: u64) -> Tally {
        Tally {
            passed,
            failed,
            skipped,
            held_later: 0,
        }
    }

    /// Of 20 tests those of these names failed at first.
    fn first(names: &[&str]) -> Outcome {
        let failed = names.iter().map(|name| Failed {
            program: 0,
            test: (*name).to_owned(),
        });
        Outcome {
            tally: counted(20 - names.len() as u64, names.len() as u64, 0),
            failed: failed.collect(),
            took: Vec::new(),
        }
    }

    /// A machine on which each of these tests ends so when tried again; the tally, and what was run again.
    fn machine(tests: &[(&str, &[Tally])]) -> (Tally, Vec<String>) {
        let names: Vec<&str> = tests.iter().map(|(name, _)| *name).collect();
        let mut runs = Vec::new();
        let tally = judged(first(&names), |one| {
            let ends = tests.iter().find(|(name, _)| *name == one.test);
            let earlier = runs.iter().filter(|name| **name == one.test).count();
            runs.push(one.test.clone());
            Ok(ends.expect("one of them").1[earlier])
        });
        (tally.expect("a tally"), runs)
    }

    #[test]
    fn a_disturbed_test_is_tried_again_and_that_is_said() {
        let (tally, runs) = machine(&[("a", &[HELD]), ("b", &[FAILED, FAILED])]);
        assert_eq!((tally.passed, tally.failed, tally.held_later), (19, 1, 1));
        assert_eq!(runs, ["a", "b", "b"]);
        assert_eq!(
            tally.to_string(),
            "19 passed, 1 failed, 0 skipped, 1 only when tried again"
        );
        let (tally, runs) = machine(&[]);
        assert_eq!((tally.failed, tally.held_later, runs.len()), (0, 0, 0));
        let (tally, _) = machine(&[("a", &[FAILED, HELD])]);
        assert_eq!((tally.failed, tally.held_later), (0, 1));
    }

    #[test]
    fn a_test_that_then_skips_has_not_held() {
        let (tally, runs) = machine(&[("a", &[SKIPPED; 3])]);
        assert_eq!((tally.passed, tally.failed, tally.skipped), (19, 0, 1));
        assert_eq!(tally.held_later, 0);
        assert_eq!(runs.len(), 3);
        // A skip is no try: what comes after it counts.
        let (tally, _) = machine(&[("a", &[SKIPPED, SKIPPED, HELD])]);
        assert_eq!((tally.failed, tally.held_later), (0, 1));
        let (tally, _) = machine(&[("a", &[SKIPPED, FAILED, FAILED])]);
        assert_eq!((tally.failed, tally.held_later), (1, 0));
        let (tally, _) = machine(&[("a", &[FAILED, SKIPPED, SKIPPED, SKIPPED])]);
        assert_eq!((tally.failed, tally.held_later), (1, 0));
    }

    #[test]
    fn a_test_that_is_gone_has_not_held() {
        let (tally, _) = machine(&[("a", &[Tally::default(); 2])]);
        assert_eq!((tally.failed, tally.held_later), (1, 0));
    }

    #[test]
    fn many_failures_are_no_disturbance() {
        let (tally, runs) = machine(&[("x", &[HELD; 13] as &[Tally]); 13]);
        assert_eq!((tally.failed, runs.len()), (13, 0));
    }

    #[test]
    fn a_killed_program_is_not_tried_again() {
        let killed = Outcome {
            tally: counted(19, 1, 0),
            ..Outcome::default()
        };
        let tally = judged(killed, |_| Ok(HELD)).expect("a tally");
        assert_eq!((tally.failed, tally.held_later), (1, 0));
    }
}
