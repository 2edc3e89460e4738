//! `mpps campaign`: plans that are refused with line and remedy, and campaigns that go on after a crash.

use crate::program::{Ended, Scratch, mpps, privileged, run, wait_for};
use mpps_record::{Run, read_file};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Two cells without a bed, and one that cannot run.
const SIMULATED: &str = r#"
name = "pairs"
title = "Simulated pairs"
verb = "trial"
[verbs.trial]
flags = "--simulate capacity=1M --time 50ms --rate 100k"
quick = "--time 20ms"
[[grid]]
id = "flows-{flows}"
title = "{flows} flows"
flags = "--flows {flows}"
axes = { flows = ["1", "8"] }
[[cell]]
id = "sockets"
title = "two sockets"
cannot = "needs two sockets"
"#;

fn campaign(plan: &Path, words: &str) -> Ended {
    let words = words.split_whitespace();
    run(mpps(&["campaign", "run"]).arg(plan).args(words))
}

/// What is said of a plan, which is a head and this.
fn refusal(scratch: &Scratch, rest: &str) -> String {
    let plan = scratch.path("plan.toml");
    let head = "name = \"p\"\ntitle = \"t\"\nverb = \"throughput\"\n";
    fs::write(&plan, format!("{head}{rest}\n")).expect("a plan");
    let ended = campaign(&plan, "--dry-run");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{rest}");
    let line = ended.error().trim_start_matches("mpps: ").to_owned();
    let place = line.strip_prefix(&*plan.to_string_lossy());
    place
        .unwrap_or_else(|| panic!("no file: {line}"))
        .to_owned()
}

