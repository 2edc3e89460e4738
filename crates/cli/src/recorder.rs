//! Between the job and the outside: each line goes into the record first, then to the run in memory and the terminal.

use crate::beside::Beside;
use crate::exit::Exit;
use crate::record::{Clock, Record};
use crate::terminal::grouped;
use crate::terminal::progress::Progress;
use anyhow::{Context, Error, Result};
use mpps_lab::clock::monotonic_ns;
use mpps_lab::fib::CountedBack;
use mpps_lab::jobs::fib_scale::{Point, ScaleObserver};
use mpps_lab::jobs::{Observer, Report, ResultObserver, SearchedRate};
use mpps_lab::line;
use mpps_method::Span;
use mpps_record::{
    Answer, Body, Doubt, EndLine, Other, Queries, RouteChanges, Run, RunLine, TrialLine,
};
use std::io;

/// Writes the record, and keeps the run for the result.
pub struct Recorder {
    record: Record,
    run: Run,
    progress: Progress,
    beside: Option<Beside>,
    /// When the first line was written.
    begun_ns: u64,
    trials: u32,
    /// Management queries of all trials.
    queries: Option<Queries>,
    /// The variant of the router that the next trials are of.
    variant: Option<String>,
    route_changes: Option<RouteChanges>,
    searched: Option<SearchedRate>,
}

impl Recorder {
    /// Before the first line.
    pub fn new(record: Record, progress: Progress) -> Self {
        Self {
            run: Run::new(record.run()),
            record,
            progress,
            beside: None,
            begun_ns: monotonic_ns(),
            trials: 0,
            variant: None,
            queries: None,
            route_changes: None,
            searched: None,
        }
    }

    /// The record.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// The run so far, whether or not all of it could be written.
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// The run, to add lines that are shown and not recorded.
    pub const fn run_mut(&mut self) -> &mut Run {
        &mut self.run
    }

    /// From now on results have the doubts that the host and its other runs raise.
    pub fn doubt_beside(&mut self, beside: Beside) {
        self.beside = Some(beside);
    }

    /// The doubts that the host and its other runs raise now.
    fn doubts(&self) -> Vec<Doubt> {
        let doubts = self.beside.as_ref().map(Beside::doubts);
        line::doubts(&doubts.unwrap_or_default())
    }

    /// Writes a line. It is part of the result even where the disk is full.
    ///
    /// # Errors
    /// The record could not be written.
    pub fn append<T: Body>(&mut self, line: T) -> io::Result<()> {
        let written = self.record.append(&line);
        if T::KIND == RunLine::KIND {
            self.begun_ns = monotonic_ns();
        }
        self.run.add(line);
        written
    }

    /// As `append`, with the remedy.
    pub fn write<T: Body>(&mut self, line: T) -> Result<()> {
        let written = self.append(line);
        written.with_context(|| self.record.not_written())
    }

    /// Writes a trial that another build made for this variant, with the next number, which is returned.
    pub fn write_trial_of(&mut self, variant: &str, line: TrialLine) -> Result<u32> {
        self.trials += 1;
        let line = TrialLine {
            trial: self.trials,
            variant: Some(variant.to_owned()),
            // Since the first line of another record.
            begun_after_ns: None,
            ..line
        };
        self.add_route_changes(&line);
        self.write(line)?;
        Ok(self.trials)
    }

    /// Writes the last line: nothing more is measured. What follows on the terminal is the result.
    ///
    /// # Errors
    /// The record could not be written.
    pub fn end(&mut self, exit: Exit, error: Option<&Error>) -> Result<()> {
        let written = self.write(EndLine {
            ended_utc: Clock::now().utc(),
            exit_code: exit.code(),
            error: error.map(|error| format!("{error:#}")),
            trials: self.trials,
            queries: self.queries,
            route_changes: self.route_changes,
            other: Other::new(),
        });
        self.progress.end();
        written
    }

    /// Shows a step that is no trial.
    pub fn step(&self, what: &str) {
        self.progress.step(what);
    }

    /// A part of a run of several begins: its words stand before its progress.
    pub fn part_begins(&mut self, words: &str) {
        self.progress.part(words);
    }

    /// The router's routes were counted back after changes.
    pub fn show_counted_back(&self, counted: CountedBack) {
        self.step(&format!(
            "routes after the changes: {}, counted back as the changes left them; the file was begun {} times",
            grouped(counted.routes),
            counted.rounds
        ));
    }

    /// Keeps what a search found, unless there is one already, because other parts of a suite go by it.
    pub fn found(&mut self, searched: Option<SearchedRate>) {
        self.searched = self.searched.or(searched);
    }

    /// What the first search found since this was asked last.
    pub const fn take_found(&mut self) -> Option<SearchedRate> {
        self.searched.take()
    }

    fn add_route_changes(&mut self, line: &TrialLine) {
        if let Some(made) = &line.route_changes {
            self.route_changes.get_or_insert_default().add(made);
        }
    }

    /// Whether the result shows trials one by one: those at given loads. The others would only take memory.
    fn shows_trials(&self) -> bool {
        let begin = self.run.begin.as_ref();
        begin.is_some_and(|begin| begin.plan.fixed.is_some())
    }
}

impl Observer for Recorder {
    fn last_number(&self) -> u32 {
        self.trials
    }

