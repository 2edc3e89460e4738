//! For bench/sender and bench/sender-destinations: our sender flat out on a kept bed, the sink that drops what any sender sends, and the
//! window that counts it and says whether the machine disturbed it.
//!
//! - `sender_alone sink BED` drops at mB until stdin ends.
//! - `sender_alone send BED CPU SECONDS [DESTINATIONS]` sends, to so many destinations; prints frames and seconds.
//! - `sender_alone send-packet BED CPU SECONDS` sends with a packet socket (`--port af-packet`) instead.
//! - `sender_alone window BED CPU SECONDS PID` counts for so long what reaches mB while process PID sends from
//!   CPU; prints one JSON object. `void` says why the window is no evidence, by the rules of trials.
#![forbid(unsafe_code)]

#[path = "../tests/support/planted/sink.rs"]
mod sink;

use mpps_ebpf::instruments::sender::{Order, PACE_SHIFT};
use mpps_lab::bed::{self, Bed, Interfaces};
use mpps_lab::clock::wait_until;
use mpps_lab::destinations::{Destinations, DrawPlan};
use mpps_lab::tester::{
    KernelInterfaces, OnRefusal, OtherTasks, PacketSender, RouterTasks, Sender, SenderPlan,
    TrafficSender, Watch, until_ended, ways,
};
use mpps_lab::traffic::Traffic;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::netns::NetNs;
use mpps_linux::{links, procstat};
use mpps_method::Rules;
use mpps_method::destinations::Draw;
use mpps_tables::Table;
use std::error::Error;

/// Faster than any sender: it is late from the first frame on and never waits.
const OFFERED_FPS: u64 = 20_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["sink", bed] => sink(bed),
        ["send", bed, cpu, seconds] => send(bed, cpu.parse()?, seconds.parse()?, 1),
        ["send-packet", bed, cpu, seconds] => send_packet(bed, cpu.parse()?, seconds.parse()?),
        ["send", bed, cpu, seconds, destinations] => {
            send(bed, cpu.parse()?, seconds.parse()?, destinations.parse()?)
        }
        ["window", bed, cpu, seconds, pid] => {
            window(bed, cpu.parse()?, seconds.parse()?, pid.parse()?)
        }
        _ => Err(
            "usage: sender_alone sink BED | send BED CPU SECONDS [DESTINATIONS] | send-packet BED CPU SECONDS | \
             window BED CPU SECONDS PID"
                .into(),
        ),
    }
}

/// By name: the bed itself is the sender's to own.
fn netns_of(bed: &str, end: &str) -> Result<NetNs, Box<dyn Error>> {
    Ok(NetNs::open(&format!("mpps-{bed}-{end}"))?)
}

