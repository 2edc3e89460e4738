//! The speed of each CPU over time, by the piece of work that is timed beside every trial: `cpu_speed SECONDS`
//! prints a line every 100 ms: ms since the beginning, then for each CPU ns of the work and stolen ticks since.
#![forbid(unsafe_code)]

use mpps_lab::clock::wait_until;
use mpps_lab::trial::speed;
use mpps_linux::clock::monotonic_ns;
use mpps_linux::{cpu, procstat};
use std::error::Error;

const STEP_NS: u64 = 100_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let seconds: u64 = std::env::args()
        .nth(1)
        .ok_or("cpu_speed SECONDS")?
        .parse()?;
    let cpus: Vec<usize> = cpu::available()?.iter().collect();
    let begun = monotonic_ns();
    for step in 0..seconds * 10 {
        wait_until(begun + step * STEP_NS);
        print!("{}", (monotonic_ns() - begun) / 1_000_000);
        let times = procstat::cpu_times()?;
        for (cpu, took) in speed::read(&cpus).map_err(|e| e.to_string())? {
            let own = times.iter().find(|times| times.cpu == cpu);
            let stolen = own.map_or(0, |times| times.steal_ns);
            print!("  {cpu}: {} {}", took.as_nanos(), stolen / 10_000_000);
        }
        println!();
    }
    Ok(())
}
