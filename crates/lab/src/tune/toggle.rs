//! A setting of the catalogue as a switch of a bed: between what the bed has and one other level. What holds for the whole
//! machine is switched where the user allows it; the bed's journal has its value before.

use super::measurable::{Unmeasured, is_checked, is_of_machine, kernel_lacks, needs};
use super::place::{level_at, places_at};
use crate::bed::Bed;
use mpps_linux::netns::NetNs;
use mpps_linux::packet::{Filter, PacketSocket};
use mpps_linux::setting::{Setting, SettingChange};
use mpps_linux::spawn::{self, Terms};
use mpps_method::tune::{CATALOGUE, Profile, Row};
use std::process::Command;

/// Name of the switch that cannot act: a neighbour's time-out of the loopback interface, which no frame passes.
pub const PLACEBO: &str = "placebo";
const PLACEBO_SETTING: &str = "net/ipv4/neigh/lo/gc_stale_time";
const PLACEBO_LEVEL: &str = "61";
/// Before the name of a program that is not there.
const NO_TOOL: &str = "no ";
/// In place of a command: a packet socket at the incoming port, whose filter takes nothing.
pub(super) const TAP: &str = "tap";

/// Why there is no switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoToggle {
    /// The setting cannot be measured there.
    Unmeasured(Unmeasured),
    /// It was switched, and cannot be put back: the bed is another one now.
    Stays(String),
}

/// How the other level is made.
#[derive(Debug)]
enum Way {
    Values(Vec<SettingChange>),
    Commands { on: &'static str, off: &'static str },
    Tap(Option<PacketSocket>),
}

/// A switch of two levels: 0 is the one to go away from, 1 the other one, which is the advised one where one is advised.
#[derive(Debug)]
pub struct Toggle<'bed> {
    /// The setting's id.
    pub id: &'static str,
    /// What it is.
    pub name: &'static str,
    /// The level to go away from.
    pub from: String,
    /// The other one.
    pub to: String,
    /// The setting that is on at both levels.
    pub with: Option<&'static str>,
    /// What else it needs to act, which nobody checked.
    pub needs: &'static str,
    /// Whether the bed has `from`.
    bed_has_from: bool,
    is_changed: bool,
    /// Whether it holds for the whole machine.
    is_of_machine: bool,
    way: Way,
    /// The switch of `with`.
    around: Option<Box<Toggle<'bed>>>,
    bed: &'bed Bed,
}

impl<'bed> Toggle<'bed> {
    /// A setting on this bed, which stays as it is. Its other level was tried once.
    ///
    /// # Errors
    /// Why it cannot be switched here.
    pub fn new(row: &'static Row, bed: &'bed Bed) -> Result<Self, NoToggle> {
        let around = with(row).map(|other| Self::new(other, bed)).transpose()?;
        let is_made = around.is_some() || !row.bed_on.is_empty();
        let mut unchecked = needs(row);
        unchecked.retain(|need| !is_checked(need));
        let mut toggle = Self {
            id: row.id,
            name: row.name,
            from: String::new(),
            to: String::new(),
            with: (!row.bed_with.is_empty()).then_some(row.bed_with),
            needs: (unchecked.first().filter(|_| !is_made)).map_or("", |need| need),
            bed_has_from: true,
            is_changed: false,
            is_of_machine: is_of_machine(row),
            way: Way::Values(Vec::new()),
            around: around.map(Box::new),
            bed,
        };
        let tried = toggle.begin().and_then(|()| {
            toggle.choose(row)?;
            toggle.announce()?;
            toggle.change()
        });
        // What could not be made goes as well, as far as it was made.
        match (tried, toggle.leave()) {
            (Ok(()), Ok(())) => Ok(toggle),
            (Ok(()), Err(why)) => Err(NoToggle::Stays(why)),
            (Err(_), Err(why)) if matches!(toggle.way, Way::Values(_)) => Err(NoToggle::Stays(why)),
            // A command that undoes what was never made may fail.
            (Err(said), _) => Err(NoToggle::Unmeasured(match kernel_lacks(row) {
                Some(part) if !said.starts_with(NO_TOOL) => {
                    Unmeasured::Inert(format!("this kernel has no {part}"))
                }
                _ => Unmeasured::NotSwitched(said),
            })),
        }
    }

