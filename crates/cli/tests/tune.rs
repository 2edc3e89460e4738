//! `mpps tune` without root and without a bed: it lists, shows and writes a page, and changes nothing.

use crate::program::{Ended, Scratch, mpps, run};
use serde_json::Value;

fn ended(words: &[&str]) -> Ended {
    let ended = run(&mut mpps(&[&["tune"], words].concat()));
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{ended:?}"
    );
    ended
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&ended(words).stdout).expect("JSON")
}

#[test]
fn a_layout_is_json_too() {
    let layout = json(&["layout", "--json", "--interface", "lo"]);
    let cpus = layout["cpus"].as_array().expect("CPUs");
    assert!(!cpus.is_empty(), "{layout}");
    assert_eq!(layout["interfaces"][0]["interface"], "lo");
    let queues = &layout["interfaces"][0]["rx_queue_cpus"];
    assert_eq!(queues.as_array().map(Vec::len), Some(1), "{layout}");
}

#[test]
fn list_filters_and_shows_one() {
    let all = ended(&["list"]).stdout;
    assert!(all.lines().count() > 162, "{all}");
    let ip = ended(&["list", "--group", "ip", "--scope", "interface"]).stdout;
    assert!(ip.contains("  neigh_unres_qlen  interface  "), "{ip}");
    assert!(!ip.contains("rp_filter"), "{ip}");
    let one = ended(&["list", "ip_forward"]).stdout;
    assert!(one.starts_with("ip_forward: IPv4 forwarding\n"), "{one}");
    // What people call a setting: its place, or the end of it.
    for (name, id) in [
        ("nf_conntrack_max", "ct_max"),
        ("tcp_congestion_control", "tcp_cc"),
        ("scaling_governor", "governor"),
        ("net.ipv4.conf.eth0.rp_filter", "rp_filter"),
        ("/proc/sys/net/ipv4/ip_forward", "ip_forward"),
        ("isolcpus", "isolation"),
    ] {
        let one = ended(&["list", name]).stdout;
        assert!(one.starts_with(&format!("{id}: ")), "{name}: {one}");
    }
    // Two settings are this place.
    let two = ended(&["list", "features/rx-gro"]).stdout;
    assert!(
        two.contains("  gro  ") && two.contains("  veth_napi  "),
        "{two}"
    );
    let listed = json(&["list", "--json", "--group", "qdisc"]);
    let ids = listed["settings"].as_array().expect("settings");
    assert!(ids.iter().any(|one| one["id"] == "root_qdisc"), "{listed}");
}

#[test]
fn unknown_names_are_refused_in_a_line() {
    for (words, wanted) in [
        (["tune", "list", "rpfilter"].as_slice(), "near: rp_filter"),
        (&["tune", "list", "net.ipv4.tcp_sak"], "near: tcp_sack"),
        (
            &["tune", "list", "qqqqqqqqqqqq"],
            "no setting \"qqqqqqqqqqqq\" (mpps tune list",
        ),
        (&["tune", "list", "--group", "nik"], "nic"),
        (
            &["tune", "show", "--interface", "nosuch0"],
            "no interface nosuch0",
        ),
        (&["tune", "show", "--profile", "switch"], "router, endpoint"),
        (&["tune", "cookbook"], "--profile"),
    ] {
        let refused = run(&mut mpps(words));
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.error().contains(wanted), "{refused:?}");
        assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
    }
}

#[test]
fn show_reads_what_the_machine_has() {
    let shown = json(&["show", "--json", "--profile", "router", "--interface", "lo"]);
    let all = shown["settings"].as_array().expect("settings");
    let setting = |id: &str| all.iter().find(|one| one["id"] == id).expect(id);
    let file = std::fs::read_to_string("/proc/sys/net/ipv4/ip_forward").expect("a file");
    let forward = setting("ip_forward");
    assert_eq!(forward["places"][0]["now"], file.trim(), "{forward}");
    let met = if file.trim() == "1" {
        "as_advised"
    } else {
        "differs"
    };
    assert_ne!(forward["state"], "not_here", "{forward}");
    assert!(
        forward["state"] == met || forward["state"] == "cannot_be_changed",
        "{forward}"
    );
    let mtu = std::fs::read_to_string("/sys/class/net/lo/mtu").expect("a file");
    assert_eq!(setting("mtu")["places"][0]["now"], mtu.trim());
    assert_eq!(setting("multipath_routes")["state"], "not_read");
    let neighbours = setting("static_neigh")["places"][0]["now"].as_str();
    assert!(neighbours.is_some_and(|now| now.ends_with(" learned")));
    assert_eq!(setting("i40e_atr")["why"], "no interface of driver i40e");

    let words = ended(&["show", "--interface", "lo"]).stdout;
    assert!(words.starts_with("Settings for a router: "), "{words}");
    assert!(words.contains("\nInterfaces: lo\n"), "{words}");
    assert!(
        words.trim_end().ends_with("Nothing was changed."),
        "{words}"
    );
    // Every setting with advice stands in one of the parts.
    for one in all.iter().filter(|one| one["state"] != "no_advice") {
        let id = one["id"].as_str().expect("an id");
        assert!(words.contains(id), "{id}: {words}");
    }
}

