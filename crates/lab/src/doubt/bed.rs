//! Doubts that the bed brings along, whatever was found on it.

use super::{Doubt, Surroundings, Weight};
use mpps_method::Rate;
use mpps_record::doubts::SIMULATED;

pub(super) fn doubts(around: &Surroundings, ceiling: Rate) -> Vec<Doubt> {
    let (is_closed, is_veth) = (around.closed, around.veth.is_some());
    let mut doubts = Vec::new();
    if let Some(pair) = &around.simulated {
        doubts.push(simulated(pair));
    } else {
        if is_closed {
            doubts.push(ceiling_unproven(ceiling));
            doubts.push(device_unknown());
        }
        doubts.extend(veth_cable(around).filter(|_| is_closed));
        if !is_closed || is_veth {
            doubts.push(notional_link());
        }
    }
    if around.virtual_nic {
        doubts.push(virtual_nic());
    }
    doubts
}

fn simulated(pair: &str) -> Doubt {
    Doubt {
        name: SIMULATED,
        weight: Weight::Another(13),
        seen: format!("nothing was measured: simulated {pair}"),
        why: "A simulation serves to try goals and searches. It says nothing about a router.",
        next: "Run the same without --simulate, as root.",
    }
}

/// No wire can be laid in place of an external device.
fn ceiling_unproven(sender: Rate) -> Doubt {
    Doubt {
        name: "ceiling-unproven",
        weight: Weight::Unknown(1),
        seen: format!(
            "the tester's sender reaches {sender}; the limit of its receiver was not measured"
        ),
        why: "The tester's NIC or driver may lose frames without counting them. Such loss looks like the device's.",
        next: "Join the two ports with a cable and run the same with --dut-mac of the second port. The rate found is the ceiling.",
    }
}

fn device_unknown() -> Doubt {
    Doubt {
        name: "device-unknown",
        weight: Weight::Unknown(2),
        seen: "the external device's counters, CPU and rings are unknown".to_owned(),
        why: "A cable or a NIC may have lost the frames. Busy time and cost per frame are unknown.",
        next: "Read the device's own counters before and after the run.",
    }
}

fn veth_cable(around: &Surroundings) -> Option<Doubt> {
    let port = around.veth.as_ref()?;
    Some(Doubt {
        name: "veth-cable",
        weight: Weight::Unknown(0),
        seen: format!(
            "{port} is a veth: the device works on the sender's CPU, in the sender's time"
        ),
        why: "A rate that the tester limits is the rate of tester and device together. A slow device slows the sender and loses no frames.",
        next: "Give the device's port a CPU of its own (RPS, or NAPI in a thread), or measure between NICs.",
    })
}

fn notional_link() -> Doubt {
    Doubt {
        name: "notional-link",
        weight: Weight::Footnote(1, "no physical link"),
        seen: "the bed has no physical link: frames pass by reference".to_owned(),
        why: "Percent of link and Gbit/s are computed, not measured. Large frames cost about as much as small ones.",
        next: "Read docs/method.md.",
    }
}

fn virtual_nic() -> Doubt {
    Doubt {
        name: "virtual-nic",
        weight: Weight::Footnote(2, "a virtual NIC"),
        seen: "the receive ring is a virtual NIC's (CPUMAP); from Linux 6.15 its path runs GRO"
            .to_owned(),
        why: "A hardware NIC's driver costs more or less. Compare only results of the same kind of NIC.",
        next: "Read docs/method.md.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_bed_has_its_doubts() {
        let names = |around: Surroundings| {
            let doubts = doubts(&around, Rate::ZERO);
            doubts.iter().map(|doubt| doubt.name).collect::<Vec<_>>()
        };
        let bed = Surroundings {
            virtual_nic: true,
            ..Surroundings::default()
        };
        assert_eq!(names(bed), ["notional-link", "virtual-nic"]);
        let closed = || Surroundings {
            closed: true,
            ..Surroundings::default()
        };
        let unknown = ["ceiling-unproven", "device-unknown"];
        assert_eq!(names(closed()), unknown);
        let veth = Surroundings {
            veth: Some("out".to_owned()),
            ..closed()
        };
        let of_veth = ["veth-cable", "notional-link"];
        assert_eq!(names(veth), [unknown, of_veth].concat());
        let simulated = Surroundings {
            simulated: Some("capacity=1".to_owned()),
            ..closed()
        };
        assert_eq!(names(simulated), [SIMULATED]);
    }
}
