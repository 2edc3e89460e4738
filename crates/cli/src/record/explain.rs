//! A profile of `mpps explain` as its line has it.

use super::result::doubt;
use super::words;
use mpps_lab::jobs::explain::SizeProfile;
use mpps_lab::observe::Observed;
use mpps_record::{LimitedBy, ProfileLine};

/// The line of a look at these CPUs of a host.
#[must_use]
pub fn watched_line(cpus: &[usize], observed: Observed) -> ProfileLine {
    let (limit, is_limit) = observed.limit;
    let mut line = ProfileLine {
        frame: "traffic of others".to_owned(),
        cpus: cpus.to_vec(),
        limited_by: is_limit.then_some(LimitedBy::Dut),
        limit_text: Some(limit),
        watched: Some(observed.watched),
        ..ProfileLine::default()
    };
    match observed.cost {
        Ok(cost) => {
            line.clock = cost.clock.map(str::to_owned);
            line.loads = vec![cost.load];
            line.stacks = cost.stacks;
        }
        Err(why) => line.why = Some(why),
    }
    line
}

/// The line of a frame size.
#[must_use]
pub fn profile_line(size: &SizeProfile) -> ProfileLine {
    ProfileLine {
        receiver: size.receiver.map(Into::into),
        limited_by: size.limited_by.map(words::limited_by),
        doubts: size.doubts.iter().map(doubt).collect(),
        ..size.line.clone()
    }
}
