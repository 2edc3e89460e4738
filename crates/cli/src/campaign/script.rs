//! Settings and set-up lines of a cell as a script for `--dut-setup`.

use super::Wrong;
use super::bed::CellBed;
use super::file::Text;
use crate::args::no_setting;
use crate::terminal;
use anyhow::Context;
use mpps_lab::bed::BedPlan;
use mpps_lab::tune::measurable::{Ground, Unmeasured};
use mpps_lab::tune::scripted::{PORTS, Step, check_value, steps};
use mpps_lab::tune::toggle::with;
use mpps_method::tune::{CATALOGUE, Row, Scope, in_order};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::iter::successors;

/// What the router of a cell or variant is set up by.
#[derive(Clone, Copy)]
pub(super) struct SetUp<'a> {
    /// The cell's id.
    pub(super) cell: &'a str,
    pub(super) settings: &'a BTreeMap<Text, Text>,
    pub(super) lines: Option<&'a Text>,
}

impl SetUp<'_> {
    pub(super) fn is_empty(self) -> bool {
        self.settings.is_empty() && self.lines.is_none()
    }

    /// `rp_filter=1; conntrack=tracked; commands of setup`.
    pub(super) fn in_words(self) -> String {
        let settings = self.settings.iter();
        let settings = settings.map(|(id, value)| format!("{}={}", id.get_ref(), value.get_ref()));
        let lines = self.lines.map(|_| "commands of setup".to_owned());
        settings.chain(lines).collect::<Vec<_>>().join("; ")
    }

    /// Refuses settings and values that the catalogue does not have.
    pub(super) fn check(self) -> Result<(), Wrong> {
        for (id, value) in self.settings {
            let (name, value) = (id.get_ref().as_str(), value.get_ref());
            let row = CATALOGUE.iter().find(|row| row.id == name);
            let row = row.ok_or_else(|| Wrong::new(id, no_setting(name)))?;
            let wrong = |why| Wrong::new(id, format!("{name} = \"{value}\": {why}"));
            check_value(row, value).map_err(wrong)?;
            let levels = row
                .levels()
                .into_iter()
                .zip(row.beds().into_iter().flatten());
            if let Some((_, flags)) = levels.into_iter().find(|(level, _)| level == value) {
                let cell = self.cell;
                return Err(wrong(match flags {
                    "none" => format!("every bed has it: leave it out of cell {cell}"),
                    _ => format!("it is made with the bed: give cell {cell} flags = \"{flags}\""),
                }));
            }
            if let Some(other) = self.stops_beside(row, value) {
                let cell = self.cell;
                return Err(wrong(format!(
                    "the router forwards nothing with it and {other}: leave one of them out of cell {cell}"
                )));
            }
        }
        Ok(())
    }

    /// The script: settings in the order of the catalogue, but each behind what it acts on, then the lines. It ends at the
    /// first that fails.
    pub(super) fn script(self, on: &CellBed) -> Result<String, Wrong> {
        let mut text = "#!/bin/sh\nset -e\n".to_owned();
        if let Some(first) = self.settings.keys().next() {
            let bed = own(on).map_err(|why| Wrong::new(first, why))?;
            let at = Ground {
                bed: &bed,
                traffic: &on.traffic,
                receiver: on.receiver,
                is_named: true,
                allows_machine: false,
            };
            let mut rows = in_order();
            rows.sort_by_key(|row| successors(Some(*row), |row| with(row)).count());
            for row in rows {
                let Some((id, value)) = self.settings.get_key_value(row.id) else {
                    continue;
                };
                let steps = steps(row, value.get_ref(), &at);
                let steps = steps.and_then(|steps| self.check_beside(row).map(|()| steps));
                let steps = steps.map_err(|why| Wrong::new(id, self.refused(row, why)))?;
                for step in steps {
                    let _ = writeln!(text, "{}", command(step));
                }
            }
        }
        if let Some(lines) = self.lines {
            let _ = writeln!(text, "{}", lines.get_ref().trim());
        }
        Ok(text)
    }

    /// Another setting of the router, with its value, beside which it forwards nothing at this level.
    fn stops_beside(self, row: &Row, value: &str) -> Option<String> {
        let is_changed = |row: &Row, value: &str| {
            let level = row.levels().into_iter().next();
            value.split("; ").any(|value| Some(value) != level)
        };
        let mut others = self.settings.iter().filter(|_| is_changed(row, value));
        others.find_map(|(id, value)| {
            let other = CATALOGUE.iter().find(|other| other.id == id.get_ref())?;
            let stops = row.bed_not_with.contains(&other.id) && is_changed(other, value.get_ref());
            stops.then(|| format!("{} = \"{}\"", other.id, value.get_ref()))
        })
    }

    /// Refuses a setting without the one that it acts on.
    fn check_beside(self, row: &Row) -> Result<(), Unmeasured> {
        let Some(other) = with(row) else {
            return Ok(());
        };
        let made = other.levels().get(1).copied().unwrap_or_default();
        let beside = self.settings.get(other.id);
        // The lines run behind the settings, so they are too late for a command.
        let may_be_in_lines = self.lines.is_some() && row.bed_on.is_empty();
        match may_be_in_lines || beside.is_some_and(|value| value.get_ref() == made) {
            true => Ok(()),
            false => Err(Unmeasured::Inert(format!(
                "needs {} = \"{made}\" beside it",
                other.id
            ))),
        }
    }

    /// Why the cell cannot have a setting, and what to do.
    fn refused(self, row: &Row, why: Unmeasured) -> String {
        let why = match (row.scope, why) {
            (_, Unmeasured::Inert(why)) => format!("is inert here: {why}"),
            (Scope::Host | Scope::Cpu | Scope::Irq, Unmeasured::NotSwitched(_)) => {
                "holds for the whole machine, which a campaign does not change".to_owned()
            }
            (_, Unmeasured::NotSwitched(why)) => format!("cannot be set: {why}"),
        };
        let (id, cell) = (row.id, self.cell);
        format!("{id} {why}: leave it out, or give cell {cell} cannot = \"why\"")
    }
}

/// A step as a line of the script, with the ports as variables of the shell.
fn command(step: Step) -> String {
    match step {
        // The catalogue's commands have them so.
        Step::Run(command) => command.to_owned(),
        Step::Write(setting, value) => {
            let command = terminal::setting_command(&setting, &value);
            PORTS.iter().fold(command, |command, port| {
                command.replace(port, &format!("${port}"))
            })
        }
    }
}

/// The bed that a cell raises for itself.
fn own(on: &CellBed) -> anyhow::Result<BedPlan> {
    let wish = on.bed.own_router();
    let wish = wish.context("settings are of a router that the cell raises for itself")?;
    let mut bed = wish.on_this_machine()?;
    if let Some(cpus) = on.dut_cpus {
        bed.cpus.dut = (0..cpus).collect();
    }
    Ok(bed)
}

#[cfg(test)]
mod tests;
