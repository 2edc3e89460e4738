use super::*;
use mpps_method::tune::CATALOGUE;

fn row(id: &str) -> &'static Row {
    CATALOGUE.iter().find(|row| row.id == id).expect(id)
}

#[test]
fn the_list_fits_80_columns() {
    let rows: Vec<&Row> = CATALOGUE.iter().collect();
    let text = settings(&rows);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let listed = text.lines().filter(|line| line.starts_with("  ")).count();
    assert_eq!(listed, rows.len());
    assert!(text.contains("\n  rp_filter  "), "{text}");
}

#[test]
fn one_group_has_one_heading() {
    let text = settings(&[row("rp_filter"), row("ip_forward")]);
    assert!(text.starts_with("ip: "), "{text}");
    assert_eq!(text.matches(": ").count(), 1, "{text}");
    assert!(text.contains("\n2 settings; "), "{text}");
}

#[test]
fn all_of_a_setting_is_shown() {
    let text = setting(row("rp_filter"));
    for wanted in [
        "rp_filter: Reverse path filter\n",
        "net.ipv4.conf.{if}.rp_filter",
        "(value: 0)",
        "with --nic cpumap, napi or softirq; needs frames of IPv4\n",
        "source",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    // What cannot act on a bed says so, and advice that looks wrong is marked.
    assert!(setting(row("irq_affinity")).contains("inert: needs a real NIC"));
    assert!(setting(row("ip_forward")).contains("inert: the bed sets it\n"));
    assert!(setting(row("file_max")).contains("looks wrong"));
    assert!(setting(row("tcp_sack")).contains("no advice"));
}

/// What mpps counts is only a number: a user wants to see the objects themselves.
#[test]
fn each_object_has_a_command() {
    for row in CATALOGUE.iter() {
        let has_command = setting(row).contains("\n  shown by ");
        let is_object = row.places[0].kind == Kind::Object;
        assert_eq!(has_command, is_object, "{}", setting(row));
        assert!(!shown_by(row).starts_with("; ") && !shown_by(row).ends_with("; "));
    }
    let rules = "ip rule show; ip -6 rule show";
    assert_eq!(shown_by(row("policy_rules")), rules);
    let log = setting(row("rule_log"));
    assert!(log.contains(" nft list ruleset\n"), "{log}");
}

#[test]
fn json_has_every_line_of_a_block() {
    let json: Value = serde_json::from_str(&settings_json(&[row("ring_rx")])).expect("JSON");
    let setting = &json["settings"][0];
    assert_eq!(setting["id"], "ring_rx");
    for (key, text) in &row("ring_rx").lines {
        assert_eq!(setting[*key], *text, "{key}");
    }
}

/// A block may name what a bed has to be given; then there is such an argument.
#[test]
fn flags_that_are_needed_exist() {
    fn longs(command: &clap::Command, all: &mut Vec<String>) {
        let own = command.get_arguments().filter_map(clap::Arg::get_long);
        all.extend(own.map(|long| format!("--{long}")));
        command.get_subcommands().for_each(|verb| longs(verb, all));
    }
    let mut known = Vec::new();
    longs(
        &<crate::args::Cli as clap::CommandFactory>::command(),
        &mut known,
    );
    for row in CATALOGUE.iter() {
        for word in format!("--nic {}", row.needs).split(' ') {
            let is_flag = word.starts_with("--");
            assert!(
                !is_flag || known.iter().any(|one| one == word),
                "{}: {word}",
                row.id
            );
        }
    }
}

/// What differs is named by its real place with both values; the risk stands before the side effects.
#[cfg(feature = "measure")]
#[test]
fn a_page_says_what_to_change() {
    use mpps_lab::tune::State;
    use mpps_method::tune::Profile;
    use mpps_record::facts::Reading;

    let lo = ["lo".to_owned()];
    let mut here = mpps_lab::tune::survey(Profile::Router, &lo).expect("a survey");
    here.standings.retain(|one| one.row.id == "ip_forward");
    let one = here.standings.first_mut().expect("a standing");
    one.state = State::Differs;
    let place = one.seen.first_mut().expect("a place");
    (place.now, place.advised) = (Reading::Known("0".to_owned()), Some("1".to_owned()));
    (place.is_met, place.fixed) = (Some(false), None);
    let mut measured = mpps_record::Run {
        name: "run".to_owned(),
        effects: vec![mpps_record::EffectsLine {
            frame: "64".to_owned(),
            effects: vec![mpps_record::SettingEffect {
                setting: "ip_forward".to_owned(),
                from: "0".to_owned(),
                to: "1".to_owned(),
                difference: Some(mpps_record::Difference::default()),
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    let page = cookbook(&here, Some(&measured));
    for wanted in [
        "- Measured effects: those of run run.",
        "  - Measured at 64 B: ip_forward `1` against `0`: cannot tell",
        "- [!] **ip_forward**: ",
        "  - Change: net.ipv4.ip_forward: 0 -> 1\n",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../record/tests/golden/run.jsonl"
    );
    let golden = mpps_record::read_file(golden.as_ref()).expect("a record");
    let mut begin = golden.runs[0].begin.clone().expect("a first line");
    begin.facts.cpu_model = Reading::Known("Z80".to_owned());
    begin.facts.kernel_release = here.facts.kernel_release.clone();
    measured.begin = Some(begin);
    let other = cookbook(&here, Some(&measured));
    let other = other.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in [
        "- Measured effects: those of run run (simulated: ",
        "- Measured with another CPU than this machine's: effects here may differ.",
    ] {
        assert!(other.contains(wanted), "{wanted}: {other}");
    }
    assert!(!other.contains("another kernel"), "{other}");
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(at("  - Risk: ") < at("  - Side effects: "), "{page}");
    assert!(survey(&here).contains("\n! ip_forward "));
    let mut fixed = here.standings.clone();
    fixed[0].state = State::Fixed("read-only here");
    std::mem::swap(&mut here.standings, &mut fixed);
    let shown = survey(&here);
    assert!(shown.contains("advised  now  because\n"), "{shown}");
    assert!(shown.contains("  0    read-only here\n"), "{shown}");
    here.standings = fixed;
    // Many places that are alike are one line.
    let one = here.standings.first_mut().expect("a standing");
    one.seen = vec![one.seen[0].clone(); 5];
    one.seen
        .iter_mut()
        .for_each(|place| place.fixed = Some("read-only here"));
    let page = cookbook(&here, None);
    assert!(page.contains("- Measured effects: none ("), "{page}");
    let wanted = "  - Change: net.ipv4.ip_forward (5 of them): 0 -> 1 (read-only here)\n";
    assert_eq!(page.matches(wanted).count(), 1, "{page}");
}
