//! What is sent, as meant: frame sizes that fit, flows that can be told apart.

use crate::args::TrafficArgs;
use anyhow::{Context, Result, bail, ensure};
use mpps_lab::tester::PortKind;
use mpps_lab::traffic::Traffic;
use mpps_method::mix::{SIMPLE_IMIX, SIMPLE_IMIX_IPV6};
use mpps_method::{Family, FrameLen, FrameSpec, check_flows};

/// The sizes of Simple IMIX above its smallest.
const LARGER: [u16; 2] = [594, 1518];
/// Largest frame of the eBPF sender, octets with FCS: what fits the page of a live frame.
const LIVE_FRAME_MAX: u16 = 3400;

/// The frame sizes to measure one after the other.
pub fn sizes(typed: &TrafficArgs, port: PortKind) -> Result<Vec<FrameSpec>> {
    let (family, transport) = (family(typed), typed.l4);
    let least = family.frame_min(transport);
    let imix = simple_imix(least);
    // The smallest frame, Simple IMIX, the largest usual frame.
    let usual = format!("{least},{imix},{}", LARGER[1]);
    let typed = typed.frame.as_deref().unwrap_or(&usual).split(',');
    let words = typed.map(|word| if word.trim() == "imix" { &imix } else { word });
    let sizes = FrameSpec::parse_list(&words.collect::<Vec<_>>().join(","))?;
    for frames in &sizes {
        let min = frames.min();
        let over = if transport.is_tcp() { " and TCP" } else { "" };
        ensure!(
            min >= least,
            "frame size {min}{} is too small for {family}{over}: headers, test tag and FCS need {least} octets; give --frame {least} or larger",
            within(frames, min),
        );
        let max = frames.max();
        ensure!(
            port == PortKind::AfPacket || max.octets() <= LIVE_FRAME_MAX,
            "frame size {max}{} is above {LIVE_FRAME_MAX}, what live XDP frames carry: give --frame {LIVE_FRAME_MAX} or smaller, \
             or --port af-packet",
            within(frames, max),
        );
    }
    Ok(sizes)
}

/// Simple IMIX with this smallest frame, by its name where it has one.
fn simple_imix(least: FrameLen) -> String {
    let [middle, large] = LARGER;
    let named = [SIMPLE_IMIX, SIMPLE_IMIX_IPV6]
        .into_iter()
        .find(|mix| mix.parts()[0].min == least);
    named.map_or_else(
        || format!("mix:{least}=7,{middle}=4,{large}=1"),
        |mix| mix.name().to_owned(),
    )
}

/// Which mix a size stands in, for the reader who wrote its name only.
fn within(frames: &FrameSpec, frame: FrameLen) -> String {
    match frames {
        FrameSpec::Fixed(fixed) if *fixed == frame => String::new(),
        _ => format!(" (in {frames})"),
    }
}

fn family(typed: &TrafficArgs) -> Family {
    if typed.ipv6 { Family::V6 } else { Family::V4 }
}

/// All that stays the same over the sizes.
pub fn from_args(typed: &TrafficArgs, sizes: &[FrameSpec]) -> Result<Traffic> {
    let flows = check_flows(typed.flows).with_context(|| "--flows")?;
    ensure!(
        typed.dscp <= 63,
        "--dscp {}: give 0 to 63 (RFC 2474)",
        typed.dscp
    );
    ensure!(
        typed.flow_length != Some(0),
        "--flow-length 0: give the frames each flow lives, at least 1"
    );
    let Some(first) = sizes.first() else {
        bail!("no frame size: give one such as --frame 64");
    };
    Ok(Traffic {
        frames: first.clone(),
        flows,
        flow_length: typed.flow_length,
        transport: typed.l4,
        ipv6: typed.ipv6,
        bidirectional: typed.bidirectional,
        dscp: typed.dscp,
        queries_per_s: typed.management_traffic,
        seed: typed.seed,
        ..Traffic::default()
    })
}
