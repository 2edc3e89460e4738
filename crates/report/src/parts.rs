//! A run of `mpps rfc2544` taken apart. Each part is shown like a run of its own verb.

use crate::answers;
use mpps_record::{Run, TrialLine};
use std::borrow::Cow;

/// A part of a run, or all of a run of another job.
pub struct Part<'a> {
    /// Its heading; a run of another job has none.
    pub heading: Option<String>,
    /// Its lines. A part's own run has no trials, because a copy of 100 000 takes memory.
    pub run: Cow<'a, Run>,
    /// Its trials.
    pub trials: Vec<&'a TrialLine>,
}

/// Each part that has a line, with its heading. A run of another job is one part without a heading.
#[must_use]
pub fn parts(run: &Run) -> Vec<Part<'_>> {
    let planned = run.begin.as_ref().map(|begin| &begin.plan.parts);
    let Some(planned) = planned.filter(|parts| !parts.is_empty()) else {
        return vec![Part {
            heading: None,
            run: Cow::Borrowed(run),
            trials: run.trials.iter().collect(),
        }];
    };
    let parts = planned.iter().map(|planned| {
        let (verb, section) = (&planned.verb, &planned.section);
        Part {
            heading: Some(format!("mpps {verb} (RFC 2544 section {section})")),
            run: Cow::Owned(lines(run, verb)),
            trials: trials(run, verb),
        }
    });
    let told = parts.filter(|part| answers::is_answered(&part.run));
    told.collect()
}

/// The trials of one verb. Those at overload and of a search belong to the throughput.
fn trials<'a>(run: &'a Run, verb: &str) -> Vec<&'a TrialLine> {
    let phases: &[&str] = match verb {
        "throughput" => &["wire", "overload", "gate", "search"],
        "back-to-back" => &["burst"],
        verb => &[verb],
    };
    let is_own = |trial: &&TrialLine| phases.contains(&trial.phase.as_str());
    run.trials.iter().filter(is_own).collect()
}

/// The lines of one verb.
fn lines(run: &Run, verb: &str) -> Run {
    let mut part = Run {
        begin: run.begin.clone(),
        ..Run::new(&run.name)
    };
    let answers = run.answers().into_iter();
    let own = answers.filter(|lines| lines.job() == verb);
    own.for_each(|lines| lines.add_to(&mut part));
    part
}
