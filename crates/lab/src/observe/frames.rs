//! Which frames the CPUs that are watched took: polls of devices tell it, and packets of the stack where there are none.

use mpps_record::Watched;

/// Fewer frames tell no cost.
pub const FRAMES_MIN: f64 = 100.0;
/// A smaller part of the packets may come from readings that are not of one moment.
const FOREIGN_MIN: f64 = 0.05;
/// CPUs with less of what devices poll have their frames from other CPUs.
const POLLED_MIN: f64 = 0.01;
/// Shares that are further apart disagree.
const APART: f64 = 0.1;
/// If drivers polled less than this part of the frames counted, hardware had the others.
const FEWER: f64 = 0.7;
/// From this ratio on, the driver may count its transmit ring, or interfaces miss frames.
const MANY: f64 = 2.0;
/// From this ratio on, interfaces miss frames.
const MORE: f64 = 10.0;

/// Frames that polls took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// On the CPUs that are watched.
    pub ours: u64,
    /// On all CPUs.
    pub all: u64,
}

impl Part {
    fn share(self) -> Option<f64> {
        // A frame may be polled between the readings of the two.
        (self.all > 0).then(|| (self.ours as f64 / self.all as f64).min(1.0))
    }
}

/// Frames that polls took in the time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Polls {
    /// Of all polls. A frame is polled several times where it passes a veth, a tunnel or a backlog.
    pub any: Part,
    /// Of polls of the namespace's own devices, virtio's among them.
    pub devices: Part,
}

/// Counts the frames that the cost of one is told of: those of devices by their polls, the others by the stack's packets.
/// `is_past_stack`: the stack saw next to none.
pub fn count(watched: &mut Watched, polls: Polls, is_past_stack: bool) {
    let stack = watched.share_of_stack;
    let links = watched.links.iter().filter(|link| link.counted);
    let of_hardware = links.filter(|link| link.kind.is_none());
    let hardware = of_hardware.map(|link| link.rx_frames).sum::<u64>() as f64;
    let others = watched.rx_frames as f64 - hardware;
    let of_others = match is_past_stack {
        true => polls.any.share().unwrap_or(1.0),
        false => stack,
    };
    let is_polled = polls.devices.all as f64 >= FRAMES_MIN;
    let of_devices = polls.devices.share().filter(|_| is_polled);
    let told = of_devices.filter(|share| *share >= POLLED_MIN);
    let apart = of_devices.filter(|polled| !is_past_stack && (polled - stack).abs() > APART);
    if let Some(polled) = apart.filter(|_| hardware > others) {
        let [polled, stack] = [polled, stack].map(|share| share * 100.0);
        watched.lacks.push(format!(
            "devices gave these CPUs {polled:.0} % of the frames, but they took {stack:.0} % of the stack's packets. Either \
             CPUs hand frames on (RPS, cpumap) or GRO merges some. Watch all CPUs"
        ));
    }
    let counted = hardware * told.unwrap_or(of_others);
    let ours = counted + others * of_others;
    let uncounted = told.map_or(0.0, |_| {
        uncounted(watched, polls.devices.ours as f64, counted)
    });
    let foreign = foreign(watched, stack);
    watched.frames_share = Some(match watched.rx_frames {
        0 => told.unwrap_or(of_others),
        all => ours / all as f64,
    });
    watched.foreign_packets = foreign as u64;
    // A frame that an interface did not count may be among the stack's packets too.
    watched.frames = (ours + uncounted.max(foreign) + uncounted.min(0.0)).max(0.0) as u64;
}

/// Packets of the stack that no interface here counted. It takes a frame once for each interface that it comes up through, a
/// VLAN's port for one.
fn foreign(watched: &Watched, share: f64) -> f64 {
    let taken: u64 = watched.cpus.iter().map(|cpu| cpu.packets).sum();
    let through: u64 = watched.links.iter().map(|link| link.rx_frames).sum();
    let foreign = taken as f64 - through as f64 * share;
    if foreign > taken as f64 * FOREIGN_MIN {
        foreign
    } else {
        0.0
    }
}

/// Frames that drivers polled and their interfaces did not count; fewer than 0 where hardware had frames that were not polled.
fn uncounted(watched: &mut Watched, polled: f64, counted: f64) -> f64 {
    let (is_counted, why) = if polled >= FRAMES_MIN && polled > counted * MORE {
        (true, "an XDP program took the others before that")
    } else if polled >= FRAMES_MIN && polled > counted * MANY {
        let why =
            "the cost is of those counted. If an XDP program took the others, a frame costs less";
        (false, why)
    } else if counted >= FRAMES_MIN && polled < counted * FEWER {
        let why = "hardware merged or forwarded the others, and the cost is of those polled";
        (true, why)
    } else {
        return 0.0;
    };
    watched.lacks.push(format!(
        "drivers polled {polled:.0} frames on these CPUs, and interfaces counted {counted:.0} for them: {why}"
    ));
    if is_counted { polled - counted } else { 0.0 }
}

