//! `mpps campaign`: each cell of a plan is a run of this program, so that the crash of a cell costs only that cell. The
//! campaign's own lines stand beside those of its cells in one record.

use super::begin::check_folder;
use crate::args::{CampaignArgs, CampaignVerb, RunCampaignArgs};
use crate::campaign::{Begun, Campaign, Cell, Ready, SHIPPED, begun, check, is_measured};
use crate::exit::Exit;
use crate::record::{Clock, Record, sha256};
use crate::scratch::Scratch;
use crate::terminal;
use anyhow::{Context, Result};
use mpps_lab::clock::monotonic_ns;
use mpps_lab::{facts, interrupt, program};
use mpps_method::Span;
use mpps_record::{CampaignLine, CellLine, EndLine, Run};
use mpps_report::{Row, headline::headline, sentence::other_answers};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};

/// A cell with what it runs, or why it does not.
type Checked<'a> = (&'a Cell, Result<Ready, String>);

/// Runs the verb.
///
/// # Errors
/// One line that names the remedy. Nothing has run then, or the record tells what.
pub fn run(args: &CampaignArgs) -> Result<Exit> {
    match &args.verb {
        CampaignVerb::Run(args) => run_plan(args),
        CampaignVerb::List => list(),
    }
}

fn list() -> Result<Exit> {
    for (name, _) in SHIPPED {
        let plan = Campaign::find(name, false)?;
        let cells = plan.cells.len();
        terminal::out(&format!("{name:<14} {cells:>4} cells  {}\n", plan.title));
    }
    Ok(Exit::Measured)
}

fn run_plan(args: &RunCampaignArgs) -> Result<Exit> {
    let plan = Campaign::find(&args.plan, args.quick)?;
    plan.check_ids(&args.only)?;
    check_folder("--record", args.record.as_deref())?;
    let clock = Clock::now();
    let before = args
        .record
        .as_deref()
        .map(|path| begun(path, &plan, args.quick));
    let before = before.transpose()?.flatten();
    let is_new = before.is_none();
    let new = || Begun {
        run: format!("{}-{}", clock.run_name(), plan.name),
        cells: BTreeMap::new(),
    };
    let before = before.unwrap_or_else(new);
    let scratch = Scratch::new(&format!("campaign-{}", before.run))?;
    let checked = plan
        .cells
        .iter()
        .map(|cell| Ok((cell, check(cell, &scratch)?)));
    let checked: Result<Vec<Checked<'_>>, _> = checked.collect();
    let mut checked = checked.map_err(|error| plan.wrong(error))?;
    checked.retain(|(cell, _)| args.only.is_empty() || args.only.contains(cell.id.get_ref()));
    if args.dry_run {
        let folder = scratch.path("").display().to_string();
        terminal::out(&planned(&plan, &checked, &before).replace(&folder, ""));
        return Ok(Exit::Measured);
    }
    if checked
        .iter()
        .any(|(_, ready)| ready.as_ref().is_ok_and(|ready| ready.on_bed))
    {
        facts::check()?;
    }
    interrupt::install()?;
    let record = Record::open_for(&before.run, args.record.as_deref())?;
    let mut campaign = Running {
        begun: before,
        record,
        scratch: &scratch,
        quiet: args.quiet,
    };
    campaign.note(&format!("record: {}", campaign.record.path().display()));
    if is_new {
        campaign.begin(&plan, args.quick, clock)?;
    }
    let ended = campaign.run_all(&checked);
    campaign.end(&plan, args, ended)
}

/// A campaign under way.
struct Running<'a> {
    begun: Begun,
    record: Record,
    scratch: &'a Scratch,
    quiet: bool,
}

