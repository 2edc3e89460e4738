//! Settings and set-up lines of a cell as a script for `--dut-setup`.

use super::Wrong;
use super::file::Text;
use crate::plan::{BedChoice, unmeasured_in_words};
use crate::terminal;
use crate::verbs::tune::no_setting;
use mpps_lab::bed::{BedPlan, DutPlan};
use mpps_lab::tune::scripted::{PORTS, Step, steps};
use mpps_method::tune::{CATALOGUE, in_order};
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

    /// Refuses settings that the catalogue does not have.
    pub(super) fn check(self) -> Result<(), Wrong> {
        let mut ids = self.settings.keys();
        let unknown = ids.find(|id| CATALOGUE.iter().all(|row| row.id != id.get_ref().as_str()));
        unknown.map_or(Ok(()), |id| Err(Wrong::of(id, no_setting(id.get_ref()))))
    }

    /// The script: settings in the order of the catalogue, then the lines. It ends at the first that fails.
    pub(super) fn script(self, bed: &BedChoice) -> Result<String, Wrong> {
        let mut text = "#!/bin/sh\nset -e\n".to_owned();
        if let Some(first) = self.settings.keys().next() {
            let plan = own(bed).map_err(|why| Wrong::of(first, why))?;
            for row in in_order() {
                let Some((id, value)) = self.settings.get_key_value(row.id) else {
                    continue;
                };
                let steps = steps(row, value.get_ref(), &plan).map_err(|why| {
                    let why = unmeasured_in_words(&why);
                    let why = format!("{id} cannot be tested here, because it {why}");
                    Wrong::of(
                        id,
                        why + ": leave it out, or mark the cell: cannot = \"why\"",
                    )
                })?;
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

/// A command with the ports as variables of the shell.
fn named(command: String) -> String {
    PORTS.iter().fold(command, |command, port| {
        command.replace(port, &format!("${port}"))
    })
}

/// The bed that a cell raises for itself.
fn own(bed: &BedChoice) -> anyhow::Result<BedPlan> {
    match bed {
        BedChoice::Own(wish) if matches!(wish.dut, DutPlan::Kernel) => wish.on_this_machine(),
        _ => anyhow::bail!("settings are of a router that the cell raises for itself"),
    }
}
