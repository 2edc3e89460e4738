use super::*;
use std::path::Path;

fn gbit(speed: u64) -> LinkSpeed {
    LinkSpeed::from_bits_per_second(speed * 1_000_000_000)
}

fn sizes(text: &str) -> FrameSpec {
    FrameSpec::parse_list(text).unwrap().remove(0)
}

fn pcie(generation: u8, lanes: u8) -> Bus {
    Bus::pcie(generation, lanes).unwrap()
}

fn on(speed: u64, frames: &str) -> Budget {
    let packets = Packets::default();
    Budget::new(&sizes(frames), gbit(speed), pcie(3, 8), packets, None)
}

/// Whole frames: a part of one is not sent.
fn whole_fps(speed: u64, frames: &str) -> String {
    format!("{:.0}", on(speed, frames).wire.fps().floor())
}

fn host_gigabytes(frames: &str) -> String {
    format!("{:.2}", on(40, frames).host_octets_per_s() / 1e9)
}

fn megabytes(bus: Bus, digits: usize) -> String {
    format!("{:.digits$}", bus.octets_per_s() / 1e6)
}

fn gigabits(bus: Bus) -> f64 {
    bus.bits_per_s() / 1e9
}

/// Share lost to headers, payloads of 128 octets, in whole percent as the source has it.
fn lost_percent() -> f64 {
    let packets = Packets::new(128, Packets::OVERHEAD, 0).unwrap();
    ((1.0 - packets.payload_share()) * 100.0).round()
}

/// The source takes its rounded 16 % off.
fn less_overhead(bus: Bus) -> f64 {
    gigabits(bus) * (1.0 - lost_percent() / 100.0)
}

/// The source multiplies its rounded lane; unrounded it is 7876.9.
fn rounded_lanes(generation: u8, lanes: u8) -> String {
    let lane: f64 = megabytes(pcie(generation, 1), 1).parse().unwrap();
    format!("{:.1}", lane * f64::from(lanes))
}

fn x16_one_way() -> String {
    let bus = pcie(2, 16);
    let raw = bus.raw_bits_per_s() / 1e9;
    let (coded, left) = (gigabits(bus), less_overhead(bus));
    format!("{raw:.0} / {coded:.0} / {left:.0}")
}

/// Of a second in which a router's interfaces carry 40 Gbit/s altogether, half of it in, half out.
fn through_interfaces() -> String {
    let sum = gbit(40).bits_per_second() as f64 / 8.0 / 1e6;
    let half = sum / 2.0;
    format!("{sum:.0} MB/s ({half:.0} written {half:.0} read)")
}

