//! Settings of this machine beside the advice of the catalogue; [`Applying`] changes them.
//!
//! Where a setting lives is [`Place`], and [`Place::setting`] is what a change of it is written by.

mod apply;
mod boot_files;
mod guard;
mod layout;
mod link_files;
mod machine;
pub mod measurable;
mod network_manager;
mod objects;
pub mod persist;
mod place;
mod plan;
pub mod scripted;
pub mod toggle;
mod tuned;
mod undo;

pub use apply::{Applied, Applying, Site, TuneError};
pub use guard::{confirm, guard, revert};
pub use layout::{Layout, ROWS as LAYOUT_ROWS};
pub use machine::Machine;
pub use mpps_linux::setting::{Kind as Reached, Setting};
pub use network_manager::KEYFILE_END;
pub use place::{Place, places};
pub use plan::{AtBoot, Choice, LeftOut, Plan, Planned};
pub use undo::{Change, Held, is_journal, journal_of, shown};

use crate::facts::{self, Root};
use mpps_linux::links;
use mpps_linux::netns::{self, NetNs};
use mpps_method::tune::{Kind, Profile, Row};
use mpps_record::facts::{Facts, Reading};
use std::collections::BTreeSet;

/// Why a file of root's cannot be read.
const NEEDS_ROOT: &str = "needs root";

/// This machine's settings beside the advice for one profile.
#[derive(Debug)]
pub struct Survey {
    /// Whom the advice is for.
    pub profile: Profile,
    /// Interfaces that were looked at.
    pub interfaces: Vec<String>,
    /// Facts of the machine, for the head of a page.
    pub facts: Facts,
    /// Every setting of the catalogue, in the order in which settings are applied.
    pub standings: Vec<Standing>,
    /// Where queues of the interfaces should go.
    pub layout: Layout,
    /// Whether some profile of NetworkManager could not be read.
    pub hides_profiles: bool,
}

/// Reads them, of these interfaces; with none given, of those that have a device behind them.
///
/// # Errors
/// One of the interfaces is not there.
pub fn survey(profile: Profile, interfaces: &[String]) -> Result<Survey, NoInterface> {
    let read = |root: Root| {
        let machine = Machine::new(root, facts::gather(), interfaces)?;
        Ok(Survey {
            standings: machine.standings(profile),
            profile,
            hides_profiles: machine.hides_profiles(),
            layout: machine.layout,
            interfaces: machine.interfaces,
            facts: machine.facts,
        })
    };
    // The sysfs of /sys shows the interfaces of the namespace that it was mounted in. Only root can make another one.
    let netns = netns::own_inode().and_then(NetNs::find).ok().flatten();
    let shown = netns.map(|netns| netns.with_sysfs(|sys| read(Root::with_sysfs(sys))));
    match shown {
        Some(Ok(survey)) => survey,
        _ if shows_others(&Root::here()) => Err(NoInterface::Hidden),
        _ => read(Root::here()),
    }
}

/// Whether /sys has the interfaces of another network namespace than this one.
fn shows_others(root: &Root) -> bool {
    let own = links::list()
        .ok()
        .map(|links| links.into_iter().map(|link| link.name));
    let own = own.map(Iterator::collect::<BTreeSet<String>>);
    let shown = root.names("/sys/class/net").known().cloned();
    // bonding puts a file of its own among the interfaces.
    let shown = shown.map(|names| names.into_iter().filter(|name| name != "bonding_masters"));
    let shown = shown.map(Iterator::collect::<BTreeSet<String>>);
    own.zip(shown).is_some_and(|(own, shown)| own != shown)
}

/// Interfaces that cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum NoInterface {
    /// It is not in this network namespace.
    #[error("no interface {name} in this network namespace (give one of: {})", known.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Only root can make a sysfs that shows those of this network namespace.
    #[error("/sys shows another network namespace's interfaces (run as root)")]
    Hidden,
}

/// One place as it stands.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Where.
    pub place: Place,
    /// What it holds, or why that is not known.
    pub now: Reading<String>,
    /// Why it cannot be changed here, where it cannot.
    pub fixed: Option<&'static str>,
    /// What it should hold; `None` where only words say it, or where several values would do.
    pub advised: Option<String>,
    /// Whether it holds that, or one of the values that would do.
    pub is_met: Option<bool>,
    /// The file that sets another value than advised at boot, and that value.
    pub at_boot: Option<(String, String)>,
}

/// How a setting stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Every place holds what is advised.
    AsAdvised,
    /// Some place holds something else.
    Differs,
    /// Some place holds something else and cannot be changed here.
    Fixed(&'static str),
    /// The advice is in words.
    InWords,
    /// mpps does not read it.
    Unread,
    /// There is no advice for this profile.
    NoAdvice,
    /// It is not on this machine.
    NotHere(String),
}

impl State {
    /// Its name in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::AsAdvised => "as_advised",
            Self::Differs => "differs",
            Self::Fixed(_) => "cannot_be_changed",
            Self::InWords => "in_words",
            Self::Unread => "not_read",
            Self::NoAdvice => "no_advice",
            Self::NotHere(_) => "not_here",
        }
    }
}

/// A setting of the catalogue on this machine.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Its row.
    pub row: &'static Row,
    /// Its places; empty where it has none here.
    pub seen: Vec<Seen>,
    /// What they come to.
    pub state: State,
}

/// A setting as it stands for a profile.
fn standing(row: &'static Row, machine: &Machine, profile: Profile) -> Standing {
    let (seen, state) = match places(row, machine) {
        Err(why) => (Vec::new(), State::NotHere(why)),
        Ok(places) => {
            let see = |place: Place| machine.see(place, row, profile);
            let before = machine.before(row, profile).into_iter();
            let seen: Vec<Seen> = before.chain(places.into_iter().map(see)).collect();
            let state = state(&seen);
            (seen, state)
        }
    };
    // What nobody advises is not missed either.
    let state = match row.advice(profile).words {
        Some(_) => state,
        None => State::NoAdvice,
    };
    Standing { row, seen, state }
}

fn state(seen: &[Seen]) -> State {
    if seen.iter().all(|one| one.place.kind == Kind::Command) {
        return State::Unread;
    }
    if seen.iter().all(|one| one.now.known().is_none()) {
        let why = seen.iter().find_map(|one| one.now.why());
        return State::NotHere(why.unwrap_or_default().to_owned());
    }
    // What it holds tells nothing.
    let is_silent = |one: &Seen| one.advised.is_some() && one.is_met.is_none();
    if seen
        .iter()
        .all(|one| one.now.known().is_some() && is_silent(one))
    {
        return State::Unread;
    }
    let is_judged = |one: &Seen| one.advised.is_none() && one.is_met != Some(true);
    if seen.iter().all(is_judged) {
        return State::InWords;
    }
    let unmet: Vec<&Seen> = seen
        .iter()
        .filter(|one| one.is_met == Some(false))
        .collect();
    let hidden = |one: &&Seen| one.advised.is_some() && one.now.why() == Some(NEEDS_ROOT);
    match unmet.as_slice() {
        [] if seen.iter().any(|one| hidden(&one)) => State::NotHere(NEEDS_ROOT.to_owned()),
        [] => State::AsAdvised,
        // Which of several values a place should get, only a person can say.
        some if some.iter().all(|one| one.advised.is_none()) => State::InWords,
        some if some.iter().all(|one| one.fixed.is_some()) => {
            State::Fixed(some.iter().find_map(|one| one.fixed).unwrap_or_default())
        }
        _ => State::Differs,
    }
}

#[cfg(test)]
mod tests;
