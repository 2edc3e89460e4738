use super::*;
use mpps_record::{
    CampaignLine, CellLine, ComparisonLine, Factor, Interval, Level, Run, TrialLine, Variant,
};

/// A comparison of two changes that together forward a fifth less than they alone predict.
fn compared() -> Run {
    let mut run = Run::new("compared");
    let mut line = ComparisonLine {
        frame: "64".to_owned(),
        alike_share: 0.01,
        within_share: 0.02,
        ..ComparisonLine::default()
    };
    let all = [
        ("one-way+off", 1e6),
        ("both-ways+off", 0.5e6),
        ("one-way+on", 0.8e6),
        ("both-ways+on", 0.32e6),
    ];
    for (place, (name, fps)) in (0..).zip(all) {
        let overload_trials: Vec<u32> = (0..8).map(|round| 4 * round + place).collect();
        let mut way = mpps_record::Direction::default();
        way.ledger.sent_frames = (1_020.0 * fps) as u64;
        let trial = |trial: &u32| TrialLine {
            trial: *trial,
            duration_ns: 1_000_000_000_000,
            forwarded_undisturbed_fps: Some(fps),
            directions: vec![way.clone()],
            ..TrialLine::default()
        };
        run.trials.extend(overload_trials.iter().map(trial));
        line.variants.push(Variant {
            name: name.to_owned(),
            forwarding_fps: Some(Interval {
                low: fps as u64,
                median: fps as u64,
                high: fps as u64,
            }),
            overload_trials,
            ..Variant::default()
        });
    }
    run.comparisons.push(line);
    run
}

/// Its cell: a third level of its second factor was not run.
fn cell() -> CellLine {
    let level = |name: &str, not_run: Option<&str>| Level {
        name: name.to_owned(),
        not_run: not_run.map(str::to_owned),
    };
    let factor = |name: &str, levels: &[Level]| Factor {
        name: name.to_owned(),
        levels: levels.to_vec(),
    };
    CellLine {
        cell: "factorial".to_owned(),
        title: "directions x filter".to_owned(),
        measured_run: Some("compared".to_owned()),
        exit_code: Some(0),
        factors: vec![
            factor(
                "directions",
                &[level("one-way", None), level("both-ways", None)],
            ),
            factor(
                "filter",
                &[
                    level("off", None),
                    level("on", None),
                    level("far", Some("needs 9 CPUs")),
                ],
            ),
        ],
        ..CellLine::default()
    }
}

#[test]
fn a_cell_with_factors_has_a_table_and_contrasts() {
    let mut own = Run::new("campaign");
    own.campaign = Some(CampaignLine {
        cells: 1,
        ..CampaignLine::default()
    });
    own.cells.push(cell());
    let compared = compared();
    let campaign = CampaignRun::new(&own, &[&own, &compared]).expect("a campaign");
    let text = in_words(&campaign);
    for wanted in [
        "  directions x filter, 64 B: an interaction\n",
        "  frames/s                       off                       on      far\n",
        "  one-way    1.000M (1.000 to 1.000)  800.0k (800.0 to 800.0)  not run\n",
        "  both-ways  500.0k (500.0 to 500.0)  320.0k (320.0 to 320.0)  not run\n",
        "  far cannot be tested here: needs 9 CPUs\n",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let prose: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = "both-ways and on together: -20.0 % frames/s (-20.0 to -20.0 %, 8 rounds) against what the two alone \
                  predict: an interaction";
    assert!(prose.contains(wanted), "{prose}");
    let told = cell_json(&campaign.cells[0]);
    let last = &told["contrasts"][2];
    assert_eq!(last["changes"], json!(["both-ways", "on"]));
    assert_eq!(
        (&last["finding"], &last["rounds"]),
        (&json!("different"), &json!(8))
    );
    assert_eq!(told["factors"][1]["levels"][2]["not_run"], "needs 9 CPUs");
}
