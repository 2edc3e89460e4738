//! How long the samples of 10 s of 4 CPUs at 10 kHz take from the kernel's records to the folded stacks. The samples are
//! made: call chains of 12 to 30 functions of this kernel's, 4 000 different ones.
//!
//! `cargo run --release -p mpps-lab --example profile_speed` (as root, or there are no names)

use mpps_lab::clock::monotonic_ns;
use mpps_lab::jobs::explain::Divided;
use mpps_lab::profile::{Sample, SamplingClock, Segment, Symbols, Taken, resolve};
use mpps_method::random::Random;
use mpps_method::stage::Router;
use std::error::Error;

const CPUS: u64 = 4;
const SAMPLES: u64 = 100_000;
const PERIOD: u64 = 100_000;
const CHAINS: u64 = 4_000;
const TASK: u64 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let chains = chains(&std::fs::read_to_string("/proc/kallsyms")?);
    let taken: Vec<Taken> = (0..CPUS).map(|cpu| made(cpu, &chains)).collect();
    let begun = monotonic_ns();
    let symbols = Symbols::read(&[])?;
    let read = monotonic_ns();
    let profile = resolve(SamplingClock::Timer, 0, &taken, &symbols)?;
    let resolved = monotonic_ns();
    let samples: Vec<&Sample> = profile.of_tasks(&[TASK as i32]).collect();
    let divided = Divided::new(&profile, &samples, Router::OnBed, 1_000.0);
    let stacks = divided.stacks.folded();
    let ended = monotonic_ns();
    let ms = |from: u64, to: u64| (to - from) / 1_000_000;
    println!(
        "{} samples, {} stacks: names read in {} ms, resolved in {} ms, placed, split and folded in {} ms; {} ms in all",
        divided.split.map_or(0, |split| split.samples),
        stacks.len(),
        ms(begun, read),
        ms(read, resolved),
        ms(resolved, ended),
        ms(begun, ended),
    );
    Ok(())
}

/// Call chains of addresses within the kernel's functions.
fn chains(text: &str) -> Vec<Vec<u64>> {
    let is_code = |line: &&str| line.contains(" t ") || line.contains(" T ");
    let code = text.lines().filter(is_code);
    let address = |line: &str| u64::from_str_radix(line.get(..16)?, 16).ok();
    let addresses: Vec<u64> = code.filter_map(address).collect();
    let mut random = Random::from_seed(1);
    let mut chain = || {
        let drawn = (0..12 + random.below(19)).map(|_| random.below(addresses.len() as u64));
        let within = drawn.filter_map(|at| addresses.get(at as usize).map(|begin| begin + 3));
        within.collect()
    };
    (0..CHAINS).map(|_| chain()).collect()
}

/// Samples of a CPU as the kernel writes them (`PERF_RECORD_SAMPLE` in the kernel's mode).
fn made(cpu: u64, chains: &[Vec<u64>]) -> Taken {
    let record = |k: u64| {
        let chain = &chains[((k * 7 + cpu) % CHAINS) as usize];
        let late_ns = 400 + (k * 37) % 100;
        let at_ns = (k + 1) * PERIOD + late_ns;
        let body = [
            chain[0],
            TASK << 32 | TASK,
            at_ns,
            cpu,
            PERIOD,
            chain.len() as u64,
        ];
        let length = 8 * (1 + body.len() + chain.len()) as u64;
        let head = [9 | 1 << 32 | length << 48];
        [&head[..], &body, chain].concat()
    };
    let words = (0..SAMPLES).flat_map(record);
    Taken {
        cpu: cpu as usize,
        octets: words.flat_map(u64::to_ne_bytes).collect(),
        segments: vec![Segment {
            asked_ns: 0,
            set_ns: 0,
            to_ns: (SAMPLES + 1) * PERIOD,
            period: PERIOD,
            counted: None,
        }],
    }
}
