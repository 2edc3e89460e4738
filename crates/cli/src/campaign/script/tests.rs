use super::*;
use crate::args::{Cli, Verb};
use crate::campaign::Campaign;
use clap::Parser;
use std::process::Command;

/// The bed of `mpps trial` with these flags, and what is sent there.
fn on(flags: &str) -> CellBed {
    let words = ["mpps", "trial", "--rate", "1k"].into_iter();
    let words = words.chain(flags.split_whitespace());
    let verb = Cli::try_parse_from(words).expect("flags").verb;
    let Verb::Trial(args) = verb else {
        panic!("not trial: {verb:?}")
    };
    let plan = crate::verbs::trial::cell(&args, &[]);
    plan.expect("a plan").0.remove(0)
}

/// The script of a cell with these settings and this rest, or what is said of it.
fn scripted(settings: &[(&str, &str)], rest: &str, on: &CellBed) -> Result<String, String> {
    let settings = settings.iter();
    let settings = settings.map(|(id, value)| format!("{id} = \"{value}\""));
    let settings = settings.collect::<Vec<_>>().join(", ");
    let head = "name = \"p\"\ntitle = \"t\"\n[[cell]]\nid = \"a\"\ntitle = \"t\"\nverb = \"trial\"";
    let text = format!("{head}\nsettings = {{ {settings} }}\n{rest}\n");
    let plan = Campaign::read("plan", &text, false).expect("a plan");
    let set_up = SetUp {
        cell: "a",
        settings: &plan.cells[0].settings,
        lines: plan.cells[0].setup.as_ref(),
    };
    let script = set_up.check().and_then(|()| set_up.script(on));
    script.map_err(|wrong| wrong.why)
}

/// A level, behind the levels that it acts on.
fn chain(row: &'static Row, level: &'static str) -> Vec<(&'static str, &'static str)> {
    let beside = successors(with(row), |row| with(row));
    let mut all: Vec<_> = beside.map(|row| (row.id, row.levels()[1])).collect();
    all.push((row.id, level));
    all
}

#[test]
fn each_level_is_refused_or_a_shell_reads_it() {
    let beds = ["", "-6 --l4 tcp --receiver port", "--nic napi"].map(on);
    let mut written = 0;
    for row in CATALOGUE.iter() {
        let levels = row.levels().into_iter();
        for (level, on) in levels.flat_map(|level| beds.iter().map(move |on| (level, on))) {
            let what = format!("{} = {level}, {:?}", row.id, on.bed);
            let script = match scripted(&chain(row, level), "", on) {
                Ok(script) => script,
                Err(why) => {
                    assert!(why.contains("cell a"), "{what}: {why}");
                    continue;
                }
            };
            assert!(!script.contains("$$"), "{what}: {script}");
            let read = Command::new("sh").args(["-nc", &script]).status();
            assert!(read.expect("a shell").success(), "{what}: {script}");
            written += 1;
        }
    }
    assert!(written > 150, "{written}");
}

#[test]
fn a_command_has_the_ports_and_what_it_acts_on() {
    let settings = [
        ("tc_filters", "one that matches nothing"),
        ("tc_ingress", "no filters"),
    ];
    let script = scripted(&settings, "", &on("")).expect("a script");
    let lines: Vec<&str> = script.lines().skip(2).collect();
    assert_eq!(lines[0], "tc qdisc add dev $MPPS_DUT_IN clsact");
    assert!(
        lines[1].starts_with("tc filter add dev $MPPS_DUT_IN "),
        "{script}"
    );
}

#[test]
fn a_setting_alone_that_acts_on_another_is_inert() {
    for (id, value) in [
        ("notrack", "on"),
        ("ct_acct", "1"),
        ("ruleset_shape", "100 in a set"),
    ] {
        let why = scripted(&[(id, value)], "", &on("")).expect_err(id);
        let start = format!("{id} is inert here: needs ");
        assert!(why.starts_with(&start) && why.contains("cell a"), "{why}");
    }
    let rest = "setup = \"nft -f tracks\"";
    assert!(
        scripted(&[("ct_acct", "1")], rest, &on("")).is_ok(),
        "lines may track"
    );
    let why = scripted(&[("ruleset_shape", "100 in a set")], rest, &on("")).expect_err("too late");
    assert!(
        why.contains("forward_rules = \"100 in a list\" beside it"),
        "{why}"
    );
}

#[test]
fn settings_that_stop_a_router_together_are_refused() {
    let said = |rp_filter| {
        let settings = [("bridged_port", "in a bridge"), ("rp_filter", rp_filter)];
        scripted(&settings, "", &on(""))
    };
    let wanted = "bridged_port = \"in a bridge\": the router forwards nothing with it and rp_filter = \"1\": leave one \
                  of them out of cell a";
    assert_eq!(said("1"), Err(wanted.to_owned()));
    assert_eq!(
        said("0; 0; 1")
            .expect_err("one place")
            .replace("0; 0; 1", "1"),
        wanted
    );
    assert!(said("0").is_ok());
    let routed = [("bridged_port", "routed"), ("rp_filter", "1")];
    assert!(scripted(&routed, "", &on("")).is_ok());
}

#[test]
fn what_a_flag_of_the_bed_makes_names_the_flag() {
    let said = |id, value| scripted(&[(id, value)], "", &on("")).expect_err(id);
    let why = said("ring_rx", "4096");
    let words =
        "ring_rx = \"4096\": it is made with the bed: give cell a flags = \"--rx-ring 4096\"";
    assert_eq!(why, words);
    assert_eq!(
        said("ring_rx", "512"),
        "ring_rx = \"512\": give 256 or 4096"
    );
    assert!(said("ipv6", "IPv4").contains("leave it out"));
}
