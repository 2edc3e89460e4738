//! What runs on another kernel, and why it and not all. Only what answers the same however slow the machine is:
//! an emulated one is 20 to 50 times as slow as its host. A load it cannot carry says nothing of its kernel.

use crate::suite::{BESIDE, COUNTED};

/// One file of our tests, started once.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The folder of its crate.
    pub folder: &'static str,
    /// The test's file, and the word for it on the command line.
    pub test: &'static str,
    /// Fewest CPUs of the machine it is for.
    cpus: usize,
}

/// Crates whose tests meet a kernel. Each leans on those before it.
const FOLDERS: [&str; 3] = ["ebpf", "linux", "lab"];

/// Files of these crates that hold on any machine, by the fewest CPUs that they are for.
const LISTS: [(usize, &[(&str, &str)]); 2] = [(1, BESIDE), (2, COUNTED)];

/// More files, whose tests skip what an emulated machine is too slow for.
const MORE: [(&str, usize, &str); 5] = [
    ("lab", 1, "tune_machine"),
    ("lab", 2, "no_hook profile tune_nics"),
    ("lab", 3, "explain_limits"),
    ("lab", 4, "many_cpus"),
    ("cli", 5, "cores"),
];

/// Where not the whole file says something of a kernel: which of its tests do. Whether samples are complete depends on the
/// machine.
const ONLY: [(&str, &[&str]); 1] = [(
    "profile",
    &[
        "a_known_call_of_the_kernel_is_named",
        "the_routers_thread_is_seen_to_forward",
    ],
)];

/// Every step of every machine. Not among them: what depends on rates (calibrations but the planted loss of
/// `kernel_interfaces`, loss patterns, searches), and on CPUs that never stand still (stalls).
pub fn all() -> impl Iterator<Item = Step> {
    let listed = FOLDERS.iter().flat_map(|folder| {
        let of_list = move |(cpus, list): (usize, &'static [(&'static str, &'static str)])| {
            let own = list.iter().filter(move |(of, _)| of == folder);
            own.map(move |&(folder, files)| (folder, cpus, files))
        };
        LISTS.into_iter().flat_map(of_list)
    });
    let each = |(folder, cpus, files): (&'static str, usize, &'static str)| {
        let step = move |test| Step { folder, test, cpus };
        files.split(' ').map(step)
    };
    listed.chain(MORE).flat_map(each)
}

/// Those for a machine of so many CPUs whose names were asked for; all of them where none was.
pub fn chosen(cpus: usize, names: &[String]) -> Vec<Step> {
    let asked = |step: &Step| names.is_empty() || names.iter().any(|name| name == step.test);
    all()
        .filter(|step| step.cpus <= cpus && asked(step))
        .collect()
}

impl Step {
    /// Which of its tests; all where none is named.
    fn only(&self) -> &'static [&'static str] {
        let of = ONLY.iter().find(|(test, _)| *test == self.test);
        of.map_or(&[""], |(_, only)| only)
    }

    /// Its program's path below the guest's root.
    pub fn path(&self) -> String {
        format!("tests/{}", self.folder)
    }
}

/// The steps, then the commands, as the guest's shell takes them: a line each.
pub fn lines(steps: &[Step], commands: &[String]) -> Vec<String> {
    let line = |step: &Step| {
        let only = step
            .only()
            .iter()
            .map(|name| format!(" {}::{name}", step.test));
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

    /// A test is chosen by a part of its name.
    #[test]
    fn the_tests_that_a_step_names_are_its_own() {
        for step in all() {
            let file = format!("crates/{}/tests/{}.rs", step.folder, step.test);
            let text = std::fs::read_to_string(crate::root().join(&file)).expect(&file);
            for name in step.only() {
                assert!(text.contains(&format!("fn {name}")), "{file}: {name}");
            }
            let others = all().filter(|other| other.test != step.test);
            let taken: Vec<_> = others
                .filter(|other| other.test.ends_with(step.test))
                .collect();
            assert!(taken.is_empty(), "{file}: {taken:?}");
        }
    }

    #[test]
    fn a_step_is_a_line_of_the_guests_shell() {
        let line = |test| lines(&chosen(2, &[String::from(test)]), &[]).concat();
        assert_eq!(line("bed"), "step bed /tests/lab --show-output bed::\n");
        let some = line("profile");
        assert!(
            some.contains(" profile::a_known_call_of_the_kernel_is_named "),
            "{some}"
        );
    }

    #[test]
    fn any_command_is_one_word_of_the_shell() {
        let quoted = lines(&[], &["mpps doctor; echo 'x'".to_owned()]);
        assert_eq!(quoted, ["step run sh -c 'mpps doctor; echo '\\''x'\\'''\n"]);
    }
}