#[test]
fn a_wrong_plan_is_refused_with_its_place() {
    let scratch = Scratch::new("campaign-wrong");
    let cell = "[[cell]]\nid = \"a\"\ntitle = \"t\"\n";
    let grid = "[[grid]]\nid = \"a\"\ntitle = \"t\"\n";
    for (rest, place, said) in [
        ("[[cell]", ":4:", ""),
        ("frames = 1", ":4:1: ", "unknown field `frames`"),
        (
            &format!("{cell}colour = 1"),
            ":7:1: ",
            "unknown field `colour`",
        ),
        ("", ":1:8: ", "the plan has no cell"),
        (
            &format!("{cell}verb = \"iperf\""),
            ":7:8: ",
            "give one of throughput, ",
        ),
        ("[verbs.iperf]", ":4:8: ", "give one of throughput, "),
        (&format!("{cell}{cell}"), ":8:6: ", "stands in line 5 too"),
        (
            "[[cell]]\nid = \"a b\"\ntitle = \"t\"",
            ":5:6: ",
            "letters, digits",
        ),
        (
            &format!("{cell}axes = {{ x = [\"1\"] }}"),
            ":7:10: ",
            "[[grid]]",
        ),
        (grid, ":4:1: ", "a grid needs axes"),
        (
            &format!("{grid}axes = {{ x = [] }}"),
            ":7:10: ",
            "without values",
        ),
        (
            &format!("{grid}axes = {{ x = [\"1\", \"2\"] }}"),
            ":7:10: ",
            "write {x} in the id",
        ),
        (
            "[[grid]]\nid = \"a-{q}\"\ntitle = \"t\"\naxes = { r = [\"1\"] }",
            ":5:6: ",
            "no axis {q}",
        ),
        (
            &format!("{cell}claim = {{ id = \"1\", statement = \"s\" }}"),
            ":7:9: ",
            "missing field `published`: add it (docs/campaign.md has the keys)",
        ),
        (
            "[[grid]]\nid = \"{x}\"\ntitle = \"{y}\"\naxes = { x = [\"1\"] }",
            ":6:9: ",
            "no axis {y}",
        ),
        (
            "[[grid]]\nid = \"{x}\"\ntitle = \"t\"\naxes = { x = [\"1\", \"1\"] }",
            ":7:20: ",
            "axis x has the value \"1\" twice",
        ),
        (
            "[[grid]]\nid = \"{x}\"\ntitle = \"t\"\naxes = { x = [\"1\"] }\nclaim = { id = \"1\", statement = \"s\", published = \"p\" }",
            ":8:9: ",
            "each cell would have this grid's claim",
        ),
        (
            &format!("{cell}settings = {{ rp_filtr = \"1\" }}"),
            ":7:14: ",
            "near: rp_filter",
        ),
        (
            &format!("{cell}settings = {{ irq_affinity = \"1\" }}"),
            ":7:14: ",
            "irq_affinity is inert here: ",
        ),
        (
            &format!("{cell}needs_cpus = 9999\nsettings = {{ nmi_watchdog = \"1\" }}"),
            ":8:14: ",
            "nmi_watchdog holds for the whole machine, which a campaign does not change: leave it out, ",
        ),
        (
            &format!("{cell}cannot = \"no\"\nflags = \"--colour red\""),
            ":8:9: ",
            "--colour",
        ),
        (
            &format!("{cell}cannot = \"no\"\nsettings = {{ rp_filter = \"0; 1; 2; 3\" }}"),
            ":8:14: ",
            "give one value, or 3 set apart by",
        ),
        (
            &format!("{cell}settings = {{ rp_filter = \"on\" }}"),
            ":7:14: ",
            "rp_filter = \"on\": give a number",
        ),
        (
            &format!("{cell}settings = {{ conntrack = \"yes\" }}"),
            ":7:14: ",
            "conntrack = \"yes\": give none or tracked",
        ),
        (
            &format!("{cell}flags = \"--frames 64\""),
            ":7:9: ",
            "did you mean --frame?",
        ),
        (
            &format!("{cell}flags = \"--flows 'x\""),
            ":7:9: ",
            "a quote has no end",
        ),
        (
            &format!("{cell}flags = \"--record x\""),
            ":7:9: ",
            "--record: the campaign gives it itself; leave it out",
        ),
        (
            &format!("{cell}flags = \"--dut-setup /bin/true\"\nsetup = \"true\""),
            ":7:9: ",
            "call the program in setup",
        ),
        (
            &format!("{cell}flags = \"--dut-setup /none\""),
            ":7:9: ",
            "there is no file /none",
        ),
        (
            &format!("{cell}flags = \"--queues 99\""),
            ":7:9: ",
            "give 1 to 64",
        ),
        (
            &format!("{cell}verb = \"compare\""),
            ":5:6: ",
            "at least two",
        ),
        (
            &format!("{cell}settings = {{ ring_rx = \"4096\" }}"),
            ":7:14: ",
            "give cell a flags = \"--rx-ring 4096\"",
        ),
        (
            &format!("{cell}settings = {{ tcp_early_demux = \"1\" }}"),
            ":7:14: ",
            "tcp_early_demux is inert here: needs frames of TCP: leave it out, or give cell a ",
        ),
        (
            &format!(
                "{cell}published = [{{ frame = \"banana\", frames_per_s = 1, told = \"t\" }}]"
            ),
            ":7:24: ",
            "frame = \"banana\": ",
        ),
        (
            &format!("{cell}published = [{{ frame = \"64\", frames_per_s = -1, told = \"t\" }}]"),
            ":7:45: ",
            "frames_per_s = -1: give frames/s above 0",
        ),
        (
            &format!("{cell}published = [{{ frame = \"64\", frames_per_s = nan, told = \"t\" }}]"),
            ":7:45: ",
            "frames_per_s = NaN: give",
        ),
        (
            &format!(
                "{cell}flags = \"--frame 64,128\"\npublished = [{{ frame = \"512\", frames_per_s = 1, told = \"t\" }}]"
            ),
            ":8:24: ",
            "frame = \"512\": the cell measures 64 or 128: give one of these",
        ),
        (
            &format!("{cell}flags = \"--table /none\""),
            ":7:9: ",
            "--table: open /none: No such file",
        ),
        (
            &format!(
                "{cell}verb = \"compare\"\nvariants = [{{ name = \"a\" }}, {{ name = \"a\" }}]"
            ),
            ":8:",
            "two variants are called \"a\": give another name",
        ),
        (
            &format!(
                "{cell}verb = \"compare\"\nvariants = [{{ name = \"a\" }}, {{ name = \"a b\" }}]"
            ),
            ":8:",
            "\"a b\": give letters, digits and any of ._-+",
        ),
        (
            &format!("{cell}variants = [{{ name = \"a\" }}]"),
            ":",
            "variants are of verb",
        ),
    ] {
        let line = refusal(&scratch, rest);
        assert!(
            line.starts_with(place) && line.contains(said),
            "{rest}: {line}"
        );
    }
}