fn sink(bed: &str) -> Result<(), Box<dyn Error>> {
    let netns = netns_of(bed, "dut")?;
    let ifindex = netns.run(|| links::index("mB"))??;
    let _sink = sink::Sink::attach(&netns, ifindex)?;
    println!("ready");
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

/// Drawn in random order from one large prefix: what the sender meets is a long list of any addresses.
fn drawn(count: u64) -> Result<Option<Destinations>, Box<dyn Error>> {
    if count == 1 {
        return Ok(None);
    }
    let table = Table::from_prefixes(["20.0.0.0/7".parse()?]);
    let wish = DrawPlan {
        draw: Draw::PerPrefix,
        count,
        ipv6: false,
        flows: 1,
        seed: 1,
    };
    Ok(Some(Destinations::draw(&table, "20.0.0.0/7", &wish)?))
}

fn send(name: &str, cpu: usize, seconds: u64, destinations: u64) -> Result<(), Box<dyn Error>> {
    let bed: Bed = bed::open(name).map_err(|e| e.to_string())?;
    let traffic = Traffic {
        destinations: drawn(destinations)?,
        ..Traffic::default()
    };
    let plan = SenderPlan::new(&bed, &traffic, &ways(&bed, false)).map_err(|e| e.to_string())?;
    let plan = SenderPlan { cpu, ..plan };
    let [port, _] = bed.tester();
    let from = (&*port.netns, port.ifindex);
    let sender = Sender::load(plan, &[from], None).map_err(|e| e.to_string())?;
    flat_out(&sender, seconds)
}

/// One frame at a time through the kernel's transmission, its queueing discipline aside.
fn send_packet(name: &str, cpu: usize, seconds: u64) -> Result<(), Box<dyn Error>> {
    let bed: Bed = bed::open(name).map_err(|e| e.to_string())?;
    let plan = SenderPlan::new(&bed, &Traffic::default(), &ways(&bed, false))
        .map_err(|e| e.to_string())?;
    let plan = SenderPlan { cpu, ..plan };
    let [port, _] = bed.tester();
    let (netns, port) = (&*port.netns, port.name.as_str());
    let sender = PacketSender::open(plan, &[(netns, port)], OnRefusal::Lose);
    flat_out(&sender.map_err(|e| e.to_string())?, seconds)
}

fn flat_out(sender: &dyn TrafficSender, seconds: u64) -> Result<(), Box<dyn Error>> {
    let order = Order {
        gap_fp: (1_000_000_000 << PACE_SHIFT) / OFFERED_FPS,
        slots: OFFERED_FPS * seconds,
        late_max_ns: u64::MAX,
        id: 1,
        ..Order::default()
    };
    let outcome = sender
        .send(order, &until_ended)
        .map_err(|e| e.to_string())?;
    let took = (outcome.last_ns - outcome.first_ns) as f64 / 1e9;
    println!("{} {took:.6}", outcome.sent[0]);
    Ok(())
}

/// A window in which a CPU stood still, or ran another program, for longer is void.
const STALL_MAX_NS: u64 = 10_000_000;

fn window(bed: &str, cpu: usize, seconds: f64, pid: i32) -> Result<(), Box<dyn Error>> {
    let netns = netns_of(bed, "dut")?;
    let received =
        || -> Result<u64, Box<dyn Error>> { Ok(netns.run(|| links::stats("mB"))??.rx_packets) };
    let stolen = || -> Result<u64, Box<dyn Error>> {
        let times = procstat::cpu_times()?;
        let own = times.iter().find(|times| times.cpu == cpu);
        Ok(own.ok_or("no such CPU")?.steal_ns)
    };
    let watch = Watch::start(
        &[cpu],
        None,
        KernelInterfaces::find(Interfaces::Newest)?.stall_watch,
    )?;
    let other_tasks = OtherTasks::watch(&[cpu], &threads(bed, pid)?, &RouterTasks::default())?;
    watch.clear()?;
    other_tasks.clear()?;
    let (steal_before, before, began) = (stolen()?, received()?, monotonic_ns());
    wait_until(began + (seconds * 1e9) as u64);
    let (after, ended) = (received()?, monotonic_ns());
    let stall_ns = watch.read()?[0].1.longest_ns;
    let other = other_tasks.read()?[0].1.others;
    let window_ns = ended - began;
    let steal_share = (stolen()? - steal_before) as f64 / window_ns as f64;
    let text = String::from_utf8_lossy(&other.longest_comm);
    let other_by = text.split('\0').next().unwrap_or_default();
    let other_share = other.total_ns as f64 / window_ns as f64;
    let (rules, other_ns, stall_max) = (Rules::default(), other.longest_ns, STALL_MAX_NS);
    let void = if steal_share > rules.steal_max {
        Some(format!("steal {:.1} %", steal_share * 100.0))
    } else if stall_ns > stall_max {
        Some(format!("stall {:.1} ms", stall_ns as f64 / 1e6))
    } else if other_ns > stall_max {
        Some(format!("{other_by} ran {:.1} ms", other_ns as f64 / 1e6))
    } else if other_share > rules.steal_max {
        // In a trial short visits only cost time that the pace makes up for; here they are rate.
        Some(format!("other programs {:.1} %", other_share * 100.0))
    } else {
        None
    };
    let object = serde_json::json!({
        "received_frames": after - before, "window_ns": window_ns, "steal_share": steal_share,
        "stall_longest_ns": stall_ns, "other_longest_ns": other_ns, "other_longest_by": other_by, "other_share": other_share, "void": void,
    });
    println!("{object}");
    Ok(())
}

/// All threads of the sender: its own process's, and those of whatever lives in its namespace.
fn threads(bed: &str, pid: i32) -> Result<Vec<i32>, Box<dyn Error>> {
    let mut pids = netns_of(bed, "out")?.pids()?;
    pids.push(pid);
    let mut threads = Vec::new();
    for pid in pids {
        for entry in std::fs::read_dir(format!("/proc/{pid}/task"))? {
            threads.extend(
                entry?
                    .file_name()
                    .to_str()
                    .and_then(|tid| tid.parse::<i32>().ok()),
            );
        }
    }
    Ok(threads)
}
