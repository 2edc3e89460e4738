//! Which settings a profile changes here, and which stay although other values are advised.

use super::network_manager::KEYFILE_END;
use super::undo::shown;
use super::{Place, Seen, Standing, State};
use mpps_linux::setting::{self, Setting};
use mpps_method::tune::{Kind, Profile, Row, Scope};

/// Which rows are wanted.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Only these; all where there are none.
    pub only: Vec<String>,
    /// None of these.
    pub except: Vec<String>,
    /// Those too that stop something while they change, although nothing names them.
    pub include_risky: bool,
}

/// A change that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Row of the catalogue.
    pub id: &'static str,
    /// What is set.
    pub setting: Setting,
    /// Its value now.
    pub now: String,
    /// The advised one.
    pub value: String,
}

/// A setting that holds something else than advised and stays so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Row of the catalogue.
    pub id: &'static str,
    /// Which of its places.
    pub place: String,
    /// Why.
    pub why: String,
}

/// A setting that another file sets to something else at boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtBoot {
    /// Row of the catalogue.
    pub id: &'static str,
    /// Which of its places.
    pub place: String,
    /// The other file.
    pub file: String,
    /// What it sets.
    pub value: String,
}

/// What there is to change, in the order of the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Changes.
    pub changes: Vec<Planned>,
    /// Settings that hold what is advised already: both values are that one.
    pub met: Vec<Planned>,
    /// What stays.
    pub left_out: Vec<LeftOut>,
    /// Settings among both that another file sets to something else at boot.
    pub at_boot: Vec<AtBoot>,
}

impl Plan {
    /// Everything that is other than advised, by how settings stand.
    #[must_use]
    pub fn new(standings: &[Standing], profile: Profile, choice: &Choice, is_host: bool) -> Self {
        let mut plan = Self::default();
        let names = |list: &[String], row: &Row| list.iter().any(|id| id == row.id);
        for one in standings {
            let is_named = names(&choice.only, one.row);
            if names(&choice.except, one.row) || !(choice.only.is_empty() || is_named) {
                continue;
            }
            let may_disrupt = is_named || choice.include_risky;
            let is_risky =
                (!one.row.disrupts.is_empty() && !may_disrupt).then_some(one.row.disrupts);
            for seen in &one.seen {
                let (Some(is_met), Some(now), Some(advised)) =
                    (seen.is_met, seen.now.known(), seen.advised.as_deref())
                else {
                    continue;
                };
                let setting = seen.place.setting();
                let setting =
                    setting.filter(|_| seen.fixed.is_none() && may_change(one.row, is_host));
                let planned = |setting, value: &str| Planned {
                    id: one.row.id,
                    setting,
                    now: now.clone(),
                    value: value.to_owned(),
                };
                // What other files of links set, our service sets again later.
                if let (Some(setting), Some((file, value))) = (&setting, &seen.at_boot)
                    && (setting.kind == setting::Kind::Sysctl || file.ends_with(KEYFILE_END))
                {
                    plan.at_boot.push(AtBoot {
                        id: one.row.id,
                        place: shown(setting),
                        file: file.clone(),
                        value: value.clone(),
                    });
                }
                match (setting, is_met) {
                    (Some(setting), true) => plan.met.push(planned(setting, now)),
                    (None, true) => {}
                    (Some(setting), false) if is_risky.is_none() => {
                        let value = advised.strip_prefix(">=").unwrap_or(advised);
                        plan.changes.push(planned(setting, value));
                    }
                    (setting, false) => plan.left_out.push(LeftOut {
                        id: one.row.id,
                        place: name(&seen.place),
                        why: match is_risky.filter(|_| setting.is_some()) {
                            Some(what) => {
                                format!("{what} (--include-risky, or --only {})", one.row.id)
                            }
                            None => why_not(seen, is_host),
                        },
                    }),
                }
            }
            if is_named && let Some(why) = unset(one, profile) {
                let place = one.seen.first().map(|seen| name(&seen.place));
                plan.left_out.push(LeftOut {
                    id: one.row.id,
                    place: place.unwrap_or_default(),
                    why,
                });
            }
        }
        plan
    }
}

/// Why a place keeps its value.
fn why_not(seen: &Seen, is_host: bool) -> String {
    match (seen.fixed, seen.place.kind) {
        (Some(fixed), _) => fixed.to_owned(),
        (None, Kind::Boot) => "set at boot".to_owned(),
        (None, Kind::Config) => "needs another kernel".to_owned(),
        (None, _) if !is_host => "holds for the whole machine".to_owned(),
        (None, _) => "mpps does not write it".to_owned(),
    }
}

/// A place's name, with the interface that it belongs to.
fn name(place: &Place) -> String {
    let setting = place.setting();
    setting.map_or_else(|| place.name(), |setting| shown(&setting))
}

/// Whether a row's settings may be changed where not all of the machine is ours.
pub(super) fn may_change(row: &Row, is_host: bool) -> bool {
    is_host || matches!(row.scope, Scope::Namespace | Scope::Interface)
}

/// Why there is nothing to do for a row that was asked for by its name.
fn unset(one: &Standing, profile: Profile) -> Option<String> {
    Some(match &one.state {
        State::AsAdvised => "as advised already".to_owned(),
        State::InWords => {
            let words = one.row.advice(profile).words.unwrap_or_default();
            format!("the advice is in words: {words}")
        }
        State::Unread => "mpps does not write it".to_owned(),
        State::NoAdvice => "no advice for this profile".to_owned(),
        State::NotHere(why) => why.clone(),
        State::Differs | State::Fixed(_) => return None,
    })
}
