//! `mpps top`: a router at its work, live.

use crate::args::{TopArgs, top_intervals};
use crate::exit::Exit;
use crate::terminal::top::{Screen, picture, size};
use crate::terminal::{self, told};
use anyhow::{Result, ensure};
use mpps_lab::interrupt;
use mpps_lab::observe::Observer;
use mpps_method::Span;
use mpps_record::ProfileLine;
use mpps_report::column::On;
use mpps_report::watched;
use std::io::IsTerminal;

/// Ctrl-C, while keys are no signals.
const CTRL_C: u8 = 3;
const KEYS: &str = "q quit   p pause   s stages/causes   + - interval   ? keys";
/// The same with what each key does.
const KEYS_TOLD: &str =
    "q quit   p pause   s stages/causes   + double interval   - halve it   ? back";

/// Runs the verb.
///
/// # Errors
/// A CPU is not there; there is no terminal; the kernel's counts cannot be read.
pub fn run(args: &TopArgs) -> Result<Exit> {
    interrupt::install()?;
    let observer = Observer::new(&args.cpus)?;
    if args.once || args.json {
        return print(&observer, args);
    }
    ensure!(
        std::io::stdout().is_terminal() && std::io::stdin().is_terminal(),
        "top needs a terminal; give --once or --json"
    );
    let mut live = Live {
        screen: Screen::take()?,
        shown: None,
        size: size(),
        interval: args.interval,
        causes: false,
        is_paused: false,
        tells_keys: false,
        goes_on: true,
    };
    live.run(&observer).map(|()| Exit::Measured)
}

/// One page, or an object a line until Ctrl-C.
fn print(observer: &Observer, args: &TopArgs) -> Result<Exit> {
    loop {
        let line = look(observer, args.interval, &mut || !interrupt::requested())?;
        let watched = line.watched.as_ref();
        terminal::out(&match args.json {
            true => serde_json::to_string(&line)? + "\n",
            false => watched.map_or(String::new(), |watched| {
                told(&watched::told(&line, watched, On::Screen), true)
            }),
        });
        if args.once || interrupt::requested() || terminal::lost_output().is_some() {
            return Ok(Exit::Measured);
        }
    }
}

/// One look as a line of a record, without its stacks.
fn look(observer: &Observer, time: Span, goes_on: &mut dyn FnMut() -> bool) -> Result<ProfileLine> {
    Ok(ProfileLine {
        stacks: Vec::new(),
        ..observer.observe(time, goes_on)?
    })
}

/// The terminal with the last look.
struct Live {
    screen: Screen,
    shown: Option<ProfileLine>,
    size: (usize, usize),
    interval: Span,
    causes: bool,
    is_paused: bool,
    tells_keys: bool,
    goes_on: bool,
}

impl Live {
    fn run(&mut self, observer: &Observer) -> Result<()> {
        self.draw();
        while self.goes_on() {
            let (interval, mut heard) = (self.interval, Ok(()));
            let line = look(observer, interval, &mut || {
                heard = self.hear();
                heard.is_ok() && self.interval == interval && self.goes_on()
            })?;
            heard?;
            // One that a key cut short tells little.
            if self.interval == interval && !self.is_paused && self.goes_on() {
                self.shown = Some(line);
                self.draw();
            }
        }
        Ok(())
    }

    fn goes_on(&self) -> bool {
        self.goes_on && !interrupt::requested() && terminal::lost_output().is_none()
    }

    /// Does what was typed, and fits the picture to the terminal.
    fn hear(&mut self) -> Result<()> {
        let (keys, size) = (self.screen.keys()?, size());
        for key in &keys {
            let ns = self.interval.as_nanos();
            match key {
                b'q' | &CTRL_C => self.goes_on = false,
                b'p' => self.is_paused = !self.is_paused,
                b'?' | b'h' => self.tells_keys = !self.tells_keys,
                b's' => self.causes = !self.causes,
                b'+' => self.interval = top_intervals(Span::from_nanos(ns * 2)),
                b'-' => self.interval = top_intervals(Span::from_nanos(ns / 2)),
                _ => {}
            }
        }
        if size != self.size || !keys.is_empty() {
            self.size = size;
            self.draw();
        }
        Ok(())
    }

    fn draw(&self) {
        let (width, height) = self.size;
        let shown = self.shown.as_ref().map_or_else(
            || "mpps top: the first update comes after an interval\n".to_owned(),
            |line| picture(line, self.causes, (width, height.saturating_sub(1))),
        );
        let paused = if self.is_paused { "PAUSED   " } else { "" };
        let keys = match self.tells_keys {
            true => KEYS_TOLD.to_owned(),
            false => format!("{paused}{KEYS}   {}", self.interval),
        };
        let keys: String = keys.chars().take(width).collect();
        self.screen.draw(&(shown + &keys));
    }
}
