//! `mpps throughput --external` end to end: a host with two ports, a device of somebody else's between them, both
//! namespaces of the test's own.

use crate::program::{Ended, Scratch, assert_gone, privileged, run, staged};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// A restless machine may disturb every trial of a run; how often a test tries again.
const ATTEMPTS: u32 = 6;
/// Runs in one of which the device must be the limit.
const DUT_ATTEMPTS: u32 = 4;
/// What the device lets through, and how many frames it forgives.
const POLICED_FPS: f64 = 40_000.0;
const FORGIVEN: f64 = 120.0;
/// Length of a trial, s; closeness of a search.
const TRIAL_S: f64 = 0.3;
const WIDTH: f64 = 0.02;

/// A host with ports x1 and x2, cabled to a router. Gone when dropped.
struct Lab {
    name: String,
}

impl Lab {
    fn new(name: &str) -> Self {
        let lab = Self {
            name: format!("cli-{}-{name}", std::process::id()),
        };
        let (host, device) = (lab.host(), lab.device());
        shell(&format!(
            "ip netns add {host}; ip netns add {device}
            for n in 1 2; do
                ip -n {host} link add x$n type veth peer name d$n netns {device}
                ip -n {host} link set x$n up
                ip -n {device} link set d$n up
            done
            ip -n {device} addr add 198.18.0.1/16 dev d1
            ip -n {device} addr add 198.19.0.1/16 dev d2
            ip netns exec {device} sysctl -qw net.ipv4.ip_forward=1"
        ));
        lab
    }

    fn host(&self) -> String {
        format!("{}-host", self.name)
    }

    fn device(&self) -> String {
        format!("{}-device", self.name)
    }

    /// The program in the host's namespace, with these words behind `throughput --external x1,x2`.
    fn measure(&self, before: &str, words: &str) -> Command {
        let host = self.host();
        staged(&format!(
            "{before} exec nsenter --net=/run/netns/{host} \"$MPPS\" throughput --external x1,x2 --frame 64 {words}"
        ))
    }

    /// The ports that are in the host's namespace.
    fn ports(&self) -> Vec<String> {
        let links = shell(&format!("ip -n {} -br link", self.host()));
        let names = links.lines().filter_map(|line| line.split('@').next());
        let ports = names.filter(|name| name.starts_with('x'));
        ports.map(str::to_owned).collect()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        shell(&format!(
            "ip netns del {}; ip netns del {}",
            self.host(),
            self.device()
        ));
    }
}

