//! Progress on stderr. On a terminal it is one live line; in a file a line a phase; with `--verbose` a line a trial.

use super::bar::live;
use super::style;
use anstyle::Style;
use indicatif::ProgressBar;
use mpps_lab::jobs::{Phase, Report};
use mpps_lab::line;
use mpps_method::{Rate, Span, Verdict};
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Shows progress, or keeps quiet.
pub struct Progress {
    /// The live line; hidden where stderr is no terminal.
    line: ProgressBar,
    shown: Shown,
    size: Option<Size>,
    /// The variant of the router whose turn it is.
    turn: Option<String>,
    /// The part of `mpps rfc2544`; empty in other runs.
    part: String,
}

/// The phase of `mpps compare`.
const TURNS: &str = "turns";

/// What is shown beside the live line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// Nothing: `--quiet`, or a terminal, which has the live line.
    Nothing,
    /// A line a phase: stderr is a file.
    Phases,
    /// A line a trial: `--verbose`.
    Trials,
}

/// What is known of the frame size that is being measured.
#[derive(Clone, Debug)]
struct Size {
    begun: Instant,
    budget: Option<Duration>,
    phase: PhaseSeen,
    /// Time of all trials, and the disturbed part of it.
    tried: Duration,
    disturbed: Duration,
    /// Highest load that lost nothing.
    lossless: Option<Rate>,
    /// Lowest load that lost frames.
    lossy: Option<Rate>,
}

/// A phase so far; overload takes turns with a wire and is one phase with it.
#[derive(Clone, Debug, Default)]
struct PhaseSeen {
    frames: String,
    name: &'static str,
    trials: u32,
    void: u32,
}

impl Progress {
    /// On stderr.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let shown = match (quiet, verbose, terminal) {
            (true, ..) | (false, false, true) => Shown::Nothing,
            (false, true, _) => Shown::Trials,
            (false, false, false) => Shown::Phases,
        };
        Self {
            line: live(quiet, "{wide_msg}"),
            shown,
            size: None,
            turn: None,
            part: String::new(),
        }
    }

    /// A part of several begins.
    pub fn part(&mut self, words: &str) {
        self.end_phase();
        self.step(words);
        self.part = format!("{words}: ");
    }

    /// A frame size begins, for which there is so much time.
    pub fn begin(&mut self, budget: Option<Span>) {
        self.end_phase();
        let budget = budget.map(Span::as_duration);
        self.size = Some(Size::begin(budget));
    }

    /// A step that is no trial.
    pub fn step(&self, what: &str) {
        match self.shown {
            Shown::Nothing => self.line.set_message(what.to_owned()),
            Shown::Phases | Shown::Trials => self.print(what),
        }
    }

    /// The next trials are of this variant of the router. All turns together are one phase.
    pub fn turn(&mut self, variant: &str) {
        self.turn = Some(variant.to_owned());
    }

    /// A trial that has ended.
    pub fn trial(&mut self, number: u32, report: &Report<'_>) {
        let frames = report.frames.to_string();
        let known = self.size.as_ref().map(|size| &size.phase);
        let name = match self.turn {
            Some(_) => TURNS,
            None => phase(report.phase, known.map_or("", |known| known.name)),
        };
        if known.is_some_and(|known| known.name != name || known.frames != frames) {
            self.end_phase();
        }
        let size = self.size.get_or_insert_with(|| Size::begin(None));
        size.phase.frames = frames;
        size.phase.name = name;
        size.add(report);
        let mut live = self.part.clone() + &size.live(report.offer.rate);
        let mut line = trial_line(number, report, style::on_stderr());
        if let Some(variant) = &self.turn {
            let _ = write!(live, "  {variant}");
            let _ = write!(line, "  {variant}");
        }
        if self.shown == Shown::Trials {
            self.print(&line);
        }
        self.line.set_message(live);
        self.line.tick();
    }

    /// Nothing more is measured: the live line goes.
    pub fn end(&mut self) {
        self.end_phase();
        self.line.finish_and_clear();
    }

    fn end_phase(&mut self) {
        let Some(size) = self.size.as_mut().filter(|size| size.phase.trials > 0) else {
            return;
        };
        let ended = size.ended();
        size.phase = PhaseSeen::default();
        if self.shown == Shown::Phases {
            self.print(&ended);
        }
    }

    /// A line above the live one.
    fn print(&self, line: &str) {
        self.line.suspend(|| super::note(line));
    }
}

impl Size {
    fn begin(budget: Option<Duration>) -> Self {
        Self {
            begun: Instant::now(),
            budget,
            phase: PhaseSeen::default(),
            tried: Duration::ZERO,
            disturbed: Duration::ZERO,
            lossless: None,
            lossy: None,
        }
    }