    /// A switch that cannot act.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn placebo(bed: &'bed Bed) -> Result<Self, String> {
        let setting = Setting::sysctl(PLACEBO_SETTING);
        let change = at_router(bed).and_then(|netns| {
            let change = netns.run(|| setting.change_to(PLACEBO_LEVEL));
            change.and_then(|change| change).map_err(words)
        });
        let change = change?;
        Ok(Self {
            id: PLACEBO,
            name: "A time-out of an interface without frames",
            from: change.before.clone(),
            to: change.value.clone(),
            with: None,
            needs: "",
            bed_has_from: true,
            is_changed: false,
            is_of_machine: false,
            way: Way::Values(vec![change]),
            around: None,
            bed,
        })
    }

    /// Finds out which levels there are.
    fn choose(&mut self, row: &'static Row) -> Result<(), String> {
        let advised = &row.advice(Profile::Router).values;
        let levels = row.levels();
        if let ([bare, made], Some([on, off])) = (&levels[..], commands(row)) {
            self.way = match on {
                TAP => Way::Tap(None),
                _ => Way::Commands { on, off },
            };
            self.bed_has_from = advised.first() != Some(bare);
            let [from, to] = match self.bed_has_from {
                true => [bare, made],
                false => [made, bare],
            };
            (self.from, self.to) = ((*from).to_owned(), (*to).to_owned());
            return Ok(());
        }
        let [inward, outward] = self.bed.dut().ports().ok_or("no ports of a router's")?;
        let ports = [inward.name.clone(), outward.name.clone()];
        let places = places_at(row, &ports, self.bed.plan());
        let read = || {
            let each = places.iter().map(|place| {
                let setting = place.setting().ok_or("nothing can switch it")?;
                let before = setting.read().map_err(words)?;
                let number = if advised.len() == 1 {
                    0
                } else {
                    place.template
                };
                let advised = advised
                    .get(number)
                    .map(|text| text.trim_start_matches(">="));
                Ok((setting, before, advised))
            });
            each.collect::<Result<Vec<_>, String>>()
        };
        let read = self.at_place(read)??;
        let holds = |level: &str| {
            let mut read = read.iter();
            read.all(|(setting, before, _)| setting.is_same(level, before))
        };
        self.bed_has_from = (read.iter()).any(|(setting, before, advised)| {
            advised.is_none_or(|to| !setting.is_same(to, before))
        });
        let levels = levels.into_iter();
        let mut levels = levels.map(|level| level_at(level, self.bed.plan()));
        let other = levels.find(|level| !holds(level));
        let value = |advised: Option<&'static str>| match self.bed_has_from {
            true => advised.or(other.as_deref()),
            false => other.as_deref(),
        };
        let changes = read.iter().map(|(setting, before, advised)| {
            let value = value(*advised).ok_or("the catalogue names no second level")?;
            let change = self.at_place(|| setting.clone().change_to(value))?;
            Ok((before.clone(), change.map_err(words)?))
        });
        let changes: Vec<(String, SettingChange)> = changes.collect::<Result<_, String>>()?;
        let [bare, made] = levels_of(&changes)?;
        (self.from, self.to) = match self.bed_has_from {
            true => (bare, made),
            false => (made, bare),
        };
        self.way = Way::Values(changes.into_iter().map(|(_, change)| change).collect());
        Ok(())
    }

    /// Does something where its values are: at the router, or here.
    fn at_place<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, String> {
        match self.is_of_machine {
            true => Ok(work()),
            false => at_router(self.bed)?.run(work).map_err(words),
        }
    }

    /// Has the values of a machine's setting put back after a crash. The namespace of a router goes with its bed.
    fn announce(&self) -> Result<(), String> {
        let changes: &[SettingChange] = match &self.way {
            Way::Values(changes) if self.is_of_machine => changes,
            _ => &[],
        };
        let mut changes = changes.iter().cloned();
        changes.try_for_each(|change| self.bed.announce(change).map_err(words))
    }

    /// Whether the bed has the second level.
    #[must_use]
    pub const fn bed_has_second(&self) -> bool {
        !self.bed_has_from
    }

    /// Exchanges its two levels; it is at the bed's own.
    pub const fn exchange(&mut self) {
        std::mem::swap(&mut self.from, &mut self.to);
        self.bed_has_from = !self.bed_has_from;
    }

    /// Begins a pair of trials: makes what it needs at both levels.
    ///
    /// # Errors
    /// What was refused.
    pub fn begin(&mut self) -> Result<(), String> {
        let Some(around) = &mut self.around else {
            return Ok(());
        };
        around.begin().and_then(|()| around.change())
    }

    /// Makes the first or the second level.
    ///
    /// # Errors
    /// What was refused.
    pub fn set(&mut self, is_second: bool) -> Result<(), String> {
        match (is_second == self.bed_has_from, self.is_changed) {
            (true, false) => self.change(),
            (false, true) => self.restore(),
            _ => Ok(()),
        }
    }

    /// Ends a pair of trials: the bed is as it was.
    ///
    /// # Errors
    /// What was refused.
    pub fn leave(&mut self) -> Result<(), String> {
        let restored = self.set(self.bed_has_second());
        let around = self.around.as_mut().map_or(Ok(()), |around| around.leave());
        restored.and(around)
    }

    fn change(&mut self) -> Result<(), String> {
        // A part of it may be made where the rest is refused.
        self.is_changed = true;
        match &mut self.way {
            Way::Commands { on, .. } => run(self.bed, on),
            Way::Tap(tap) => {
                let [inward, _] = self.bed.dut().ports().ok_or("no ports of a router's")?;
                let open = || PacketSocket::open(&inward.name, &Filter::first_octets(0), &[]);
                let opened = at_router(self.bed)?.run(open);
                *tap = Some(opened.and_then(|opened| opened).map_err(words)?);
                Ok(())
            }
            Way::Values(changes) => {
                let changes = changes.clone();
                let apply = || changes.iter().try_for_each(SettingChange::apply);
                self.at_place(apply)?.map_err(words)
            }
        }
    }

    /// A failed undo stays marked, so that `leave` tries again and reports it.
    fn restore(&mut self) -> Result<(), String> {
        let restored = match &mut self.way {
            Way::Commands { off, .. } => run(self.bed, off),
            Way::Tap(tap) => {
                *tap = None;
                Ok(())
            }
            Way::Values(changes) => {
                // One place that refuses keeps no other from being put back.
                let mut all = Ok(());
                for change in changes.iter().rev() {
                    all = all.and(change.revert().map(drop).map_err(words));
                }
                all
            }
        };
        self.is_changed = restored.is_err();
        restored
    }
}