#[test]
fn a_claim_says_what_is_looked_at() {
    let scratch = Scratch::new("campaign-claim");
    for (claim, said) in [
        ("", "needs of ="),
        (
            ", of = \"rate\"",
            "give one of rate_change, interaction, rate_evenness",
        ),
        (
            ", of = \"rate_change\", most = 1",
            "needs verb = \"compare\"",
        ),
        (", of = \"rate_evenness\"", "needs least or most"),
        (
            ", of = \"fib_octets_per_route\", most = 1, by_construction = \"x\"",
            "one of them",
        ),
        (", by_construction = \"x\", most = 1", "needs of ="),
        (
            ", of = \"rate_evenness\", least = 1, most = 0.5",
            "least = 1 is more than most = 0.5",
        ),
        (
            ", of = \"rate_evenness\", least = 1, also = [{ of = \"rate_evenness\" }]",
            "needs least or most",
        ),
        (
            ", by_construction = \"x\", not_tested = \"y\"",
            "needs of =",
        ),
        (
            ", of = \"rate_evenness\", least = 1, bed_of = \"a\"",
            "bed_of is of rate_change or setting_change",
        ),
    ] {
        let claim =
            format!("claim = {{ id = \"c\", statement = \"s\", published = \"p\"{claim} }}");
        let line = refusal(
            &scratch,
            &format!("[[cell]]\nid = \"a\"\ntitle = \"t\"\n{claim}"),
        );
        assert!(line.starts_with(":7:9: ") && line.contains(said), "{line}");
    }
    for (of, known) in [("stage_growth", "RX"), ("cause_share", "locks")] {
        let claim = format!(
            "verb = \"explain\"\nclaim = {{ id = \"c\", statement = \"s\", published = \"p\", of = \"{of}\", name = \"x\", most = 1 }}"
        );
        let cell = format!("[[cell]]\nid = \"a\"\ntitle = \"t\"\n{claim}");
        let line = refusal(&scratch, &cell);
        assert!(
            line.contains("name = one of ") && line.contains(known),
            "{line}"
        );
    }
}

#[test]
fn a_bed_of_other_frames_tells_no_share() {
    let scratch = Scratch::new("campaign-share");
    let plan = |frame: u32, flows: &str| {
        format!(
            "[[cell]]\nid = \"a\"\ntitle = \"t\"\nflags = \"--frame {frame} --flows {flows}\"\n\
             [[cell]]\nid = \"b\"\ntitle = \"t\"\nverb = \"compare\"\nflags = \"--frame 64 --flows 32\"\n\
             variants = [{{ name = \"x\" }}, {{ name = \"y\", flags = \"--bidirectional\" }}]\n\
             claim = {{ id = \"c\", statement = \"s\", published = \"p\", of = \"rate_change\", most = 1, bed_of = \"a\" }}"
        )
    };
    for (frame, flows, said) in [
        (
            64,
            "32 --receiver port",
            "it sends 32 flows of IPv4 one way to the port, and this cell 32 flows of IPv4 one way: name one that sends the same",
        ),
        (
            64,
            "8",
            "it sends 8 flows of IPv4 one way, and this cell 32 flows of IPv4 one way: name one that sends the same",
        ),
        (
            128,
            "32",
            "it does not measure 64: add that frame size to it",
        ),
    ] {
        let line = refusal(&scratch, &plan(frame, flows));
        assert!(line.starts_with(":14:"), "{line}");
        assert!(line.ends_with(&format!("bed_of = \"a\": {said}")), "{line}");
    }
    let alike = scratch.path("alike.toml");
    let text = format!(
        "name = \"p\"\ntitle = \"t\"\nverb = \"throughput\"\n{}\n",
        plan(64, "32")
    );
    fs::write(&alike, text).expect("a plan");
    assert_eq!(campaign(&alike, "--dry-run").code, Some(0));
}

