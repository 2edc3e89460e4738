//! Doubts about what the router's own tasks and the machine did besides forwarding frames.

use super::{Doubt, Words};
use crate::rules::STALL_MIN;
use mpps_method::{CpuCrowd, Rules, Span, Trial, Verdict};

/// What the router's own tasks or the machine did that the rate and the busy time do not show.
#[derive(Clone, Debug, PartialEq)]
pub enum HostDoubt {
    /// Tasks of the router's own had a CPU of the bed; they void nothing.
    RouterTasks {
        /// Whose was the longest stretch, where, and how long they had the CPU.
        tasks: CpuCrowd,
        /// Length of that trial.
        trial: Span,
    },
}

impl HostDoubt {
    pub(super) fn words(&self) -> Words {
        match self {
            Self::RouterTasks { tasks, trial } => Words {
                name: "router-tasks",
                seen: format!(
                    "the router's own {} had CPU {} for {} in one stretch, {} in all, in a trial of {trial}",
                    tasks.culprit, tasks.cpu, tasks.longest, tasks.total
                ),
                why: "frames wait while it runs; that is part of what the router does, so no trial is void for it",
                next: "run again without that task: the difference is its cost",
            },
        }
    }
}

/// The doubts that a search's trials raise.
pub(super) fn from_trials(trials: &[(Trial, Verdict)]) -> Vec<Doubt> {
    let doubts = [router_tasks(trials)];
    doubts.into_iter().flatten().map(Doubt::Host).collect()
}

/// The longest stretch of any trial, where it or the sum could have voided a trial as another program's.
fn router_tasks(trials: &[(Trial, Verdict)]) -> Option<HostDoubt> {
    let others_max = Rules::default().others_max;
    let of_trial = |trial: &Trial| {
        let length = trial.duration;
        let share =
            move |tasks: &CpuCrowd| tasks.total.as_nanos() as f64 / length.as_nanos().max(1) as f64;
        let long = move |tasks: &CpuCrowd| tasks.longest > STALL_MIN || share(tasks) > others_max;
        let tasks = trial.dut_tasks.iter().copied().filter(long);
        tasks.map(move |tasks| (tasks, length)).collect::<Vec<_>>()
    };
    let all = trials.iter().flat_map(|(trial, _)| of_trial(trial));
    let (tasks, trial) = all.max_by_key(|(tasks, _)| tasks.longest)?;
    Some(HostDoubt::RouterTasks { tasks, trial })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::TaskName;

    fn named(text: &str) -> TaskName {
        let mut name = TaskName::default();
        for (place, octet) in name.0.iter_mut().zip(text.bytes()) {
            *place = octet;
        }
        name
    }

    #[test]
    fn tasks_of_the_router_are_named_with_their_time() {
        let raised = |longest: u64, total: u64| {
            let tasks = CpuCrowd {
                cpu: 1,
                longest: Span::from_millis(longest),
                total: Span::from_millis(total),
                culprit: named("bird"),
            };
            let trial = Trial {
                duration: Span::from_millis(1_000),
                dut_tasks: vec![CpuCrowd::default(), tasks],
                ..Trial::default()
            };
            from_trials(&[(trial, Verdict::Lossless)])
        };
        assert_eq!(raised(2, 20), [], "as little as another program may have");
        assert_eq!(
            raised(12, 40)[0].seen(),
            "the router's own bird had CPU 1 for 12 ms in one stretch, 40 ms in all, in a trial of 1 s"
        );
        assert_eq!(raised(1, 40).len(), 1);
    }
}
