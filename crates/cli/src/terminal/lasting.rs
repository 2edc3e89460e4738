//! The lasting overloads of `mpps loss --overload`: a sentence for each frame size, then its seconds.

use super::doubts::{Doubted, SIZES};
use super::{grouped, part};
use crate::exit::Exit;
use crate::outcome::{Outcome, machine, worst};
use mpps_record::{OverloadLine, OverloadSecond, Run, Verdict};
use mpps_report::number::{self, Known};
use mpps_report::sentence::{self, spread};
use std::fmt::Write;

const HEAD: &str = "seconds;offered;forwarded;lowest;highest;answered";
/// Rows that fit a screen: more seconds share a row.
const ROWS: usize = 12;

impl Outcome for Vec<OverloadLine> {
    /// Forwarding and answers by second.
    fn plot(&self, run: &Run) -> Option<String> {
        let (title, machine) = (overload_title(self.first()?), machine(run.begin.as_ref()?));
        Some(mpps_report::overload_picture(self, &[&title, &machine]))
    }

    /// All frame sizes, under the machine they were measured on, then the doubts.
    fn text(&self, machine: &str, verbose: bool) -> String {
        let mut text = self.first().map_or(String::new(), overload_title);
        let _ = writeln!(text, "\n\n{machine}");
        for size in self {
            let _ = writeln!(text, "\n{}.", sentence::overload(size));
            let each = match verbose {
                true => 1,
                false => size.seconds.len().div_ceil(ROWS).max(1),
            };
            let parts = (0..).zip(size.seconds.chunks(each));
            let rows = parts.filter_map(|(part, seconds)| row(part * each + 1, seconds));
            text += &part("", HEAD, rows, &[]);
            text += &remarks(size);
        }
        text + &Doubted::new(SIZES, self).lines(verbose)
    }

    /// What was forwarded in one undisturbed second is something.
    fn exit(&self, _: &Run) -> Exit {
        let exit = |size: &OverloadLine| match (&size.verdict, size.undisturbed().next()) {
            (Some(Verdict::Invalid), _) => Exit::Failed,
            (_, None) => Exit::Undecided,
            _ => Exit::Measured,
        };
        worst(self.iter().map(exit))
    }
}

/// What was measured, and how.
pub fn overload_title(size: &OverloadLine) -> String {
    let [lasts, after] = [size.asked_ns, size.after_ns].map(|ns| number::time(ns as f64));
    let load = match times(size) {
        Some(times) => format!("{times} times the maximum forwarding rate asked for"),
        None => "all that the tester can offer".to_owned(),
    };
    format!("Lasting overload: {lasts}, {load}, then {after} at half of its maximum")
}

/// How many times the maximum forwarding rate was asked for; `None`: all that the tester can.
fn times(size: &OverloadLine) -> Option<f64> {
    size.load.strip_suffix('x')?.parse().ok()
}

fn row(first: usize, seconds: &[OverloadSecond]) -> Option<[String; 6]> {
    let short = |fps: f64| Known::three(fps).short();
    let [forwarded, low, high] = spread(seconds, |second| second.forwarding_fps)?.map(short);
    let [offered, ..] = spread(seconds, |second| second.offered_fps)?;
    let sum =
        |count: fn(&OverloadSecond) -> Option<u64>| seconds.iter().map(count).sum::<Option<u64>>();
    let answers = sum(|second| second.answered).zip(sum(|second| second.asked));
    let disturbed = seconds.iter().all(OverloadSecond::is_disturbed);
    let last = first + seconds.len() - 1;
    let name = if last == first {
        first.to_string()
    } else {
        format!("{first}-{last}")
    };
    Some([
        if disturbed {
            format!("{name} (disturbed)")
        } else {
            name
        },
        short(offered),
        forwarded,
        low,
        high,
        answers.map_or("-".to_owned(), |(answered, asked)| {
            format!("{answered} of {asked}")
        }),
    ])
}

/// What the table has to be read with.
fn remarks(size: &OverloadLine) -> String {
    let mut lines = Vec::new();
    if let Some((number, verdict)) = size.trial.zip(size.verdict_text.as_ref()) {
        lines.push(format!("trial {number}, both loads: {verdict}"));
    }
    let lasted: u64 = size.seconds.iter().map(|second| second.length_ns).sum();
    let share = |ns: u64| number::percent(ns as f64 / lasted.max(1) as f64);
    if lasted > 0 {
        let answers = size.management.as_ref().map_or(String::new(), |path| {
            format!(", the answers {} of the router's", share(path.answering_ns))
        });
        let watching = share(size.watching_ns);
        lines.push(format!(
            "readings and questions took {watching} of the tester's CPU{answers}"
        ));
    }
    let rates = size.max_forwarding_fps.zip(size.overload_fps);
    if let (Some(times), Some((maximum, overload))) = (times(size), rates)
        && (overload as f64) < maximum as f64 * times * 0.99
    {
        let all = grouped(overload);
        lines.push(format!("the tester can offer at most {all} frames/s"));
    }
    lines.extend(size.why.as_ref().map(|why| format!("cut short: {why}")));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{Other, Recovered};

    #[test]
    fn many_seconds_share_a_row() {
        let second = |at: u64| OverloadSecond {
            length_ns: 1_000_000_000,
            offered_fps: 5_000_000,
            forwarding_fps: 1_400_000 + at * 20_000,
            asked: Some(10),
            answered: Some(10 - at % 2),
            ..OverloadSecond::default()
        };
        let mut size = OverloadLine {
            frame: "64".to_owned(),
            receiver: None,
            load: "5x".to_owned(),
            asked_ns: 24_000_000_000,
            after_ns: 24_000_000_000,
            max_forwarding_fps: Some(1_500_000),
            forwarding_at_most_fps: None,
            overload_fps: Some(5_000_000),
            after_fps: Some(750_000),
            seconds: (0..24).map(second).collect(),
            management: None,
            trial: Some(17),
            verdict: None,
            verdict_text: Some("lossy".to_owned()),
            recovered: Recovered::Recovered,
            recovery_ns: Some(0),
            max_forwarding_afterwards_fps: None,
            watching_ns: 24_000_000,
            why: None,
            doubts: Vec::new(),
            other: Other::new(),
        };
        let text = vec![size.clone()].text("a machine", false);
        for wanted in [
            "Lasting overload: 24.0 s, 5 times the maximum forwarding rate asked for, then 24.0 s at",
            "23-24    5.00M      1.85M   1.84M    1.86M  19 of 20\n",
            "the tester can offer at most 5 000 000 frames/s\n",
            "took 0.1 % of the tester's CPU\n",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        let each = vec![size.clone()].text("a machine", true);
        assert!(each.lines().count() == text.lines().count() + 12, "{each}");
        size.load = "max".to_owned();
        let title = "Lasting overload: 24.0 s, all that the tester can offer, then";
        let text = vec![size].text("a machine", false);
        assert!(
            text.starts_with(title) && !text.contains("at most"),
            "{text}"
        );
    }
}
