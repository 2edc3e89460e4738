//! The recoveries of `mpps recovery`: a sentence for each frame size, then its trials.

use super::doubts::{Doubted, SIZES};
use super::{grouped, part};
use crate::exit::Exit;
use crate::outcome::Outcome;
use mpps_record::{Recovered, RecoveryLine, RecoveryTrial, Run};
use mpps_report::{number, sentence};
use std::fmt::Write;

const HEAD: &str = "trial;result;recovery;lost;verdict";

impl Outcome for Vec<RecoveryLine> {
    /// All frame sizes, under the machine they were measured on, then the doubts.
    fn text(&self, machine: &str, verbose: bool) -> String {
        let mut text = "System recovery (RFC 2544 section 26.5)".to_owned();
        text.extend(self.first().map(loads));
        let _ = writeln!(text, "\n\n{machine}");
        for size in self {
            let _ = writeln!(text, "\n{}.", sentence::recovery(size));
            text += &part("", HEAD, size.trials.iter().map(row), &[1, 4]);
            text += &remarks(size.trials.iter(), size.why.as_ref(), verbose);
        }
        text + &Doubted::new(SIZES, self).lines(verbose)
    }

    /// One trial that says something is enough.
    fn exit(&self, _: &Run) -> Exit {
        let says = |trial: &RecoveryTrial| trial.recovered != Recovered::NotMeasured;
        Exit::from_each(self.iter().map(|size| size.trials.iter().any(says)))
    }
}

/// How long each load lasts.
fn loads(size: &RecoveryLine) -> String {
    let [overload, after] = [size.overload_ns, size.after_ns].map(|ns| number::time(ns as f64));
    format!(": {overload} of overload, then {after} of half of it")
}

fn row(trial: &RecoveryTrial) -> [String; 5] {
    let time = trial.recovery_ns;
    [
        trial.trial.to_string(),
        trial.recovered.to_string(),
        time.map_or("-".to_owned(), |ns| number::time(ns as f64)),
        grouped(trial.lost_frames),
        trial.verdict.to_string(),
    ]
}

/// What a table of trials has to be read with. Why a trial says nothing is long, so only details have it.
pub(super) fn remarks<'a>(
    trials: impl Iterator<Item = &'a RecoveryTrial>,
    why: Option<&String>,
    verbose: bool,
) -> String {
    let unsure = trials.filter(|trial| trial.recovered == Recovered::NotMeasured);
    let mut lines: Vec<String> = unsure
        .map(|trial| {
            let tries = number::plural(trial.void_trials as usize + 1, "trial");
            let last = if verbose {
                &trial.verdict_text
            } else {
                &trial.verdict.to_string()
            };
            format!("trial {}: {tries}, the last {last}", trial.trial)
        })
        .collect();
    if !verbose && !lines.is_empty() {
        lines.push("-v: why".to_owned());
    }
    lines.extend(why.map(|why| format!("cut short: {why}")));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{Other, Verdict};

    fn trial(number: u32, recovered: Recovered, recovery_ns: Option<u64>) -> RecoveryTrial {
        RecoveryTrial {
            trial: number,
            void_trials: 2,
            verdict: Verdict::Lossy,
            verdict_text: "lossy: 1 234 lost".to_owned(),
            recovered,
            recovery_ns,
            lost_frames: 1_234,
        }
    }

    fn told(trials: Vec<RecoveryTrial>, average_ns: Option<u64>) -> String {
        let size = RecoveryLine {
            frame: "64".to_owned(),
            receiver: None,
            throughput_fps: Some(1_600_000),
            overload_fps: Some(1_760_000),
            overload_ns: 2_000_000_000,
            after_ns: 2_000_000_000,
            trials,
            average_ns,
            why: None,
            doubts: Vec::new(),
            other: Other::new(),
        };
        vec![size].text("a machine", false)
    }

    #[test]
    fn the_time_is_the_average_and_each() {
        let after = |number, ns| trial(number, Recovered::Recovered, Some(ns));
        let text = told(
            vec![after(7, 10_000_000), after(8, 14_000_000)],
            Some(12_000_000),
        );
        let at_once = told(vec![after(7, 0), after(8, 0)], Some(0));
        let wanted = "64 B: recovered at once: after the overload had ended no loss counts \
                      (2 of 2 trials). The overload was 1.76M frames/s (110 % of the throughput).\n";
        assert!(at_once.contains(wanted), "{at_once}");
        for wanted in [
            "26.5): 2.00 s of overload, then 2.00 s of half of it\n\na machine\n",
            "64 B: recovered 12.0 ms after the overload had ended (10.0 ms to 14.0 ms in 2 of 2 trials). \
             The overload was 1.76M frames/s (110 % of the throughput).\n",
            "trial  result     recovery   lost  verdict\n    7  recovered   10.0 ms  1 234  lossy\n",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
    }

    #[test]
    fn what_is_no_recovery_is_a_sentence_of_its_own() {
        for (recovered, wanted) in [
            (
                Recovered::NotRecovered,
                "64 B: not recovered: at half of the overload, frames were lost",
            ),
            (
                Recovered::NotOverloaded,
                "64 B: no frame was lost at the overload, so there",
            ),
            (Recovered::NotMeasured, "64 B: recovery not measured.\n"),
            (
                Recovered::NotMeasured,
                "trial 7: 3 trials, the last lossy\n-v: why\n",
            ),
        ] {
            let text = told(vec![trial(7, recovered, None)], None);
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        let why = remarks([trial(7, Recovered::NotMeasured, None)].iter(), None, true);
        assert_eq!(why, "trial 7: 3 trials, the last lossy: 1 234 lost\n");
        assert!(told(Vec::new(), None).contains("64 B: recovery not measured.\n"));
    }
}
