//! A thread of the tester's at real-time priority, on CPUs of its own choice: or rings overflow while the sender spins.

use crate::tester::error::TesterError;
use mpps_linux::cpu::{self, CpuSet};
use mpps_linux::{Error, task};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Such a thread; it is told to stop, and waited for, when this is dropped.
pub struct RealTime {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RealTime {
    /// Starts `work` at this SCHED_FIFO priority on these CPUs; it shall end soon after the flag it is given is set.
    ///
    /// # Errors
    /// What starting or placing it said; then `work` never began.
    pub fn start(
        name: &str,
        cpus: &CpuSet,
        priority: u8,
        work: impl FnOnce(&AtomicBool) + Send + 'static,
    ) -> Result<Self, TesterError> {
        let stop = Arc::new(AtomicBool::new(false));
        let (theirs, cpus) = (Arc::clone(&stop), cpus.clone());
        let (tell, placed) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name(name.to_owned());
        let thread = thread
            .spawn(move || {
                let place = cpu::pin_current_thread(&cpus)
                    .and_then(|()| cpu::set_fifo(task::current_tid(), priority));
                let is_placed = place.is_ok();
                // Nobody listens only when the thread was given up.
                let _told = tell.send(place);
                if is_placed {
                    work(&theirs);
                }
            })
            .map_err(|e| Error::from_io("start thread", name, &e))?;
        let started = Self {
            stop,
            thread: Some(thread),
        };
        let ended = || Error::from_text("start thread", name, "it ended");
        placed.recv().map_err(|_| ended())??;
        Ok(started)
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic of its own was told on stderr; here only its end matters.
            let _ended = thread.join();
        }
    }
}