/// Every line of `reference/arithmetic.csv`: quantity, inputs, "value unit" there; what we compute, with as many digits.
fn published() -> Vec<(&'static str, &'static str, &'static str, String)> {
    let hypertransport = MemoryBandwidth::double_data_rate(1.8e9, 16).bits_per_s() / 1e9;
    let gen2_lane = format!(
        "{} Gbit/s ({} MB/s)",
        gigabits(pcie(2, 1)),
        megabytes(pcie(2, 1), 0)
    );
    let fps = |speed, frames| whole_fps(speed, frames) + " frames/s";
    vec![
        (
            "frame time per octet",
            "40 Gbit/s",
            "0.2 ns",
            format!("{} ns", octet_ns(gbit(40))),
        ),
        (
            "frame rate",
            "40 Gbit/s 1538 octets incl. gap and preamble",
            "3250975 frames/s",
            fps(40, "1518"),
        ),
        (
            "frame rate",
            "40 Gbit/s 84 octets incl. gap and preamble",
            "59523809 frames/s",
            fps(40, "64"),
        ),
        (
            "frame rate",
            "40 Gbit/s 9038 octets (9000 payload) incl. gap and preamble",
            "553219 frames/s",
            fps(40, "9018"),
        ),
        (
            "time between frames",
            "40 Gbit/s minimum frame",
            "16.8 ns",
            format!("{:.1} ns", on(40, "64").frame_ns()),
        ),
        (
            "frame rate",
            "10 Gbit/s 64-byte frame",
            "14880952 frames/s",
            fps(10, "64"),
        ),
        (
            "L2 data rate",
            "40 Gbit/s 1514 bytes to the host",
            "4.92 GB/s",
            host_gigabytes("1518") + " GB/s",
        ),
        (
            "L2 data rate",
            "40 Gbit/s 60 bytes to the host",
            "3.57 GB/s",
            host_gigabytes("64") + " GB/s",
        ),
        (
            "memory traffic",
            "2 x 10GbE bidirectional (40 Gbit/s through the interfaces)",
            "5000 MB/s (2500 written 2500 read)",
            through_interfaces(),
        ),
        (
            "pcie lane",
            "gen 1 after 8b/10b",
            "2 Gbit/s",
            format!("{} Gbit/s", gigabits(pcie(1, 1))),
        ),
        (
            "pcie lane",
            "gen 2 after 8b/10b",
            "4 Gbit/s (500 MB/s)",
            gen2_lane,
        ),
        (
            "pcie lane",
            "gen 3 after 128b/130b",
            "984.6 MB/s",
            megabytes(pcie(3, 1), 1) + " MB/s",
        ),
        (
            "pcie link",
            "gen 2 x8",
            "4000 MB/s",
            megabytes(pcie(2, 8), 0) + " MB/s",
        ),
        (
            "pcie link",
            "gen 2 x16",
            "8000 MB/s",
            megabytes(pcie(2, 16), 0) + " MB/s",
        ),
        (
            "pcie link",
            "gen 3 x8",
            "7876.8 MB/s",
            rounded_lanes(3, 8) + " MB/s",
        ),
        (
            "pcie overhead",
            "MaxPayload 128 B with 20-24 B header per packet",
            "16 %",
            format!("{} %", lost_percent()),
        ),
        (
            "pcie link",
            "gen 1 x8",
            "16 Gbit/s",
            format!("{} Gbit/s", gigabits(pcie(1, 8))),
        ),
        (
            "pcie link",
            "gen 1 x8 with MaxPayload 128 B",
            "13.44 Gbit/s",
            format!("{:.2} Gbit/s", less_overhead(pcie(1, 8))),
        ),
        (
            "pcie link",
            "gen 2 x8",
            "32 Gbit/s",
            format!("{} Gbit/s", gigabits(pcie(2, 8))),
        ),
        (
            "pcie link",
            "gen 2 x8 with MaxPayload 128 B",
            "26.88 Gbit/s",
            format!("{:.2} Gbit/s", less_overhead(pcie(2, 8))),
        ),
        (
            "pcie link",
            "gen 2 x16 one way raw / encoded / with overhead",
            "80 / 64 / 54 Gbit/s (about)",
            x16_one_way() + " Gbit/s (about)",
        ),
        (
            "hypertransport",
            "1800 MHz",
            "57.6 Gbit/s",
            format!("{hypertransport:.1} Gbit/s"),
        ),
    ]
}

#[test]
fn every_published_figure_comes_out_to_the_digit() {
    for (quantity, inputs, value, computed) in published() {
        assert_eq!(computed, value, "{quantity}: {inputs}");
    }
    assert_eq!(megabytes(pcie(3, 8), 1), "7876.9", "unrounded");
}

#[test]
fn no_published_figure_is_left_out() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/arithmetic.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!(
            "SKIP: the reference figures are not here ({})",
            path.display()
        );
        return;
    };
    let own = published();
    let mut lines = 0;
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.splitn(5, ',').collect();
        let wanted = (
            columns[0],
            columns[1],
            format!("{} {}", columns[2], columns[3]),
        );
        let ours = own.iter().any(|(quantity, inputs, value, _)| {
            (*quantity, *inputs, (*value).to_owned()) == wanted
        });
        assert!(ours, "{line}");
        lines += 1;
    }
    assert_eq!(lines, own.len());
}

#[test]
fn each_generation_moves_what_it_is_specified_to() {
    // GB/s of 16 lanes one way, before packets.
    for (generation, gigabytes) in [
        (1, 4.0),
        (2, 8.0),
        (3, 15.75),
        (4, 31.51),
        (5, 63.02),
        (6, 118.0),
        (7, 236.0),
    ] {
        let seen = pcie(generation, 16).octets_per_s() / 1e9;
        assert!((seen - gigabytes).abs() < 0.01, "{generation}: {seen}");
    }
    for (text, generation) in [
        ("2.5 GT/s PCIe", 1),
        ("5.0 GT/s PCIe", 2),
        ("8.0 GT/s PCIe", 3),
        ("64.0 GT/s PCIe", 6),
    ] {
        assert_eq!(
            Generation::from_speed(text).map(Generation::number),
            Some(generation),
            "{text}"
        );
    }
    for text in ["Unknown", "", "9 GT/s"] {
        assert_eq!(Generation::from_speed(text), None, "{text}");
    }
}

