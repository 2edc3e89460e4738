//! Progress: one line a trial on stderr, as soon as the trial is over.

use crate::record::verdict_name;
use mpps_lab::jobs::{Phase, Report};
use mpps_method::{Span, Verdict};
use std::io::IsTerminal;

/// Narrower than this a line is not cut, for nothing would be left of it.
const NARROW: usize = 40;

/// Shows progress, or keeps quiet.
pub struct Progress {
    shown: bool,
    /// Columns of the terminal; `None` where stderr is a file: lines are whole there.
    width: Option<usize>,
}

impl Progress {
    /// On stderr, unless `quiet`.
    #[must_use]
    pub fn new(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let columns = terminal_size::terminal_size_of(std::io::stderr())
            .map(|(width, _)| usize::from(width.0));
        Self {
            shown: !quiet,
            width: columns.filter(|&width| terminal && width >= NARROW),
        }
    }

    /// A step that is no trial.
    pub fn step(&self, what: &str) {
        self.line(what);
    }

    /// A trial that has ended.
    pub fn trial(&self, number: u32, report: &Report<'_>) {
        if self.shown {
            self.line(&trial_line(number, report));
        }
    }

    fn line(&self, line: &str) {
        if self.shown {
            super::note(&cut(line, self.width));
        }
    }
}

/// Phase, load, length, verdict, loss and busy share, in columns.
fn trial_line(number: u32, report: &Report<'_>) -> String {
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
            trial.offered.to_string(),
            length.to_string()
        )
    };
    let busy = trial.busy_share().filter(|_| !burst && !cut_short);
    let busy = busy.map_or(String::new(), |busy| {
        format!("  DUT {:3.0} % busy", busy * 100.0)
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
    format!(
        "{number:>4}  {:<8} {:<8} {:>17}  {:<11}{busy}{what}",
        report.frames.to_string(),
        report.phase.name(),
        load,
        verdict_name(report.verdict),
    )
}

fn cut(line: &str, width: Option<usize>) -> String {
    match width {
        Some(width) if line.chars().count() > width => {
            let kept: String = line.chars().take(width - 3).collect();
            kept + "..."
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_method::{Counts, CpuBusy, Direction, FrameSpec, Offer, Rate, Trial};

    /// A tenth of a million frames, 1.2 % of them lost.
    fn line_of(phase: Phase) -> String {
        let counts = Counts {
            intended: 100_000,
            sent: 100_000,
            received: 98_800,
            lost: 1_200,
            ..Counts::default()
        };
        let trial = Trial {
            offered: Rate::from_fps(1_500_000.0),
            duration: Span::from_millis(1000),
            directions: vec![Direction {
                counts,
                ..Direction::default()
            }],
            busy: vec![CpuBusy {
                cpu: 1,
                run_ns: 770_000_000,
                wait_ns: 0,
            }],
            ..Trial::default()
        };
        let frames = FrameSpec::parse_list("64").expect("a size").remove(0);
        let offer = Offer {
            rate: trial.offered,
            duration: trial.duration,
        };
        let verdict = Verdict::Lossy { lost: 1_200 };
        let report = Report {
            frames: &frames,
            phase,
            offer,
            trial: &trial,
            verdict: &verdict,
        };
        trial_line(7, &report)
    }

    #[test]
    fn a_trial_is_one_line() {
        assert_eq!(
            line_of(Phase::Search),
            "   7  64       search   1.500 Mfps    1 s  lossy        DUT  77 % busy  1 200 lost (1.200 %)"
        );
    }

    #[test]
    fn a_burst_has_a_length_and_no_share_of_time() {
        assert_eq!(
            line_of(Phase::Burst),
            "   7  64       burst       100 000 frames  lossy        1 200 lost (1.200 %)"
        );
    }

    #[test]
    fn a_terminal_gets_lines_it_can_hold() {
        let long = "x".repeat(120);
        assert_eq!(cut(&long, Some(80)).chars().count(), 80);
        assert_eq!(cut(&long, None), long);
        assert_eq!(cut("short", Some(80)), "short");
    }
}
