//! The screen of `mpps top`: the tables of a look, as far as they fit, on the terminal's second screen.

use super::columns::shown;
use super::style::{LOSSY, bold, painted};
use super::wrap::wrap;
use anyhow::{Context, Result};
use mpps_record::ProfileLine;
use mpps_report::column::On;
use mpps_report::part_table::tables;
use mpps_report::profile::saturated;
use mpps_report::watched::{counts, remarks, sentences};
use nix::sys::termios::{self, InputFlags, LocalFlags, SetArg, SpecialCharacterIndices, Termios};
use std::io;
use std::sync::Mutex;

/// A table that is cut keeps so many lines: its head, a row, and how many are left out.
const LINES_MIN: usize = 3;
/// Second screen, no cursor; and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// To the first line; and what is right of the cursor, or below it, is cleared.
const HOME: &str = "\x1b[H";
const REST_OF_LINE: &str = "\x1b[K";
const REST: &str = "\x1b[J";

/// The settings of a terminal that is taken.
static TAKEN: Mutex<Option<Termios>> = Mutex::new(None);

/// The terminal, until this is dropped or the program panics.
pub struct Screen;

impl Screen {
    /// Takes it: no key is shown, and none is a signal.
    ///
    /// # Errors
    /// Standard input is no terminal.
    pub fn take() -> Result<Self> {
        let before = termios::tcgetattr(io::stdin()).context("read the terminal's settings")?;
        let mut raw = before.clone();
        raw.local_flags -= LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG;
        // Ctrl-S would stop all output, and with it this program, which then reads no key.
        raw.input_flags -= InputFlags::IXON;
        // A read returns at once.
        raw.control_chars[SpecialCharacterIndices::VMIN as usize] = 0;
        raw.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        if let Ok(mut taken) = TAKEN.lock() {
            *taken = Some(before);
        }
        let screen = Self;
        termios::tcsetattr(io::stdin(), SetArg::TCSANOW, &raw).context("set up the terminal")?;
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            told(panic);
        }));
        super::out(ENTER);
        Ok(screen)
    }

    /// What was typed since.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn keys(&self) -> Result<Vec<u8>> {
        let mut keys = [0; 64];
        let count = nix::unistd::read(io::stdin(), &mut keys).or_else(|error| match error {
            nix::Error::EINTR => Ok(0),
            error => Err(error),
        });
        Ok(keys[..count.context("read the terminal")?].to_vec())
    }

    /// Shows these lines in place of what was shown.
    pub fn draw(&self, text: &str) {
        let text = text.trim_end().replace('\n', &format!("{REST_OF_LINE}\n"));
        super::out(&format!("{HOME}{text}{REST_OF_LINE}{REST}"));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn give_back() {
    if let Some(before) = TAKEN.lock().ok().and_then(|mut taken| taken.take()) {
        super::out(LEAVE);
        // A terminal that is gone has no settings.
        let _ = termios::tcsetattr(io::stdin(), SetArg::TCSANOW, &before);
    }
}

/// Columns and lines of the terminal.
pub fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or((80, 24), |(width, height)| {
        (width.0.into(), height.0.into())
    })
}

/// A look in so many lines, by stage or by cause. What does not fit is said, or it is at the end.
pub fn picture(line: &ProfileLine, causes: bool, (width, height): (usize, usize)) -> String {
    let Some(watched) = &line.watched else {
        return String::new();
    };
    let [traffic, limit] = sentences(line, watched).map(|text| wrap(&(text + "."), width) + "\n");
    let parts = saturated(line).map_or(String::new(), |load| {
        shown(&tables(load, (None, None), On::Screen)[usize::from(causes)])
    });
    let fixed = [&traffic, &limit, &parts].map(|text| text.lines().count());
    let tables: Vec<String> = counts(watched, On::Screen).iter().map(shown).collect();
    let mut tables = cut(&tables, height.saturating_sub(fixed.iter().sum()));
    tables.push(parts.lines().map(str::to_owned).collect());
    let mut lines = vec![bold(&traffic)];
    lines.push(match line.limited_by {
        Some(_) => painted(LOSSY.bold(), &limit),
        None => limit,
    });
    for row in tables.iter().flat_map(|table| table.iter().enumerate()) {
        let text: String = row.1.chars().take(width).chain(['\n']).collect();
        lines.push(if row.0 == 0 { bold(&text) } else { text });
    }
    let remarks = remarks(line, watched);
    lines.extend(remarks.iter().map(|remark| wrap(remark, width) + "\n"));
    let text = lines.concat();
    text.split_inclusive('\n').take(height).collect()
}

