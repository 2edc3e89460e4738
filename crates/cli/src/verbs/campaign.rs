//! `mpps campaign`: each cell of a plan is a run of this program, so that the crash of a cell costs only that cell. The
//! campaign's own lines stand beside those of its cells in one record.

use super::begin::check_folder;
use super::contract::CellPlan;
use crate::args::{CampaignArgs, CampaignVerb, Cli, RunCampaignArgs, Verb, each_verb};
use crate::campaign::{Begun, Campaign, Cell, Checked, Ready, SHIPPED, begun, check, words};
use crate::exit::Exit;
use crate::record::{Clock, Record, sha256};
use crate::scratch::Scratch;
use crate::terminal;
use anyhow::{Context, Result, bail};
use clap::CommandFactory;
use mpps_lab::clock::monotonic_ns;
use mpps_lab::one_run::OnlyRun;
use mpps_lab::{facts, interrupt, program};
use mpps_record::{CampaignLine, CellLine, EndLine, Run, read_file};
use mpps_report::campaign::{CampaignRun, other_answers};
use mpps_report::{Row, headline::headline, quoted};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};

macro_rules! plan_cells {
    ($($(#[$about:meta])* $($feature:literal)? $verb:ident($args:ty) $module:ident::$run:ident
       $(, cell $cell:literal)?;)*) => {
        /// What the verb of a cell plans with its flags; `typed` are all its words.
        fn plan_of(cell: &str, verb: &Verb, typed: &[OsString]) -> Result<CellPlan> {
            match (cell, verb) {
                $($(($cell, Verb::$verb(args)) => super::$module::cell(args, typed),)?)*
                _ => bail!("no verb of a cell"),
            }
        }
    };
}
each_verb!(plan_cells);

/// Whether a verb of a cell draws a plot.
fn has_plot(cell: &str) -> bool {
    let all = Cli::command();
    let mut words = cell.split(' ');
    let verb = words.try_fold(&all, |command, word| command.find_subcommand(word));
    verb.is_some_and(|verb| verb.get_arguments().any(|one| one.get_id() == "plot"))
}

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
        let line = format!("{name:<14} {cells:>4} cells  {}\n", plan.title);
        terminal::out(&terminal::fitted(&line));
    }
    Ok(Exit::Measured)
}

fn run_plan(args: &RunCampaignArgs) -> Result<Exit> {
    let plan = Campaign::find(&args.plan, args.quick)?;
    plan.check_ids(&args.only)?;
    let named = args.record.as_deref();
    check_folder("--record", named)?;
    let clock = Clock::now();
    let before = named
        .map(|path| begun(path, &plan, args.quick))
        .transpose()?;
    let before = before.flatten();
    let is_new = before.is_none();
    let begun = before.unwrap_or_else(|| Begun {
        run: format!("{}-{}", clock.run_name(), plan.name),
        cells: BTreeMap::new(),
    });
    let scratch = Scratch::new(&format!("campaign-{}", begun.run))?;
    let checked = plan.cells.iter();
    let checked = checked.map(|cell| {
        let ready = check(cell, &scratch, args.allow_system_changes, plan_of)?;
        Ok((cell, ready))
    });
    let checked: Result<Vec<Checked<'_>>, _> = checked.collect();
    let checked = checked.and_then(|all| plan.check_shares(&all).map(|()| all));
    let mut checked = checked.map_err(|error| plan.wrong(error))?;
    checked.retain(|(cell, _)| args.only.is_empty() || args.only.contains(cell.id.get_ref()));
    if args.dry_run {
        let folder = scratch.path("").display().to_string();
        terminal::out(&words::planned(&plan, &checked, &begun, args.scripts).replace(&folder, ""));
        return Ok(Exit::Measured);
    }
    let mut ready = checked.iter().flat_map(|(_, ready)| ready);
    if ready.any(|ready| ready.on_bed) {
        facts::check()?;
    }
    interrupt::install()?;
    let record = Record::open_for(&begun.run, named)?;
    let mut running = Running {
        begun,
        record,
        scratch: &scratch,
        quiet: args.quiet,
    };
    running.note(&format!("record: {}", running.record.path().display()));
    let line = first_line(&plan, args.quick, clock)?;
    let written = if is_new {
        running.record.append(&line)
    } else {
        Ok(())
    };
    let written = written.with_context(|| running.record.not_written());
    let ended = written.and_then(|()| running.run_all(&checked));
    running.end(&plan, &checked, args, ended)
}

