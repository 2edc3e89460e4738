//! Which CPU should serve which queue, as a picture in text.

use crate::terminal::columns;
use crate::terminal::document::document;
use crate::terminal::wrap::prose;
use mpps_lab::tune::{LAYOUT_ROWS, Layout, Survey};
use mpps_method::tune::layout::{Cpu, Port, Served, cores};
use mpps_report::number::plural;
use serde_json::{Value, json};
use std::fmt::Write;

/// Each core with the queues of each interface, then what is other than that.
pub fn layout(survey: &Survey) -> String {
    let layout = &survey.layout;
    if layout.ports.is_empty() {
        return "no interface with a device (name one: --interface)\n".to_owned();
    }
    let mut text = prose(
        "Queues over CPUs, for a router. A line is a core: its CPUs, and the receive queues of each.\n",
    );
    let all = cores(&layout.cpus);
    for some in all.chunk_by(|one, next| one[0].node == next[0].node) {
        text += &picture(layout, some);
    }
    text.push('\n');
    for (port, served) in &layout.ports {
        text += &prose(&about(layout, port, served));
    }
    let rows = survey
        .standings
        .iter()
        .filter(|one| LAYOUT_ROWS.contains(&one.row.id));
    for one in rows {
        let other = one
            .seen
            .iter()
            .filter(|seen| seen.is_met == Some(false))
            .count();
        if other > 0 {
            let (id, all) = (one.row.id, one.seen.len());
            text += &prose(&format!(
                "{id}: {other} of {all} are other than this (mpps tune apply sets them).\n"
            ));
        }
    }
    if layout.irqbalance {
        text += "irqbalance runs: it moves interrupts again (systemctl stop irqbalance).\n";
    }
    text
}

/// The same as JSON.
pub fn layout_json(survey: &Survey) -> String {
    let layout = &survey.layout;
    let cpus = layout.cpus.iter();
    let cpus = cpus.map(|cpu| json!({ "cpu": cpu.number, "core": cpu.core, "node": cpu.node }));
    let port = |(port, served): &(Port, Served)| {
        json!({
            "interface": port.name,
            "node": port.node,
            "rx_queue_cpus": served.rx,
            "tx_queue_cpus": served.tx,
            "has_enough_queues": served.has_enough,
            "better_channels": served.channels,
        })
    };
    document(json!({
        "cpus": cpus.collect::<Value>(),
        "interfaces": layout.ports.iter().map(port).collect::<Value>(),
        "irqbalance_runs": layout.irqbalance,
    }))
}

/// The cores of one node; in a line where no queue is on them.
fn picture(layout: &Layout, cores: &[Vec<Cpu>]) -> String {
    let node = cores[0][0]
        .node
        .map_or("CPUs".to_owned(), |node| format!("node {node}"));
    let count = plural(cores.len(), "core");
    let queues = |served: &Served, cpu: usize| {
        let of_cpu = served.rx.iter().enumerate().filter(|(_, one)| **one == cpu);
        let queues: Vec<String> = of_cpu.map(|(queue, _)| queue.to_string()).collect();
        queues.join(",")
    };
    let cells = |core: &Vec<Cpu>, cell: &dyn Fn(usize) -> String| {
        let cells = core
            .iter()
            .map(|cpu| Some(cell(cpu.number)).filter(|text| !text.is_empty()));
        let cells: Vec<String> = cells
            .map(|cell| cell.unwrap_or_else(|| "-".to_owned()))
            .collect();
        cells.join(" | ")
    };
    let mut rows = vec![vec!["  CPU".to_owned()]];
    rows.extend(
        cores
            .iter()
            .map(|core| vec![format!("  {}", cells(core, &|cpu| cpu.to_string()))]),
    );
    let mut is_used = false;
    for (port, served) in &layout.ports {
        rows[0].push(port.name.clone());
        for (row, core) in rows[1..].iter_mut().zip(cores) {
            row.push(cells(core, &|cpu| queues(served, cpu)));
            is_used |= core.iter().any(|cpu| served.rx.contains(&cpu.number));
        }
    }
    match is_used {
        true => format!(
            "\n{node}: {count}\n{}",
            columns(&rows, &(0..rows[0].len()).collect::<Vec<_>>())
        ),
        false => format!("\n{node}: {count}, no queue\n"),
    }
}

fn about(layout: &Layout, port: &Port, served: &Served) -> String {
    let Port { name, rx, tx, .. } = port;
    let node = port
        .node
        .map_or(String::new(), |node| format!("node {node}, "));
    let mut text = format!("{name}: {node}{rx} receive and {tx} transmit queues");
    if let Some(interrupts) = layout.interrupts.get(name) {
        let of_queues = interrupts
            .iter()
            .filter(|(_, queue)| queue.is_some())
            .count();
        let _ = write!(
            text,
            ", {of_queues} of {} interrupts are of queues",
            interrupts.len()
        );
    }
    if let Some(channels) = served.channels {
        let channels = plural(channels, "channel");
        let _ = write!(
            text,
            "; with {channels} each core near it has one queue (ethtool -L {name})"
        );
    }
    if !served.has_enough {
        text += "; some cores near it have none (mpps tune list rps_cpus)";
    }
    text + ".\n"
}
