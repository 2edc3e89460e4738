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
    /// Of those that passed: failed at first, held when tried again.
    pub held_later: u64,
}

impl Tally {
    /// Adds another's counts.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.held_later += other.held_later;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )?;
        if self.held_later > 0 {
            write!(f, ", {} only when tried again", self.held_later)?;
        }
        Ok(())
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
    /// Names below the last "failures:": after the output of tests that failed comes the list of them.
    listed: Vec<String>,
    failed: Vec<String>,
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
            "failures:" => {
                self.in_successes = false;
                self.listed.clear();
            }
            _ => self.listed.extend(name_listed(line).map(str::to_owned)),
        }
        let passed = line.starts_with("test ") && line.trim_end().ends_with(" ... ok");
        !self.in_successes && !passed && !line.trim().is_empty()
    }

    fn close(&mut self, result: &str) {
        let passed = number_before(result, " passed");
        let skips = self.skips.min(passed);
        self.tally.add(Tally {
            passed: passed - skips,
            failed: number_before(result, " failed"),
            skipped: skips + number_before(result, " ignored"),
            held_later: 0,
        });
        self.skips = 0;
        self.in_successes = false;
        let listed = std::mem::take(&mut self.listed);
        if number_before(result, " failed") > 0 {
            self.failed.extend(listed);
        }
    }

    /// What was counted up to here.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Names of the tests that failed.
    pub fn failed(self) -> Vec<String> {
        self.failed
    }
}

/// A line of the list of failed tests: four spaces and a path of Rust's.
fn name_listed(line: &str) -> Option<&str> {
    let name = line.strip_prefix("    ")?.trim_end();
    let of_a_path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    (!name.is_empty() && name.chars().all(of_a_path)).then_some(name)
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
                skipped: 2,
                held_later: 0
            }
        );
        assert_eq!(reader.tally().to_string(), "13 passed, 1 failed, 2 skipped");
        assert_eq!(reader.failed(), ["bed::two"]);
    }

    #[test]
    fn passed_tests_are_hidden_and_reasons_are_shown() {
        let mut reader = Reader::default();
        let shown: Vec<&str> = OUTPUT.lines().filter(|line| reader.take(line)).collect();
        assert!(shown.contains(&"SKIP: bed::xdp: no XDP in this kernel"));
        assert!(shown.contains(&"why it failed"));
        assert!(!shown.contains(&"test bed::raises ... ok"));
        assert!(!shown.contains(&"chatter of a test that passed"));
    }
}
