//! For bench/sweep: one trial at each of many loads, up and down the scale in a drawn order, as lines of
//! CSV. It asks two things of every trial: does the ledger close, and does the tester offer what it says?
//! `sweep ROUNDS SECONDS [SETUP_SCRIPT]`
#![forbid(unsafe_code)]

use mpps_lab::bed::{Bed, BedPlan, CpuSplit};
use mpps_lab::search::saturation;
use mpps_lab::tester::{ReceiverMode, Tester};
use mpps_lab::traffic::Traffic;
use mpps_lab::trial::{self, rules};
use mpps_linux::cpu;
use mpps_method::{Offer, Rate, Span, Trial, Verdict};
use std::error::Error;
use std::path::PathBuf;

/// Loads, frames/s: idle, thousands, then to the ceiling of a small machine and five times beyond.
const LOADS_FPS: [f64; 20] = [
    1e3, 1e4, 2e4, 5e4, 1e5, 2e5, 3e5, 4e5, 5e5, 6e5, 7e5, 8e5, 9e5, 1e6, 1.1e6, 1.2e6, 1.4e6,
    1.6e6, 3e6, 8e6,
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (rounds, seconds) = match &arguments[..] {
        [rounds, seconds, ..] => (rounds.parse::<u64>()?, seconds.parse::<f64>()?),
        _ => return Err("usage: sweep ROUNDS SECONDS [SETUP_SCRIPT]".into()),
    };
    let plan = BedPlan {
        dut_setup: arguments.get(2).map(PathBuf::from),
        ..BedPlan::usual(CpuSplit::choose(&cpu::available()?, None, None)?)
    };
    let bed = Bed::raise(&plan)?;
    let traffic = Traffic::default();
    let duration = Span::from_secs_f64(seconds);
    let frames_max = saturation::SENDER_MAX.frames_in(duration).max(1);
    let mut tester = Tester::raise(&bed, &traffic, frames_max, ReceiverMode::Polled)?;
    println!(
        "round,offered_fps,intended_frames,sent_frames,unsent_frames,received_frames,lost_before_nic_frames,\
         lost_nic_ring_frames,lost_in_dut_frames,lost_receiver_ring_frames,ledger,verdict,dut_busy_share,\
         stall_longest_ns,others_longest_ns,steal_share,why"
    );
    for round in 0..rounds {
        for at in order(round) {
            let offer = Offer::new(Rate::from_fps(LOADS_FPS[at]), duration);
            let trial = trial::run(&mut tester, &offer)?;
            let verdict = trial.judge(&rules::choose(&tester, &offer));
            println!("{round},{}", line(&trial, &verdict));
        }
    }
    drop(tester);
    bed.lower()?;
    Ok(())
}

/// Every round goes through the loads with another stride, so that no load always follows the same one.
fn order(round: u64) -> impl Iterator<Item = usize> {
    const STRIDES: [usize; 4] = [7, 3, 11, 13];
    let stride = STRIDES[(round % 4) as usize];
    (0..LOADS_FPS.len()).map(move |number| (number * stride + round as usize) % LOADS_FPS.len())
}

fn line(trial: &Trial, verdict: &Verdict) -> String {
    let way = &trial.directions[0];
    let (counts, ledger) = (&way.counts, &way.ledger);
    let closed = ledger.close(counts).is_ok();
    let longest = |spans: Vec<Span>| spans.into_iter().map(Span::as_nanos).max().unwrap_or(0);
    let steal = trial.steal.iter().map(|cpu| cpu.steal_ns).max();
    let (name, why) = match verdict {
        Verdict::Lossless => ("lossless", String::new()),
        Verdict::Lossy { .. } => ("lossy", String::new()),
        Verdict::NotOffered(_) => ("not-offered", verdict.to_string()),
        Verdict::Invalid(_) => ("invalid", verdict.to_string()),
        Verdict::Void(_) => ("void", verdict.to_string()),
    };
    format!(
        "{:.0},{},{},{},{},{},{},{},{},{},{name},{:.3},{},{},{:.4},{}",
        trial.offered.fps(),
        counts.intended,
        counts.sent,
        counts.unsent,
        counts.received,
        ledger.lost_before_nic,
        ledger.lost_nic_ring,
        ledger.lost_in_dut,
        ledger.lost_receiver_ring,
        if closed { "closed" } else { "open" },
        trial.busiest_share().unwrap_or(0.0),
        trial
            .gaps
            .iter()
            .map(|gap| gap.longest_ns)
            .max()
            .unwrap_or(0),
        longest(
            trial
                .other_tasks
                .iter()
                .map(|other_tasks| other_tasks.longest)
                .collect()
        ),
        steal.unwrap_or(0) as f64 / trial.duration.as_nanos().max(1) as f64,
        why.replace(',', ";"),
    )
}