    fn trial(&mut self, report: &Report<'_>) -> io::Result<()> {
        self.trials = report.number;
        let begun = report.trial.begun.map(Span::as_nanos);
        let line = TrialLine {
            begun_after_ns: begun.map(|begun_ns| begun_ns.saturating_sub(self.begun_ns)),
            variant: self.variant.clone(),
            ..line::trial(report)
        };
        self.add_route_changes(&line);
        if let Some(queries) = line.queries {
            let sum = self.queries.get_or_insert_default();
            sum.asked += queries.asked;
            sum.answered += queries.answered;
        }
        let written = self.record.append(&line);
        if self.shows_trials() {
            self.run.add(line);
        }
        written?;
        self.progress.trial(self.trials, report);
        Ok(())
    }

    fn size_begins(&mut self, budget: Option<Span>) {
        self.progress.begin(budget);
    }

    fn turn_begins(&mut self, variant: &str) {
        self.variant = Some(variant.to_owned());
        self.progress.turn(variant);
    }
}

impl<L: Answer> ResultObserver<L> for Recorder {
    fn result(&mut self, line: &L) -> io::Result<()> {
        let mut line = line.clone();
        line.add_doubts(&self.doubts());
        self.append(line)
    }
}

impl ScaleObserver for Recorder {
    fn point_begins(&mut self, point: Point) {
        self.step(&format!(
            "{}: {} routes, up to {} destinations",
            point.series.name(),
            grouped(point.routes as u64),
            grouped(point.destinations)
        ));
    }

    fn counted_back(&mut self, counted: CountedBack) {
        self.show_counted_back(counted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_lab::jobs::Phase;
    use mpps_method::{FrameSpec, Offer, Rate, Trial, Verdict};
    use mpps_record::LoadLine;

    #[test]
    fn the_first_rate_found_is_kept() {
        let record = Record::open("/dev/full".as_ref(), "run").expect("open");
        let mut recorder = Recorder::new(record, Progress::new(true, false));
        let found = |fps| SearchedRate {
            rate: Rate::from_fps(fps),
            may_be_higher: false,
            receiver: None,
            forwards_at_most: None,
            ceiling: Rate::from_fps(9e6),
            forwards_at_ceiling: None,
        };
        for searched in [None, Some(found(1e6)), None, Some(found(2e6))] {
            recorder.found(searched);
        }
        let kept = recorder.take_found().map(|found| found.rate);
        assert_eq!(kept, Some(Rate::from_fps(1e6)));
        assert!(recorder.take_found().is_none());
    }

    /// Every write to `/dev/full` fails with ENOSPC.
    #[test]
    fn a_full_disk_takes_no_result_away() {
        let record = Record::open("/dev/full".as_ref(), "run").expect("open");
        let mut recorder = Recorder::new(record, Progress::new(true, false));
        let line = |load: &str| LoadLine {
            load: load.to_owned(),
            ..LoadLine::default()
        };
        for load in ["1k", "2k"] {
            let error = recorder.result(&line(load)).expect_err("full");
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
        let loads: Vec<&str> = (recorder.run().loads.iter())
            .map(|line| line.load.as_str())
            .collect();
        assert_eq!(loads, ["1k", "2k"]);
    }

    #[test]
    fn a_trial_names_the_variant_whose_turn_it_is() {
        let name = format!("mpps-turns-{}.jsonl", std::process::id());
        let path = std::env::temp_dir().join(name);
        let record = Record::open(&path, "run").expect("open");
        let mut recorder = Recorder::new(record, Progress::new(true, false));
        let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
        for (number, variant) in (1..).zip([None, Some("none"), Some("rules")]) {
            if let Some(variant) = variant {
                recorder.turn_begins(variant);
            }
            let report = Report {
                number,
                frames: &frames,
                phase: Phase::Overload,
                offer: Offer {
                    rate: Rate::from_fps(1e6),
                    duration: Span::from_millis(1),
                },
                trial: &Trial::default(),
                verdict: &Verdict::Lossless,
            };
            recorder.trial(&report).expect("recorded");
        }
        let read = mpps_record::read_file(&path).expect("a record");
        let variants = read.runs[0]
            .trials
            .iter()
            .map(|line| line.variant.as_deref());
        assert!(variants.eq([None, Some("none"), Some("rules")]));
        std::fs::remove_file(path).expect("tidy up");
    }

    #[test]
    fn trials_begin_after_the_first_line() {
        let path = std::env::temp_dir().join(format!("mpps-recorder-{}.jsonl", std::process::id()));
        let record = Record::open(&path, "run").expect("open");
        let mut recorder = Recorder::new(record, Progress::new(true, false));
        let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
        for (number, begun) in (1..).zip([None, Some(5)]) {
            let begun = begun.map(|after_ns| Span::from_nanos(recorder.begun_ns + after_ns));
            let report = Report {
                number,
                frames: &frames,
                phase: Phase::Search,
                offer: Offer {
                    rate: Rate::from_fps(1e6),
                    duration: Span::from_millis(1),
                },
                trial: &Trial {
                    begun,
                    ..Trial::default()
                },
                verdict: &Verdict::Lossless,
            };
            recorder.trial(&report).expect("recorded");
        }
        assert_eq!(recorder.trials, 2);
        let read = mpps_record::read_file(&path).expect("a record");
        let begun = read.runs[0].trials.iter().map(|line| line.begun_after_ns);
        assert!(begun.eq([None, Some(5)]), "since the first line");
        std::fs::remove_file(path).expect("tidy up");
    }
}
