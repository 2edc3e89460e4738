//! Settings and set-up lines of a cell as a script for `--dut-setup`.

use super::Wrong;
use super::file::Text;
use crate::args::no_setting;
use crate::plan::BedChoice;
use crate::terminal;
use anyhow::Context;
use mpps_lab::bed::BedPlan;
use mpps_lab::tune::measurable::Unmeasured;
use mpps_lab::tune::scripted::{PORTS, Step, check_value, steps};
use mpps_method::tune::{CATALOGUE, Row, Scope, in_order};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What the router of a cell or variant is set up by.
#[derive(Clone, Copy)]
pub(super) struct SetUp<'a> {
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
            check_value(row, value)
                .map_err(|why| Wrong::new(id, format!("{name} = \"{value}\": {why}")))?;
        }
        Ok(())
    }

    /// The script: settings in the order of the catalogue, then the lines. It ends at the first that fails.
    pub(super) fn script(self, bed: &BedChoice) -> Result<String, Wrong> {
        let mut text = "#!/bin/sh\nset -e\n".to_owned();
        if let Some(first) = self.settings.keys().next() {
            let plan = own(bed).map_err(|why| Wrong::new(first, why))?;
            for row in in_order() {
                let Some((id, value)) = self.settings.get_key_value(row.id) else {
                    continue;
                };
                let steps = steps(row, value.get_ref(), &plan)
                    .map_err(|why| Wrong::new(id, refused(row, why)))?;
                for step in steps {
                    let command = match step {
                        Step::Run(command) => command.to_owned(),
                        Step::Write(setting, value) => terminal::setting_command(&setting, &value),
                    };
                    let _ = writeln!(text, "{}", named(command));
                }
            }
        }
        if let Some(lines) = self.lines {
            let _ = writeln!(text, "{}", lines.get_ref().trim());
        }
        Ok(text)
    }
}

/// Why a cell cannot have a setting, and what to do.
fn refused(row: &Row, why: Unmeasured) -> String {
    let why = match (row.scope, why) {
        (_, Unmeasured::Inert(why)) => format!("is inert here: {why}"),
        (Scope::Host | Scope::Cpu | Scope::Irq, Unmeasured::NotSwitched(_)) => {
            "holds for the whole machine, which a campaign does not change".to_owned()
        }
        (_, Unmeasured::NotSwitched(why)) => format!("cannot be set: {why}"),
    };
    let id = row.id;
    format!("{id} {why}: leave it out, or give the cell cannot = \"why\"")
}

/// A command with the ports as variables of the shell.
fn named(command: String) -> String {
    PORTS.iter().fold(command, |command, port| {
        command.replace(port, &format!("${port}"))
    })
}

/// The bed that a cell raises for itself.
fn own(bed: &BedChoice) -> anyhow::Result<BedPlan> {
    let wish = bed.own_router();
    let wish = wish.context("settings are of a router that the cell raises for itself")?;
    wish.on_this_machine()
}
