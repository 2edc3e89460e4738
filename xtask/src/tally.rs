//! Reads what `cargo test -- --show-output` prints: counts passed, failed and skipped, and decides which lines a person
//! wants to see. A test that cannot run here prints a line `SKIP: reason`; the test harness itself would count it passed.

/// Counts of tests and checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Ran and held.
    pub passed: u64,
    /// Ran and did not hold.
    pub failed: u64,
    /// Did not run; a `SKIP:` line says why.
    pub skipped: u64,
}

impl Tally {
    /// Adds another's counts.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// Takes the output line by line.
#[derive(Debug, Default)]
pub struct Reader {
    tally: Tally,
    /// `SKIP:` lines since the last result line: they belong to the test binary whose result follows.
    skips: u64,
    /// Inside "successes:", the captured output of tests that passed, of which only `SKIP:` lines are shown.
    in_successes: bool,
}

impl Reader {
    /// Takes one line; true when it is worth showing.
    pub fn take(&mut self, line: &str) -> bool {
        if line.trim_start().starts_with("SKIP:") {
            self.skips += 1;
            return true;
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            self.close(result);
            return true;
        }
        match line.trim_end() {
            "successes:" => self.in_successes = true,
            "failures:" => self.in_successes = false,
            _ => {}
        }
        !self.in_successes && !line.trim().is_empty()
    }

    fn close(&mut self, result: &str) {
        let passed = number_before(result, " passed");
        let skips = self.skips.min(passed);
        self.tally.add(Tally {
            passed: passed - skips,
            failed: number_before(result, " failed"),
            skipped: skips + number_before(result, " ignored"),
        });
        self.skips = 0;
        self.in_successes = false;
    }

    /// What was counted up to here.
    pub fn tally(&self) -> Tally {
        self.tally
    }
}

/// The number that stands right before `word` in "ok. 5 passed; 0 failed; ...".
fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().unwrap_or_default();
    let digits = before
        .rsplit(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 3 tests
test bed::raises ... ok
test bed::two ... FAILED
test bed::xdp ... ok

successes:

---- bed::xdp stdout ----
chatter of a test that passed
SKIP: bed::xdp: no XDP in this kernel


successes:
    bed::raises
    bed::xdp

failures:

---- bed::two stdout ----
why it failed

failures:
    bed::two

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn a_skipped_test_is_not_a_passed_one() {
        let mut reader = Reader::default();
        for line in OUTPUT.lines() {
            reader.take(line);
        }
        assert_eq!(
            reader.tally(),
            Tally {
                passed: 13,
                failed: 1,
                skipped: 2
            }
        );
        assert_eq!(reader.tally().to_string(), "13 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn the_chatter_of_passed_tests_is_hidden_and_reasons_are_shown() {
        let mut reader = Reader::default();
        let shown: Vec<&str> = OUTPUT.lines().filter(|line| reader.take(line)).collect();
        assert!(shown.contains(&"SKIP: bed::xdp: no XDP in this kernel"));
        assert!(shown.contains(&"why it failed"));
        assert!(!shown.contains(&"chatter of a test that passed"));
    }
}
