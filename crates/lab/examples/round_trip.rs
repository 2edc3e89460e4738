//! For bench/round-trip: what a round trip costs the tester on its own CPUs, with a wire in place of the router.
//! Trials at each of some loads, up and down in turns, as JSON lines.
//! `round_trip BATCH TRIALS SECONDS LOAD_FPS...`
#![forbid(unsafe_code)]

use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Interfaces};
use mpps_lab::search::saturation;
use mpps_lab::tester::{KernelInterfaces, ReceiverMode, Tester, Wire, napi_threads};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial::{self, rules};
use mpps_linux::{cpu, task};
use mpps_method::{Offer, Rate, Span, Trial};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [batch, trials, seconds, loads @ ..] = &arguments[..] else {
        return Err("usage: round_trip BATCH TRIALS SECONDS LOAD_FPS...".into());
    };
    let (trials, duration) = (trials.parse()?, Span::from_secs_f64(seconds.parse()?));
    let loads: Vec<f64> = loads
        .iter()
        .map(|load| load.parse())
        .collect::<Result<_, _>>()?;
    let traffic = Traffic {
        batch: batch.parse()?,
        ..Traffic::default()
    };
    let cpus = CpuSplit::choose(&cpu::available()?, None, None)?;
    let bed = Bed::raise(&BedPlan::usual(cpus))?;
    let frames_max = saturation::SENDER_MAX.frames_in(duration).max(1);
    let mut tester = Tester::raise(&bed, &traffic, frames_max, ReceiverMode::Polled)?;
    let wire = Wire::lay(&bed, &tester.ways())?;
    let list = KernelInterfaces::find(Interfaces::Newest)?.napi_list;
    let way = tester.ways()[0];
    let mut receivers = napi_threads(way.to, list)?;
    // Where the virtual NIC is polled in a thread of its own, what it costs is the tester's as well.
    receivers.extend(napi_threads(way.dut()?.incoming, list)?);
    let ran = || -> Result<u64, Box<dyn Error>> {
        let mut sum = 0;
        for thread in &receivers {
            sum += task::schedstat(*thread)?.run_ns;
        }
        Ok(sum)
    };
    for number in 0..trials {
        for load in &loads {
            let rate = Rate::from_fps(*load);
            let offer = Offer { rate, duration };
            let (before, own_before) = (ran()?, own_ns()?);
            let trial = trial::run(&mut tester, &offer)?;
            let (receiver_ns, sender_ns) = (ran()? - before, own_ns()? - own_before);
            let verdict = trial.judge(&rules::choose(&tester, &offer)).to_string();
            println!("{}", line(number, &trial, receiver_ns, sender_ns, &verdict));
        }
    }
    drop(wire);
    drop(tester);
    bed.lower()?;
    Ok(())
}

/// What this process has run so far, by the kernel's account in ticks of 10 ms: a trial's setting up is in it.
fn own_ns() -> Result<u64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let times = behind_name.split_ascii_whitespace().skip(11).take(2);
    let ticks = times.map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(ticks * 10_000_000)
}

fn line(number: u32, trial: &Trial, receiver_ns: u64, sender_ns: u64, verdict: &str) -> String {
    let (counts, ledger) = (trial.counts(), trial.ledger());
    let arrived = (counts.received + 32) as f64;
    let steal = trial.steal.iter().map(|cpu| cpu.steal_ns).max();
    let busy: u64 = trial.busy.iter().map(|cpu| cpu.run_ns).sum();
    let speeds: Vec<u64> = trial.speeds.iter().map(|cpu| cpu.before_ns).collect();
    format!(
        "{{\"trial\":{number},\"offered_fps\":{:.0},\"intended_frames\":{},\"sent_frames\":{},\"unsent_frames\":{},\
         \"received_frames\":{},\"lost_before_nic_frames\":{},\"lost_nic_ring_frames\":{},\
         \"lost_receiver_ring_frames\":{},\"duration_ns\":{},\"sender_ns_per_frame\":{:.1},\"receiver_ns_per_frame\":{:.1},\"dut_ns_per_frame\":{:.1},\
         \"lateness_p50_ns\":{},\"steal_ns\":{},\"work_ns\":{speeds:?},\"verdict\":\"{verdict}\"}}",
        trial.offered.fps(),
        counts.intended,
        counts.sent,
        counts.unsent,
        counts.received,
        ledger.lost_before_nic,
        ledger.lost_nic_ring,
        ledger.lost_receiver_ring,
        trial.duration.as_nanos(),
        sender_ns as f64 / counts.sent.max(1) as f64,
        receiver_ns as f64 / arrived,
        busy as f64 / arrived,
        trial
            .lateness
            .quantile(0.5)
            .unwrap_or(Span::ZERO)
            .as_nanos(),
        steal.unwrap_or(0),
    )
}