#[test]
fn a_dry_run_shows_each_command_and_no_more() {
    let ended = run(&mut mpps(&[
        "campaign",
        "run",
        "smoke",
        "--dry-run",
        "--quick",
        "--scripts",
    ]));
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{ended:?}"
    );
    for line in [
        "early-demux: one flow, no early demultiplexing, one route more (about 9 s)",
        "    mpps throughput --frame=64 --budget=6s --dut-setup=early-demux.a.sh",
        "    early-demux.a.sh: sysctl -w net.ipv4.ip_early_demux=0",
        "    early-demux.a.sh: ip route add 203.0.113.0/24 dev $MPPS_DUT_OUT",
        "    mpps compare --a=off=none --b=on=--dut-setup=rp-filter.b.sh --budget=10s",
        "    on: rp_filter=1",
        "    rp-filter.b.sh: sysctl -w net.ipv4.conf.$MPPS_DUT_IN.rp_filter=1",
        "    cannot be tested here: needs two sockets",
        "    mpps throughput --frame=64 --flows=64 --budget=6s",
        "6 of 7 cells run, about 92 s",
    ] {
        assert!(
            ended.stdout.lines().any(|shown| shown == line),
            "{line}: {ended:?}"
        );
    }
    // Those of bench/runs/2026-11-28-xeon-vm-2cpu/campaign-tum-2015 took 612 s and 82 s, and all 922 s.
    let ended = run(&mut mpps(&[
        "campaign",
        "run",
        "tum-2015",
        "--dry-run",
        "--quick",
    ]));
    for line in [
        "tables: tables I to V: 4 frame sizes, then 256 to 1 048 576 flows (about 9 min)",
        "over-sizes: stages over frame sizes (about 93 s)",
    ] {
        let told = ended.stdout.lines().any(|shown| shown == line);
        assert!(told, "{line}: {ended:?}");
    }
    assert!(
        ended.stdout.ends_with("cells run, about 14 min\n"),
        "{ended:?}"
    );
    let ended = run(&mut mpps(&[
        "campaign", "run", "smoke", "--only", "rp-filtr",
    ]));
    assert!(
        ended
            .error()
            .contains("no cell \"rp-filtr\" in smoke; near: rp-filter"),
        "{ended:?}"
    );
    let ended = run(&mut mpps(&["campaign", "run", "smok"]));
    assert!(
        ended.error().contains("give a file, or one of brouer-2009"),
        "{ended:?}"
    );
    let ended = run(&mut mpps(&["campaign", "list"]));
    assert!(
        ended
            .stdout
            .contains("\nsmoke             7 cells  Every part"),
        "{ended:?}"
    );
}

/// A cell of two factors, the second of which has a level that no machine has.
const FACTORS: &str = r#"
name = "f"
title = "Factors"
verb = "compare"
[[cell]]
id = "both"
title = "directions x filter"
flags = "--frame 64 --tester-cpus 0"
quick = "--budget 50s"
claim = { id = "c", statement = "s", published = "p", of = "rate_change", levels = ["one+off", "two+on"], most = 0 }
[[cell.factors]]
name = "ways"
levels = [{ name = "one" }, { name = "two", flags = "--bidirectional" }]
[[cell.factors]]
name = "filter"
levels = [{ name = "off" }, { name = "on", flags = "--flows 8", settings = { rp_filter = "1" } }, { name = "far", needs_cpus = 100000, flags = "--dut-cpus 1-9999" }]
"#;

