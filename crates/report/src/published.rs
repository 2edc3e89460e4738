//! The cost of a frame by stage that others published, beside a profile's.

use crate::profile::saturated;
use maud::{Markup, html};
use mpps_record::ProfileLine;

/// Cycles of a frame: Raumer et al., Performance Exploration of Software-based Packet Processing Systems, 2015, tables I,
/// II and IV.
const CYCLES: &str = include_str!("published.csv");
/// Clock of the CPU on which they were measured, cycles a nanosecond.
const GHZ: f64 = 3.3;
/// Stages in which a NIC's driver works there.
const DRIVERS: [&str; 4] = ["RX", "allocation", "free", "TX"];

/// A table of the stages: here, and in each published scenario. Nothing where the profile has no stages.
#[must_use]
pub fn section(line: &ProfileLine) -> Markup {
    let Some(load) = saturated(line) else {
        return html! {};
    };
    let mut lines = CYCLES
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let stages = lines.next().unwrap_or_default();
    let scenarios: Vec<Vec<&str>> = lines.collect();
    let ns = |cycles: Option<&&str>| {
        let cycles = cycles.and_then(|cycles| cycles.parse::<f64>().ok());
        cycles.map_or("-".to_owned(), |cycles| format!("{:.0}", cycles / GHZ))
    };
    let here = |stage: &str| {
        let known = load.stages.iter().find(|at| at.part == stage);
        known.map_or("-".to_owned(), |at| format!("{:.0}", at.ns.median))
    };
    html! {
        details {
            summary { "Beside published figures" }
            p.note {
                "ns of a frame. Published: Raumer et al., Performance Exploration of Software-based Packet Processing \
                 Systems, 2015: one core of a Xeon E3-1230 v2 at 3.3 GHz, 82599 10GbE, Linux 3.7, ixgbe 3.14.5. In RX, \
                 allocation, TX and free a 10GbE driver works there: a veth pair has no such work, so these cannot be \
                 compared."
            }
            div.wide { table {
                thead { tr {
                    th { "stage" } th { "here" }
                    @for scenario in &scenarios { th { (scenario.first().unwrap_or(&"")) } }
                    th { "comparable" }
                } }
                tbody {
                    @for (column, stage) in stages.iter().enumerate().skip(1) {
                        tr {
                            td { (stage) } td { (here(stage)) }
                            @for scenario in &scenarios { td { (ns(scenario.get(column))) } }
                            td { (if DRIVERS.contains(stage) { "no: a driver's work" } else { "yes" }) }
                        }
                    }
                }
            } }
        }
    }
}
