//! Starts the emulated machine, shows what it says, and judges it by that.
use crate::failure::Failure;
use crate::tally::Reader;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// The whole run may take so long, seconds.
const LIMIT_S: &str = "5400";
const MEMORY_MIB: &str = "3072";

/// Boots, shows, judges. Emulated even where the host could do better: every machine can, and all alike.
pub fn boot(image: &Path, memory: &Path, cpus: usize) -> Result<ExitCode, Failure> {
    // In the foreground, so that Ctrl-C reaches the emulator too.
    let mut child = Command::new("timeout")
        .args(["--foreground", LIMIT_S, "qemu-system-x86_64"])
        .args(["-accel", "tcg,thread=multi", "-cpu", "max"])
        .args(["-smp", &cpus.to_string(), "-m", MEMORY_MIB])
        .args(["-nodefaults", "-display", "none", "-no-reboot"])
        .args(["-serial", "stdio"])
        .args(["-append", "console=ttyS0 quiet panic=-1 mitigations=off"])
        .arg("-kernel")
        .arg(image)
        .arg("-initrd")
        .arg(memory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::new(format!("start qemu-system-x86_64: {error}")))?;
    let mut said = Said::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            if said.take(line) {
                println!("{line}");
            }
        }
    }
    let _ended = child.wait();
    said.judge()
}

/// What the guest said of its steps.
#[derive(Default)]
struct Said {
    tests: Reader,
    failed: Vec<String>,
    /// Commands that ended, in whichever way.
    commands: u64,
    ended: bool,
}

impl Said {
    /// Takes a line; true when it is worth showing.
    fn take(&mut self, line: &str) -> bool {
        let Some(words) = line.strip_prefix("guest: ") else {
            return self.tests.take(line);
        };
        self.ended |= words == "all ended";
        if let Some((step, code)) = words.split_once(" ended ") {
            self.commands += u64::from(step == "run");
            if code != "0" {
                self.failed.push(format!("{step} (exit code {code})"));
            }
        }
        true
    }

    fn judge(&self) -> Result<ExitCode, Failure> {
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

    fn judged(lines: &[&str]) -> Result<ExitCode, Failure> {
        let mut said = Said::default();
        for line in lines {
            said.take(line);
        }
        said.judge()
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