fn shell(script: &str) -> String {
    let output = Command::new("sh").args(["-ec", script]).output();
    let output = output.expect("sh");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() || std::thread::panicking(),
        "{script}: {error}"
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Runs until the machine lets a measurement happen; each attempt that it did not must say so.
fn measured(command: impl Fn() -> Command) -> Ended {
    for _ in 0..ATTEMPTS {
        let ended = run(&mut command());
        assert_gone(ended.bed());
        if ended.code == Some(0) {
            return ended;
        }
        // 1: every trial that the machine let pass lost frames.
        assert!(matches!(ended.code, Some(1 | 4)), "{ended:?}");
        println!("again: {}", ended.error());
    }
    panic!("could not measure in {ATTEMPTS} attempts; the reasons stand above");
}

#[test]
fn a_search_finds_the_rate_of_an_external_device() {
    if !privileged() {
        return;
    }
    let lab = Lab::new("rate");
    shell(&format!(
        "ip netns exec {} nft 'table ip t {{ chain f {{ type filter hook forward priority 0; \
        limit rate over {POLICED_FPS}/second burst {FORGIVEN} packets drop; }}; }}'",
        lab.device()
    ));
    let scratch = Scratch::new("external");
    let record = scratch.path("record.jsonl");
    let words = format!(
        "--time {TRIAL_S} --resolution {}% --budget 20s --json --record {}",
        WIDTH * 100.0,
        record.display()
    );
    // On a restless machine the tester, or a pause, may end a search before the device does.
    let document = (0..DUT_ATTEMPTS)
        .map(|_| {
            let ended = measured(|| lab.measure("", &words));
            assert_eq!(lab.ports(), ["x1", "x2"], "they came back");
            serde_json::from_str::<Value>(&ended.stdout).expect("one JSON object")
        })
        .find(|document| document["results"][0]["rate_is"] == "=")
        .expect("the device is the limit in one of some runs");
    let result = &document["results"][0];
    let rate = result["rate_fps"].as_f64().expect("a rate");
    let (lowest, highest) = (
        POLICED_FPS * (1.0 - WIDTH),
        POLICED_FPS + FORGIVEN / TRIAL_S,
    );
    assert!((lowest..=highest).contains(&rate), "{rate}: {result}");
    assert_eq!(
        (&result["limited_by"], &result["rate_is"]),
        (&"DUT".into(), &"=".into()),
        "{result}"
    );
    // What nobody can know of such a device is not made up.
    for unknown in ["dut_busy_share", "dut_busy_ns_per_frame", "headroom"] {
        assert!(result[unknown].is_null(), "{unknown}: {result}");
    }
    let doubts = result["doubts"].as_array().expect("doubts");
    for name in [
        "device-unknown",
        "ceiling-unproven",
        "veth-cable",
        "notional-link",
    ] {
        assert!(doubts.iter().any(|doubt| doubt["name"] == name), "{name}");
    }
    assert_eq!(document["link_source"], "notional", "a veth has no wire");
    let text = std::fs::read_to_string(&record).expect("a record");
    let run_line = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .find(|line| line["kind"] == "run" && line["run"] == document["run"])
        .expect("the run's line");
    let nics = &run_line["bed"]["external_nics"];
    for (nic, name) in [(&nics[0], "x1"), (&nics[1], "x2")] {
        assert_eq!(
            (&nic["name"], &nic["driver"]["name"]),
            (&name.into(), &"veth".into())
        );
        assert!(nic["offloads_on"].is_array(), "{nic}");
    }
}

#[test]
fn ports_in_use_are_refused_in_one_line() {
    if !privileged() {
        return;
    }
    let lab = Lab::new("refused");
    let host = lab.host();
    shell(&format!("ip -n {host} addr add 192.0.2.1/24 dev x1"));
    let refused = |before: &str, why: &str| {
        let ended = run(&mut lab.measure(before, "--quiet"));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(why), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        assert_eq!(lab.ports(), ["x1", "x2"]);
    };
    let session = "export SSH_CONNECTION='192.0.2.9 50000 192.0.2.1 22';";
    refused(
        session,
        "port x1: your SSH session from 192.0.2.9 comes over it",
    );
    shell(&format!(
        "ip -n {host} route add default via 192.0.2.9 dev x1"
    ));
    refused("", "port x1: it carries the host's default route (IPv4)");
}

#[test]
fn a_removed_port_ends_the_run_the_other_comes_back() {
    if !privileged() {
        return;
    }
    let lab = Lab::new("pulled");
    let mut running = lab
        .measure("", "--time 1 -v")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    let mut lines = BufReader::new(running.stderr.take().expect("piped")).lines();
    let mut bed = None;
    // The first trials are over: others run.
    let begun = lines.by_ref().map(|line| line.expect("text")).find(|line| {
        let named = line.strip_prefix("bed: ");
        bed = bed.take().or(named
            .and_then(|rest| rest.split(',').next())
            .map(str::to_owned));
        line.trim_start().starts_with("1 ")
    });
    assert!(begun.is_some(), "no trial began");
    shell(&format!("ip -n {} link del d2", lab.device()));
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    let code = running.wait().expect("an end").code();
    let told: Vec<&String> = rest
        .iter()
        .filter(|line| line.starts_with("mpps: "))
        .collect();
    assert_eq!(code, Some(2), "{rest:?}");
    assert!(told.len() == 1 && told[0].contains("x2"), "{rest:?}");
    assert_gone(&bed.expect("a bed"));
    assert_eq!(lab.ports(), ["x1"], "what is left came back");
}
