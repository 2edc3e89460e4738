//! Pauses planted on one CPU, to calibrate the machine watch (see `pause.bpf.c`).

use libbpf_rs::ProgramInput;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use mpps_ebpf::instruments::pause::{PauseSkel, PauseSkelBuilder};
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::task;
use std::error::Error;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Above every other task: a pause comes when it is due, however busy the CPU.
const PRIORITY: u8 = 99;

/// A CPU that stands still again and again; it runs on when this is dropped.
pub struct PlantedPauses {
    planted: Arc<Planted>,
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Planted {
    pauses: AtomicU64,
    longest_ns: AtomicU64,
}

impl PlantedPauses {
    /// Makes `cpu` stand still for `pause_ns` (200 ms at most), each time `every_ns` have passed.
    pub fn plant(cpu: usize, every_ns: u64, pause_ns: u64) -> Result<Self, Box<dyn Error>> {
        let planted = Arc::new(Planted::default());
        let (stop, stopped) = channel();
        let (tell, told) = channel();
        let counts = Arc::clone(&planted);
        let thread = std::thread::Builder::new()
            .name(format!("mpps-pause/{cpu}"))
            .spawn(move || {
                let first = ready(cpu, pause_ns).and_then(|skel| {
                    pause(&skel, &counts)?;
                    Ok(skel)
                });
                match first {
                    Ok(skel) => {
                        // Nobody listens any more: there is nothing to pause for, and `stopped` says so too.
                        let _heard = tell.send(Ok(()));
                        pause_until(&stopped, Duration::from_nanos(every_ns), &skel, &counts);
                    }
                    Err(error) => drop(tell.send(Err(error.to_string()))),
                }
            })?;
        let pauses = Self {
            planted,
            stop: Some(stop),
            thread: Some(thread),
        };
        told.recv()??;
        Ok(pauses)
    }

    /// Pauses so far, and the longest, ns, by the planting program's own clock.
    pub fn planted(&self) -> (u64, u64) {
        let counts = &self.planted;
        (
            counts.pauses.load(Ordering::Acquire),
            counts.longest_ns.load(Ordering::Acquire),
        )
    }
}

/// The program, loaded, and this thread on its CPU.
fn ready(cpu: usize, pause_ns: u64) -> Result<PauseSkel<'static>, Box<dyn Error>> {
    let place = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open = PauseSkelBuilder::default().open(place)?;
    let rodata = open.maps.rodata_data.as_deref_mut().ok_or("no rodata")?;
    rodata.pause_ns = pause_ns;
    let skel = open.load()?;
    cpu::pin_current_thread(&CpuSet::single(cpu))?;
    cpu::set_fifo(task::current_tid(), PRIORITY)?;
    Ok(skel)
}

fn pause(skel: &PauseSkel<'_>, counts: &Planted) -> Result<(), libbpf_rs::Error> {
    let input = ProgramInput {
        data_in: Some(&[0; 64]),
        repeat: 1,
        ..ProgramInput::default()
    };
    let run = skel.progs.stand_still.test_run(input)?;
    let took_ns = u64::from(run.return_value) * 1_000;
    counts.longest_ns.fetch_max(took_ns, Ordering::Release);
    counts.pauses.fetch_add(1, Ordering::Release);
    Ok(())
}

/// Ends when nobody holds the other end; a pause that fails is not counted, and so found by its planter.
fn pause_until(stop: &Receiver<()>, every: Duration, skel: &PauseSkel<'_>, counts: &Planted) {
    while stop.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        if pause(skel, counts).is_err() {
            return;
        }
    }
}

impl Drop for PlantedPauses {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked pauses nothing any more; nothing is left to undo.
            let _ended = thread.join();
        }
    }
}
