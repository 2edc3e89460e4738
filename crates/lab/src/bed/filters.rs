//! Packet filters in the router's forward path (RFC 2544 section 11.4), as rules of nftables.
//!
//! Each family has a table of its own, so that a frame passes as many rules as were asked for. They go with the router's
//! namespace.

use super::{Bed, BedError, has_ipv6};
use mpps_linux::spawn::{self, Terms};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Filters at most: the rules of a family are one argument of `nft`.
pub const FILTERS_MAX: u16 = 1_000;
/// The table's name in each family.
const TABLE: &str = "mpps_filters";
/// Hosts of a network from which rules take their addresses.
const HOSTS: u16 = 250;
/// Folders of administrators' programs, which not every user has in PATH.
const FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// A family's networks for documentation (RFC 5737, RFC 3849): no frame of a measurement comes from the first.
struct Family {
    /// As `nft` calls it.
    name: &'static str,
    /// Addresses of the rules that match nothing: all but their ends.
    hosts: [&'static str; 2],
    /// The network of the first.
    network: &'static str,
}

const FAMILIES: [Family; 2] = [
    Family {
        name: "ip",
        hosts: ["198.51.100.", "203.0.113."],
        network: "198.51.100.0/24",
    },
    Family {
        name: "ip6",
        hosts: ["2001:db8:1::", "2001:db8:2::"],
        network: "2001:db8:1::/48",
    },
];

/// Whether this machine can set filters.
///
/// # Errors
/// `nft` is not there.
pub fn check() -> Result<(), BedError> {
    program().map(drop)
}

fn program() -> Result<PathBuf, BedError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from));
    let mut programs = folders.map(|folder| folder.join("nft"));
    let found = programs.find(|program| program.is_file());
    found.ok_or_else(|| {
        BedError::BadPlan("--filters: there is no nft here; install nftables".to_owned())
    })
}

/// Sets the filters of the plan in the router's namespace.
pub(super) fn set(bed: &Bed) -> Result<(), BedError> {
    let Some(count) = bed.plan.filters else {
        return Ok(());
    };
    let Some(netns) = bed.dut.netns() else {
        return Err(BedError::BadPlan(
            "--filters: mpps can set none on an external device".to_owned(),
        ));
    };
    let nft = program()?;
    for family in &FAMILIES {
        if family.name == "ip" || netns.run(has_ipv6)? {
            apply(&nft, netns, &rules(family, count))?;
        }
    }
    Ok(())
}

fn apply(nft: &Path, netns: &mpps_linux::netns::NetNs, rules: &str) -> Result<(), BedError> {
    let mut command = Command::new(nft);
    command.arg(rules);
    let output = spawn::output(command, netns, Terms::default())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it does not say why");
    Err(BedError::BadPlan(format!(
        "--filters: nft refused the rules: {said}"
    )))
}

/// So many rules of which the last one accepts, and nothing passes behind it. A frame is compared with each of them.
fn rules(family: &Family, count: u16) -> String {
    let Family {
        name,
        hosts: [from, to],
        network,
    } = family;
    let mut text = format!(
        "table {name} {TABLE} {{\nchain forward {{\ntype filter hook forward priority filter; policy drop;\n"
    );
    for rule in 0..count.saturating_sub(1) {
        let (first, second) = (1 + rule / HOSTS, 1 + rule % HOSTS);
        let _ = writeln!(
            text,
            "{name} saddr {from}{second} {name} daddr {to}{first} drop"
        );
    }
    let _ = writeln!(text, "{name} saddr != {network} counter accept\n}}\n}}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rule_accepts_and_no_two_are_alike() {
        for family in &FAMILIES {
            for count in [1, 2, 25, FILTERS_MAX] {
                let text = rules(family, count);
                let drops = || text.lines().filter(|line| line.ends_with(" drop"));
                let different: std::collections::HashSet<_> = drops().collect();
                assert_eq!(drops().count(), usize::from(count) - 1, "{text}");
                assert_eq!(different.len(), drops().count());
                assert!(text.ends_with("counter accept\n}\n}\n"), "{text}");
                // MAX_ARG_STRLEN
                assert!(text.len() < 128 << 10);
            }
        }
    }
}