fn first_line(plan: &Campaign, quick: bool, clock: Clock) -> Result<CampaignLine> {
    Ok(CampaignLine {
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
    })
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

    /// Runs the cells that are not done yet.
    fn run_all(&mut self, cells: &[Checked<'_>]) -> Result<()> {
        let is_done = |(cell, ready): &&Checked<'_>| self.begun.is_done(cell, ready.is_ok());
        let (done, open): (Vec<_>, Vec<_>) = cells.iter().partition(is_done);
        let mut again = open.clone();
        again.retain(|(cell, _)| self.begun.cells.contains_key(cell.id.get_ref()));
        let (done, again, all) = (done.len(), again.len(), cells.len());
        if !self.begun.cells.is_empty() {
            let again = format!("{again} that failed or were disturbed run again");
            self.note(&format!("goes on: {done} of {all} cells are done, {again}"));
        }
        for (place, (cell, ready)) in open.iter().enumerate() {
            let of = format!("[{}/{all}] {}", done + place + 1, cell.id);
            let ready = match ready {
                Ok(ready) => ready,
                Err(why) => {
                    self.note(&format!("{of}: cannot be tested here: {why}"));
                    let not_run = Some(why.clone());
                    self.write(CellLine {
                        not_run,
                        ..line(cell)?
                    })?;
                    continue;
                }
            };
            let (left, each) = (
                words::about(open[place..].iter().copied()),
                words::time(ready.about),
            );
            let what = words::what(cell, ready);
            self.note(&format!("{of}: {what} (about {each}; {left} left)"));
            if let (true, Ok(Some(holder))) = (ready.on_bed, OnlyRun::other()) {
                self.note(&format!("  waiting for another run to end: {holder}"));
            }
            let exit = self.run_cell(cell, ready)?;
            if interrupt::requested() || exit == Exit::NotRestored {
                break;
            }
        }
        Ok(())
    }

    /// Runs a cell, and writes its line.
    fn run_cell(&mut self, cell: &Cell, ready: &Ready) -> Result<Exit> {
        let path = self.record.path().to_owned();
        let errors = self.scratch.path("errors");
        let stderr = File::create(&errors).with_context(|| format!("make {}", errors.display()))?;
        let mut command = Command::new(std::env::current_exe().context("find the own program")?);
        command.args(&ready.arguments).args(["--quiet", "--record"]);
        command.arg(&path).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(stderr);
        if has_plot(cell.verb()) {
            // Beside the record each plot would take the place of the one before.
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
            .map(|line| line.trim_start_matches("mpps: "));
        let said = said.map_or_else(|| status.to_string(), str::to_owned);
        let sentence = run.as_ref().map(first_sentence).unwrap_or_default();
        let (told, error) = match exit {
            Exit::Measured | Exit::NotMet => (sentence, None),
            Exit::Undecided => (format!("not all of it is known: {sentence}"), None),
            _ => (format!("not measured: {said}"), Some(said)),
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
    fn end(
        mut self,
        plan: &Campaign,
        cells: &[Checked<'_>],
        args: &RunCampaignArgs,
        ended: Result<()>,
    ) -> Result<Exit> {
        let line = |(cell, _): &Checked<'_>| self.begun.cells.get(cell.id.get_ref());
        let lines = cells.iter().filter_map(line);
        let ran = lines.filter(|line| line.not_run.is_none());
        let own = match (&ended, interrupt::requested()) {
            (Err(_), _) => Exit::Failed,
            (Ok(()), true) => Exit::Interrupted,
            (Ok(()), false) => Exit::Measured,
        };
        let exit = ran.fold(own, |worst, line| {
            worst.worse(Exit::from_code(line.exit_code))
        });
        let stopped = (own == Exit::Interrupted).then(|| "interrupted".to_owned());
        let path = self.record.path().to_owned();
        let written = self.record.append(&EndLine {
            ended_utc: Clock::now().utc(),
            exit_code: exit.code(),
            error: ended
                .as_ref()
                .err()
                .map(|error| format!("{error:#}"))
                .or(stopped),
            // They are of the cells' own runs.
            trials: 0,
            queries: None,
            route_changes: None,
            other: mpps_record::Other::new(),
        });
        tell_ended(&path, self.record.run())?;
        if own == Exit::Interrupted {
            terminal::error(interrupted(exit));
        }
        if !plan
            .cells
            .iter()
            .all(|cell| self.begun.is_done(cell, false))
        {
            let quick = if args.quick { " --quick" } else { "" };
            let changes = match args.allow_system_changes {
                true => " --allow-system-changes",
                false => "",
            };
            let [named, path] = [args.plan.as_str(), &path.to_string_lossy()].map(quoted);
            let command = format!("mpps campaign run {named}{quick}{changes} --record {path}");
            terminal::out(&format!("go on with: {command}\n"));
        }
        ended?;
        written.with_context(|| self.record.not_written())?;
        Ok(exit)
    }
}

/// What an interrupt left of the cells' beds, by the gravest end of a cell.
const fn interrupted(worst: Exit) -> &'static str {
    match worst {
        Exit::NotRestored => "interrupted: a cell could not restore the host (run mpps recover)",
        _ => "interrupted: the bed is gone",
    }
}

/// Says what the campaign of this run came to, when it has just ended, and where the rest is.
///
/// # Errors
/// Its record cannot be read.
fn tell_ended(path: &Path, run: &str) -> Result<()> {
    let records = read_file(path)?;
    let all: Vec<&Run> = records.runs.iter().collect();
    let mut campaigns = CampaignRun::each(&all).into_iter();
    let campaign = campaigns.find(|campaign| campaign.run.name == run);
    let campaign = campaign.with_context(|| format!("{} lacks run {run}", path.display()))?;
    let place = path.display();
    let text = terminal::campaign_ended(&campaign);
    let text = format!("{text}\nrecord: {place}\n`mpps report {place}` makes a page of it\n");
    terminal::out(&terminal::fitted(&text));
    Ok(())
}

/// A cell's line before it ran.
fn line(cell: &Cell) -> Result<CellLine> {
    Ok(CellLine {
        cell: cell.id.get_ref().clone(),
        title: cell.title.get_ref().clone(),
        published: cell.published(),
        factors: cell.recorded_factors(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_is_not_restored_has_a_bed_left() {
        for exit in [Exit::Interrupted, Exit::NotRestored] {
            let is_gone = interrupted(exit).contains("the bed is gone");
            assert_eq!(is_gone, exit == Exit::Interrupted, "{exit:?}");
        }
    }
}
