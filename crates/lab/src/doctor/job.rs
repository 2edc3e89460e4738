//! The jobs, and what each must have and would like.

use super::{Check, State, Subject};

/// A job of this program, by what it needs.
#[derive(Debug)]
pub struct Job {
    /// As typed after `mpps`.
    pub command: &'static str,
    /// Without one of these it cannot run.
    pub must: &'static [&'static [Subject]],
    /// Without these it runs, and says less or is disturbed.
    pub wish: &'static [Subject],
}

mpps_method::named! {
    /// Whether a job can run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum JobState {
        /// Everything it must have is there.
        CanRun = "can run",
        /// Something is not.
        Cannot = "cannot",
        /// Not found out.
        Unknown = "unknown",
    }
}

/// What a job can hope for here.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// The job.
    pub job: &'static Job,
    /// Whether it can run.
    pub state: JobState,
    /// What it needs, and what is missing or not known.
    pub lacks: Vec<Subject>,
    /// What it would like to have and has not.
    pub costs: Vec<Subject>,
}

/// What every measurement on a bed needs.
const BASE: &[Subject] = &[
    Subject::RIGHTS,
    Subject::KERNEL,
    Subject::BTF,
    Subject::KERNEL_THREADS,
    Subject::BED,
    Subject::TRACEPOINTS,
    Subject::STALL_WATCH,
];
/// What the tester's usual ports need too.
const XDP_PORTS: &[Subject] = &[Subject::NATIVE_XDP, Subject::LIVE_FRAMES];
/// Without these a measurement says less, or is disturbed.
const QUIET: &[Subject] = &[
    Subject::PATH,
    Subject::CPUS,
    Subject::SIBLINGS,
    Subject::MEMORY,
    Subject::STEAL,
    Subject::STALLS,
    Subject::OTHERS,
    Subject::LEFTOVERS,
    Subject::REAL_TIME,
    Subject::JIT,
    Subject::BPF_STATISTICS,
    Subject::CLOCK,
    Subject::GOVERNOR,
    Subject::IDLE_STATES,
    Subject::DEBUG_KERNEL,
];

const fn job(
    command: &'static str,
    must: &'static [&'static [Subject]],
    wish: &'static [Subject],
) -> Job {
    Job {
        command,
        must,
        wish,
    }
}

/// Every job, the main one first.
pub static JOBS: [Job; 10] = [
    job("throughput", &[BASE, XDP_PORTS, &[Subject::CPUMAP]], QUIET),
    job(
        "throughput --ipv6",
        &[BASE, XDP_PORTS, &[Subject::CPUMAP, Subject::IPV6]],
        QUIET,
    ),
    job(
        "throughput --nic napi",
        &[BASE, XDP_PORTS, &[Subject::NAPI]],
        QUIET,
    ),
    job(
        "throughput --nic softirq",
        &[BASE, XDP_PORTS, &[Subject::SOFTIRQ]],
        QUIET,
    ),
    job(
        "calibrate",
        &[BASE, XDP_PORTS, &[Subject::PATH, Subject::CPUMAP]],
        QUIET,
    ),
    job("limits --measure", &[], &[Subject::STEAL, Subject::OTHERS]),
    job(
        "throughput --port af-packet",
        &[BASE, &[Subject::PATH, Subject::PACKET_SOCKET]],
        QUIET,
    ),
    job(
        "table load",
        &[&[Subject::RIGHTS]],
        &[Subject::MEMORY, Subject::LEFTOVERS],
    ),
    job(
        "throughput --external OUT,IN",
        &[BASE, &[Subject::PACKET_SOCKET, Subject::NICS]],
        QUIET,
    ),
    job("(building mpps)", &[&[Subject::CLANG]], &[]),
];

impl Job {
    /// What it can hope for, after these checks.
    #[must_use]
    pub fn outlook(&'static self, checks: &[Check]) -> Outlook {
        let state_of = |subject: Subject| {
            let check = checks.iter().find(|check| check.subject == subject);
            check.map_or(State::Unknown, |check| check.state)
        };
        let in_states = |subjects: &[Subject], states: &[State]| -> Vec<Subject> {
            let is_in_one = |subject: &&Subject| states.contains(&state_of(**subject));
            subjects.iter().filter(is_in_one).copied().collect()
        };
        let must = self.must.concat();
        let missing = in_states(&must, &[State::Lacks]);
        let unknown = in_states(&must, &[State::Unknown]);
        let (state, lacks) = match (missing.is_empty(), unknown.is_empty()) {
            (false, _) => (JobState::Cannot, missing),
            (true, false) => (JobState::Unknown, unknown),
            (true, true) => (JobState::CanRun, Vec::new()),
        };
        Outlook {
            job: self,
            state,
            lacks,
            costs: in_states(self.wish, &[State::Costs, State::Lacks]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(with: &[(Subject, State)]) -> Vec<Check> {
        let state = |subject| {
            let found = with.iter().find(|(one, _)| *one == subject);
            found.map_or(State::Good, |(_, state)| *state)
        };
        let all = [BASE, XDP_PORTS, &[Subject::CPUMAP], QUIET].concat();
        all.into_iter()
            .map(|subject| Check::new(subject, Ok((state(subject), String::new()))))
            .collect()
    }

    #[test]
    fn a_job_runs_only_with_all_it_must_have() {
        let main = &JOBS[0];
        let outlook = |with: &[(Subject, State)]| {
            let outlook = main.outlook(&checks(with));
            (outlook.state, outlook.lacks, outlook.costs)
        };
        assert_eq!(outlook(&[]), (JobState::CanRun, vec![], vec![]));
        for must in main.must.concat() {
            assert_eq!(
                outlook(&[(must, State::Lacks)]),
                (JobState::Cannot, vec![must], vec![])
            );
            assert_eq!(
                outlook(&[(must, State::Unknown)]),
                (JobState::Unknown, vec![must], vec![])
            );
        }
        for &wish in QUIET {
            assert_eq!(
                outlook(&[(wish, State::Costs)]),
                (JobState::CanRun, vec![], vec![wish])
            );
        }
        // What is known to be missing says more than what is not known.
        let both = [(Subject::BTF, State::Lacks), (Subject::BED, State::Unknown)];
        assert_eq!(outlook(&both).1, [Subject::BTF]);
        assert_eq!(
            main.outlook(&[]).state,
            JobState::Unknown,
            "nothing was checked"
        );
    }
}
