//! The test programs in their groups, and how each group is run: those that are indifferent to disturbances side by side,
//! those that measure one at a time, because two that measure at once void each other's trials.
use crate::failure::Failure;
use crate::privilege::Privilege;
use crate::programs::Program;
use crate::tally::{Reader, Tally};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Files of tests by their crate's folder. Tests without bed and without rights. Every crate's unit tests are among them.
const FREE: &[(&str, &str)] = &[
    (
        "cli",
        "back_to_back bad_input campaign_plans compare_series generate help limits profiles \
         records report show simulate table tune without_lab",
    ),
    (
        "record",
        "bench_runs compared damaged golden jobs loading schema",
    ),
    ("report", "browser formats page size tree values"),
    ("tables", "mutated real_files"),
    ("method", "mlrsearch"),
];

/// Tests on beds or namespaces of their own that send nothing: set-up, recovery, routes, refusals.
pub const BESIDE: &[(&str, &str)] = &[
    ("cli", "fib top tune_apply tune_systemd"),
    ("ebpf", "programs"),
    (
        "lab",
        "bed external_ports fib fib_host fib_iproute2 frames recover set_up switches tune_apply tune_each \
         wreckage",
    ),
    (
        "linux",
        "clock interrupt kthreads links moving netns packet routes setting spawn tc",
    ),
];

/// Tests of trials that hold whatever disturbs the machine: every frame is accounted for, and what is left of a run.
pub const COUNTED: &[(&str, &str)] = &[
    ("cli", "campaign doctor safety trial"),
    (
        "lab",
        "destinations device_counts exit external flow_length kernel_interfaces killed \
         modifiers not_routed packet_port probe trial",
    ),
];

/// Whether such a table has the program `cli/bed`.
fn is_in(table: &[(&str, &str)], program: &str) -> bool {
    let is_of = |(folder, files): &(&str, &str)| {
        let mut files = files.split(' ');
        program
            .split_once('/')
            .is_some_and(|(own, name)| own == *folder && files.any(|file| file == name))
    };
    table.iter().any(is_of)
}

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
        if program.is_units() || is_in(FREE, name) {
            Group::Free
        } else if is_in(BESIDE, name) {
            Group::Beside
        } else if is_in(COUNTED, name) {
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

/// Test programs that are told with their time at the end.
const SLOWEST: usize = 15;

/// What came of a run of tests.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Counts.
    pub tally: Tally,
    /// Those that failed, as far as their names are known.
    pub failed: Vec<Failed>,
    /// Each program's name, and how long it ran.
    pub took: Vec<(String, Duration)>,
}

impl Outcome {
    /// Adds another's.
    pub fn add(&mut self, other: Outcome) {
        self.tally.add(other.tally);
        self.failed.extend(other.failed);
        self.took.extend(other.took);
    }
}

/// The programs that ran longest, a line each.
pub fn slowest(mut took: Vec<(String, Duration)>) -> String {
    took.sort_by_key(|(_, took)| std::cmp::Reverse(*took));
    took.truncate(SLOWEST);
    let line =
        |(name, took): &(String, Duration)| format!("{:7.1} s  {name}\n", took.as_secs_f64());
    took.iter().map(line).collect()
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
    let run_lane = |groups: &[Group]| -> Result<_, Failure> {
        let ended: Result<Vec<_>, Failure> = groups.iter().map(|&group| run_group(group)).collect();
        Ok((ended?, begun.elapsed()))
    };
    let (mut ended, mut lengths) = (Vec::new(), String::new());
    std::thread::scope(|scope| {
        let started = lanes.iter().map(|groups| scope.spawn(|| run_lane(groups)));
        for (lane, groups) in started.collect::<Vec<_>>().into_iter().zip(lanes) {
            let crashed = |_| Err(Failure::new("a thread that runs tests crashed"));
            let (of_lane, took) = lane.join().unwrap_or_else(crashed)?;
            lengths += &format!("; {groups:?} {:.0} s", took.as_secs_f64());
            ended.extend(of_lane);
        }
        Ok(())
    })?;
    let mut tally = Tally::default();
    ended.iter().for_each(|(_, all)| tally.add(all.tally));
    println!(
        "\nxtask: {} tests in {:.0} s{lengths}\n",
        tally.passed + tally.failed + tally.skipped,
        begun.elapsed().as_secs_f64()
    );
    Ok(ended)
}

/// Runs this test again, and no other.
pub fn run_again(
    programs: &[Program],
    one: &Failed,
    able: Option<Privilege>,
) -> Result<Outcome, Failure> {
    run(programs, one.program, &[&one.test], able)
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
    let took = begun.elapsed();
    println!(
        "\n{} ({:.1} s)\n{}",
        program.name,
        took.as_secs_f64(),
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
        took: vec![(program.name.clone(), took)],
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
    fn the_slowest_programs_are_told_first() {
        let took = |(name, seconds): (&str, u64)| (name.to_owned(), Duration::from_secs(seconds));
        let told = slowest([("a", 2), ("b", 30), ("c", 4)].map(took).to_vec());
        assert_eq!(told, "   30.0 s  b\n    4.0 s  c\n    2.0 s  a\n");
        let many: Vec<_> = (0..40).map(|seconds| took(("x", seconds))).collect();
        assert_eq!(slowest(many).lines().count(), SLOWEST);
    }

    #[test]
    fn the_tests_that_a_list_names_are_there() {
        for (package, files) in FREE.iter().chain(BESIDE).chain(COUNTED) {
            for file in files.split(' ') {
                let path = format!("crates/{package}/tests/{file}.rs");
                assert!(crate::root().join(&path).is_file(), "{path}");
            }
        }
    }
}
