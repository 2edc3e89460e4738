//! `mpps explain` from the command line: its plan, what it refuses, and a profile that `mpps show` shows again.

use crate::program::{Ended, Scratch, assert_gone, has, mpps, privileged, run, staged};
use mpps_record::{Drops, LimitedBy, PartCost, ProfileLine, ProfiledLoad, read_file};
use serde_json::Value;
use std::path::Path;

#[test]
fn a_plan_says_what_will_be_profiled() {
    let words = "explain --frame 64 --time 0.5 --trials 4 --burn 500 --dry-run";
    let ended = run(&mut mpps(&words.split(' ').collect::<Vec<_>>()));
    if ended.code == Some(2) && !privileged() {
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in [
        "frame sizes  64",
        "4 trials of 500 ms at saturation",
        "500 ns burnt",
        "time         about 23 s\n",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {ended:?}");
    }
    let ended = run(&mut mpps(&["explain", "--paper-tables", "--dry-run"]));
    let told = ended.stdout.replace("\n             ", " ");
    for part in [
        "64, 512, 1024, 1500, 64, 64, 64\n",
        "scenarios of tables I to V",
    ] {
        assert!(told.contains(part), "{part}: {ended:?}");
    }
}

#[test]
fn two_set_ups_that_take_turns_are_planned() {
    let script = "/usr/bin/true";
    let words = "explain --burn 500 --against spin=--burn=0 --trials 4 --dry-run --dut-setup";
    let words: Vec<&str> = words.split(' ').chain([script]).collect();
    let ended = run(&mut mpps(&words));
    if ended.code == Some(2) && !privileged() {
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in [
        "4 pairs of sampled trials of 1 s at saturation, one of each set-up, burnt a frame: 500 ns and 0 ns",
        "variant      true\n",
        "variant      spin\n",
        "time         about 12 s\n",
    ] {
        let told = ended.stdout.replace("\n             ", " ");
        assert!(told.contains(part), "{part}: {ended:?}");
    }
    assert_eq!(ended.stdout.matches("DUT set-up").count(), 2, "{ended:?}");
    // Without the script that all else is the same for.
    let words = ["explain", "--against", "none", "--dry-run", "--dut-setup"];
    let ended = run(mpps(&words).arg(script));
    assert_eq!(ended.stdout.matches("DUT set-up").count(), 1, "{ended:?}");
}

#[test]
fn what_cannot_be_profiled_is_refused() {
    for (words, why) in [
        (
            "explain --nic softirq",
            "has no threads of its own to sample",
        ),
        ("explain --trials 2", "--trials"),
        ("explain --burn 100001", "--burn"),
        ("explain --against --queues=99", "give 1 to 64"),
        ("explain --against --frame=128", "frames of both"),
        ("explain --against --trials=4", "give it outside the quotes"),
        ("explain --against none --frame 64,128", "one frame size"),
        ("explain --against none --bed lab", "--bed"),
        ("explain --sweep frame=64,128,256", "at least 4"),
        ("explain --sweep cores", "give --flows"),
        ("explain --sweep flows --frame 64,128", "give one"),
        ("explain --sweep frame --frame 64", "sweep over sizes"),
        (
            "explain --sweep routes --networks 4",
            "leave out --destinations",
        ),
        ("explain --simulate capacity=1M", "--simulate"),
        ("explain --cpus 0,1023", "watch CPU 1023: this machine has"),
        ("explain --cpus 5-2", "give CPUs such as"),
        ("explain --cpus 0 --for 0.1", "500 ms to 300 s"),
        ("explain --cpus 0 --flows 8", "cannot be used with"),
        ("explain --cpus 0 --nic napi", "cannot be used with"),
        ("explain --for 3", "--cpus"),
    ] {
        let ended = run(&mut mpps(&words.split(' ').collect::<Vec<_>>()));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.error().contains(why), "{ended:?}");
    }
}

/// Looks at all CPUs while a bed is measured: to the look, its packets are of other namespaces.
fn look_at_the_bed(record: &Path) -> [Ended; 2] {
    let words = ["explain", "--cpus", "all", "--for", "3", "--json"];
    let looked = run(mpps(&words).arg("--record").arg(record));
    [
        looked,
        run(&mut mpps(&["top", "--once", "--interval", "0.5"])),
    ]
}

/// What the looks found. They are read when the bed is gone, because reading them disturbs its trials.
fn assert_looked(record: &Path, [ended, once]: &[Ended; 2]) {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let document: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    let look = &document["results"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let of_others = number(&look["watched"]["foreign_packets"]);
    assert!(of_others > 1_000.0, "{look}");
    for cpu in look["watched"]["cpus"].as_array().expect("CPUs") {
        let ledger = cpu["ledger"].as_object().expect("a ledger");
        let shares = ledger.iter().filter(|(name, _)| name.ends_with("_share"));
        let sum: f64 = shares.map(|(_, share)| number(share)).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{cpu}");
    }
    let load = &look["loads"][0];
    let stages = load["stages"].as_array().expect("stages");
    let sum: f64 = stages
        .iter()
        .map(|part| number(&part["ns"]["median"]))
        .sum();
    let whole = number(&load["frame_ns"]["median"]);
    assert!(whole > 0.0 && (sum / whole - 1.0).abs() < 0.01, "{load}");
    let shown = run(mpps(&["show"]).arg(record));
    for part in ["network namespaces", "prerouting", "net %"] {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    assert_eq!(once.code, Some(0), "{once:?}");
    for part in ["net %", "most in", "stage", "cause"] {
        assert!(once.stdout.contains(part), "{part}: {once:?}");
    }
    let folded = run(mpps(&["report", "--format", "folded"]).arg(record));
    assert!(folded.stdout.contains("ip_"), "{folded:?}");
}

/// Other namespaces' frames would be traffic too.
#[test]
fn a_look_without_traffic_has_no_cost() {
    if !privileged() {
        return;
    }
    let ended = run(&mut staged(
        "exec unshare --net \"$MPPS\" explain --cpus 0 --for 0.5 --quiet",
    ));
    let text = ended
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    if ended.code == Some(0) {
        assert!(text.contains("network namespaces"), "{ended:?}");
        println!("SKIP: needs a machine without other traffic");
        return;
    }
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(4), ""),
        "{ended:?}"
    );
    for part in [
        "The cost of a frame is not known: there was no traffic",
        "% idle.",
    ] {
        assert!(text.contains(part), "{part}: {ended:?}");
    }
    assert!(!text.contains("stage"), "{ended:?}");
}

fn saturated(line: &ProfileLine) -> &ProfiledLoad {
    &line.loads[0]
}

fn stage<'a>(line: &'a ProfileLine, name: &str) -> &'a PartCost {
    let stages = &saturated(line).stages;
    let found = stages.iter().find(|part| part.part == name);
    found.unwrap_or_else(|| panic!("no {name} in {stages:?}"))
}

