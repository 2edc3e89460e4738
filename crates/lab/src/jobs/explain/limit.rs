//! What limits the router, and the stage and function that a frame's time goes to.

use super::Saturated;
use crate::doubt::overload_limit;
use crate::search::saturation;
use crate::tester::Tester;
use mpps_method::LimitedBy;
use mpps_method::saturation::Saturation;
use mpps_method::stage::Stage;
use mpps_record::{PartCost, ProfiledLoad};

pub(super) fn limited_by(found: &Saturated, tester: &Tester<'_>) -> LimitedBy {
    if tester.bed.plan().cpus.shared() {
        return LimitedBy::SharedCpu;
    }
    let overload = saturation::Saturated {
        at_most: Saturation::from_blocks(&found.blocks),
        overloaded: found.lost,
        ..saturation::Saturated::default()
    };
    overload_limit(&overload).unwrap_or(LimitedBy::Disturbed)
}

/// One sentence: what limits, then the router's hottest stage and function.
pub(super) fn in_words(load: &ProfiledLoad, limited_by: LimitedBy) -> String {
    let who = match limited_by {
        LimitedBy::Dut => "The router's CPU is the limit",
        LimitedBy::Tester => "The tester is the limit: the router forwarded all of it",
        LimitedBy::SharedCpu => "A CPU that router and tester share is the limit",
        _ => "The limit is not known, because the machine was disturbed",
    };
    let is_routers = |cost: &&PartCost| {
        let stage = Stage::ALL
            .iter()
            .find(|stage| stage.to_string() == cost.part);
        stage.is_some_and(|stage| stage.is_routers())
    };
    let stages = load.stages.iter().filter(is_routers);
    let hottest = stages.max_by(|one, other| one.ns.median.total_cmp(&other.ns.median));
    let Some(hottest) = hottest else {
        return who.to_owned();
    };
    let function = hottest.top.first().map_or(String::new(), |top| {
        format!(", there {} ({:.0} ns)", top.function, top.ns)
    });
    format!(
        "{who}. Of the {:.0} ns a frame outside virtual NIC and exit most is {} ({:.0} ns){function}",
        load.router_ns, hottest.part, hottest.ns.median
    )
}