    fn add(&mut self, report: &Report<'_>) {
        self.phase.trials += 1;
        self.tried += report.trial.duration.as_duration();
        self.disturbed += report.trial.disturbed.time.as_duration();
        // At overload the undisturbed windows of a trial count, whatever its verdict.
        if self.phase.name != Phase::Overload.name() && report.phase != Phase::Overload {
            self.phase.void += u32::from(matches!(report.verdict, Verdict::Void(_)));
        }
        if report.phase != Phase::Search {
            return;
        }
        let load = report.trial.offered;
        match report.verdict {
            Verdict::Lossless => {
                self.lossless = Some(self.lossless.map_or(load, |known| known.max(load)));
            }
            Verdict::Lossy { .. } => {
                self.lossy = Some(self.lossy.map_or(load, |known| known.min(load)));
            }
            Verdict::NotOffered(_) | Verdict::Invalid(_) | Verdict::Void(_) => {}
        }
    }

    /// `64  search  1.380 Mfps  lossless to 1.310 Mfps, lossy from 1.450 Mfps  12 % disturbed, 2 void  18 s left`
    fn live(&self, load: Rate) -> String {
        let PhaseSeen { frames, name, .. } = &self.phase;
        let mut text = format!("{frames}  {name}  {load}");
        let bounds = self.bounds();
        if !bounds.is_empty() {
            let _ = write!(text, "  {bounds}");
        }
        let disturbed = 100.0 * self.disturbed.as_secs_f64() / self.tried.as_secs_f64();
        if disturbed >= 0.5 {
            let _ = write!(text, "  {disturbed:.0} % disturbed");
        }
        if self.phase.void > 0 {
            let _ = write!(text, ", {} void", self.phase.void);
        }
        let spent = self.begun.elapsed();
        let _ = match self.budget {
            Some(budget) => write!(text, "  {} s left", budget.saturating_sub(spent).as_secs()),
            None => write!(text, "  {} s", spent.as_secs()),
        };
        text
    }

    /// `64: search: 12 trials, 2 void; lossless to 1.380 Mfps, lossy from 1.410 Mfps`
    fn ended(&self) -> String {
        let PhaseSeen {
            frames,
            name,
            trials,
            void,
        } = &self.phase;
        let many = if *trials == 1 { "trial" } else { "trials" };
        let mut text = format!("{frames}: {name}: {trials} {many}");
        if *void > 0 {
            let _ = write!(text, ", {void} void");
        }
        let bounds = self.bounds();
        if *name == Phase::Search.name() && !bounds.is_empty() {
            let _ = write!(text, "; {bounds}");
        }
        text
    }

    fn bounds(&self) -> String {
        let bound = |word: &str, rate: Option<Rate>| rate.map(|rate| format!("{word} {rate}"));
        let bounds = [
            bound("lossless to", self.lossless),
            bound("lossy from", self.lossy),
        ];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        bounds.join(", ")
    }
}

/// The phase that a trial belongs to. A wire beside a fixed load or a latency is part of that phase.
fn phase(phase: Phase, under_way: &'static str) -> &'static str {
    match phase {
        Phase::Wire
            if [Phase::Fixed, Phase::Latency]
                .map(Phase::name)
                .contains(&under_way) =>
        {
            under_way
        }
        Phase::Wire | Phase::Overload => Phase::Overload.name(),
        other => other.name(),
    }
}

/// Phase, load, length, verdict, loss and busy share, in columns.
fn trial_line(number: u32, report: &Report<'_>, colour: bool) -> String {
    let trial = report.trial;
    // A burst is a number of frames; the DUT still works on them when it is over, so that a share of its
    // time would be none. So it is with a trial that was cut short.
    let burst = report.phase == Phase::Burst;
    let cut_short = trial.cut_short_from.is_some();
    let length = if cut_short {
        Span::from_millis(trial.duration.as_nanos() / 1_000_000)
    } else {
        trial.duration
    };
    let load = if burst {
        format!("{} frames", super::grouped(trial.counts().intended))
    } else {
        format!(
            "{:>10} {:>6}",
            report.offer.rate.to_string(),
            length.to_string()
        )
    };
    let busy = trial.busiest_share().filter(|_| !burst && !cut_short);
    let busy = busy.map_or(String::new(), |busy| {
        let who = match report.phase {
            Phase::Wire => "wire",
            _ => "DUT",
        };
        format!("  {who} {:3.0} % busy", busy.min(1.0) * 100.0)
    });
    let what = match report.verdict {
        Verdict::Lossless => String::new(),
        Verdict::Lossy { lost } => {
            let ratio = trial.loss_ratio().unwrap_or_default() * 100.0;
            format!("  {} lost ({ratio:.3} %)", super::grouped(*lost))
        }
        Verdict::NotOffered(why) => format!("  {why}"),
        Verdict::Invalid(why) => format!("  {why}"),
        Verdict::Void(why) => format!("  {why}"),
    };
    let line = format!(
        "{number:>4}  {:<8} {:<8} {:>17}  {:<11}{busy}{what}",
        report.frames.to_string(),
        report.phase.name(),
        load,
        line::verdict(report.verdict),
    );
    let style = match report.verdict {
        Verdict::Lossy { .. } => style::LOSSY,
        Verdict::Void(_) => style::VOID,
        _ => Style::new(),
    };
    if colour {
        format!("{style}{line}{style:#}")
    } else {
        line
    }
}

#[cfg(test)]
mod tests;
