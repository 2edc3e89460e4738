//! For bench/sender: our sender flat out on a kept bed, or the sink that drops what any sender sends.
//! `sender_alone sink BED` holds an XDP program that drops at mB until stdin ends;
//! `sender_alone send BED CPU SECONDS` sends and prints frames and seconds.
#![forbid(unsafe_code)]

use mpps_ebpf::instruments::sender::{Order, PACE_SHIFT};
use mpps_lab::bed::{self, Bed, Side};
use mpps_lab::tester::{Receiver, ReceiverPlan, Sender, SenderPlan, ways};
use mpps_lab::traffic::Traffic;
use mpps_linux::netns::NetNs;
use std::error::Error;

/// Faster than any sender: it is late from the first frame on and never waits.
const OFFERED_FPS: u64 = 20_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["sink", bed] => sink(bed),
        ["send", bed, cpu, seconds] => send(bed, cpu.parse()?, seconds.parse()?),
        _ => Err("usage: sender_alone sink BED | send BED CPU SECONDS".into()),
    }
}

fn sink(name: &str) -> Result<(), Box<dyn Error>> {
    // By name: the bed itself is the sender's to own.
    let netns = NetNs::open(&format!("mpps-{name}-dut"))?;
    let ifindex = netns.run(|| mpps_linux::links::index("mB"))??;
    let plan = ReceiverPlan {
        order: Traffic::default().flow_order(),
        tcp: false,
        sequences_max: 64,
        all_timed: false,
    };
    let _receiver = Receiver::attach(plan, &netns, ifindex).map_err(|e| e.to_string())?;
    println!("ready");
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn send(name: &str, cpu: usize, seconds: u64) -> Result<(), Box<dyn Error>> {
    let bed: Bed = bed::open(name).map_err(|e| e.to_string())?;
    let traffic = Traffic::default();
    let plan = traffic
        .sender_plan(&bed, &ways(false))
        .map_err(|e| e.to_string())?;
    let plan = SenderPlan { cpu, ..plan };
    let from = (bed.netns(Side::A), bed.port(Side::A).ifindex);
    let sender = Sender::load(plan, &[from]).map_err(|e| e.to_string())?;
    let order = Order {
        gap_fp: (1_000_000_000 << PACE_SHIFT) / OFFERED_FPS,
        slots: OFFERED_FPS * seconds,
        late_max_ns: u64::MAX,
        id: 1,
        ..Order::default()
    };
    let outcome = sender.send(order, from.0).map_err(|e| e.to_string())?;
    let took = (outcome.last_ns - outcome.first_ns) as f64 / 1e9;
    println!("{} {took:.6}", outcome.sent[0]);
    Ok(())
}
