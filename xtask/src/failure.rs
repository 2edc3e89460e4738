//! Why the workshop could not do what it was asked: one line that names the remedy.

/// One line for the person at the terminal. Ends the program with exit code 2.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// A failure in one line: operation, object, remedy.
    pub fn new(line: impl Into<String>) -> Failure {
        Failure(line.into())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
