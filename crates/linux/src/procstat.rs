//! Where each CPU's time went (/proc/stat), and how many packets its network stack took (/proc/net/softnet_stat).

use crate::error::{Error, Result};

const PATH: &str = "/proc/stat";

/// Times of one CPU since boot, nanoseconds, in steps of one clock tick (usually 10 ms).
///
/// `proc_stat(5)`. Guest times are already part of user and nice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// CPU number.
    pub cpu: usize,
    /// In user programs.
    pub user_ns: u64,
    /// In user programs of low priority.
    pub nice_ns: u64,
    /// In the kernel on behalf of tasks, kernel threads included.
    pub system_ns: u64,
    /// Idle.
    pub idle_ns: u64,
    /// Idle with a disk request pending.
    pub iowait_ns: u64,
    /// In hard interrupts.
    pub irq_ns: u64,
    /// In soft interrupts (networking that runs in no thread).
    pub softirq_ns: u64,
    /// Wanted to run, but the hypervisor ran somebody else.
    pub steal_ns: u64,
}

impl CpuTimes {
    /// Time the CPU worked: everything but idle, waiting for a disk, and stolen.
    #[must_use]
    pub fn busy_ns(&self) -> u64 {
        self.user_ns + self.nice_ns + self.system_ns + self.irq_ns + self.softirq_ns
    }

    /// What was added since `earlier` (of the same CPU). Counters that the kernel let run backwards
    /// (idle and iowait may) count as 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu: self.cpu,
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            nice_ns: self.nice_ns.saturating_sub(earlier.nice_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            idle_ns: self.idle_ns.saturating_sub(earlier.idle_ns),
            iowait_ns: self.iowait_ns.saturating_sub(earlier.iowait_ns),
            irq_ns: self.irq_ns.saturating_sub(earlier.irq_ns),
            softirq_ns: self.softirq_ns.saturating_sub(earlier.softirq_ns),
            steal_ns: self.steal_ns.saturating_sub(earlier.steal_ns),
        }
    }
}

/// Times of every online CPU, by rising number.
///
/// # Errors
/// /proc not mounted, or a format we do not know.
pub fn cpu_times() -> Result<Vec<CpuTimes>> {
    let text =
        std::fs::read_to_string(PATH).map_err(|e| Error::from_io("read CPU times", PATH, &e))?;
    parse(&text, tick_ns()?)
}

const SOFTNET: &str = "/proc/net/softnet_stat";
/// Column of the CPU's number (net/core/net-procfs.c, softnet_seq_show).
const SOFTNET_CPU: usize = 12;

/// What the network stack of one CPU has done, whatever the namespace. The kernel counts in 32 bits and begins again at 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Softnet {
    /// CPU number.
    pub cpu: usize,
    /// Packets taken.
    pub packets: u32,
    /// Packets dropped because the CPU's backlog was full (`net.core.netdev_max_backlog`).
    pub dropped: u32,
    /// How often a soft interrupt ended with work left (`net.core.netdev_budget`).
    pub squeezed: u32,
}

/// Of each online CPU.
///
/// # Errors
/// /proc not mounted, or a format we do not know.
pub fn softnet() -> Result<Vec<Softnet>> {
    let text = std::fs::read_to_string(SOFTNET);
    let text = text.map_err(|e| Error::from_io("read packets by CPU", SOFTNET, &e))?;
    parse_softnet(&text)
}

/// Packets that the network stack of each online CPU has taken: (CPU, packets).
///
/// # Errors
/// As [`softnet`].
pub fn stack_packets() -> Result<Vec<(usize, u32)>> {
    let of_cpu = |softnet: Softnet| (softnet.cpu, softnet.packets);
    Ok(softnet()?.into_iter().map(of_cpu).collect())
}

fn parse_softnet(text: &str) -> Result<Vec<Softnet>> {
    let of_cpu = |line: &str| {
        let word =
            |column| u32::from_str_radix(line.split_ascii_whitespace().nth(column)?, 16).ok();
        Some(Softnet {
            cpu: word(SOFTNET_CPU)? as usize,
            packets: word(0)?,
            dropped: word(1)?,
            squeezed: word(2)?,
        })
    };
    let refuse = |line| Error::from_text("parse packets by CPU", SOFTNET, format!("`{line}`"));
    let lines = text.lines();
    lines
        .map(|line| of_cpu(line).ok_or_else(|| refuse(line)))
        .collect()
}

const INTERRUPTS: &str = "/proc/interrupts";

/// Hard interrupts of each online CPU since boot, those between CPUs and of timers included: (CPU, interrupts).
///
/// # Errors
/// /proc not mounted, or a format we do not know.
pub fn interrupts() -> Result<Vec<(usize, u64)>> {
    let text = std::fs::read_to_string(INTERRUPTS);
    let text = text.map_err(|e| Error::from_io("read interrupts", INTERRUPTS, &e))?;
    let refuse = || {
        Error::from_text(
            "parse interrupts",
            INTERRUPTS,
            "the first line names no CPU",
        )
    };
    parse_interrupts(&text).ok_or_else(refuse)
}

