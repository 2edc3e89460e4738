//! Cells in words: what they do, about how long they take, and all of a plan for `--dry-run`.

use super::{Begun, Campaign, Cell, Ready};
use crate::terminal;
use mpps_method::Span;
use mpps_report::quoted;

/// A cell with what it runs, or why it does not.
pub type Checked<'a> = (&'a Cell, Result<Ready, String>);

/// What a cell does, in words.
pub fn what(cell: &Cell, ready: &Ready) -> String {
    match ready.variants[..] {
        [] => format!("{}, {}", cell.verb(), cell.title),
        _ => format!("comparing {}", ready.variants.join(", ")),
    }
}

/// About how long cells take together.
pub fn about<'a>(cells: impl Iterator<Item = &'a Checked<'a>>) -> String {
    let ready = cells.flat_map(|(_, ready)| ready);
    time(ready.fold(Span::ZERO, |sum, ready| sum.plus(ready.about)))
}

/// A time in a few characters.
pub fn time(time: Span) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..100.0 => format!("{seconds:.0} s"),
        ..6000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// All cells in words, for `--dry-run`.
pub fn planned(plan: &Campaign, cells: &[Checked<'_>], begun: &Begun, scripts: bool) -> String {
    let fitted = |text: String| terminal::fitted(&text);
    let mut text = fitted(format!("{}: {}\n", plan.name, plan.title));
    let mut open = Vec::new();
    for checked in cells {
        let (cell, ready) = checked;
        let title = format!("\n{}: {}", cell.id, cell.title);
        let ready = match ready {
            Err(why) => {
                text += &fitted(format!("{title}\n    cannot be tested here: {why}\n"));
                continue;
            }
            Ok(_) if begun.is_done(cell, true) => {
                text += &fitted(format!("{title}\n    is measured already\n"));
                continue;
            }
            Ok(ready) => ready,
        };
        open.push(checked);
        let command: Vec<String> = ready.arguments.iter().map(|word| quoted(word)).collect();
        let (command, about) = (command.join(" "), time(ready.about));
        text += &fitted(format!("{title} (about {about})\n"));
        text += &format!("    mpps {command}\n");
        for line in cell.set_up_in_words() {
            text += &fitted(format!("    {line}\n"));
        }
        for level in cell
            .recorded_factors()
            .iter()
            .flat_map(|factor| &factor.levels)
        {
            let why = level.not_run.iter();
            let line = why.map(|why| format!("    {} cannot be tested here: {why}\n", level.name));
            text.extend(line.map(fitted));
        }
        for (path, script) in ready.scripts.iter().filter(|_| scripts) {
            let lines = script.lines().skip(2);
            text.extend(lines.map(|line| format!("    {}: {line}\n", path.display())));
        }
    }
    let (count, all, about) = (open.len(), cells.len(), about(open.into_iter()));
    text + &format!("\n{count} of {all} cells run, about {about}\n")
}