#[test]
fn levels_of_factors_become_variants() {
    let scratch = Scratch::new("campaign-factors");
    let plan = scratch.path("plan.toml");
    fs::write(&plan, FACTORS).expect("a plan");
    let ended = campaign(&plan, "--dry-run --quick");
    for line in [
        "    mpps compare --a=one+off=none --b=two+off=--bidirectional '--c=one+on=--flows 8 --dut-setup=both.c.sh' \
         '--c=two+on=--bidirectional --flows 8 --dut-setup=both.d.sh' --budget=50s --frame=64 --tester-cpus=0",
        "    one+on: rp_filter=1",
        "    two+on: rp_filter=1",
    ] {
        assert!(
            ended.stdout.lines().any(|shown| shown == line),
            "{line}: {ended:?}"
        );
    }
    let said = "    far cannot be tested here: needs 100000 CPUs, the tester's included; this machine has ";
    assert!(ended.stdout.contains(said), "{ended:?}");
    // A first level is not left out.
    let all = FACTORS.replace(
        "{ name = \"one\" }",
        "{ name = \"one\", needs_cpus = 99998 }",
    );
    fs::write(&plan, all).expect("a plan");
    let ended = campaign(&plan, "--dry-run");
    let said = "    cannot be tested here: needs 99998 CPUs";
    assert!(ended.stdout.contains(said), "{ended:?}");
}

#[test]
fn factors_that_cannot_be_are_refused() {
    let scratch = Scratch::new("campaign-wrong-factors");
    let plan = scratch.path("plan.toml");
    let (one_way, on) = ("{ name = \"one\" }", "rp_filter = \"1\"");
    for (from, to, said) in [
        (
            "id = \"both\"",
            "id = \"both\"\nvariants = [{ name = \"a\" }]",
            "variants beside factors",
        ),
        (
            one_way,
            "{ name = \"two\" }",
            "two levels are called \"two\"",
        ),
        (one_way, "{ name = \"o+e\" }", "give letters, digits"),
        (
            one_way,
            "{ name = \"one\", colour = 1 }",
            "unknown field `colour`",
        ),
        ("{ name = \"one\" }, ", "", "needs two levels or more"),
        (
            one_way,
            &format!("{{ name = \"one\", settings = {{ {on} }} }}"),
            "rp_filter is of two factors",
        ),
        (
            one_way,
            "{ name = \"a-very-long-name-of-a-level-of-a-factor\" }",
            "longer than 40 letters",
        ),
        (
            "\"two+on\"]",
            "\"two+of\"]",
            "levels are the first variant and another one",
        ),
        (
            "\"one+off\", ",
            "\"two+off\", ",
            "levels are the first variant and another one",
        ),
        // What is left out here is read too.
        (
            "--dut-cpus 1-9999",
            "--dut-cpu 1-9999",
            "did you mean --dut-cpus?",
        ),
        ("rp_filter = \"1\"", "rp_filtre = \"1\"", "rp_filter"),
        (
            "verb = \"compare\"",
            "verb = \"loss\"",
            "needs verb = \"compare\"",
        ),
    ] {
        assert!(FACTORS.contains(from), "{from}");
        fs::write(&plan, FACTORS.replacen(from, to, 1)).expect("a plan");
        let ended = campaign(&plan, "--dry-run");
        assert!(
            ended.code == Some(2) && ended.error().contains(said),
            "{said}: {ended:?}"
        );
    }
    let [first, _] = FACTORS
        .split("[[cell.factors]]\nname = \"filter\"")
        .collect::<Vec<_>>()[..]
    else {
        panic!("two factors");
    };
    fs::write(&plan, first).expect("a plan");
    let ended = campaign(&plan, "--dry-run");
    assert!(
        ended
            .error()
            .contains("one factor alone: give its levels as variants"),
        "{ended:?}"
    );
}

