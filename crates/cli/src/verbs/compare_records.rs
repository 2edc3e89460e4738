//! `mpps compare A.jsonl B.jsonl`: results of two runs, where they can be compared.

use super::record_file;
use crate::args::{FinishedArgs, WITHIN};
use crate::exit::Exit;
use crate::profile_change::{exit, profile_change};
use crate::terminal;
use crate::terminal::doubts::Doubted;
use anyhow::{Context, Result, bail, ensure};
use mpps_record::{
    Comparability, Difference, Doubt, PointLine, RUNS_ALIKE, Refusal, Run, Terms, check_profiles,
    compare_points, compare_results, read_to_show,
};
use mpps_report::{if_slower, missing_trials, number, profile_change, unanswered};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A run that has ended, and its record.
struct Finished {
    path: PathBuf,
    run: Run,
}

/// What was compared, by its name, and what came of it.
type Compared = (String, Result<Found, Refusal>);

/// A difference that could be told.
struct Found {
    text: String,
    /// For programs.
    members: Value,
    exit: Exit,
    /// About the profiles of both.
    doubts: [Vec<Doubt>; 2],
}

/// So many conditions in which two runs differ are named.
const SHOWN: usize = 4;
/// Values up to this length are shown, octets.
const SHORT: usize = 32;
/// Conditions that no flag decides: the machine's state while the maximum was measured.
const STATE: [&str; 2] = ["max_forwarding_cpu_distance_ns", "max_forwarding_work_ns"];
/// Of a frame size, point or profile that only one record has.
const MISSING: Refusal = Refusal::Lacks("such result");

/// Compares the last run of the second record with that of the first.
///
/// # Errors
/// A record cannot be read, both are the same, or nothing of them can be compared.
pub fn run(args: &FinishedArgs, json: bool) -> Result<Exit> {
    let [one, other] = &args.records[..] else {
        bail!("give two records");
    };
    let (one, other) = (record_file::path(one)?, record_file::path(other)?);
    check_names(&args.may_differ)?;
    let shown = [&one, &other]
        .map(|path| path.display().to_string())
        .join(" and ");
    ensure!(
        !record_file::same_file(&one, &other),
        "{shown} are the same file: compare two runs"
    );
    let (one, other) = (Finished::read(one)?, Finished::read(other)?);
    ensure!(
        one.run.name != other.run.name,
        "{shown} hold the same run, {}: compare two runs",
        one.run.name
    );
    let may_differ: Vec<&str> = args.may_differ.iter().map(String::as_str).collect();
    let terms = Terms {
        within: args.within.unwrap_or(WITHIN),
        alike: RUNS_ALIKE,
        may_differ: &may_differ,
    };
    let compared = compare(&one.run, &other.run, terms, args.fail_if_slower)?;
    show(args, json, &one, &other, &compared)?;
    if compared.iter().all(|(_, found)| found.is_err()) {
        let refusal = compared.iter().find_map(|(_, found)| found.as_ref().err());
        let told = refusal.map(|refusal| refused(refusal, &one, &other));
        bail!("{}", told.transpose()?.unwrap_or_default());
    }
    // What could not be compared may be slower than is allowed.
    let refused = match args.fail_if_slower {
        Some(_) => Exit::Undecided,
        None => Exit::Measured,
    };
    let exits = compared.iter().map(|(_, found)| match found {
        Ok(found) => found.exit,
        Err(_) => refused,
    });
    Ok(exits.fold(Exit::Measured, Exit::worse))
}

/// Conditions that may differ where that is what a user compares.
fn known_names() -> Result<Vec<String>> {
    let known = serde_json::to_value(Comparability::default())?;
    let known = known.as_object().map(|members| members.keys().cloned());
    let known = known.into_iter().flatten().filter(|name| name != "key");
    // The only condition of a result line.
    Ok(known.chain(["burnt_ns".to_owned()]).collect())
}

/// Refuses names that no record has.
fn check_names(names: &[String]) -> Result<()> {
    let known = known_names()?;
    for name in names {
        ensure!(
            known.contains(name),
            "--may-differ: there is no {name} (flags of what is sent, as --flows, are in traffic): give some of {}",
            known.join(", ")
        );
    }
    Ok(())
}

