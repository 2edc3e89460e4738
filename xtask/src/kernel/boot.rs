//! Starts the emulated machine, shows what it says, and judges it by that.
use super::quietly;
use crate::failure::Failure;
use crate::tally::Reader;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A machine may take so long.
const LIMIT: Duration = Duration::from_secs(5400);
/// A machine that lives gives a sign (`PULSE`) every few seconds, however slow it is.
const SILENCE: Duration = Duration::from_secs(180);
/// The guest's sign of life, between and within lines.
const PULSE: u8 = 0;
const MEMORY_MIB: &str = "3072";
const EMULATOR: &str = "qemu-system-x86_64";
/// NICs have what no veth has: rings, delays of interrupts, pause frames, RSS. Two are cabled to each other.
const NICS: &str = "-netdev hubport,id=one,hubid=0 -device vmxnet3,netdev=one,romfile= \
                    -netdev hubport,id=other,hubid=0 -device e1000e,netdev=other,romfile= \
                    -device virtio-net-pci,netdev=queues,mq=on,vectors=6,rss=on,hash=on,romfile=";
/// Only a tap gives a NIC several queues. Without one its wire ends nowhere.
const TAP: &str = "tap,id=queues,queues=2,script=no,downscript=no,vhost=off";
const NO_TAP: &str = "hubport,id=queues,hubid=1";

/// The kernel says this before it stops. A test that fails says nothing like it.
const PANIC: &str = "Kernel panic - not syncing";

/// How a machine ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// Of its own accord.
    Over,
    /// Without its end, and no test is to blame: how.
    Lost(&'static str),
}

/// Boots, and shows what is said. Emulated even where the host could do better: every machine can, and all alike.
pub fn boot(image: &Path, memory: &Path, cpus: usize, said: &mut Said) -> Result<End, Failure> {
    let mut child = emulator()
        // A thread for each CPU would be faster. But a CPU may then run into the int3 by which another one patches the
        // kernel's text, and the guest dies (multipath-tcp/mptcp_net-next#471).
        .args(["-accel", "tcg,thread=single", "-cpu", "max"])
        .args(["-smp", &cpus.to_string(), "-m", MEMORY_MIB])
        .args(["-nodefaults", "-display", "none", "-no-reboot"])
        .args(["-serial", "stdio"])
        .args(NICS.split_whitespace())
        // An oops that kills a test alone would look like a failing test.
        .args([
            "-append",
            "console=ttyS0 quiet panic=-1 oops=panic mitigations=off",
        ])
        .arg("-kernel")
        .arg(image)
        .arg("-initrd")
        .arg(memory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::new(format!("start {EMULATOR}: {error}")))?;
    let over = listen(&octets_of(&mut child), said);
    if !over {
        let _gone = child.kill();
    }
    let _ended = child.wait();
    Ok(said.end(over))
}

/// The emulator, in a network namespace of its own where it may make one: no tap is among the interfaces of this machine.
fn emulator() -> Command {
    let own = ["--map-root-user", "--net"];
    let mut probe = Command::new("unshare");
    probe.args(own).args(["test", "-c", "/dev/net/tun"]);
    let has_tap = quietly(&mut probe, "make a network namespace").is_ok();
    let mut command = Command::new(if has_tap { "unshare" } else { EMULATOR });
    if has_tap {
        command.args(own).arg(EMULATOR);
    }
    command.args(["-netdev", if has_tap { TAP } else { NO_TAP }]);
    command
}

