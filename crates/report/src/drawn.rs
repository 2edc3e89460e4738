//! What a page draws of a part of a run: its plots, its results, and what its lines have below them.

use crate::answers;
use crate::chart::{Chart, ROWS_BRIEF, ROWS_LONG};
use crate::kind::{TrialPlot, kinds};
use crate::parts::Part;
use crate::plots;
use crate::room::Room;
use maud::{Markup, html};
use mpps_record::{Run, TrialLine};
use std::collections::HashSet;

/// Frame sizes that have plots of their own.
const FRAMES: usize = 12;

/// A part as it is drawn.
#[derive(Default)]
pub struct Drawn {
    heading: Option<String>,
    figures: Vec<Figure>,
    /// Frame sizes of its trials.
    frames: usize,
    below: Vec<Markup>,
}

/// A plot with its brief table, and the same with a longer one if there are more points.
struct Figure {
    brief: Markup,
    long: Option<Markup>,
}

impl Drawn {
    /// All of a part that has room.
    pub fn new(run: &Run, part: &Part<'_>, room: &mut Room) -> Self {
        let mut drawn = Self {
            heading: part.heading.clone(),
            ..Self::default()
        };
        if room.is_spent() {
            room.leave_out("the plots");
            return drawn;
        }
        if part.run.results.is_empty() || part.heading.is_some() {
            let table = answers::table(&part.run);
            let table = table.map(|table| {
                html! {
                    h3 { "Results" }
                    (table.markup(Some("sortable")))
                }
            });
            let table = table.and_then(|table| room.fit("the results", table));
            drawn.below.extend(table);
        }
        drawn.draw(run, part, room);
        for line in kinds(&part.run).iter().flat_map(|lines| lines.sections()) {
            drawn.below.extend(room.fit("the profiles", line));
        }
        drawn
    }

    fn draw(&mut self, run: &Run, part: &Part<'_>, room: &mut Room) {
        let Part {
            run: own, trials, ..
        } = part;
        // Each is drawn at once: a chart of 100 000 trials takes memory.
        let mut draw = |chart: Option<Chart>| {
            let Some(chart) = chart else { return };
            let brief = room.fit("some plots", chart.figure(ROWS_BRIEF));
            let long = || (chart.points() > ROWS_BRIEF).then(|| chart.figure(ROWS_LONG));
            self.figures.extend(brief.map(|brief| Figure {
                brief,
                long: long(),
            }));
        };
        let mut hidden = Vec::new();
        for lines in kinds(own).into_iter().filter(|lines| !lines.is_empty()) {
            lines.charts(run).into_iter().for_each(&mut draw);
            hidden.extend(lines.hidden_plots());
        }
        let frames = frames(trials);
        for frame in frames.iter().take(FRAMES) {
            if !hidden.contains(&TrialPlot::Search) {
                draw(plots::search(trials, &own.results, frame));
            }
            // Of other jobs the trials are those of several routers, or their plots are above.
            if !answers::is_answered(own) || !own.results.is_empty() {
                draw(plots::forwarding(trials, frame));
                draw(plots::loss(trials, frame));
            }
        }
        if !hidden.contains(&TrialPlot::Latency) {
            draw(plots::latency((trials, &own.results)));
            draw(plots::latency_histogram((trials, &own.results)));
        }
        self.frames = frames.len();
    }

    /// With the longer tables of its plots, as far as there is room.
    pub fn with_long_tables(mut self, room: &mut Room) -> Self {
        for Figure { brief, long } in &mut self.figures {
            let mut fits = |long: &Markup| room.take(long.0.len() - brief.0.len());
            if let Some(long) = long.take_if(|long| fits(long)) {
                *brief = long;
            }
        }
        self
    }

    /// As a page has it.
    pub fn markup(&self) -> Markup {
        html! {
            @if let Some(heading) = &self.heading { h3 { (heading) } }
            div.plots { @for figure in &self.figures { (figure.brief) } }
            @if self.frames > FRAMES {
                p.note {
                    "Of " (self.frames) " frame sizes the first " (FRAMES)
                    " have plots of their trials; the table has all."
                }
            }
            @for part in &self.below { (part) }
        }
    }
}

/// Frame sizes of the trials, in the order they came.
fn frames<'a>(trials: &[&'a TrialLine]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let frames = trials.iter().map(|trial| trial.frame.as_str());
    frames.filter(|frame| seen.insert(*frame)).collect()
}