fn parse_interrupts(text: &str) -> Option<Vec<(usize, u64)>> {
    let mut lines = text.lines();
    let names = lines.next()?.split_ascii_whitespace();
    let number = |name: &str| Some((name.strip_prefix("CPU")?.parse().ok()?, 0));
    let mut cpus: Vec<(usize, u64)> = names.map(number).collect::<Option<_>>()?;
    for line in lines {
        // Behind the counts stands a name, which may begin with a number.
        let words = line.split_ascii_whitespace().skip(1);
        let counts: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        // A line with fewer, such as ERR, counts for no CPU.
        if counts.len() >= cpus.len() {
            cpus.iter_mut()
                .zip(counts)
                .for_each(|((_, sum), n)| *sum += n);
        }
    }
    Some(cpus)
}

/// Length of the clock tick of /proc/stat, nanoseconds: the step of every time here.
///
/// # Errors
/// The C library does not know it (never seen).
pub fn tick_ns() -> Result<u64> {
    // SAFETY: takes and returns plain integers.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    match u64::try_from(ticks) {
        Ok(ticks) if ticks > 0 => Ok(1_000_000_000 / ticks),
        _ => Err(Error::from_text(
            "read",
            "ticks per second (_SC_CLK_TCK)",
            format!("{ticks}"),
        )),
    }
}

fn parse(text: &str, tick_ns: u64) -> Result<Vec<CpuTimes>> {
    let mut all = Vec::new();
    for line in text.lines() {
        // "cpu" alone is the sum of all.
        let Some((number, times)) = line
            .strip_prefix("cpu")
            .and_then(|rest| rest.split_once(' '))
            .filter(|(number, _)| !number.is_empty())
        else {
            continue;
        };
        let refuse = || Error::from_text("parse CPU times", PATH, format!("`{line}`"));
        let cpu = number.parse().map_err(|_| refuse())?;
        let mut ticks = [0u64; 8];
        let mut words = times.split_ascii_whitespace();
        for tick in &mut ticks {
            let word = words.next().ok_or_else(refuse)?;
            *tick = word.parse::<u64>().map_err(|_| refuse())? * tick_ns;
        }
        let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
        all.push(CpuTimes {
            cpu,
            user_ns: user,
            nice_ns: nice,
            system_ns: system,
            idle_ns: idle,
            iowait_ns: iowait,
            irq_ns: irq,
            softirq_ns: softirq,
            steal_ns: steal,
        });
    }
    if all.is_empty() {
        return Err(Error::from_text(
            "parse CPU times",
            PATH,
            "no line of a CPU",
        ));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "cpu  30 0 12 900 2 1 5 50 0 0\n\
        cpu0 10 0 5 400 1 0 2 30 0 0\n\
        cpu3 20 0 7 500 1 1 3 20 0 0\n\
        intr 12345 0 0\n\
        ctxt 99\n";

    #[test]
    fn each_cpu_keeps_its_number_and_its_steal() {
        let times = parse(TEXT, 10_000_000).unwrap();
        assert_eq!(times.len(), 2);
        assert_eq!((times[0].cpu, times[1].cpu), (0, 3));
        assert_eq!(times[0].steal_ns, 300_000_000);
        assert_eq!(times[1].softirq_ns, 30_000_000);
        assert_eq!(times[1].busy_ns(), (20 + 7 + 1 + 3) * 10_000_000);
    }

    #[test]
    fn differences_do_not_wrap_when_idle_runs_backwards() {
        let times = parse(TEXT, 1).unwrap();
        let mut later = times[0];
        later.idle_ns -= 1;
        later.steal_ns += 7;
        let since = later.since(&times[0]);
        assert_eq!((since.idle_ns, since.steal_ns, since.busy_ns()), (0, 7, 0));
    }

    #[test]
    fn a_format_we_do_not_know_is_an_error() {
        assert!(parse("", 1).is_err());
        assert!(parse("cpu0 1 2 3\n", 1).is_err());
        assert!(parse("cpu0 1 2 3 4 5 6 7 x\n", 1).is_err());
    }

    #[test]
    fn packets_stand_by_the_cpus_number() {
        let line =
            |packets: &str, cpu: &str| format!("{packets} {} {cpu} 0 0\n", ["0"; 11].join(" "));
        let text = line("0132c44d", "00000001") + &line("2a", "1f");
        let read = parse_softnet(&text).unwrap();
        let packets: Vec<_> = read.iter().map(|of| (of.cpu, of.packets)).collect();
        assert_eq!(packets, [(1, 0x0132_c44d), (31, 42)]);
        assert!(parse_softnet("2a 0 0\n").is_err());
        assert!(!stack_packets().unwrap().is_empty());
        let text = format!("10 a b {} 2\n", ["0"; 9].join(" "));
        let expected = Softnet {
            cpu: 2,
            packets: 16,
            dropped: 10,
            squeezed: 11,
        };
        assert_eq!(parse_softnet(&text).unwrap(), [expected]);
    }

    #[test]
    fn interrupts_are_summed_by_cpu() {
        let text = "      CPU0  CPU3\n 24:  1  20  IO-APIC 5-edge  ACPI\nLOC:  5  7  Local timer\nERR:  9\n";
        assert_eq!(parse_interrupts(text).unwrap(), [(0, 6), (3, 27)]);
        assert_eq!(parse_interrupts("x\n"), None);
        assert!(!interrupts().unwrap().is_empty());
    }

    #[test]
    fn this_machine_has_a_time_for_each_cpu_online() {
        let cpus: Vec<_> = cpu_times().unwrap().iter().map(|t| t.cpu).collect();
        let online: Vec<_> = crate::cpu::online().unwrap().iter().collect();
        assert_eq!(cpus, online);
    }
}
