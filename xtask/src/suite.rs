//! The test programs in their groups, and how each group is run: those that are indifferent to disturbances side by side,
//! those that measure one at a time, because two that measure at once void each other's trials.
use crate::failure::Failure;
use crate::privilege::Privilege;
use crate::programs::Program;
use crate::tally::{Reader, Tally};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Instant;

/// Tests without bed and without rights. Every crate's unit tests are among them.
const FREE: [&str; 28] = [
    "cli/bad_input",
    "cli/campaign_plans",
    "cli/compare_series",
    "cli/generate",
    "cli/help",
    "cli/profiles",
    "cli/records",
    "cli/report",
    "cli/show",
    "cli/simulate",
    "cli/table",
    "cli/tune",
    "cli/without_lab",
    "record/bench_runs",
    "record/compared",
    "record/damaged",
    "record/golden",
    "record/jobs",
    "record/loading",
    "record/schema",
    "report/browser",
    "report/formats",
    "report/page",
    "report/tree",
    "report/values",
    "tables/mutated",
    "tables/real_files",
    "method/mlrsearch",
];

/// Tests on beds or namespaces of their own that send nothing: set-up, recovery, routes, refusals.
const BESIDE: [&str; 21] = [
    "cli/fib",
    "cli/top",
    "cli/tune_apply",
    "ebpf/programs",
    "lab/bed",
    "lab/fib",
    "lab/fib_host",
    "lab/fib_iproute2",
    "lab/frames",
    "lab/recover",
    "lab/set_up",
    "lab/tune_apply",
    "lab/wreckage",
    "linux/interrupt",
    "linux/links",
    "linux/moving",
    "linux/netns",
    "linux/packet",
    "linux/routes",
    "linux/spawn",
    "linux/tc",
];

/// Tests of trials that hold whatever disturbs the machine: every frame is accounted for, and what is left of a run.
const COUNTED: [&str; 12] = [
    "cli/campaign",
    "cli/doctor",
    "cli/safety",
    "cli/trial",
    "lab/destinations",
    "lab/device_counts",
    "lab/exit",
    "lab/external",
    "lab/kernel_interfaces",
    "lab/killed_trial",
    "lab/packet_port",
    "lab/probe",
];

/// How a program's tests may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// As whoever asks, tests of a program side by side.
    Free,
    /// As root, one test at a time in each program.
    Beside,
    /// The same, but never two at once: each has real-time threads that wait for one another on both CPUs.
    Counted,
    /// As root, one test at a time on the whole machine. Every program that no list names.
    Alone,
}

impl Group {
    /// By the lists above.
    pub fn from_program(program: &Program) -> Group {
        let name = program.name.as_str();
        if program.is_units() || FREE.contains(&name) {
            Group::Free
        } else if BESIDE.contains(&name) {
            Group::Beside
        } else if COUNTED.contains(&name) {
            Group::Counted
        } else {
            Group::Alone
        }
    }
}

/// A test that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Place of its program.
    pub program: usize,
    /// Its name there.
    pub test: String,
}

/// What came of a run of tests.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Counts.
    pub tally: Tally,
    /// Those that failed, as far as their names are known.
    pub failed: Vec<Failed>,
}

impl Outcome {
    /// Adds another's.
    pub fn add(&mut self, other: Outcome) {
        self.tally.add(other.tally);
        self.failed.extend(other.failed);
    }
}