fn assert_sound(line: &ProfileLine) {
    let load = saturated(line);
    // By construction: the stages are shares of the busy time.
    let sum: f64 = load.stages.iter().map(|part| part.ns.median).sum();
    assert!(
        (sum / load.frame_ns.median - 1.0).abs() < 0.01,
        "{sum} of {load:?}"
    );
    // Samples and scheduler count that time apart.
    let seen = load.seen_share.expect("a share");
    let is_doubted = line.doubts.iter().any(|one| one.name == "samples-missing");
    assert!(
        seen < 1.02 && (seen < 0.99) == is_doubted,
        "{seen}: {line:?}"
    );
    let causes: f64 = load.causes.iter().map(|part| part.ns.median).sum();
    assert!((causes / sum - 1.0).abs() < 0.01, "{causes} of {sum}");
    assert!(
        load.samples > 100 && load.unclassified_share < 0.01,
        "{load:?}"
    );
    let folded: f64 = line.stacks.iter().map(|stack| stack.ns).sum();
    assert!((folded / sum - 1.0).abs() < 0.01, "{folded} of {sum}");
    for stack in &line.stacks {
        assert_eq!(
            stack.frames.split(';').count(),
            stack.stages.len(),
            "{stack:?}"
        );
    }
    assert!(line.model.is_some() != line.no_model.is_some(), "{line:?}");
    let limit = line.limit_text.as_deref().expect("a sentence");
    if line.limited_by == Some(LimitedBy::Dut) {
        assert!(
            limit.starts_with("The router's CPU is the limit"),
            "{limit}"
        );
    }
    let octets = serde_json::to_vec(line).expect("JSON").len();
    assert!(octets < 1 << 20, "{octets}");
}

/// One of so many frames is dropped: far fewer than the losses of an overload, so that lower loads count as such.
const DROP_EVERY: f64 = 400.0;

/// The rule's drops are named, and frames that the receiver took at the exit are none.
fn assert_drops_named(line: &ProfileLine) {
    let drops = &line.evidence.as_ref().expect("evidence").drops;
    let share = |reason: &str| {
        let of = |drops: &&Drops| drops.reason.as_deref() == Some(reason);
        drops.iter().find(of).map_or(0.0, |drops| drops.share)
    };
    let before = drops.iter().filter(|drops| drops.place != "router");
    let reached = 1.0 - before.map(|drops| drops.share).sum::<f64>();
    let planted = share("NETFILTER_DROP") / reached * DROP_EVERY;
    assert!((0.9..1.1).contains(&planted), "{planted}: {drops:?}");
    assert_eq!(share("TC_EGRESS"), 0.0, "{drops:?}");
}

