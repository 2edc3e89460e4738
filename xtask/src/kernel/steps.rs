//! What runs on another kernel, and why it and not all. Only what answers the same however slow the machine is:
//! an emulated one is 20 to 50 times as slow as its host. A load it cannot carry says nothing of its kernel.

/// One file of our tests, started once.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The package whose test it is.
    pub package: &'static str,
    /// The test's file, and the word for it on the command line.
    pub test: &'static str,
    /// Which of its tests; all where none is named.
    pub only: &'static [&'static str],
    /// CPUs of the machine it is for.
    pub cpus: RangeOfCpus,
}

/// First and last count of CPUs.
type RangeOfCpus = (usize, usize);

const ANY: RangeOfCpus = (1, usize::MAX);
const TWO_OR_MORE: RangeOfCpus = (2, usize::MAX);
const THREE_OR_MORE: RangeOfCpus = (3, usize::MAX);
const FOUR_OR_MORE: RangeOfCpus = (4, usize::MAX);
const FIVE_OR_MORE: RangeOfCpus = (5, usize::MAX);

const fn step(
    package: &'static str,
    test: &'static str,
    cpus: RangeOfCpus,
    only: &'static [&'static str],
) -> Step {
    Step {
        package,
        test,
        only,
        cpus,
    }
}

/// Of the trials those whose loads a slow machine can send, and those that end without a rate on any machine.
const SLOW_TRIALS: [&str; 5] = [
    "ledger_closes_from_idle_to_five_times_overload",
    "a_hog_on_the_testers_cpu_never_becomes_a_rate",
    "a_receiver_that_dies_makes_the_trial_invalid",
    "a_vanished_port_is_an_error_not_a_rate",
    "in_lock_step_on_one_cpu_an_overload_is_no_pass",
];

/// Of the packet sockets' trials those of one size at loads a slow machine can send.
const SLOW_PACKETS: [&str; 5] = [
    "a_dut_that_drops_is_lossy_and_a_dead_one_is_named",
    "a_frame_that_nobody_counts_makes_the_trial_invalid",
    "both_ports_send_the_same_frames",
    "ledger_closes_from_idle_to_overload",
    "ports_that_go_down_or_away_are_errors_not_rates",
];

/// Of the profile those that only ask for names: whether samples are complete depends on the machine.
const PROFILES: [&str; 2] = [
    "a_known_call_of_the_kernel_is_named",
    "the_routers_thread_is_seen_to_forward",
];

/// Of the limits those that two CPUs of the router are needed for.
const LIMITS: [&str; 2] = [
    "a_lock_that_two_cpus_wait_for_is_told",
    "a_qdisc_that_two_cpus_send_through_is_told",
];

/// All steps, in their order: each leans on those before it. Not among them: what depends on rates (calibrations
/// but the planted loss of `kernel_interfaces`, loss patterns, searches), and on CPUs that never stand still (stalls).
pub const STEPS: [Step; 26] = [
    step("mpps-ebpf", "programs", ANY, &[]),
    step("mpps-linux", "netns", ANY, &[]),
    step("mpps-linux", "links", ANY, &[]),
    step("mpps-linux", "routes", ANY, &[]),
    step("mpps-linux", "setting", ANY, &[]),
    step("mpps-linux", "tc", ANY, &[]),
    step("mpps-linux", "kthreads", ANY, &[]),
    step("mpps-linux", "moving", ANY, &[]),
    step("mpps-linux", "spawn", ANY, &[]),
    step("mpps-linux", "packet", ANY, &[]),
    step("mpps-lab", "bed", ANY, &[]),
    step("mpps-lab", "probe", ANY, &[]),
    step("mpps-lab", "frames", ANY, &[]),
    step("mpps-lab", "kernel_interfaces", TWO_OR_MORE, &[]),
    step("mpps-lab", "trial", TWO_OR_MORE, &SLOW_TRIALS),
    step("mpps-lab", "packet_port", TWO_OR_MORE, &SLOW_PACKETS),
    step("mpps-lab", "profile", TWO_OR_MORE, &PROFILES),
    step("mpps-lab", "fib", ANY, &[]),
    step("mpps-lab", "fib_host", ANY, &[]),
    step("mpps-lab", "many_cpus", FOUR_OR_MORE, &[]),
    step("mpps-lab", "explain_limits", THREE_OR_MORE, &LIMITS),
    step("mpps-cli", "cores", FIVE_OR_MORE, &[]),
    step("mpps-lab", "tune_machine", ANY, &[]),
    step("mpps-lab", "tune_nics", TWO_OR_MORE, &[]),
    step("mpps-lab", "recover", ANY, &[]),
    step("mpps-lab", "wreckage", ANY, &[]),
];

/// Those for a machine of so many CPUs whose names were asked for; all of them where none was.
pub fn chosen(cpus: usize, names: &[String]) -> Vec<Step> {
    let fits = |step: &&Step| (step.cpus.0..=step.cpus.1).contains(&cpus);
    let asked = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.test);
    STEPS.iter().filter(fits).filter(asked).copied().collect()
}

impl Step {
    /// Its program's path below the guest's root.
    pub fn path(&self) -> String {
        format!("tests/{}", self.package)
    }
}

/// The steps, then the commands, as the guest's shell takes them: a line each.
pub fn lines(steps: &[Step], commands: &[String]) -> Vec<String> {
    let line = |step: &Step| {
        let every = &[""][..];
        let only = if step.only.is_empty() {
            every
        } else {
            step.only
        };
        let only = only.iter().map(|name| format!(" {}::{name}", step.test));
        let only: String = only.collect();
        format!("step {} /{} --show-output{only}\n", step.test, step.path())
    };
    let command = |line: &String| format!("step run sh -c '{}'\n", line.replace('\'', r"'\''"));
    let tests = steps.iter().map(line);
    tests.chain(commands.iter().map(command)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_gets_the_steps_that_are_for_it() {
        let names = |cpus, asked: &[&str]| -> Vec<&str> {
            let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
            chosen(cpus, &asked).iter().map(|step| step.test).collect()
        };
        assert!(names(2, &[]).contains(&"trial"));
        assert!(!names(1, &[]).contains(&"trial"));
        assert_eq!(names(2, &["trial", "bed"]), ["bed", "trial"]);
    }

    #[test]
    fn the_tests_that_a_step_names_are_there() {
        for step in STEPS {
            let package = step.package.trim_start_matches("mpps-");
            let file = format!("crates/{package}/tests/{}.rs", step.test);
            let text = std::fs::read_to_string(crate::root().join(&file)).expect(&file);
            for name in step.only {
                assert!(text.contains(&format!("fn {name}()")), "{file}: {name}");
            }
        }
    }

    #[test]
    fn a_step_is_a_line_of_the_guests_shell() {
        let only = step("lab", "bed", ANY, &["a", "b"]);
        let line = "step bed /tests/lab --show-output bed::a bed::b\n";
        assert_eq!(lines(&[only], &[]), [line]);
        let all = step("lab", "bed", ANY, &[]);
        assert_eq!(
            lines(&[all], &[]),
            ["step bed /tests/lab --show-output bed::\n"]
        );
    }

    #[test]
    fn any_command_is_one_word_of_the_shell() {
        let quoted = lines(&[], &["mpps doctor; echo 'x'".to_owned()]);
        assert_eq!(quoted, ["step run sh -c 'mpps doctor; echo '\\''x'\\'''\n"]);
    }
}