impl Finished {
    /// The last run of a record that has results.
    fn read(path: PathBuf) -> Result<Self> {
        let shown = path.display();
        let records = read_to_show(&path)?;
        for problem in &records.problems {
            terminal::error(&format!("{shown}: {problem}"));
        }
        let mut runs = records.runs;
        let all = runs.len();
        let counts = |run: &Run| run.results.len() + run.points.len() + run.profiles.len();
        let has_comparison = runs.iter().any(|run| !run.comparisons.is_empty());
        runs.retain(|run| run.begin.is_some() && counts(run) > 0);
        let run = runs.pop().with_context(|| match has_comparison {
            true => format!("{shown} is a comparison itself: give all set-ups to one mpps compare (--a, --b, --c). \
                Its differences hold between its own variants, on its machine at its time. mpps report puts those of \
                several records on one page"),
            false => format!("{shown} has no result of mpps throughput, mpps fib-scale or mpps explain, those that can be compared afterwards"),
        })?;
        let all_runs = [&run];
        let lacks = missing_trials(&run, &all_runs);
        let killed = run
            .end
            .is_none()
            .then(|| "was killed, or still runs".to_owned());
        for what in killed.into_iter().chain(lacks) {
            terminal::error(&format!("{shown}: run {} {what}", run.name));
        }
        if all > 1 {
            let name = &run.name;
            terminal::note(&format!("{shown} has {all} runs: {name} is compared"));
        }
        Ok(Self { path, run })
    }
}

/// Each frame size, point and profile; refused where only one of both has it.
fn compare(
    one: &Run,
    other: &Run,
    terms: Terms<'_>,
    fail_if_slower: Option<f64>,
) -> Result<Vec<Compared>> {
    let (Some(first), Some(second)) = (&one.begin, &other.begin) else {
        bail!(
            "the first line of a run is missing, so its conditions are unknown: give another record"
        );
    };
    let open = |difference: &Difference| {
        let open = unanswered(difference, fail_if_slower);
        open.map(|open| format!("\n  {open}"))
    };
    let found = |difference: Difference| Found {
        text: difference.to_string() + &open(&difference).unwrap_or_default(),
        members: json!(difference),
        exit: if_slower(&difference, fail_if_slower).into(),
        doubts: [Vec::new(), Vec::new()],
    };
    // Each frame size once: goals share what was measured at overload.
    let mut compared = pairs(
        &one.results,
        &other.results,
        |result| number::frame(&result.frame),
        |one, other| compare_results((first, one), (second, other), terms).map(found),
    );
    compared.extend(pairs(
        &one.points,
        &other.points,
        point_name,
        |one, other| compare_points((first, one), (second, other), terms).map(found),
    ));
    compared.extend(pairs(
        &one.profiles,
        &other.profiles,
        |profile| number::frame(&profile.frame),
        |one, other| {
            check_profiles((first, one), (second, other), terms)?;
            let change = profile_change(one, other, terms.alike);
            Ok(Found {
                text: profile_change::words(&change),
                members: json!(change),
                exit: exit(&change, fail_if_slower),
                doubts: [one.doubts.clone(), other.doubts.clone()],
            })
        },
    ));
    let is_common = |(_, found): &Compared| !matches!(found, Err(MISSING));
    ensure!(
        compared.iter().any(is_common),
        "the two records have no frame size or point in common: measure one of them again with --frame of the other"
    );
    Ok(compared)
}

/// What both have of one name, each once; what only one of them has is refused.
fn pairs<T>(
    one: &[T],
    other: &[T],
    name: fn(&T) -> String,
    compare: impl Fn(&T, &T) -> Result<Found, Refusal>,
) -> Vec<Compared> {
    let find = |all: &'_ [T], wanted: &str| all.iter().position(|line| name(line) == wanted);
    let mut names: Vec<String> = Vec::new();
    for new in one.iter().chain(other).map(name) {
        if !names.contains(&new) {
            names.push(new);
        }
    }
    let pair = |name: String| {
        let both = find(one, &name).zip(find(other, &name));
        let found = both.map(|(at, same)| compare(&one[at], &other[same]));
        (name, found.unwrap_or(Err(MISSING)))
    };
    names.into_iter().map(pair).collect()
}

fn point_name(point: &PointLine) -> String {
    format!(
        "{}, {} routes, {} destinations ({})",
        number::frame(point.frame.as_deref().unwrap_or_default()),
        terminal::grouped(point.asked_routes),
        terminal::grouped(point.asked_destinations),
        point.series
    )
}

