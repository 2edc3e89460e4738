//! A profile of `mpps explain` as its line has it.

use crate::plan::Baseline;
use mpps_lab::bed::Bed;
use mpps_lab::observe::Observed;
use mpps_record::{LimitedBy, ProfileLine};

/// The line of a look at these CPUs of a host.
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

/// The line of a frame size, with the set-up that it is explained against and its bed.
pub fn against_line(line: &ProfileLine, plan: &Baseline, bed: &Bed) -> ProfileLine {
    let mut line = line.clone();
    if let Some(against) = &mut line.against {
        against.flags.clone_from(&plan.flags);
        against.set_up = bed.set_up_script();
    }
    line
}