/// A wire routes nothing, and takes what is not the router's. Fewer than 3 pairs count on a restless machine.
fn assert_wire(line: &ProfileLine) {
    let Some(wire) = &line.wire else {
        let why = line.no_wire.as_deref().expect("a reason");
        assert!(why.contains("pairs of trials"), "{why}");
        return;
    };
    let ns = |name: &str| {
        let stages = wire.load.stages.iter();
        let found = stages.filter(|part| part.part == name);
        found.map(|part| part.ns.median).sum::<f64>()
    };
    let sum: f64 = wire.load.stages.iter().map(|part| part.ns.median).sum();
    assert!(
        (sum / wire.load.frame_ns.median - 1.0).abs() < 0.01,
        "{wire:?}"
    );
    // Samples name the wire's own program, and none is of a decision.
    assert!(
        ns("RX") > 0.0 && ns("virtual NIC") > 0.0 && ns("routing") < 5.0,
        "{wire:?}"
    );
    assert!(wire.load.unclassified_share < 0.01, "{wire:?}");
    let parts: f64 = wire.stages.iter().map(|part| part.ns.median).sum();
    assert!((parts - wire.router_ns.median).abs() < 1.0, "{wire:?}");
    assert!(wire.pairs >= 3 && wire.router_ns.low > 0.0, "{wire:?}");
}

/// Of a router with a planted cost and planted drops.
#[test]
fn a_profile_is_sound_and_shown_from_its_record() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("explain");
    let record = scratch.path("record.jsonl");
    let words = "explain --frame 64 --time 0.2 --trials 3 --burn 500";
    let words: Vec<&str> = words.split(' ').collect();
    let mut command = mpps(&words);
    let drops = has("nft");
    if drops {
        let rule = format!("numgen inc mod {DROP_EVERY} == 0 drop");
        let script = scratch.forward_rule(&rule);
        command.arg("--dut-setup").arg(script);
    }
    let ended = run(command.arg("--record").arg(&record));
    assert_gone(ended.bed());
    if ended.code == Some(4) {
        println!("SKIP: needs a quieter machine");
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let text = &ended.stdout;
    println!("{text}");
    for part in [
        "a frame costs",
        "prerouting",
        "virtual NIC",
        "none of these",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let shown = run(mpps(&["show"]).arg(&record));
    assert_eq!(&shown.stdout, text, "{ended:?}");
    let read = read_file(&record).expect("a record");
    let line = &read.runs[0].profiles[0];
    let hardware = &line.evidence.as_ref().expect("evidence").hardware;
    let memory = match hardware.memory_read_octets_per_frame {
        Some(_) => "a frame, by the whole machine",
        None => "Memory traffic: not available here.",
    };
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(memory), "{text}");
    // The machine may have disturbed all lower loads.
    let has_lower = line.loads.len() > 1;
    assert_eq!(text.contains("wake-ups a frame"), has_lower, "{text}");
    assert_sound(line);
    assert_eq!(line.burnt_ns, Some(500));
    let spun = line.burnt_measured_ns.expect("its program's count");
    assert!((495.0..510.0).contains(&spun), "{spun}");
    assert_wire(line);
    // Most of the router's time is the planted one.
    let rx = stage(line, "RX");
    assert!(rx.ns.median > 0.3 * saturated(line).router_ns, "{rx:?}");
    if drops {
        assert_drops_named(line);
    }
}

#[test]
fn set_ups_in_turns_are_shown_from_their_record() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new("explain-against");
    let record = scratch.path("record.jsonl");
    let words = "explain --time 0.2 --trials 4 --burn 500 --against spin=--burn=250";
    let words: Vec<&str> = words.split(' ').collect();
    let look = scratch.path("look.jsonl");
    let (ended, looked) = std::thread::scope(|scope| {
        let looking = scope.spawn(|| look_at_the_bed(&look));
        let ended = run(mpps(&words).arg("--record").arg(&record));
        (ended, looking.join().expect("a look at the host"))
    });
    assert_gone(ended.bed());
    assert_looked(&look, &looked);
    if ended.code == Some(4) {
        println!("SKIP: needs a quieter machine");
        return;
    }
    assert_eq!(ended.code, Some(0), "{ended:?}");
    println!("{}", ended.stdout);
    for part in ["this set-up against spin: ", "more  ", "Intervals of all"] {
        assert!(ended.stdout.contains(part), "{part}: {ended:?}");
    }
    let shown = run(mpps(&["show"]).arg(&record));
    assert_eq!(shown.stdout, ended.stdout);
    let shown = run(mpps(&["show", "--json"]).arg(&record));
    let document: Value = serde_json::from_str(&shown.stdout).expect("one JSON object");
    let against = &document["results"][0]["against"];
    assert_eq!(
        (&against["burnt_ns"], &against["flags"][0]),
        (&250.into(), &"--burn=250".into())
    );
    let svg = run(mpps(&["report", "--format", "flame"]).arg(&record));
    assert!(
        svg.stdout.contains("what this set-up takes more than spin"),
        "{svg:?}"
    );
}
