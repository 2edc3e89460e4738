//! A run of `mpps rfc2544` taken apart. Each part becomes a run of its own verb, so that it is shown like one.

use crate::answers;
use mpps_record::{Run, TrialLine};
use std::borrow::Cow;

/// Each part that has a line, with its heading. A run of another job is one part without a heading.
#[must_use]
pub fn parts(run: &Run) -> Vec<(Option<String>, Cow<'_, Run>)> {
    let planned = run.begin.as_ref().map(|begin| &begin.plan.parts);
    let Some(planned) = planned.filter(|parts| !parts.is_empty()) else {
        return vec![(None, Cow::Borrowed(run))];
    };
    let parts = planned.iter().map(|planned| {
        let (verb, section) = (&planned.verb, &planned.section);
        let heading = format!("mpps {verb} (RFC 2544 section {section})");
        (Some(heading), part(run, verb))
    });
    let told = parts.filter(|(_, part)| answers::is_answered(part));
    told.map(|(heading, part)| (heading, Cow::Owned(part)))
        .collect()
}

/// The lines and trials of one verb. Trials at overload and of a search belong to the throughput.
fn part(run: &Run, verb: &str) -> Run {
    let phases: &[&str] = match verb {
        "throughput" => &["wire", "overload", "gate", "search"],
        "back-to-back" => &["burst"],
        verb => &[verb],
    };
    let is_own = |trial: &&TrialLine| phases.contains(&trial.phase.as_str());
    let mut part = Run {
        begin: run.begin.clone(),
        trials: run.trials.iter().filter(is_own).cloned().collect(),
        ..Run::new(&run.name)
    };
    let answers = run.answers().into_iter();
    let own = answers.filter(|lines| lines.job() == verb);
    own.for_each(|lines| lines.add_to(&mut part));
    part
}