impl Running<'_> {
    fn note(&self, line: &str) {
        if !self.quiet {
            terminal::note(line);
        }
    }

    fn begin(&mut self, plan: &Campaign, quick: bool, clock: Clock) -> Result<()> {
        let written = self.record.append(&CampaignLine {
            name: plan.name.clone(),
            title: plan.title.clone(),
            source: plan.source.clone(),
            plan_sha256: sha256(plan.text.as_bytes()),
            plan: plan.text.clone(),
            quick,
            cells: u32::try_from(plan.cells.len())?,
            begun_utc: clock.utc(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            ..CampaignLine::default()
        });
        written.with_context(|| self.record.not_written())
    }

    /// Runs the cells that are not measured yet.
    fn run_all(&mut self, cells: &[Checked<'_>]) -> Result<Exit> {
        let last = |cell: &Cell| self.begun.cells.get(cell.id.get_ref());
        let is_done = |(cell, ready): &Checked<'_>| {
            last(cell).is_some_and(|line| match ready {
                Ok(_) => is_measured(line),
                Err(why) => line.not_run.as_ref() == Some(why),
            })
        };
        let (done, open): (Vec<_>, Vec<_>) = cells.iter().partition(|cell| is_done(cell));
        let is_again =
            |(cell, _): &&&Checked<'_>| last(cell).is_some_and(|line| line.not_run.is_none());
        let again = open.iter().filter(is_again).count();
        if !self.begun.cells.is_empty() {
            let (done, all) = (done.len(), cells.len());
            self.note(&format!(
                "goes on: {done} of {all} cells are done, {again} that failed or were disturbed run again"
            ));
        }
        let mut worst = Exit::Measured;
        for (place, (cell, ready)) in open.iter().enumerate() {
            let number = done.len() + place + 1;
            let of = format!("[{number}/{}] {}", cells.len(), cell.id);
            let left = about(open[place..].iter().copied());
            let exit = match ready {
                Err(why) => {
                    self.note(&format!("{of}: cannot be tested here: {why}"));
                    self.write(CellLine {
                        not_run: Some(why.clone()),
                        ..line(cell)?
                    })?;
                    Exit::Measured
                }
                Ok(ready) => {
                    let (about, left) = (words(ready.about), words(left));
                    let what = what(cell, ready);
                    self.note(&format!("{of}: {what} (about {about}; {left} left)"));
                    self.run_cell(cell, ready)?
                }
            };
            worst = worst.worse(exit);
            if interrupt::requested() || exit == Exit::NotRestored {
                return Ok(worst.worse(if exit == Exit::NotRestored {
                    exit
                } else {
                    Exit::Interrupted
                }));
            }
        }
        Ok(worst)
    }

    /// Runs a cell, and writes its line.
    fn run_cell(&mut self, cell: &Cell, ready: &Ready) -> Result<Exit> {
        let path = self.record.path().to_owned();
        let errors = self.scratch.path("errors");
        let stderr = File::create(&errors).with_context(|| format!("make {}", errors.display()))?;
        let mut command = Command::new(std::env::current_exe().context("find the own program")?);
        command
            .args(&ready.arguments)
            .arg("--quiet")
            .arg("--record")
            .arg(&path);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr);
        if ["loss", "fib-scale"].contains(&cell.verb()) {
            command.arg("--plot").arg(self.scratch.path("plot.svg"));
        }
        let (from, begun_ns) = (std::fs::metadata(&path)?.len(), monotonic_ns());
        let status = program::to_its_end(&mut command).context("run a cell")?;
        let took_ns = monotonic_ns() - begun_ns;
        let exit_code = status.code().and_then(|code| u8::try_from(code).ok());
        let exit = Exit::from_code(exit_code);
        let run = run_since(&path, from);
        let said = std::fs::read_to_string(&errors).unwrap_or_default();
        let said = said
            .lines()
            .last()
            .map(|line| line.trim_start_matches("mpps: ").to_owned());
        let sentence = run.as_ref().map(first_sentence).unwrap_or_default();
        let (told, error) = match exit {
            Exit::Measured | Exit::NotMet => (sentence, None),
            Exit::Disturbed => (format!("too disturbed: {sentence}"), said),
            _ => {
                let error = said.unwrap_or_else(|| status.to_string());
                (format!("not measured: {error}"), Some(error))
            }
        };
        self.note(&format!("  {told}"));
        self.write(CellLine {
            arguments: ready.arguments.clone(),
            measured_run: run.map(|run| run.name),
            exit_code,
            error,
            took_ns,
            ..line(cell)?
        })?;
        Ok(exit)
    }

    fn write(&mut self, line: CellLine) -> Result<()> {
        let written = self.record.append(&line);
        self.begun.cells.insert(line.cell.clone(), line);
        written.with_context(|| self.record.not_written())
    }

    /// Writes the last line, and says what to do next.
    fn end(mut self, plan: &Campaign, args: &RunCampaignArgs, ended: Result<Exit>) -> Result<Exit> {
        let exit = ended.as_ref().map_or(Exit::Failed, |exit| *exit);
        let error = ended.as_ref().err().map(|error| format!("{error:#}"));
        let path = self.record.path().to_owned();
        let runs = mpps_record::read_file(&path)
            .map(|read| read.runs)
            .unwrap_or_default();
        let is_ours = |run: &&Run| {
            let mut cells = self.begun.cells.values();
            cells.any(|cell| cell.measured_run.as_ref() == Some(&run.name))
        };
        let trials = runs
            .iter()
            .filter(is_ours)
            .filter_map(|run| run.end.as_ref());
        let written = self.record.append(&EndLine {
            ended_utc: Clock::now().utc(),
            exit_code: exit.code(),
            error: error.or_else(|| (exit == Exit::Interrupted).then(|| "interrupted".to_owned())),
            trials: trials.map(|end| end.trials).sum(),
            queries: None,
            route_changes: None,
            other: mpps_record::Other::new(),
        });
        let shown = path.display();
        terminal::out(&format!("record: {shown}\nreport: mpps report {shown}\n"));
        if exit == Exit::Interrupted {
            terminal::error("interrupted: the bed is gone");
        }
        let is_done = |cell: &Cell| {
            let line = self.begun.cells.get(cell.id.get_ref());
            line.is_some_and(|line| line.not_run.is_some() || is_measured(line))
        };
        if !plan.cells.iter().all(is_done) {
            let quick = if args.quick { " --quick" } else { "" };
            let [named, path] = [args.plan.as_str(), &path.to_string_lossy()].map(quoted);
            terminal::out(&format!(
                "go on with: mpps campaign run {named}{quick} --record {path}\n"
            ));
        }
        ended?;
        written.with_context(|| self.record.not_written())?;
        Ok(exit)
    }
}