#[test]
fn a_cookbook_is_a_page() {
    let scratch = Scratch::new("tune-cookbook");
    let file = scratch.path("page.md");
    let name = file.to_str().expect("UTF-8");
    let words = [
        "tune",
        "cookbook",
        "--profile",
        "endpoint",
        "--output",
        name,
    ];
    let ended = run(&mut mpps(&words));
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), ""),
        "{ended:?}"
    );
    let page = std::fs::read_to_string(&file).expect("a page");
    let parts: Vec<&str> = page.lines().filter(|line| line.starts_with('#')).collect();
    let wanted = [
        "# Settings for an end host",
        "## Firmware",
        "## Kernel configuration",
        "## Boot line",
        "## Settings of the running kernel",
        "## Could not be read here",
    ];
    assert_eq!(parts, wanted);
    assert_eq!(
        page.matches("- Measured effects: none (").count(),
        1,
        "{page}"
    );
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(at("**ip_forward**") < at("**tcp_sack**"));
    assert!(at("## Kernel") < at("**cfg_hz**") && at("**cfg_hz**") < at("## Boot line"));
    let wide = page.lines().find(|line| line.chars().count() > 100);
    assert_eq!(wide, None);
}

#[test]
fn measure_refuses_what_it_cannot_do() {
    for (words, wanted) in [
        (["--only", "rpfilter"].as_slice(), "near: rp_filter"),
        (
            &["--only", "lro"],
            "no setting to measure: lro is inert here: ",
        ),
        (
            &["--only", "threaded"],
            "threaded is inert here: the bed sets it by its front",
        ),
        (&["--only", "nmi_watchdog"], "holds for the whole machine"),
        (&["--only", "gro", "--group", "ip"], "no setting is in both"),
        (&["--only", "gro", "--budget", "5s"], "need at least"),
        (&["--screen", "--budget", "1m"], "need at least"),
        (&["--resume", "a", "--record", "b"], "--record"),
        (&["--resume", "nosuch.jsonl"], "No such file"),
        (
            &["--bed", "kept"],
            "switches settings of a bed that it raises itself",
        ),
        (&["--frame", "64,128"], "one frame size or one mix"),
        (&["--within", "90%"], "give 0.1% to 50%"),
        (
            &["--within", "0.4%"],
            "differences up to 0.5 % count as none",
        ),
    ] {
        let words = [&["tune", "measure"], words].concat();
        let refused = run(&mut mpps(&words));
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.error().contains(wanted), "{refused:?}");
        assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
    }
}

#[test]
fn a_dry_run_tells_the_time_and_what_is_inert() {
    let all = ended(&["measure", "--dry-run"]).stdout;
    for id in [
        "rp_filter",
        "conntrack",
        "nat",
        "forward_rules",
        "gro",
        "ct_acct",
    ] {
        let measured = all.lines().find(|line| line.starts_with("measured"));
        assert!(
            measured.is_some_and(|line| line.contains(id)),
            "{id}: {all}"
        );
    }
    let inert = |line: &str| line.starts_with("inert here: needs ") && line.contains("lro");
    assert!(
        all.contains("\ntime         ") && all.lines().any(inert),
        "{all}"
    );
    let unsure =
        "\nmay be inert, because a kernel can lack what they need (only a run tells): vlan, ";
    assert!(all.contains(unsure), "{all}");
    // Twenty settings within 15 minutes: fewer take less.
    let twenty = "rp_filter,ip_early_demux,udp_early_demux,fwd_update_prio,gro,nf_empty,forward_rules,\
                  rule_counters,conntrack,notrack,nat,ct_acct,ct_timestamp,ct_events,tc_filters,\
                  packet_taps,gateway_route,nexthop_objects,multipath_routes,input_rules";
    let screen = ended(&[
        "measure",
        "--dry-run",
        "--screen",
        "--budget",
        "15m",
        "--only",
        twenty,
    ]);
    let screen = screen.stdout;
    assert!(
        screen.contains("\nrule         blocks of turns of "),
        "{screen}"
    );
    // A record of something else stays as it is.
    let other = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../record/tests/golden/run.jsonl"
    );
    let refused = run(&mut mpps(&[
        "tune",
        "measure",
        "--dry-run",
        "--resume",
        other,
    ]));
    assert!(
        refused.code == Some(2) && refused.stderr.contains("it has a run of mpps throughput"),
        "{refused:?}"
    );
    let few = ended(&["measure", "--dry-run", "--only", "gro,rp_filter"]).stdout;
    assert!(
        few.contains("\nmeasured     gro, rp_filter\n") && !few.contains("inert"),
        "{few}"
    );
}