fn show(
    args: &FinishedArgs,
    json: bool,
    one: &Finished,
    other: &Finished,
    compared: &[Compared],
) -> Result<()> {
    if json {
        let entries = compared.iter().map(|(name, found)| match found {
            Ok(found) => {
                json!({ "what": name, "text": found.text, "difference": found.members, "doubts": found.doubts, "refused": null })
            }
            Err(why) => {
                json!({ "what": name, "text": why.to_string(), "difference": null, "doubts": [[], []], "refused": why.to_string() })
            }
        });
        terminal::out(&terminal::document(json!({
            "records": [one.path, other.path],
            "runs": [one.run.name, other.run.name],
            "may_differ": args.may_differ,
            "compared": entries.collect::<Value>(),
        })));
        return Ok(());
    }
    if compared.iter().all(|(_, found)| found.is_err()) {
        return Ok(());
    }
    let paths = [one, other].map(|finished| finished.path.display().to_string());
    let mut text = format!("{} against {}\n\n", paths[1], paths[0]);
    for (name, found) in compared {
        text += &match found {
            Ok(found) => format!("{name}: {}\n", found.text),
            Err(why) => format!("{name}: not compared: {why}\n"),
        };
    }
    let found = compared.iter().filter_map(|(_, found)| found.as_ref().ok());
    let each = found.flat_map(|found| paths.iter().zip(&found.doubts));
    let doubted = Doubted {
        subjects: each
            .map(|(path, doubts)| (path.as_str().into(), doubts.iter().collect()))
            .collect(),
        noun: "records",
        named_max: 2,
        said: Vec::new(),
    };
    text += &doubted.lines(false);
    text += "\nTwo runs at different times: what the machine did in between is part of the difference \
             (mpps compare --a --b measures in turns)\n";
    terminal::out(&terminal::fitted(&text));
    Ok(())
}

/// Why nothing was compared, and what to do.
fn refused(refusal: &Refusal, one: &Finished, other: &Finished) -> Result<String> {
    let [first, second] = [one, other].map(|finished| finished.path.display());
    let head = format!("{first} and {second} cannot be compared: ");
    let Refusal::Differ(members) = refusal else {
        return Ok(format!("{head}{refusal}: measure it again"));
    };
    let known = known_names()?;
    let may_differ = members.iter().all(|name| known.contains(name));
    let is_state = members.iter().all(|name| STATE.contains(&name.as_str()));
    let shown = members.iter().take(SHOWN);
    let shown = shown.map(|name| with_values(name, &one.run, &other.run));
    let shown: Vec<String> = shown.collect();
    let shown = shown.join(", ");
    Ok(match members.len() {
        _ if is_state => format!(
            "{head}they differ in {shown}: the machine was in another state, so measure again, or in turns (mpps compare --a --b)"
        ),
        ..=SHOWN if may_differ => format!(
            "{head}they differ in {shown}: measure both alike, or give --may-differ {} if that is what you compare",
            members.join(",")
        ),
        ..=SHOWN => format!("{head}they differ in {shown}: measure both alike"),
        all => format!(
            "{head}they differ in {shown} and {} more: they are of two machines, builds or kinds of traffic, so measure \
             both alike",
            all - SHOWN
        ),
    })
}

/// A condition with its value in both runs, where these are short.
fn with_values(name: &str, first: &Run, second: &Run) -> String {
    let value = |run: &Run| {
        let known = json!(run.begin.as_ref()?.comparability);
        let value = known.get(name)?;
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        (text.len() <= SHORT).then_some(text)
    };
    match value(first).zip(value(second)) {
        Some((one, other)) => format!("{name} ({one}, {other})"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{ProfileLine, RunLine};

    /// A run of profiles of these frame sizes and a point of so many routes.
    fn run(frames: &[&str], asked_routes: u64) -> Run {
        let golden = include_str!("../../../record/tests/golden/run.jsonl");
        let begin = golden.lines().next().expect("a first line");
        let mut run = Run::new("a run");
        run.add(serde_json::from_str::<RunLine>(begin).expect("a run"));
        run.add(PointLine {
            frame: Some("64".to_owned()),
            asked_routes,
            ..PointLine::default()
        });
        for frame in frames {
            run.add(ProfileLine {
                frame: (*frame).to_owned(),
                ..ProfileLine::default()
            });
        }
        run
    }

    #[test]
    fn what_only_one_record_has_is_refused() {
        let terms = Terms {
            within: WITHIN,
            alike: RUNS_ALIKE,
            may_differ: &[],
        };
        let one = run(&["64"], 10);
        let other = run(&["64", "1518"], 20);
        let mut compared = compare(&one, &other, terms, None).expect("a common size");
        compared.retain(|(_, found)| matches!(found, Err(MISSING)));
        let names: Vec<String> = compared.into_iter().map(|(name, _)| name).collect();
        let point = |routes| format!("64 B, {routes} routes, 0 destinations ()");
        assert_eq!(names, [point(10), point(20), "1518 B".to_owned()]);
        let nothing = compare(&one, &run(&["1518"], 20), terms, None);
        assert!(nothing.is_err());
    }
}