/// A cell's line before it ran.
fn line(cell: &Cell) -> Result<CellLine> {
    Ok(CellLine {
        cell: cell.id.get_ref().clone(),
        title: cell.title.get_ref().clone(),
        published: cell.published(),
        claim: cell
            .claim()
            .map_err(|_| anyhow::anyhow!("a claim that was not checked"))?,
        ..CellLine::default()
    })
}

/// The run that a file has from this octet on.
fn run_since(path: &Path, from: u64) -> Option<Run> {
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(from)).ok()?;
    let runs = mpps_record::read(BufReader::new(file)).ok()?.runs;
    runs.into_iter().find(|run| run.begin.is_some())
}

fn first_sentence(run: &Run) -> String {
    let rows = Row::each(&run.results);
    let first = rows.first().map(headline);
    first.unwrap_or_else(|| other_answers(run).into_iter().next().unwrap_or_default())
}

/// What a cell does, in words.
fn what(cell: &Cell, ready: &Ready) -> String {
    match ready.variants[..] {
        [] => format!("{}, {}", cell.verb(), cell.title),
        _ => format!("comparing {}", ready.variants.join(", ")),
    }
}

/// About how long cells take together.
fn about<'a>(cells: impl Iterator<Item = &'a Checked<'a>>) -> Span {
    let ready = cells.filter_map(|(_, ready)| ready.as_ref().ok());
    ready.fold(Span::ZERO, |sum, ready| sum.plus(ready.about))
}

/// A time in a few characters.
fn words(time: Span) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..100.0 => format!("{seconds:.0} s"),
        ..6000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,/:%+@".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    shlex::try_quote(word).unwrap_or_default().into_owned()
}

/// All cells in words, for `--dry-run`.
fn planned(plan: &Campaign, cells: &[Checked<'_>], begun: &Begun) -> String {
    let mut text = format!("{}: {}\n", plan.name, plan.title);
    for (cell, ready) in cells {
        let _ = write!(text, "\n{}: {}", cell.id, cell.title);
        let is_measured = begun.cells.get(cell.id.get_ref()).is_some_and(is_measured);
        let _ = match ready {
            Err(why) => writeln!(text, "\n    cannot be tested here: {why}"),
            Ok(_) if is_measured => writeln!(text, "\n    is measured already"),
            Ok(ready) => {
                let command: Vec<String> =
                    ready.arguments.iter().map(|word| quoted(word)).collect();
                let (command, about) = (command.join(" "), words(ready.about));
                writeln!(text, " (about {about})\n    mpps {command}")
            }
        };
        let scripts = ready.iter().flat_map(|ready| &ready.scripts);
        for (path, script) in scripts.filter(|_| !is_measured) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            for line in script.lines().skip(2) {
                let _ = writeln!(text, "    {name}: {line}");
            }
        }
    }
    let open =
        |(cell, _): &&Checked<'_>| !begun.cells.get(cell.id.get_ref()).is_some_and(is_measured);
    let sum = words(about(cells.iter().filter(open)));
    let run = cells
        .iter()
        .filter(open)
        .filter(|(_, ready)| ready.is_ok())
        .count();
    let _ = writeln!(text, "\n{run} of {} cells run, about {sum}", cells.len());
    text
}
