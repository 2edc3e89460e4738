//! `mpps top`: a router at its work, live.

use crate::args::{TopArgs, top_intervals};
use crate::exit::Exit;
use crate::record::watched_line;
use crate::terminal;
use crate::terminal::top::{View, keys, picture};
use anyhow::{Context, Result, ensure};
use mpps_lab::interrupt;
use mpps_lab::observe::Observer;
use mpps_method::Span;
use mpps_record::ProfileLine;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::widgets::Paragraph;
use std::io::IsTerminal;
use std::time::Duration;

/// Columns of a picture that is no terminal's.
const WIDTH: usize = 80;
/// Between two looks at the keys while it is paused.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs the verb.
///
/// # Errors
/// A CPU is not there; there is no terminal; the kernel's counts cannot be read.
pub fn run(args: &TopArgs) -> Result<Exit> {
    interrupt::install()?;
    let observer = Observer::new(&args.cpus)?;
    let view = View {
        causes: args.causes,
        paused: false,
    };
    if args.json {
        while !interrupt::requested() {
            let look = look(&observer, args.interval, &mut || !interrupt::requested())?;
            terminal::out(&(serde_json::to_string(&look)? + "\n"));
            if terminal::lost_output().is_some() {
                break;
            }
        }
        return Ok(Exit::Measured);
    }
    if args.once {
        let look = look(&observer, args.interval, &mut || !interrupt::requested())?;
        for line in picture(&look, view, WIDTH, usize::MAX) {
            terminal::out(&format!("{}\n", line.to_string().trim_end()));
        }
        return Ok(Exit::Measured);
    }
    ensure!(
        std::io::stdout().is_terminal() && std::io::stdin().is_terminal(),
        "top needs a terminal; give --once or --json"
    );
    // A panic puts the terminal back too.
    let terminal = ratatui::try_init().context("take the terminal")?;
    let ended = Live {
        terminal,
        shown: None,
        view,
        interval: args.interval,
        goes_on: true,
    }
    .run(&observer);
    ratatui::restore();
    ended.map(|()| Exit::Measured)
}

/// One look as a line of a record, without its stacks.
fn look(observer: &Observer, time: Span, goes_on: &mut dyn FnMut() -> bool) -> Result<ProfileLine> {
    let observed = observer.observe(time, goes_on)?;
    Ok(ProfileLine {
        stacks: Vec::new(),
        ..watched_line(observer.cpus(), observed)
    })
}

/// A terminal with the last look.
struct Live {
    terminal: DefaultTerminal,
    shown: Option<ProfileLine>,
    view: View,
    interval: Span,
    goes_on: bool,
}

impl Live {
    fn run(mut self, observer: &Observer) -> Result<()> {
        self.draw()?;
        while self.goes_on() {
            if self.view.paused {
                if event::poll(PAUSE)? {
                    self.hear()?;
                }
                continue;
            }
            let (interval, mut failed) = (self.interval, None);
            let seen = look(observer, interval, &mut || {
                let heard = self.hear();
                let unchanged = heard.is_ok() && self.interval == interval && !self.view.paused;
                failed = heard.err();
                unchanged && self.goes_on()
            })?;
            failed.map_or(Ok(()), Err)?;
            // One that a key cut short tells little.
            if self.interval == interval && !self.view.paused && self.goes_on() {
                self.shown = Some(seen);
                self.draw()?;
            }
        }
        Ok(())
    }

    fn goes_on(&self) -> bool {
        self.goes_on && !interrupt::requested()
    }

    /// Takes what was typed, without waiting.
    fn hear(&mut self) -> Result<()> {
        while event::poll(Duration::ZERO)? {
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press => self.press(key),
                Event::Resize(..) => {}
                _ => continue,
            }
            self.draw()?;
        }
        Ok(())
    }

    fn press(&mut self, key: KeyEvent) {
        let times = |by: f64| {
            top_intervals(Span::from_nanos(
                (self.interval.as_nanos() as f64 * by) as u64,
            ))
        };
        match key.code {
            // In the terminal's raw mode it is a key and no signal.
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                self.goes_on = false
            }
            KeyCode::Char('q') | KeyCode::Esc => self.goes_on = false,
            KeyCode::Char('p') => self.view.paused = !self.view.paused,
            KeyCode::Char('s') => self.view.causes = !self.view.causes,
            KeyCode::Char('+') => self.interval = times(2.0),
            KeyCode::Char('-') => self.interval = times(0.5),
            _ => {}
        }
    }

    fn draw(&mut self) -> Result<()> {
        let (shown, view) = (self.shown.as_ref(), self.view);
        self.terminal.draw(|frame| {
            let area = frame.area();
            let (width, height) = (usize::from(area.width), usize::from(area.height));
            let lines = shown.map_or_else(
                || vec!["mpps top: the first picture comes after an interval".into()],
                |look| picture(look, view, width, height),
            );
            frame.render_widget(Paragraph::new(lines), area);
            let last = Rect {
                y: area.bottom().saturating_sub(1),
                height: area.height.min(1),
                ..area
            };
            frame.render_widget(Paragraph::new(keys()), last);
        })?;
        Ok(())
    }
}