/// Lines of the tables, the longest ones cut until all fit.
fn cut(tables: &[String], room: usize) -> Vec<Vec<String>> {
    let lines = |table: &String| table.lines().map(str::to_owned).collect();
    let whole: Vec<Vec<String>> = tables.iter().map(lines).collect();
    let mut shown = whole.clone();
    while shown.iter().map(Vec::len).sum::<usize>() > room {
        let longest = shown.iter_mut().max_by_key(|table| table.len());
        match longest.filter(|table| table.len() > LINES_MIN) {
            Some(table) => drop(table.pop()),
            None => break,
        }
    }
    for (table, whole) in shown.iter_mut().zip(&whole) {
        let left = whole.len() - table.len();
        if let Some(last) = table.last_mut().filter(|_| left > 0) {
            *last = format!("... and {} with less", left + 1);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{
        CpuLedger, Interval, PartCost, ProfiledLoad, Watched, WatchedCpu, WatchedLink,
    };
    use std::io::Read as _;

    /// A host with so many CPUs and interfaces, and ten parts of a frame's cost.
    fn look(cpus: usize, links: usize) -> ProfileLine {
        let cpu = |cpu| WatchedCpu {
            cpu,
            ledger: Some(CpuLedger {
                idle_share: 1.0 - cpu as f64 / 100.0,
                net_softirq_share: cpu as f64 / 100.0,
                ..CpuLedger::default()
            }),
            ..WatchedCpu::default()
        };
        let link = |number| WatchedLink {
            name: format!("eth{number}"),
            rx_frames: 1_270_000 + number,
            ..WatchedLink::default()
        };
        let part = |number: usize| PartCost {
            part: format!("part {number}"),
            ns: Interval {
                low: 50.0,
                median: 50.0,
                high: 50.0,
            },
            samples: 1,
            ..PartCost::default()
        };
        let parts: Vec<PartCost> = (0..10).map(part).collect();
        let mut load = ProfiledLoad {
            stages: parts.clone(),
            causes: parts[..3].to_vec(),
            ..ProfiledLoad::default()
        };
        load.frame_ns.median = 500.0;
        ProfileLine {
            watched: Some(Watched {
                time_ns: 1_000_000_000,
                share_of_stack: 1.0,
                cpus: (0..cpus).map(cpu).collect(),
                links: (0..links as u64).map(link).collect(),
                lacks: vec!["no samples: an example".to_owned()],
                ..Watched::default()
            }),
            loads: vec![load],
            ..ProfileLine::default()
        }
    }

    #[test]
    fn many_cpus_and_links_fit_80_by_24() {
        let shown = picture(&look(64, 40), false, (80, 24));
        assert!(shown.lines().count() <= 24, "{shown}");
        assert!(shown.lines().all(|line| line.len() <= 80), "{shown}");
        for part in [
            "\n 63 ",
            "... and 61",
            "eth39",
            "1.27M",
            "part 0",
            "part 9",
            "10 %",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn a_large_screen_leaves_nothing_out() {
        let shown = picture(&look(64, 40), false, (80, 200));
        for part in ["eth0 ", "part 9", "an example"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("... and"), "{shown}");
        let causes = picture(&look(64, 40), true, (80, 200));
        assert!(
            causes.contains("part 2") && !causes.contains("part 9"),
            "{causes}"
        );
    }
    /// The name of the test below, and what tells it to panic.
    const PANICS: &str = "terminal::top::tests::a_panic_is_told_on_the_first_screen";
    const PLANT: &str = "MPPS_TEST_PANIC";

    #[test]
    fn a_panic_is_told_on_the_first_screen() {
        if std::env::var_os(PLANT).is_some() {
            let _screen = Screen::take().expect("a terminal");
            panic!("planted");
        }
        let both = nix::pty::openpty(None, None).expect("a pseudo-terminal");
        let before = termios::tcgetattr(&both.slave).expect("its settings");
        let end = || std::fs::File::from(both.slave.try_clone().expect("a file"));
        let test = std::env::current_exe().expect("this program");
        let status = std::process::Command::new(test)
            .args([PANICS, "--exact", "--nocapture"])
            .env(PLANT, "1")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .status();
        assert!(!status.expect("this program").success());
        assert_eq!(termios::tcgetattr(&both.slave).ok(), Some(before));
        drop(both.slave);
        let mut text = Vec::new();
        // A read fails after the last of it.
        let _ = std::fs::File::from(both.master).read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
        assert!(at(ENTER) < at(LEAVE) && at(LEAVE) < at("planted"), "{text}");
    }
}
