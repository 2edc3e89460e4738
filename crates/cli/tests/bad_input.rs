//! Bad input is one line that names the remedy, exit code 2, and nothing touched.

use crate::program::{Ended, Scratch, assert_gone, mpps, privileged, run, staged};
use std::os::unix::process::CommandExt;

/// One line on stderr, nothing on stdout, exit code 2.
fn assert_refused(ended: &Ended, wanted: &str) {
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(ended.stdout, "", "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    assert!(ended.error().contains(wanted), "{wanted}: {ended:?}");
}

#[test]
fn what_no_plan_can_be_is_refused_without_rights() {
    for (words, wanted) in [
        ("throughput -6 --frame 64", "give --frame 78 or larger"),
        ("throughput --frame 9000", "give --frame 3400 or smaller"),
        ("throughput --frame 9000 --port xdp", "--port af-packet"),
        ("throughput --frame 9217 --port af-packet", "9216"),
        ("throughput --port raw", "af-packet"),
        ("throughput --external eth1", "--external eth1,eth2"),
        ("throughput --external eth1,eth1", "the same port twice"),
        (
            "throughput --external eth1,eth2 --dut-mac 52:54",
            "52:54:00:12:34:56",
        ),
        (
            "throughput --external eth1,eth2 --dut-address 2001:2::1",
            "give an IPv4 address",
        ),
        (
            "throughput --external eth1,eth2 -6 --out-address 192.0.2.1",
            "give an IPv6 address",
        ),
        (
            "throughput --external eth1,eth2 --in-address here",
            "no address",
        ),
        (
            "throughput --external eth1,eth2 --port xdp --frame 9000",
            "--port af-packet",
        ),
        ("throughput --dut-mac 52:54:00:12:34:56", "--external"),
        ("throughput --frame mixed", "the mixes are imix"),
        ("throughput --flows 0", "give 1 to"),
        ("throughput --filters 0", "not in 1..=1000"),
        ("trial --rate 1k --filters 1001", "not in 1..=1000"),
        ("throughput --networks 0", "not in 1..=8192"),
        ("loss --networks 8193", "not in 1..=8192"),
        (
            "throughput --networks 256 --dst-prefix 10.0.0.0/8",
            "cannot be used with",
        ),
        ("throughput --management-traffic 0", "not in 1..=100"),
        ("latency --management-traffic 101", "not in 1..=100"),
        (
            "throughput --simulate capacity=1M --filters 25",
            "cannot be used with",
        ),
        (
            "throughput --simulate capacity=1M --networks 256",
            "cannot be used with",
        ),
        (
            "throughput --simulate capacity=1M --management-traffic",
            "cannot be used with",
        ),
        (
            "throughput --external eth1,eth2 --filters 25",
            "cannot be used with",
        ),
        (
            "throughput --external eth1,eth2 --networks 256",
            "leave out",
        ),
        (
            "throughput --external eth1,eth2 --management-traffic",
            "cannot be used with",
        ),
        ("throughput --bed lab1 --filters 25", "cannot be used with"),
        ("throughput --flows many", "--help"),
        ("throughput --dscp 64", "0 to 63"),
        (
            "throughput --resolution 2M --max-rate 1M",
            "smaller --resolution",
        ),
        ("throughput --max-rate fast", "1.5M"),
        ("throughput --goal mdr", "pdr:0.5%"),
        ("throughput --goal ndr --goal ndr", "twice"),
        ("throughput --goal ndr --accept any", "leave out one"),
        ("throughput --expect-min 2M --max-rate 1M", "could reach it"),
        ("throughput --simulate ring=4096", "no capacity"),
        (
            "throughput --simulate capacity=1M --nic napi",
            "cannot be used with",
        ),
        (
            "throughput --simulate capacity=1M --receiver exit",
            "cannot be used with",
        ),
        (
            "throughput --dry-run --receiver exit --port af-packet",
            "give --receiver port",
        ),
        (
            "throughput --dry-run --receiver exit --l4 tcp-stream",
            "give --receiver port",
        ),
        (
            "trial --rate 1k --dry-run --receiver exit --port af-packet",
            "give --receiver port",
        ),
        ("throughput --time 0", "give seconds"),
        ("throughput --resolution 0%", "1%"),
        ("throughput --rx-ring 1000000", "8 to 16384"),
        ("throughput --nic cable", "softirq"),
        ("throughput --bed lab1 --queues 2", "cannot be used with"),
        ("thruput", "throughput"),
        ("bed up Not/A/Name", "lower-case"),
        ("bed down", "NAME"),
        ("", "limits, table, tune, bed, doctor, recover, rfc2544"),
        ("calibrate --rx-ring 512", "1024 to 16384"),
        ("calibrate --bed lab1 --rx-ring 4096", "cannot be used with"),
        ("calibrate --nic napi", "--help"),
        ("bed", "up, down, shell, list"),
        ("doctor --fix", "--help"),
        ("table", "read, synthesize, load, show, stats, clear"),
        ("table load", "FILE"),
        ("table load x", "give --bed NAME"),
        ("table load x --allow-system-changes", "give --via ADDRESS"),
        ("table load x --bed lab1 --via router", "such as 198.19.0.2"),
        ("table load x --bed lab1 --route-table 0", "254 (main)"),
        (
            "table load x --bed lab1 --allow-system-changes",
            "cannot be used with",
        ),
        ("table load x --bed Lab/1", "lower-case"),
        ("table load x --bed lab1 --spread best", "round-robin"),
        ("table clear", "--allow-system-changes"),
        ("table read", "FILE"),
        ("table read /nowhere/rib", "open /nowhere/rib: No such file"),
        ("table read /proc/self/exe", "neither MRT nor text"),
        ("table read x --exclude 10.0.0.0/40", "192.0.2.0/24"),
        ("table read x --list --json", "cannot be used with"),
        ("table read x --seed 3", "--sample"),
        ("table synthesize", "--ipv4 1M"),
        ("table synthesize --ipv4 1.5", "whole number"),
        ("table synthesize --ipv4 900M", "give at most 16777216"),
        (
            "explain --sweep cores --flows 256 --dut-cpus 0",
            "has 1 CPU, and needs 4",
        ),
        (
            "explain --sweep cores=1,2,3,6 --flows 512 --dut-cpus 0",
            "needs 6",
        ),
        ("explain --dut-cpus 999", "CPU 999 is not available"),
        ("limits --pcie 3x7", "1, 2, 4, 8"),
        ("limits --pcie 9x8", "1 to 7"),
        ("limits --max-payload 100", "128, 256"),
        ("limits --frame 64,,128", "empty frame size"),
        ("limits --link-speed 10G,fast", "10G or 100M"),
        ("limits --memory 25G --measure", "cannot be used with"),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        assert_refused(&run(&mut mpps(&words)), wanted);
    }
}

#[test]
fn odd_arguments_are_refused_in_one_line() {
    use std::os::unix::ffi::OsStringExt;
    let octets = std::ffi::OsString::from_vec(vec![0xff]);
    assert_refused(&run(mpps(&["bed", "up"]).arg(octets)), "UTF-8");
    let long = "a".repeat(100_000);
    let ended = run(&mut mpps(&["bed", "up", &long]));
    assert_refused(&ended, "aaa...\": give 1 to 24");
    assert!(ended.stderr.len() < 300, "{ended:?}");
}

#[test]
fn a_dry_run_refuses_a_prefix_as_the_run_does() {
    for (words, wanted) in [
        ("--dst-prefix 198.18.0.0/24", "the bed's own networks"),
        ("-6 --dst-prefix 2001:2::/64", "the bed's own networks"),
        ("--dst-prefix 0.0.0.0/0", "a longer --dst-prefix"),
        ("--dst-prefix 127.0.0.0/8", "no addresses"),
        ("--dst-prefix 20.0.0.0/24 --destinations 257", "256"),
    ] {
        let line = |words: String| {
            let words: Vec<&str> = words.split_whitespace().collect();
            let ended = run(&mut mpps(&words));
            assert_refused(&ended, wanted);
            ended.stderr
        };
        let dry = line(format!("throughput --dry-run {words}"));
        assert_eq!(dry, line(format!("throughput {words}")));
    }
    let takes = "throughput --dry-run --dst-prefix 198.0.0.0/8";
    let words: Vec<&str> = takes.split_whitespace().collect();
    let ended = run(&mut mpps(&words));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_dry_run_refuses_what_the_run_would_not_find() {
    let scratch = Scratch::new("dry-run");
    let (table, script) = (scratch.path("v6.txt"), scratch.path("setup.sh"));
    std::fs::write(&table, "2400:1::/32\n2400:2::/32\n").expect("a table");
    std::fs::write(&script, "#!/bin/sh\n").expect("a script");
    let (table, script) = (table.display(), script.display());
    for (words, wanted) in [
        (format!("throughput --table {table}"), "other family"),
        (format!("fib-scale --table {table}"), "other family"),
        (
            "throughput --table /no/such/table".to_owned(),
            "/no/such/table",
        ),
        (format!("throughput --dut-setup {script}"), "chmod +x"),
        (
            "explain --sweep routes --table /no/such/table".to_owned(),
            "--table: open /no/such/table",
        ),
        (
            "throughput --dut-setup /no/such".to_owned(),
            "--dut-setup: there is no file /no/such: give a program that sets up the router",
        ),
        (
            "fib-scale --plot /no/such/x.svg".to_owned(),
            "no folder /no/such",
        ),
        (
            "throughput --record /no/such/x.jsonl".to_owned(),
            "no folder /no/such",
        ),
        (
            "throughput --external no-such1,no-such2".to_owned(),
            "no such interface",
        ),
        ("throughput --dut-cpus 999".to_owned(), "--dut-cpus"),
        (
            "throughput --nic napi --queues 2".to_owned(),
            "2 queues with --nic napi",
        ),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        assert_refused(&run(mpps(&words).arg("--dry-run")), wanted);
    }
    if privileged() {
        for verb in ["throughput", "fib-scale", "calibrate"] {
            let ended = run(&mut mpps(&[verb, "--dry-run", "--bed", "no-such"]));
            assert_refused(&ended, "mpps bed list");
        }
    }
    let words = format!("throughput -6 --dry-run --table {table}");
    let ended = run(&mut mpps(&words.split_whitespace().collect::<Vec<_>>()));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_dry_run_prints_json_where_asked() {
    for words in [
        "throughput --frame 64,imix --queues 2",
        "fib-scale --frame 64,imix --queues 2 --routes 0,10 --destinations 1",
        "throughput --frame 64,imix --simulate capacity=1M",
        "fib-scale --frame 64 --networks 8 --routes 0,full --destinations 1",
        "calibrate",
        "calibrate --filters 25 --management-traffic 10 --networks 256",
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let ended = run(mpps(&words).args(["--dry-run", "--json"]));
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{words:?}"
        );
        let plan: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        assert_eq!(
            (&plan["dry_run"], &plan["job"]),
            (&true.into(), &words[0].into())
        );
        assert_eq!(plan["plan"]["frames"][0], "64");
        if words.contains(&"--filters") {
            assert_eq!(plan["bed"]["filters"], 25, "{plan}");
            assert_eq!(plan["plan"]["queries_per_s"], 10, "{plan}");
        }
        if words.contains(&"--queues") {
            assert_eq!(plan["bed"]["queues"], 2, "{plan}");
        }
        if words[0] == "fib-scale" {
            assert_eq!(plan["points"].as_array().map(Vec::len), Some(3), "{plan}");
        }
    }
}

#[test]
fn a_dry_run_needs_no_rights_and_prints_the_plan() {
    let ended = run(&mut mpps(&["calibrate", "--dry-run"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.contains("policer, ring"), "{}", ended.stdout);
    let ended = run(&mut mpps(&[
        "throughput",
        "--dry-run",
        "--frame",
        "64,imix",
        "--time",
        "60",
    ]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    for wanted in [
        "64, imix",
        "one trial of 60 s at a load",
        "tester's ceiling",
        "cpumap",
    ] {
        assert!(ended.stdout.contains(wanted), "{wanted}: {}", ended.stdout);
    }
}

#[test]
fn a_plan_shows_receiver_and_budget() {
    let planned = |words: &str| {
        let words: Vec<&str> = words.split_whitespace().collect();
        let ended = run(mpps(&words).arg("--dry-run"));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        let said = |word| {
            let mut lines = ended.stdout.lines();
            let line = lines.find_map(|line| line.strip_prefix(word));
            line.map(|words| words.trim().to_owned())
        };
        [said("receiver "), said("budget ")].map(Option::unwrap_or_default)
    };
    let budget = "30 s for each frame size";
    for (words, wanted) in [
        ("throughput --port af-packet", ["port", budget]),
        ("throughput --receiver exit", ["exit", budget]),
        ("latency --l4 tcp-stream --flows 2", ["port", budget]),
        ("throughput --time 60 --port af-packet", ["port", ""]),
        ("throughput --simulate capacity=1M", ["", ""]),
        ("trial --rate 1k --receiver port", ["port", ""]),
        ("calibrate --receiver exit", ["exit", ""]),
    ] {
        assert_eq!(planned(words), wanted, "{words}");
    }
    // By how many CPUs this machine has.
    let [receiver, _] = planned("throughput");
    assert!(["exit", "port"].contains(&&*receiver), "{receiver}");
}

#[test]
fn without_root_the_line_says_so() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("nobody");
    let copy = scratch.program();
    for words in [
        &["throughput"][..],
        &["calibrate"],
        &["bed", "up", "lab1"],
        &["bed", "list"],
        &["recover"],
    ] {
        let mut command = std::process::Command::new(&copy);
        command.args(words).uid(65_534).gid(65_534).current_dir("/");
        assert_refused(&run(&mut command), "sudo");
    }
}

/// What a look at a CPU says that it lacks: on the page and, where that is all it has, in the line of the error. Where other
/// programs of the machine send frames meanwhile, their cost is known as a sum, without stages.
fn lacks(command: &mut std::process::Command, wanted: &str) {
    let ended = run(command);
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    let page = words.join(" ");
    assert!(page.contains(wanted), "{wanted}: {ended:?}");
    match ended.code {
        Some(0) => assert!(!page.contains("stage"), "{ended:?}"),
        code => {
            let nothing = page.contains("The cost of a frame is not known");
            let line = ended.error();
            assert!(
                code == Some(2) && nothing && line.contains(": no "),
                "{ended:?}"
            );
        }
    }
}

const LOOK: &str = "explain --cpus 0 --for 0.5";

#[test]
fn a_look_without_root_says_what_it_lacks() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("look-nobody");
    let copy = scratch.program();
    let home = scratch.path("home");
    std::fs::create_dir(&home).expect("a folder");
    std::os::unix::fs::chown(&home, Some(65_534), Some(65_534)).expect("nobody's");
    let mut command = std::process::Command::new(&copy);
    command.args(LOOK.split(' ')).uid(65_534).gid(65_534);
    command.current_dir("/").env("XDG_STATE_HOME", &home);
    lacks(
        &mut command,
        "no busy times and drops: load the observer: Operation not permitted (os error 1) (needs root",
    );
    let names =
        "no samples: read names of functions /proc/kallsyms: the kernel hides the addresses";
    lacks(&mut command, names);
}

#[test]
fn without_the_right_to_sample_the_line_names_it() {
    if !privileged() {
        return;
    }
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let paranoid = paranoid.expect("perf events");
    if paranoid.trim().parse::<i32>().expect("a level") < 1 {
        println!("SKIP: needs kernel.perf_event_paranoid of 1 or more");
        return;
    }
    let script = format!("exec setpriv --bounding-set -perfmon,-sys_admin \"$MPPS\" {LOOK}");
    let wanted = "no samples: open perf event sampler of CPU 0: EACCES (needs CAP_PERFMON, or kernel.perf_event_paranoid";
    lacks(&mut staged(&script), wanted);
}

/// Names of eBPF programs, which the kernel tells apart from the file, are not taken for all names.
#[test]
fn without_names_of_functions_there_are_no_samples() {
    if !privileged() {
        return;
    }
    let hide = "unshare -m sh -ec 'mount --bind /dev/null /proc/kallsyms; exec \"$MPPS\" ";
    lacks(
        &mut staged(&format!("{hide}{LOOK}'")),
        "no samples: read names of functions /proc/kallsyms",
    );
    let bed = "explain --frame 64 --time 0.2 --trials 3";
    let ended = run(&mut staged(&format!("{hide}{bed}'")));
    assert_gone(ended.bed());
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let line = "read names of functions /proc/kallsyms: the kernel hides the addresses (run as root (CAP_SYSLOG)";
    assert!(ended.error().contains(line), "{ended:?}");
    let is_empty =
        ended.stdout.contains("64 B: no cost by stage: ") && !ended.stdout.contains("RX");
    assert!(is_empty, "{ended:?}");
}

#[test]
fn without_btf_the_line_names_the_option() {
    if !privileged() {
        return;
    }
    let hide = "unshare -m sh -ec 'mount -t tmpfs none /sys/kernel/btf; exec \"$MPPS\" throughput'";
    assert_refused(&run(&mut staged(hide)), "CONFIG_DEBUG_INFO_BTF");
}

#[test]
fn a_bad_record_is_refused_before_a_bed_is_raised() {
    if !privileged() {
        return;
    }
    assert_refused(
        &run(&mut mpps(&[
            "throughput",
            "--record",
            "/proc/nowhere/x.jsonl",
        ])),
        "--record",
    );
}

#[test]
fn cpus_that_are_not_there_are_refused() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("cpus");
    let record = scratch.path("record.jsonl");
    for (flag, list) in [
        ("--dut-cpus", "999"),
        ("--tester-cpus", "one"),
        ("--dut-cpus", "3-1"),
    ] {
        let ended = run(mpps(&["throughput", "--quiet", flag, list, "--record"]).arg(&record));
        assert_refused(&ended, flag);
        assert!(!record.exists(), "an empty record was left behind");
    }
}

#[test]
fn a_failing_set_up_script_leaves_nothing_behind() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("setup");
    let saw = scratch.path("saw");
    let text = format!(
        "#!/bin/sh\nip netns identify $$ > {}\necho no such table >&2\nexit 7\n",
        saw.display()
    );
    let script = scratch.script("setup.sh", &text);
    let record = scratch.path("record.jsonl");
    let ended = run(mpps(&["throughput", "--quiet", "--dut-setup"])
        .arg(&script)
        .arg("--record")
        .arg(&record));
    assert_refused(&ended, "setup.sh");
    assert!(ended.error().contains("no such table"), "{ended:?}");
    let netns = std::fs::read_to_string(saw).expect("the script ran");
    let bed = netns
        .trim()
        .strip_prefix("mpps-")
        .and_then(|name| name.strip_suffix("-dut"));
    assert_gone(bed.expect("in the DUT's namespace"));
    assert!(!record.exists(), "an empty record was left behind");
}

#[test]
fn a_bed_name_in_use_is_refused() {
    if !privileged() {
        return;
    }
    let name = format!("cli-{}", std::process::id());
    let two = run(&mut mpps(&["bed", "up", &name, "--queues", "2"]));
    assert_eq!(two.code, Some(0));
    let again = run(&mut mpps(&["bed", "up", &name]));
    let listed = run(&mut mpps(&["bed", "list"]));
    let inside = run(&mut mpps(&[
        "bed",
        "shell",
        &name,
        "cat",
        "/proc/sys/net/ipv4/ip_forward",
    ]));
    let failed = run(&mut mpps(&["bed", "shell", &name, "--", "false"]));
    let dry = run(&mut mpps(&["throughput", "--dry-run", "--bed", &name]));
    let unfit = run(&mut mpps(&["calibrate", "--dry-run", "--bed", &name]));
    let down = run(&mut mpps(&["bed", "down", &name]));
    assert!(
        dry.code == Some(0) && dry.stdout.contains("kept"),
        "{dry:?}"
    );
    assert_refused(&unfit, "mpps bed up NAME --queues 1");
    assert_refused(&again, "mpps bed down");
    assert!(
        listed
            .stdout
            .lines()
            .any(|line| line.starts_with(&name) && line.contains("kept")),
        "{listed:?}"
    );
    assert_eq!(
        (inside.code, inside.stdout.trim()),
        (Some(0), "1"),
        "{inside:?}"
    );
    assert_eq!(failed.code, Some(2), "{failed:?}");
    assert_eq!(down.code, Some(0), "{down:?}");
    assert_gone(&name);
    assert_refused(&run(&mut mpps(&["bed", "down", &name])), "mpps bed list");
    assert_refused(
        &run(&mut mpps(&["throughput", "--quiet", "--bed", &name])),
        "mpps bed list",
    );
}