/// Why so few frames tell no cost.
pub fn too_few(watched: &Watched) -> String {
    let (passed, seconds) = (watched.rx_frames, watched.time_ns as f64 / 1e9);
    if passed as f64 >= FRAMES_MIN {
        format!(
            "{passed} frames came in {seconds:.1} s, but these CPUs took too few of them. Watch other CPUs. If none has them, \
             hardware forwards them"
        )
    } else {
        format!("there was no traffic: {passed} frames came in {seconds:.1} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{WatchedCpu, WatchedLink};

    /// One CPU whose stack took so many packets, that share of all, and interfaces: frames, of hardware.
    fn watched(packets: u64, share: f64, links: &[(u64, bool)]) -> Watched {
        let link = |&(rx_frames, is_hardware): &(u64, bool)| WatchedLink {
            rx_frames,
            counted: true,
            kind: (!is_hardware).then(|| "veth".to_owned()),
            ..WatchedLink::default()
        };
        Watched {
            time_ns: 1_000_000_000,
            rx_frames: links.iter().map(|link| link.0).sum(),
            share_of_stack: share,
            links: links.iter().map(link).collect(),
            cpus: vec![WatchedCpu {
                packets,
                ..WatchedCpu::default()
            }],
            ..Watched::default()
        }
    }

    fn polls(ours: u64, all: u64) -> Polls {
        let devices = Part { ours, all };
        Polls {
            any: devices,
            devices,
        }
    }

    /// Frames, and what is doubted.
    fn counted(mut watched: Watched, polls: Polls, is_past_stack: bool) -> (u64, String) {
        count(&mut watched, polls, is_past_stack);
        (watched.frames, watched.lacks.join("\n"))
    }

    #[test]
    fn devices_tell_the_part_before_the_stack() {
        // GRO: 50 000 packets of 950 000 frames here, and 50 000 of as many elsewhere.
        let merged = watched(50_000, 0.5, &[(1_000_000, true)]);
        let (frames, doubts) = counted(merged, polls(950_000, 1_000_000), false);
        assert_eq!(frames, 950_000);
        assert!(
            doubts.contains("95 % of the frames, but they took 50 % of"),
            "{doubts}"
        );
        let all = watched(100_000, 1.0, &[(1_000_000, true)]);
        let all = counted(all, polls(1_000_000, 1_000_000), false);
        assert_eq!(all, (1_000_000, String::new()));
    }

    #[test]
    fn a_cpu_that_others_hand_frames_has_them() {
        let target = watched(1_000_000, 1.0, &[(1_000_000, true)]);
        let (frames, doubts) = counted(target, polls(0, 1_000_000), false);
        assert_eq!(frames, 1_000_000);
        assert!(doubts.contains("CPUs hand frames on (RPS"), "{doubts}");
    }

    #[test]
    fn devices_tell_of_their_own_frames_alone() {
        // Frames of a veth beside a device that gave CPUs a few for whom the machine is managed.
        let veth = watched(1_000_000, 1.0, &[(1_000_000, false), (20, true)]);
        let veth = counted(veth, polls(10, 20), false);
        assert_eq!(veth, (1_000_020, String::new()));
        // Half of the frames are a device's, of which these CPUs have a tenth.
        let both = watched(600_000, 0.6, &[(500_000, false), (500_000, true)]);
        assert_eq!(counted(both, polls(50_000, 500_000), false).0, 350_000);
    }

    #[test]
    fn polls_tell_what_no_stack_saw() {
        // A veth has no device below it.
        let polled = Polls {
            any: Part {
                ours: 900_000,
                all: 1_200_000,
            },
            devices: Part::default(),
        };
        let past = watched(0, 0.0, &[(1_000_000, false)]);
        assert_eq!(counted(past, polled, true), (750_000, String::new()));
        let unseen = watched(0, 1.0, &[(1_000_000, false)]);
        assert_eq!(counted(unseen, Polls::default(), true).0, 1_000_000);
    }

    #[test]
    fn what_interfaces_do_not_count_was_polled() {
        let dropped = watched(5, 1.0, &[(5, true)]);
        let (frames, doubts) = counted(dropped, polls(2_000_000, 2_000_000), true);
        assert_eq!(frames, 2_000_000);
        assert!(
            doubts.contains("an XDP program took the others"),
            "{doubts}"
        );
        let offloaded = watched(100_000, 1.0, &[(9_000_000, true)]);
        let (frames, doubts) = counted(offloaded, polls(100_000, 100_000), false);
        assert_eq!(frames, 100_000);
        assert!(doubts.contains("hardware merged or forwarded"), "{doubts}");
        // A driver tells its whole budget while it cleans its transmit ring.
        let sends = watched(1_000_000, 1.0, &[(1_000_000, true)]);
        let (frames, doubts) = counted(sends.clone(), polls(3_000_000, 3_000_000), false);
        assert_eq!(frames, 1_000_000);
        assert!(doubts.contains("a frame costs less"), "{doubts}");
        let sends = counted(sends, polls(1_900_000, 1_900_000), false);
        assert_eq!(sends, (1_000_000, String::new()));
        // The stack took what no interface counted: it counts once.
        let passed = watched(1_000_000, 1.0, &[(1_000, true)]);
        assert_eq!(
            counted(passed, polls(1_000_000, 1_000_000), false).0,
            1_000_000
        );
    }
}