#[test]
fn a_cell_changes_the_machine_only_if_allowed() {
    let scratch = Scratch::new("campaign-machine");
    let plan = scratch.path("plan.toml");
    let cell = r#"
name = "budgets"
title = "NAPI's budget"
verb = "tune measure"
[[cell]]
id = "budget"
title = "3000 against 300"
flags = "--only netdev_budget --nic softirq --budget 1m --budget 90s"
claim = { id = "c", statement = "s", published = "p", of = "setting_change", name = "netdev_budget", most = 0.02 }
"#;
    let changing = cell.replace("90s", "90s --allow-system-changes");
    fs::write(&plan, &changing).expect("a plan");
    let ended = campaign(&plan, "--dry-run");
    let said = "    cannot be tested here: it changes settings of the whole";
    assert!(ended.stdout.contains(said), "{ended:?}");
    let ended = campaign(&plan, "--dry-run --allow-system-changes");
    let command = "    mpps tune measure --only=netdev_budget --allow-system-changes --budget=90s --nic=softirq\n";
    assert!(ended.stdout.contains(command), "{ended:?}");
    assert!(ended.stdout.ends_with("1 of 1 cells run, about 93 s\n"));
    for (wrong, said) in [
        (
            changing.replace("name = \"netdev_budget\"", "name = \"x\""),
            "the id of a setting",
        ),
        (cell.replace("--only netdev_budget", "--only x"), "x"),
        (cell.to_owned(), "--allow-system-changes"),
        (
            cell.replace("--budget 1m", "--resume x.jsonl"),
            "--resume is no flag of a cell",
        ),
        (
            cell.replace("\"tune measure\"", "\"tune\""),
            "no verb \"tune\" for a cell",
        ),
    ] {
        fs::write(&plan, wrong).expect("a plan");
        let ended = campaign(&plan, "--dry-run");
        assert!(
            ended.code == Some(2) && ended.error().contains(said),
            "{said}: {ended:?}"
        );
    }
}

#[test]
fn more_cpus_than_there_are_are_said() {
    let scratch = Scratch::new("campaign-cpus");
    let plan = scratch.path("plan.toml");
    let text = SIMULATED.replace("cannot = \"needs two sockets\"", "needs_cpus = 100000");
    fs::write(&plan, text).expect("a plan");
    let ended = campaign(&plan, "--dry-run");
    let said = "cannot be tested here: needs 100000 CPUs, the tester's included; this machine has ";
    assert!(ended.stdout.contains(said), "{ended:?}");
}

/// Needs of a machine, each with the file that tells.
const NEEDS: [(&str, &str); 5] = [
    (
        "a machine that scales frequencies",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    ),
    (
        "a machine with idle states",
        "/sys/devices/system/cpu/cpu0/cpuidle/state0/name",
    ),
    (
        "a machine whose cores have threads",
        "/sys/devices/system/cpu/smt/control",
    ),
    (
        "several NUMA nodes",
        "/sys/devices/system/node/node1/cpulist",
    ),
    ("a machine with SELinux", "/sys/fs/selinux/enforce"),
];

/// Whatever this machine has: what is said is what its files say.
#[test]
fn what_this_machine_lacks_is_said() {
    let scratch = Scratch::new("campaign-needs");
    let plan = scratch.path("plan.toml");
    for (need, file) in NEEDS {
        let needs = format!("needs = [\"{need}\"]");
        let text = SIMULATED.replace("cannot = \"needs two sockets\"", &needs);
        fs::write(&plan, text).expect("a plan");
        let ended = campaign(&plan, "--dry-run");
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let said = format!("cannot be tested here: needs {need}");
        let is_said = ended.stdout.contains(&said);
        let is_there = fs::read_to_string(file).is_ok_and(|text| !text.starts_with("not"));
        assert_eq!(is_said, !is_there, "{ended:?}");
    }
    let line = refusal(
        &scratch,
        "[[cell]]\nid = \"a\"\ntitle = \"t\"\nneeds = [\"two sockets\"]",
    );
    assert!(line.starts_with(":7:10: "), "{line}");
    assert!(
        line.contains(" is not known. Known needs: \"a machine that scales"),
        "{line}"
    );
}

