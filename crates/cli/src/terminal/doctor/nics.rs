//! The network interfaces: what each is, and what holds it back.

use mpps_lab::facts::nic::is_held_back;
use mpps_record::Nic;
use mpps_record::facts::Reading;
use std::fmt::Write;

/// A few lines an interface; nothing where there is none.
pub(super) fn nics(nics: &Reading<Vec<Nic>>) -> String {
    let nics = match nics {
        Reading::Known(nics) if nics.is_empty() => return String::new(),
        Reading::Known(nics) => nics,
        Reading::Unreadable { unreadable } => {
            return format!("\nNetwork interfaces: {unreadable}\n");
        }
    };
    let mut text = String::from("\nNetwork interfaces\n");
    for nic in nics {
        let _ = writeln!(text, "  {}: {}", nic.name, what(nic));
        let _ = writeln!(text, "      bus: {}", bus(nic));
        let _ = writeln!(text, "      {}", queues(nic));
        let can = match &nic.xdp {
            Reading::Known(can) if can.is_empty() => "none in the driver".to_owned(),
            Reading::Known(can) => can.join(", "),
            Reading::Unreadable { unreadable } => unreadable.clone(),
        };
        let _ = writeln!(text, "      XDP: {can}");
    }
    text
}

fn what(nic: &Nic) -> String {
    let mut text = match &nic.driver {
        Reading::Known(driver) => {
            let firmware = if driver.firmware.is_empty() {
                String::new()
            } else {
                format!(" (firmware {})", driver.firmware)
            };
            format!("{}{firmware}", driver.name)
        }
        Reading::Unreadable { unreadable } => unreadable.clone(),
    };
    let _ = write!(text, ", {}", nic.state.text());
    if let Some(mbit) = nic.link_mbit_per_s.known() {
        let _ = write!(text, ", {} Gbit/s", *mbit as f64 / 1000.0);
    }
    text
}

fn bus(nic: &Nic) -> String {
    let link = match &nic.pcie {
        Reading::Known(link) => link,
        Reading::Unreadable { unreadable } => return unreadable.clone(),
    };
    let lanes = |lanes: &Reading<u8>| lanes.known().map_or("?".to_owned(), u8::to_string);
    let node = nic.numa_node.known().filter(|node| **node >= 0);
    let mut text = format!(
        "{} x{} of {} x{}",
        link.speed.text(),
        lanes(&link.lanes),
        link.speed_max.text(),
        lanes(&link.lanes_max)
    );
    if let Some(node) = node {
        let _ = write!(text, ", at memory node {node}");
    }
    if is_held_back(nic) == Some(true) {
        text.push_str(": the link is below its maximum (`mpps limits --pcie` shows what it allows; check the slot)");
    }
    text
}

fn queues(nic: &Nic) -> String {
    let count = |reading: &Reading<usize>| reading.known().map_or("?".to_owned(), usize::to_string);
    let mut text = format!(
        "{} receive and {} transmit queues",
        count(&nic.rx_queues),
        count(&nic.tx_queues)
    );
    if let Some(vectors) = nic.interrupt_vectors.known() {
        let _ = write!(text, ", {vectors} interrupt vectors");
    }
    if let Some(rings) = nic.rings.known() {
        let _ = write!(
            text,
            ", rings of {} (at most {}) and {} ({})",
            rings.rx_frames, rings.rx_frames_max, rings.tx_frames, rings.tx_frames_max
        );
    }
    text
}