#[test]
fn what_no_bus_is_is_refused_with_a_remedy() {
    for (error, wanted) in [
        (Bus::pcie(0, 8).unwrap_err(), "give 1 to 7"),
        (Bus::pcie(8, 8).unwrap_err(), "give 1 to 7"),
        (Bus::pcie(3, 3).unwrap_err(), "1, 2, 4, 8"),
        (Packets::new(100, 24, 16).unwrap_err(), "128, 256"),
    ] {
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn a_frame_is_cut_into_packets_with_a_descriptor() {
    let octets = |payload, overhead, descriptor, frame| {
        let packets = Packets::new(payload, overhead, descriptor).unwrap();
        let frame = FrameLen::new(frame).unwrap();
        (
            packets.octets_one_way(frame),
            packets.octets_both_ways(frame),
        )
    };
    // 60 octets in one packet; a line of four descriptors shares a packet, and a request.
    assert_eq!(
        octets(256, 24, 16, 64),
        (60.0 + 24.0 + 22.0, 60.0 + 24.0 + 22.0 + 24.0 + 12.0)
    );
    // 1514 octets: six packets of 256, three requests of 512.
    assert_eq!(
        octets(256, 24, 16, 1518),
        (1514.0 + 144.0 + 22.0, 1514.0 + 144.0 + 22.0 + 72.0 + 12.0)
    );
    // Twelve packets of 128; without descriptors only the requests are added.
    assert_eq!(
        octets(128, 20, 0, 1518),
        (1514.0 + 240.0, 1514.0 + 240.0 + 60.0)
    );
    // A descriptor of a whole line has its packet alone.
    assert_eq!(octets(256, 24, 64, 64).0, 84.0 + 64.0 + 24.0);
}

#[test]
fn the_smallest_budget_binds() {
    let memory = |gigabytes: f64| {
        Some(MemoryBandwidth {
            octets_per_s: gigabytes * 1e9,
        })
    };
    let binding = |speed, bus, memory| {
        Budget::new(&sizes("64"), gbit(speed), bus, Packets::default(), memory).binding()
    };
    assert_eq!(binding(10, pcie(3, 8), None).0, Binding::Wire);
    // Known of 40 Gbit/s NICs in slots of eight lanes: not the line rate of small frames both ways.
    let (what, rate) = binding(40, pcie(3, 8), None);
    assert_eq!(what, Binding::Bus);
    assert!((rate.fps() - 7.876_923e9 / 142.0).abs() < 10.0, "{rate}");
    // 128 octets of memory traffic a frame.
    let (what, rate) = binding(100, pcie(4, 16), memory(1.28));
    assert_eq!((what.name(), rate.fps()), ("memory", 10e6));
}

#[test]
fn a_mix_costs_the_mean_of_its_sizes() {
    let (whole, parts) = (
        on(40, "imix"),
        [on(40, "64"), on(40, "594"), on(40, "1518")],
    );
    let mean = |budget: fn(&Budget) -> Rate| {
        let sum: f64 = parts
            .iter()
            .zip([7.0, 4.0, 1.0])
            .map(|(part, weight)| weight / budget(part).fps())
            .sum();
        12.0 / sum
    };
    for budget in [
        |b: &Budget| b.wire,
        |b: &Budget| b.bus_one_way,
        |b: &Budget| b.bus_both_ways,
    ] {
        assert!((budget(&whole).fps() - mean(budget)).abs() < 1.0);
    }
    // A bin is each of its sizes once.
    let bin = on(40, "mix:64-66=1");
    let each: f64 = ["64", "65", "66"]
        .iter()
        .map(|size| 1.0 / on(40, size).bus_one_way.fps())
        .sum();
    assert!((bin.bus_one_way.fps() - 3.0 / each).abs() < 1.0);
}