/// What the bed has and the other level, where they differ: a setting may have several places, and some hold the other
/// level already. Places that differ among themselves are all named: `1/2`.
fn levels_of(changes: &[(String, SettingChange)]) -> Result<[String; 2], String> {
    let mut levels: [Vec<&str>; 2] = [Vec::new(), Vec::new()];
    let differs = |(before, change): &&(String, SettingChange)| {
        !change.setting.is_same(&change.value, before)
    };
    for (before, change) in changes.iter().filter(differs) {
        for (level, value) in levels.iter_mut().zip([before, &change.value]) {
            if !level.contains(&value.as_str()) {
                level.push(value);
            }
        }
    }
    match levels[0].is_empty() {
        true => Err("it has no place here that changes".to_owned()),
        false => Ok(levels.map(|level| level.join("/"))),
    }
}

/// The setting that has to be on at both levels.
pub fn with(row: &Row) -> Option<&'static Row> {
    CATALOGUE.iter().find(|other| other.id == row.bed_with)
}

pub(super) fn commands(row: &Row) -> Option<[&'static str; 2]> {
    (!row.bed_on.is_empty()).then_some([row.bed_on, row.bed_off])
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn at_router(bed: &Bed) -> Result<&NetNs, String> {
    let netns = bed.dut().netns();
    netns.ok_or_else(|| "an external device has settings of its own".to_owned())
}

/// Runs a command of the catalogue at the router.
fn run(bed: &Bed, text: &str) -> Result<(), String> {
    let mut command = Command::new("/bin/sh");
    command.args(["-ec", text]);
    for (name, port) in ["MPPS_DUT_IN", "MPPS_DUT_OUT"]
        .iter()
        .zip(bed.dut().ports().into_iter().flatten())
    {
        command.env(name, &port.name);
    }
    let output = spawn::output(command, at_router(bed)?, Terms::default()).map_err(words)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("its command failed");
    Err(missing(said).map_or_else(|| said.to_owned(), |tool| format!("{NO_TOOL}{tool}")))
}

/// The program that a shell did not find, by its complaint: `/bin/sh: 1: tc: not found`.
pub(super) fn missing(said: &str) -> Option<&str> {
    let said = said.strip_suffix(" not found")?;
    let said = said.strip_suffix(" command").unwrap_or(said);
    said.strip_suffix(':')?.rsplit(": ").next()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `rp_filter` as systemd leaves it: 0 of all interfaces, 2 of each.
    #[test]
    fn levels_are_those_of_a_place_that_changes() {
        let place = |name: &str, before: &str| {
            let change = SettingChange {
                setting: Setting::sysctl(format!("net.ipv4.conf.{name}.rp_filter")),
                netns: 1,
                cookie: None,
                before: before.to_owned(),
                value: "0".to_owned(),
            };
            (before.to_owned(), change)
        };
        let mixed = [place("all", "0"), place("mB", "2"), place("mC", "2")];
        assert_eq!(levels_of(&mixed), Ok(["2", "0"].map(str::to_owned)));
        let apart = [place("all", "1"), place("mB", "2"), place("mC", "2")];
        assert_eq!(levels_of(&apart), Ok(["1/2", "0"].map(str::to_owned)));
        assert!(levels_of(&mixed[..1]).is_err(), "nothing changes");
    }
}
