//! Whether a setting of the catalogue can be measured on a bed: whether it can act there, and mpps can switch it.

use crate::bed::BedPlan;
use crate::traffic::{ReceiverPlace, Traffic};
use mpps_method::Transport;
use mpps_method::tune::{Kind, Profile, Row, Scope, is_set_by_bed};

/// Why a setting is not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmeasured {
    /// It cannot act on this bed.
    Inert(String),
    /// It may act, and mpps cannot switch it here.
    NotSwitched(String),
}

/// Where settings are to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The bed.
    pub bed: &'a BedPlan,
    /// What is sent.
    pub traffic: &'a Traffic,
    /// Where the tester receives; `None`: chosen on the bed.
    pub receiver: Option<ReceiverPlace>,
    /// Whether the user named the settings, and knows whether the bed has what they need.
    pub is_named: bool,
    /// Whether what holds for the whole machine may be switched, beside what the router alone has.
    pub allows_machine: bool,
}

pub(super) type IsMet = fn(&Ground<'_>) -> bool;

/// Needs of settings that mpps can check, by their words in the catalogue.
pub(super) const NEEDS: [(&str, IsMet); 7] = [
    ("a DUT of several CPUs", |at| at.bed.cpus.dut.len() > 1),
    ("frames of IPv4", |at| !at.traffic.ipv6),
    ("frames of IPv6", |at| at.traffic.ipv6),
    ("frames of TCP", |at| at.traffic.transport != Transport::Udp),
    ("long runs of frames of a flow", |at| at.traffic.flows == 1),
    ("frames to the tester's own address", |at| {
        at.traffic.destinations.is_none()
    }),
    ("--receiver port", |at| {
        let place = at.receiver;
        place.map_or(at.is_named, |place| place == ReceiverPlace::Port)
    }),
];
/// Before what a kernel may lack; only switching tells.
const KERNEL: &str = "a kernel with ";
/// What nobody can take back on a bed, so that it would stay for all settings of a run.
const OWN_RUN: &str = "a run of its own";

/// Whether a setting can act there and be switched.
///
/// # Errors
/// Why not.
pub fn check(row: &Row, at: &Ground<'_>) -> Result<(), Unmeasured> {
    check_front(row, at.bed)?;
    let is_made = !(row.bed_on.is_empty() && row.bed_with.is_empty());
    for need in needs(row) {
        let known = NEEDS.iter().find(|(words, _)| *words == need);
        if need == OWN_RUN && !at.is_named {
            let why = "needs a run of its own, by --only";
            return Err(Unmeasured::NotSwitched(why.to_owned()));
        }
        if is_set_by_bed(need) || !known.map_or(is_made || at.is_named, |(_, is_met)| is_met(at)) {
            return Err(Unmeasured::Inert(lacking(need)));
        }
    }
    check_switch(row, at.allows_machine)?;
    match is_of_machine(row) && !row.disrupts.is_empty() && !at.is_named {
        true => Err(Unmeasured::NotSwitched(format!(
            "is for --only alone: {}",
            row.disrupts
        ))),
        false => Ok(()),
    }
}

/// Whether a setting holds for the whole machine, or one of its CPUs.
pub(super) fn is_of_machine(row: &Row) -> bool {
    matches!(row.scope, Scope::Host | Scope::Cpu)
}

/// Why a setting cannot act without what it needs.
fn lacking(needs: &str) -> String {
    match is_set_by_bed(needs) {
        true => needs.to_owned(),
        false => format!("needs {needs}"),
    }
}

/// Whether a setting acts at the front of such a bed.
///
/// # Errors
/// Why not.
fn check_front(row: &Row, bed: &BedPlan) -> Result<(), Unmeasured> {
    let front = bed.nic.name();
    let why = match &row.fronts[..] {
        [] if row.needs.is_empty() => "no bed's frames meet it".to_owned(),
        [] => lacking(row.needs),
        fronts if fronts.contains(&front) => return Ok(()),
        fronts => format!("acts at the front {}, not at {front}", fronts.join(" or ")),
    };
    Err(Unmeasured::Inert(why))
}

/// Whether mpps knows how to switch a setting of a bed's router.
///
/// # Errors
/// Why not.
fn check_switch(row: &Row, allows_machine: bool) -> Result<(), Unmeasured> {
    let not = |why: &str| Err(Unmeasured::NotSwitched(why.to_owned()));
    if !row.bed_on.is_empty() || row.beds().is_some() {
        return Ok(());
    }
    match row.scope {
        Scope::Namespace | Scope::Interface => {}
        Scope::Boot => return not("needs another boot or kernel"),
        Scope::Host | Scope::Cpu if allows_machine => {}
        Scope::Host | Scope::Cpu | Scope::Irq => {
            return not("holds for the whole machine (--allow-system-changes)");
        }
    }
    let is_any = |kind| row.places.iter().any(|place| place.kind == kind);
    if is_any(Kind::Service) {
        return not(
            "services are not switched between trials: stop it by hand, measure again, and compare both records",
        );
    }
    if is_any(Kind::Command) {
        return not("the catalogue has no commands to switch it: see mpps compare");
    }
    if row.levels().is_empty() && row.advice(Profile::Router).values.is_empty() {
        return not("the catalogue names no second level");
    }
    Ok(())
}

/// What a setting needs, one thing each.
pub(super) fn needs(row: &Row) -> Vec<&'static str> {
    let needs = row.needs.split("; ").filter(|need| !need.is_empty());
    needs.collect()
}

/// The part of the kernel that it needs, where a kernel may lack it.
#[must_use]
pub fn kernel_lacks(row: &Row) -> Option<&'static str> {
    needs(row).iter().find_map(|need| need.strip_prefix(KERNEL))
}