/// What the machine writes, as it comes.
fn octets_of(child: &mut Child) -> Receiver<Vec<u8>> {
    let (to, from) = channel();
    let output = child.stdout.take();
    std::thread::spawn(move || {
        let Some(mut output) = output else { return };
        let mut octets = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut octets) {
            if to.send(octets[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    from
}

/// Until the machine is off; false when it gives no sign of life, or takes too long.
fn listen(octets: &Receiver<Vec<u8>>, said: &mut Said) -> bool {
    let (begun, mut line) = (Instant::now(), Vec::new());
    loop {
        let left = LIMIT.saturating_sub(begun.elapsed());
        let more = match octets.recv_timeout(SILENCE.min(left)) {
            Ok(more) => more,
            Err(why) => return why == RecvTimeoutError::Disconnected,
        };
        for octet in more {
            match octet {
                PULSE => {}
                b'\n' => {
                    let text = String::from_utf8_lossy(&line);
                    let text = text.trim_end();
                    if said.take(text) {
                        println!("{text}");
                    }
                    line.clear();
                }
                other => line.push(other),
            }
        }
    }
}

/// What the guest said of its steps.
#[derive(Default)]
pub struct Said {
    tests: Reader,
    failed: Vec<String>,
    /// Commands that ended, in whichever way.
    commands: u64,
    /// Of this guest: lines of its script that ended, and the step that was begun and has not ended.
    done: usize,
    step: Option<String>,
    panicked: bool,
    ended: bool,
}

/// The guest's last step, which belongs to no line of its script.
const LAST: &str = "nothing-left";

impl Said {
    /// Another guest begins.
    pub fn begin(&mut self) {
        (self.done, self.step, self.panicked) = (0, None, false);
    }

    /// How this guest ended: it is off now (`over`), or gave no sign of life.
    fn end(&self, over: bool) -> End {
        match (over, self.panicked && !self.ended) {
            (_, true) => End::Lost("the guest's kernel panicked"),
            (true, false) => End::Over,
            (false, false) => End::Lost("the guest stood still"),
        }
    }

    /// Lines of its script that this guest brought to their end.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Where this guest is.
    pub fn place(&self) -> String {
        match (&self.step, self.done) {
            (Some(step), _) => format!("in step '{step}'"),
            (None, 0) => "before its first step".to_owned(),
            (None, done) => format!("behind its step {done}"),
        }
    }

    /// Takes a line; true when it is worth showing.
    fn take(&mut self, line: &str) -> bool {
        // Behind a stamp, or whatever a program wrote of the same line.
        self.panicked |= line.contains(PANIC);
        let Some(words) = line.strip_prefix("guest: ") else {
            return self.tests.take(line);
        };
        self.ended |= words == "all ended";
        if let Some(step) = words.strip_suffix(" begins") {
            self.step = Some(step.to_owned());
        }
        if let Some((step, code)) = words.split_once(" ended ") {
            self.step = None;
            self.done += usize::from(step != LAST);
            self.commands += u64::from(step == "run");
            if code != "0" {
                self.failed.push(format!("{step} (exit code {code})"));
            }
        }
        true
    }

    /// Good when all steps ended well, and there were any.
    pub fn judge(&self) -> Result<ExitCode, Failure> {
        if !self.ended {
            return Err(Failure::new(
                "the guest did not come to its end: its last words stand above",
            ));
        }
        let tally = self.tests.tally();
        for step in &self.failed {
            println!("failed: {step}");
        }
        if self.commands == 0 || tally.passed + tally.failed + tally.skipped > 0 {
            println!("{tally}");
        }
        let ran = tally.passed + self.commands > 0;
        let good = self.failed.is_empty() && tally.failed == 0 && ran;
        Ok(if good {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Said {
        /// Takes lines of a guest that nobody booted.
        pub fn hear(&mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) {
            for line in lines {
                self.take(line.as_ref());
            }
        }
    }

    fn judged(lines: &[&str]) -> Result<ExitCode, Failure> {
        let mut said = Said::default();
        said.hear(lines);
        said.judge()
    }

    #[test]
    fn signs_of_life_are_no_part_of_a_line() {
        let (to, from) = channel();
        for octets in [&b"guest: a\0ll"[..], b"\0", b" ended\r\n\0"] {
            to.send(octets.to_vec()).expect("a listener");
        }
        drop(to);
        let mut said = Said::default();
        assert!(listen(&from, &mut said));
        assert!(said.ended);
    }

    /// As Linux 6.12 says it on the console, `quiet` given.
    const DOUBLE_FAULT: [&str; 3] = [
        "[  412.071193] PANIC: double fault, error_code: 0x0",
        "[  412.075880] RIP: 0010:cmpxchg16b_emu+0x2d/0x40",
        "test cores::a [  412.092231] Kernel panic - not syncing: Fatal exception in interrupt",
    ];
    const BEGUN: [&str; 3] = [
        "guest: bed begins",
        "guest: bed ended 0",
        "guest: trial begins",
    ];

    #[test]
    fn a_kernels_panic_is_no_failing_test() {
        let mut said = Said::default();
        said.hear(BEGUN);
        assert_eq!(said.end(false), End::Lost("the guest stood still"));
        said.hear(DOUBLE_FAULT);
        let panic = End::Lost("the guest's kernel panicked");
        for over in [true, false] {
            assert_eq!(said.end(over), panic);
        }
        assert_eq!((said.done(), &*said.place()), (1, "in step 'trial'"));
        said.begin();
        assert_eq!((said.done(), &*said.place()), (0, "before its first step"));
        said.hear(DOUBLE_FAULT);
        assert_eq!(said.end(true), panic);
        // A test's panic, and a guest that came to its end.
        let mut said = Said::default();
        said.hear(BEGUN);
        said.hear([
            "thread 'trial::a' panicked at trial.rs:1:1:",
            "guest: trial ended 101",
        ]);
        said.hear(["guest: nothing-left ended 0", "guest: all ended"]);
        assert_eq!((said.end(true), said.done()), (End::Over, 2));
        assert_eq!(said.judge().expect("ended"), ExitCode::from(1));
    }

    #[test]
    fn a_guest_is_good_when_it_ended_and_nothing_failed() {
        let passed = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured";
        let good = [passed, "guest: bed ended 0", "guest: all ended"];
        assert_eq!(judged(&good).expect("ended"), ExitCode::SUCCESS);
        let bad = [passed, "guest: bed ended 101", "guest: all ended"];
        assert_eq!(judged(&bad).expect("ended"), ExitCode::from(1));
        // A guest that ran nothing proves nothing.
        let nothing = ["guest: bed ended 0", "guest: all ended"];
        assert_eq!(judged(&nothing).expect("ended"), ExitCode::from(1));
        assert!(judged(&[passed, "guest: bed ended 0"]).is_err());
        let command = |code| judged(&[code, "guest: all ended"]).expect("ended");
        assert_eq!(command("guest: run ended 0"), ExitCode::SUCCESS);
        assert_eq!(command("guest: run ended 2"), ExitCode::from(1));
    }
}
