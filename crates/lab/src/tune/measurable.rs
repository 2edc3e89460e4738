//! Whether a setting of the catalogue can be measured on a bed: whether it can act there, and mpps can switch it.

use crate::bed::BedPlan;
use crate::facts::Root;
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
/// Needs that the machine's files tell, and a file that only a machine with them has.
pub const OF_MACHINE: [(&str, &str); 5] = [
    (
        "a machine that scales frequencies",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    ),
    (
        "a machine with idle states",
        "/sys/devices/system/cpu/cpu0/cpuidle/state0/name",
    ),
    (
        "a machine whose cores have threads",
        "/sys/devices/system/cpu/smt/control",
    ),
    (
        "several NUMA nodes",
        "/sys/devices/system/node/node1/cpulist",
    ),
    ("a machine with SELinux", "/sys/fs/selinux/enforce"),
];
/// Before what a kernel may lack; only switching tells.
const KERNEL: &str = "a kernel with ";
/// What nobody can take back on a bed, so that it would stay for all settings of a run.
const OWN_RUN: &str = "a run of its own";

/// Whether this machine meets a need of [`OF_MACHINE`]; `None` for any other.
#[must_use]
pub fn machine_meets(need: &str) -> Option<bool> {
    meets(need, &Root::here())
}

fn meets(need: &str, root: &Root) -> Option<bool> {
    let known = OF_MACHINE.iter().find(|(words, _)| *words == need);
    known.map(|(_, file)| has(root, file))
}

/// Whether the machine has what this file switches: without it, the file says "notsupported" or "notimplemented".
fn has(root: &Root, file: &str) -> bool {
    let text = root.text(file);
    text.known().is_some_and(|text| !text.starts_with("not"))
}

/// Whether mpps checks this need itself.
pub(super) fn is_checked(need: &str) -> bool {
    let of_machine = OF_MACHINE.iter().map(|(words, _)| *words);
    let mut all = NEEDS.iter().map(|(words, _)| *words).chain(of_machine);
    all.any(|words| words == need)
}

/// Whether a setting can act there and be switched.
///
/// # Errors
/// Why not.
pub fn check(row: &Row, at: &Ground<'_>) -> Result<(), Unmeasured> {
    check_on(row, at, &Root::here())
}

fn check_on(row: &Row, at: &Ground<'_>, root: &Root) -> Result<(), Unmeasured> {
    // At another front too, where it would read as if that front were all it lacks.
    if let Some(by_bed) = needs(row).into_iter().find(|need| is_set_by_bed(need)) {
        return Err(Unmeasured::Inert(by_bed.to_owned()));
    }
    check_front(row, at.bed)?;
    let is_made = !(row.bed_on.is_empty() && row.bed_with.is_empty());
    for need in needs(row) {
        let known = NEEDS.iter().find(|(words, _)| *words == need);
        let known = known.map(|(_, is_met)| is_met(at));
        let is_met = known.or_else(|| meets(need, root));
        if need == OWN_RUN && !at.is_named {
            let why = "needs a run of its own, by --only";
            return Err(Unmeasured::NotSwitched(why.to_owned()));
        }
        if !is_met.unwrap_or(is_made || at.is_named) {
            return Err(Unmeasured::Inert(format!("needs {need}")));
        }
    }
    check_file(row, root)?;
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

/// Whether the machine has a file of a setting that holds for all of it, at its first CPU.
///
/// # Errors
/// It has none.
fn check_file(row: &Row, root: &Root) -> Result<(), Unmeasured> {
    let files = row.places.iter().filter(|place| place.kind == Kind::Sysfs);
    let mut files = files.map(|place| place.text.replace("{cpu}", "0").replace("{idle}", "0"));
    let Some(first) = files.next().filter(|_| is_of_machine(row)) else {
        return Ok(());
    };
    match has(root, &first) || files.any(|file| has(root, &file)) {
        true => Ok(()),
        false => Err(Unmeasured::Inert(format!("this machine has no {first}"))),
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
        [] => format!("needs {}", row.needs),
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
    if is_any(Kind::Command) || is_any(Kind::Object) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::planted::{Planted, ROUTER};
    use crate::tune::scripted::tests::plan;
    use mpps_method::tune::named;
    use std::collections::BTreeSet;

    /// A machine's settings are measured where it has them, whether somebody names them or not.
    #[test]
    fn needs_of_the_machine_are_looked_up() {
        let (with, without) = (
            Planted::new("needs", ROUTER),
            Planted::new("needs-not", &[]),
        );
        let smt = "/sys/devices/system/cpu/smt/control";
        without.put(smt, b"notsupported\n");
        let bed = plan();
        let can = |id: &str, is_named, on: &Planted| {
            let at = Ground {
                bed: &bed,
                traffic: &Traffic::default(),
                receiver: None,
                is_named,
                allows_machine: true,
            };
            check_on(named(id)[0], &at, &on.root())
        };
        assert_eq!(can("governor", false, &with), Ok(()));
        assert_eq!(can("smt", true, &with), Ok(()));
        assert_eq!(can("numa_balancing", true, &with), Ok(()));
        let inert = |why: &str| Err(Unmeasured::Inert(why.to_owned()));
        let below = inert("needs a load below saturation");
        assert_eq!(can("cstate_disable", false, &with), below);
        for (id, lacking) in [
            ("governor", "needs a machine that scales frequencies"),
            ("cstate_disable", "needs a machine with idle states"),
            ("smt", "needs a machine whose cores have threads"),
            ("numa_balancing", "needs several NUMA nodes"),
        ] {
            assert_eq!(can(id, true, &without), inert(lacking), "{id}");
        }
        let level = "the catalogue names no second level".to_owned();
        assert_eq!(
            can("cstate_disable", true, &with),
            Err(Unmeasured::NotSwitched(level))
        );
        // It scales frequencies, and lacks this file.
        let file = "this machine has no /sys/devices/system/cpu/cpufreq/boost";
        assert_eq!(can("boost", true, &with), inert(file));
    }

    /// Settings of one bed, without those of a part that a kernel may lack: a table of the document has them all.
    #[test]
    fn the_document_lists_what_can_be_measured() {
        let machine = Planted::new("measurable", ROUTER);
        let bed = plan();
        let at = Ground {
            bed: &bed,
            traffic: &Traffic::default(),
            receiver: None,
            is_named: false,
            allows_machine: false,
        };
        let can = |row: &&Row| {
            let is_alone = row.beds().is_none() && kernel_lacks(row).is_none();
            is_alone && check_on(row, &at, &machine.root()).is_ok()
        };
        let rows = mpps_method::tune::CATALOGUE.iter().filter(can);
        let measured: BTreeSet<&str> = rows.map(|row| row.id).collect();
        let document = include_str!("../../../../docs/tune.md");
        let (_, table) = document
            .split_once("| part | settings |\n")
            .expect("a table");
        let rows = table.lines().take_while(|line| !line.is_empty());
        let listed = rows.flat_map(|line| line.split('`').skip(1).step_by(2));
        assert_eq!(listed.collect::<BTreeSet<&str>>(), measured);
        let count = format!("{} settings can be measured", measured.len());
        assert!(document.contains(&count), "{count}");
    }

    /// Each row that names one of them is known by its words.
    #[test]
    fn needs_of_the_machine_are_of_the_catalogue() {
        for (words, _) in OF_MACHINE {
            let rows = mpps_method::tune::CATALOGUE.iter();
            assert!(rows.flat_map(needs).any(|need| need == words), "{words}");
        }
    }
}
