//! Somebody else's device between two ports of a host: namespaces stand for both, veth pairs for the cables.

use crate::support;
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, DutPlan, ExternalEnd, ExternalPlan, usual_addresses};
use mpps_lab::tester::PortKind;
use mpps_lab::traffic::Traffic;
use mpps_linux::links::{self, Configuration};
use mpps_linux::netns::NetNs;
use mpps_linux::setting::Setting;
use mpps_method::FrameSpec;
use std::process::{Command, Stdio};

/// A host with two ports, x1 and x2, cabled to a device with d1 and d2. Gone when dropped.
pub struct Lab {
    pub host: NetNs,
    pub device: NetNs,
}

impl Lab {
    /// Cabled and up; the ports are configured like a host's.
    pub fn new() -> Self {
        let name = |role: &str| format!("ext-{role}-{}", std::process::id());
        let lab = Self {
            host: NetNs::create(&name("host")).expect("host"),
            device: NetNs::create(&name("device")).expect("device"),
        };
        let device = lab.device.name();
        lab.on_host(&format!(
            "link add x1 type veth peer name d1 netns {device}"
        ));
        lab.on_host(&format!(
            "link add x2 type veth peer name d2 netns {device}"
        ));
        for words in [
            "addr add 192.0.2.1/24 dev x1",
            "addr add 2001:db8::1/64 nodad dev x1",
            "link set x1 mtu 1400",
            "link set x1 up",
            "link set x2 promisc on",
            "route add 203.0.113.0/24 via 192.0.2.9 dev x1",
        ] {
            lab.on_host(words);
        }
        for words in [
            "addr add 198.18.0.1/16 dev d1",
            "addr add 198.19.0.1/16 dev d2",
            "addr add 2001:2:0:1::1/64 nodad dev d1",
            "addr add 2001:2:0:2::1/64 nodad dev d2",
            "link set d1 mtu 9200",
            "link set d2 mtu 9200",
            "link set d1 up",
            "link set d2 up",
        ] {
            ip(&lab.device, words);
        }
        let forward = lab.device.run(|| {
            Setting::sysctl("net.ipv4.ip_forward").write("1")?;
            Setting::sysctl("net.ipv6.conf.all.forwarding").write("1")
        });
        forward.expect("device").expect("a router");
        lab
    }

    pub fn on_host(&self, words: &str) -> String {
        ip(&self.host, words)
    }

    /// What must be the same afterwards.
    pub fn ports(&self) -> Vec<String> {
        let look = |name: &str| {
            let seen = self.host.run(|| {
                let link = links::get(name)?;
                let configuration = Configuration::read(name)?;
                let state = (link.mtu, link.up, link.promiscuous, link.mac);
                Ok::<_, mpps_linux::Error>((state, configuration.routes, configuration.settings))
            });
            format!("{:?}", seen.expect("host").expect(name))
        };
        let addresses = self.on_host("-o addr show scope global");
        vec![look("x1"), look("x2"), addresses]
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for netns in [&self.host, &self.device] {
            let deleted = NetNs::delete(netns.name());
            if !std::thread::panicking() {
                deleted.expect("delete");
            }
        }
    }
}

pub fn ip(netns: &NetNs, words: &str) -> String {
    let output = netns.run(|| Command::new("ip").args(words.split(' ')).output());
    let output = output.expect("netns").expect("ip (iproute2)");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {words}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

pub fn plan(out: &str, back: &str, ipv6: bool, bidirectional: bool) -> BedPlan {
    let usual = support::plan();
    let [(tester_out, device_out), (tester_in, device_in)] = usual_addresses();
    let end = |port: &str, tester, device| ExternalEnd {
        port: port.to_owned(),
        tester,
        device,
        device_mac: None,
    };
    BedPlan {
        cpus: CpuSplit {
            dut: Vec::new(),
            tester: usual.cpus.all(),
        },
        dut: DutPlan::Device(ExternalPlan {
            out: end(out, tester_out, device_out),
            back: end(back, tester_in, device_in),
            ipv6,
            bidirectional,
        }),
        ..usual
    }
}

pub fn traffic(port: PortKind, frames: &str, ipv6: bool, bidirectional: bool) -> Traffic {
    Traffic {
        frames: FrameSpec::parse_list(frames).expect("a size").remove(0),
        flows: 8,
        ipv6,
        bidirectional,
        port,
        ..support::traffic()
    }
}

pub fn raised(plan: &BedPlan) -> Bed {
    Bed::raise(plan).unwrap_or_else(|error| panic!("raise: {error}"))
}

/// Runs a program in a namespace, as `ip netns exec` does (its /sys is the namespace's), with this on its input.
pub fn run_in(netns: &NetNs, words: &[&str], input: &str) -> String {
    let mut child = Command::new("ip")
        .args(["netns", "exec", netns.name()])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("ip (iproute2)");
    let mut stdin = child.stdin.take().expect("piped");
    std::io::Write::write_all(&mut stdin, input.as_bytes()).expect("input");
    drop(stdin);
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "{words:?}: {}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// Packets of a counter object of nft's, `ip t NAME`.
pub fn nft_counter(netns: &NetNs, name: &str) -> u64 {
    let text = run_in(netns, &["nft", "list", "counter", "ip", "t", name], "");
    let mut words = text.split_whitespace();
    words.find(|word| *word == "packets").expect("a counter");
    let packets = words.next().expect("a number");
    packets.parse().expect("a number")
}