#[test]
fn the_documents_plan_is_one() {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/campaign.md");
    let text = fs::read_to_string(document).expect("the document");
    let plan = text
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let scratch = Scratch::new("campaign-document");
    let path = scratch.path("plan.toml");
    fs::write(&path, plan.expect("a plan")).expect("written");
    let ended = campaign(&path, "--dry-run --quick");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let command = "mpps throughput --frame=64 --flows=64 --budget=10s --queues=2";
    assert!(ended.stdout.contains(command), "{ended:?}");
}

fn runs(record: &Path) -> Vec<Run> {
    read_file(record).map(|read| read.runs).unwrap_or_default()
}

fn cells(record: &Path) -> Vec<String> {
    let runs = runs(record);
    let cells = runs.iter().flat_map(|run| &run.cells);
    cells.map(|line| line.cell.clone()).collect()
}

#[test]
fn a_campaign_goes_on_where_it_ended() {
    let scratch = Scratch::new("campaign-resume");
    let (plan, record) = (scratch.path("plan.toml"), scratch.path("r.jsonl"));
    fs::write(&plan, SIMULATED).expect("a plan");
    let words = format!("--quick --record {}", record.display());
    let ended = campaign(&plan, &format!("{words} --only flows-8"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("[1/1] flows-8: trial, 8 flows (about 3 s; 3 s left)"),
        "{ended:?}"
    );
    let go_on = format!("go on with: mpps campaign run {} {words}\n", plan.display());
    assert!(ended.stdout.ends_with(&go_on), "{ended:?}");
    let ended = campaign(&plan, &words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("goes on: 1 of 3 cells are done, 0 that"),
        "{ended:?}"
    );
    assert!(!ended.stdout.contains("go on with"), "{ended:?}");
    assert_eq!(cells(&record), ["flows-8", "flows-1", "sockets"]);
    let all = runs(&record);
    let line = all[0].cells.last().expect("a cell");
    assert_eq!(line.not_run.as_deref(), Some("needs two sockets"));
    let begin = all[0].campaign.as_ref().expect("a campaign");
    assert_eq!((begin.plan.as_str(), begin.cells), (SIMULATED, 3));
    for cell in &all[0].cells[..2] {
        let run = all
            .iter()
            .find(|run| Some(&run.name) == cell.measured_run.as_ref());
        let fixed = run.and_then(|run| run.begin.as_ref()?.plan.fixed.clone());
        assert_eq!(
            fixed.map(|fixed| fixed.time_ns),
            Some(20_000_000),
            "the later flag"
        );
    }
    campaign(&plan, &words);
    assert_eq!(cells(&record).len(), 3, "nothing runs again");
    let text = fs::read_to_string(&record).expect("a record");
    let other = text.replace("\"tool_version\":\"", "\"tool_version\":\"0.");
    fs::write(&record, other).expect("the record of another program");
    let refused = campaign(&plan, &words);
    let said = "begun on another machine, kernel or mpps (tool_version)";
    assert!(refused.error().contains(said), "{refused:?}");
    fs::write(&record, text).expect("the record");
    let without = campaign(&plan, words.trim_start_matches("--quick"));
    assert!(
        without.error().contains("begun with --quick: give it"),
        "{without:?}"
    );
    let changed = SIMULATED
        .replace("\"8\"]", "\"9\"]")
        .replace("{flows} flows", "{flows} streams");
    fs::write(&plan, changed).expect("a plan");
    let refused = campaign(&plan, &words);
    let said = "(changed: flows-1; added: flows-9; removed: flows-8): put it back";
    assert!(refused.error().contains(said), "{refused:?}");
    fs::write(&plan, format!("# more\n{SIMULATED}")).expect("a plan");
    assert!(
        campaign(&plan, &words)
            .error()
            .contains("no cell, but its title")
    );
    fs::write(&plan, SIMULATED.replace("\"pairs\"", "\"others\"")).expect("a plan");
    assert!(
        campaign(&plan, &words)
            .error()
            .contains("of the campaign pairs")
    );
    assert_eq!(cells(&record).len(), 3, "nothing is written");
    let refused = campaign(&plan, &format!("--record {}", plan.display()));
    let said = "plan.toml is no record of mpps: name a file written with --record";
    assert!(refused.error().contains(said), "{refused:?}");
}

#[test]
fn a_cell_that_fails_costs_only_itself() {
    let scratch = Scratch::new("campaign-fails");
    let (plan, record) = (scratch.path("plan.toml"), scratch.path("r.jsonl"));
    // Nobody but the router can tell that this line fails.
    let fails = "flags = \"--flows {flows}\"\nsetup = \"ip link show none-such\"";
    let text = SIMULATED.replace("--simulate capacity=1M ", "");
    fs::write(&plan, text.replace("flags = \"--flows {flows}\"", fails)).expect("a plan");
    if !privileged() {
        return;
    }
    let words = format!("--record {}", record.display());
    let ended = campaign(&plan, &words);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(cells(&record), ["flows-1", "flows-8", "sockets"]);
    let line = &runs(&record)[0].cells[0];
    assert_eq!((line.exit_code, &line.measured_run), (Some(2), &None));
    assert!(
        line.error
            .as_ref()
            .is_some_and(|error| error.contains("none-such")),
        "{line:?}"
    );
    let again = campaign(&plan, &words);
    assert!(
        again
            .stderr
            .contains("1 of 3 cells are done, 2 that failed"),
        "{again:?}"
    );
}

#[test]
fn a_killed_campaign_goes_on_and_leaves_nothing() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("campaign-killed");
    let (plan, record) = (scratch.path("plan.toml"), scratch.path("r.jsonl"));
    let text = SIMULATED.replace("--simulate capacity=1M", "--share --frame 64");
    let text = text.replace("\"8\"", "\"4\"");
    let slow = "flags = \"--flows {flows} --trials {flows}\"";
    fs::write(&plan, text.replace("flags = \"--flows {flows}\"", slow)).expect("a plan");
    let command = ["campaign", "run"];
    let mut first = mpps(&command);
    first.arg(&plan).arg("--record").arg(&record);
    let mut parent = first
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    // The second cell has its bed when its first line is there.
    let begun = || {
        runs(&record)
            .iter()
            .filter(|run| run.begin.is_some())
            .count()
    };
    wait_for("the second cell", || (begun() == 2).then_some(()));
    let pid = parent.id();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let child = children.expect("children").trim().to_owned();
    parent.kill().expect("killed");
    parent.wait().expect("gone");
    wait_for("the end of the cell", || {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        (stat.is_empty() || stat.contains(") Z ")).then_some(())
    });
    assert_eq!(cells(&record).len(), 1);
    let left = runs(&record)
        .into_iter()
        .rfind(|run| run.begin.is_some())
        .expect("a run");
    let end = left.end.expect("it ended by itself");
    assert!([0, 130].contains(&end.exit_code), "{end:?}");
    let ended = campaign(&plan, &format!("--record {}", record.display()));
    assert!(ended.stderr.contains("goes on: "), "{ended:?}");
    let mut cells = cells(&record);
    cells.dedup();
    assert_eq!(
        cells.last().map(String::as_str),
        Some("sockets"),
        "{ended:?}"
    );
}