/// Runs programs, each whole, and tells what came of each group. The lanes run side by side; the programs of a lane's
/// groups run one after the other. `able` is how root's rights are had, if at all.
pub fn run_lanes(
    programs: &[Program],
    lanes: &[&[Group]],
    able: Option<Privilege>,
) -> Result<Vec<(Group, Outcome)>, Failure> {
    let begun = Instant::now();
    let run_group = |group: Group| {
        let mut all = Outcome::default();
        let is_its_own = |place: &usize| Group::from_program(&programs[*place]) == group;
        for place in (0..programs.len()).filter(is_its_own) {
            all.add(run(programs, place, &[], able)?);
        }
        Ok((group, all))
    };
    let run_lane = |groups: &[Group]| -> Result<Vec<(Group, Outcome)>, Failure> {
        groups.iter().map(|&group| run_group(group)).collect()
    };
    let mut ended = Vec::new();
    std::thread::scope(|scope| {
        let lanes = lanes.iter().map(|groups| scope.spawn(|| run_lane(groups)));
        for lane in lanes.collect::<Vec<_>>() {
            let crashed = |_| Err(Failure::new("a thread that runs tests crashed"));
            ended.extend(lane.join().unwrap_or_else(crashed)?);
        }
        Ok(())
    })?;
    let mut tally = Tally::default();
    ended.iter().for_each(|(_, all)| tally.add(all.tally));
    println!(
        "\nxtask: {} tests in {:.0} s\n",
        tally.passed + tally.failed + tally.skipped,
        begun.elapsed().as_secs_f64()
    );
    Ok(ended)
}

/// Runs these tests again, one at a time.
pub fn run_again(
    programs: &[Program],
    failed: &[Failed],
    able: Option<Privilege>,
) -> Result<Outcome, Failure> {
    let mut all = Outcome::default();
    for one in failed {
        all.add(run(programs, one.program, &[&one.test], able)?);
    }
    Ok(all)
}

/// Runs a program's tests of these names; all where none is named. Shows what it said when it is over, so that two do
/// not talk into each other's lines.
fn run(
    programs: &[Program],
    place: usize,
    names: &[&str],
    able: Option<Privilege>,
) -> Result<Outcome, Failure> {
    let program = &programs[place];
    let group = Group::from_program(program);
    let mut command = program.command(able.filter(|_| group != Group::Free));
    command.arg("--show-output");
    if group != Group::Free {
        command.arg("--test-threads=1");
    }
    let whole: Vec<&str> = program.tests.iter().map(String::as_str).collect();
    let names = if names.is_empty() { &whole } else { names };
    if !names.is_empty() {
        command.arg("--exact").args(names);
    }
    let begun = Instant::now();
    let not_run =
        |error: std::io::Error| Failure::new(format!("run the tests {}: {error}", program.name));
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(not_run)?;
    let (mut reader, mut shown) = (Reader::default(), Vec::new());
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n') {
            let line = line.map_err(not_run)?;
            let line = String::from_utf8_lossy(&line);
            if reader.take(&line) {
                shown.push(line.into_owned());
            }
        }
    }
    let ended_well = child.wait().map_err(not_run)?.success();
    println!(
        "\n{} ({:.1} s)\n{}",
        program.name,
        begun.elapsed().as_secs_f64(),
        shown.join("\n")
    );
    let tally = judge(reader.tally(), ended_well);
    let named = reader.failed().into_iter();
    let failed = named.map(|test| Failed {
        program: place,
        test,
    });
    Ok(Outcome {
        tally,
        failed: failed.collect(),
    })
}

/// A program that ended badly without a failed test was killed: that is a failure too.
fn judge(counted: Tally, ended_well: bool) -> Tally {
    let mut tally = counted;
    if !ended_well && tally.failed == 0 {
        println!("xtask: the program ended badly without a failed test (a signal?)");
        tally.failed = 1;
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_died_is_not_green() {
        let counted = |passed, failed| Tally {
            passed,
            failed,
            ..Tally::default()
        };
        assert_eq!(judge(Tally::default(), false).failed, 1);
        assert_eq!(judge(counted(3, 2), false).failed, 2);
        assert_eq!(judge(counted(3, 0), true).failed, 0);
    }

    #[test]
    fn the_tests_that_a_list_names_are_there() {
        for name in FREE.iter().chain(&BESIDE).chain(&COUNTED) {
            let (package, file) = name.split_once('/').expect("crate and file");
            let path = format!("crates/{package}/tests/{file}.rs");
            assert!(crate::root().join(&path).is_file(), "{path}");
        }
    }
}
