//! The shipped plans have each published row and each claim: run, or marked with the reason why not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use toml::{Table, Value};

/// A row of a table by the names of its columns.
type Row = BTreeMap<String, String>;

fn campaigns() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../campaigns"))
}

/// Cells of each plan of a study, by its name; a grid counts as one.
fn plans() -> BTreeMap<String, Vec<Table>> {
    let mut plans = BTreeMap::new();
    for entry in fs::read_dir(campaigns()).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|end| end == "toml") {
            let text = fs::read_to_string(&path).expect("a plan");
            let mut plan: Table = text.parse().expect("TOML");
            let name = plan["name"].as_str().expect("a name").to_owned();
            let cells = ["cell", "grid"].into_iter().flat_map(|kind| {
                let cells = plan.remove(kind).unwrap_or(Value::Array(Vec::new()));
                cells.try_into::<Vec<Table>>().expect("cells")
            });
            plans.insert(name, cells.collect());
        }
    }
    // It shows what a plan can have, also a claim.
    plans.remove("smoke");
    plans
}

fn rows(file: &Path) -> Vec<Row> {
    let text = fs::read_to_string(file).expect("a table");
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = lines.next().expect("names").split(',').collect();
    let row = |line: &str| {
        let fields = line.splitn(names.len(), ',').map(str::to_owned);
        names
            .iter()
            .map(|name| name.to_string())
            .zip(fields)
            .collect()
    };
    lines.map(row).collect()
}

/// Published figures of a plan: frame, frames/s, what is told of it.
fn figures(cells: &[Table]) -> Vec<(String, f64, String)> {
    let all = cells
        .iter()
        .filter_map(|cell| cell.get("published")?.as_array());
    let figure = |figure: &Value| {
        let text = |key: &str| figure[key].as_str().expect(key).to_owned();
        let rate = &figure["frames_per_s"];
        let rate = rate
            .as_float()
            .or(rate.as_integer().map(|rate| rate as f64));
        (text("frame"), rate.expect("a rate"), text("told"))
    };
    all.flatten().map(figure).collect()
}

#[test]
fn each_claim_stands_in_one_cell_of_one_plan() {
    let plans = plans();
    let cells = plans.values().flatten();
    let claims: Vec<&Table> = cells
        .filter_map(|cell| cell.get("claim")?.as_table())
        .collect();
    let text = |claim: &Table, key: &str| claim.get(key).and_then(Value::as_str).map(str::to_owned);
    let published = rows(&campaigns().join("published/claims.csv"));
    assert_eq!(claims.len(), published.len());
    for row in published {
        let id = &row["id"];
        let with_id = |claim: &&&Table| text(claim, "id").as_ref() == Some(id);
        let found: Vec<_> = claims.iter().filter(with_id).collect();
        assert_eq!(found.len(), 1, "{id}: claims of this id");
        let told = |key: &str| text(found[0], key).unwrap_or_default();
        assert_eq!(told("statement"), row["statement"], "{id}");
        assert_eq!(told("published"), row["published_effect"], "{id}");
    }
}

/// Half to twice of a published effect: what is far beyond it is not what they found either.
#[test]
fn a_published_effect_is_bounded_at_both_ends() {
    // A share that is at most all, a loss of which twice is more than all, "less than", and "costs little".
    let one_end = [
        "rate-not-bandwidth",
        "default-costs",
        "bidir",
        "new-destinations",
    ];
    let has = |claim: &Table, key: &str| claim.contains_key(key);
    for cell in plans().values().flatten() {
        let claim = cell.get("claim").and_then(Value::as_table);
        let Some(claim) = claim.filter(|claim| has(claim, "of")) else {
            continue;
        };
        let id = claim["id"].as_str().expect("an id");
        let ends = ["least", "most"].map(|end| has(claim, end));
        assert_eq!(
            ends == [true, true],
            !one_end.contains(&id),
            "{id}: {ends:?}"
        );
    }
}

#[test]
fn each_row_of_the_thesis_is_beside_a_cell() {
    let plans = plans();
    let mut figures = figures(&plans["thesis-2015"]);
    for row in rows(&campaigns().join("published/thesis-2015.csv")) {
        let rate: f64 = row["frames_s"].parse().expect("a rate");
        let told = format!("{}, Linux {}", row["section"], row["kernel"]);
        // A mix of IPv6 has no frame below 78 octets, so it is typed part by part.
        let is_frame = |frame: &str| match row["frame"].as_str() {
            "AMS-IX" => frame == "ams-ix-2015" || frame.starts_with("mix:1518=21.4,"),
            octets => frame == octets,
        };
        let place = figures
            .iter()
            .position(|(frame, fps, about)| is_frame(frame) && *fps == rate && *about == told);
        let place = place.unwrap_or_else(|| panic!("no cell has {row:?}"));
        figures.swap_remove(place);
    }
    assert!(figures.is_empty(), "published nowhere: {figures:?}");
}

#[test]
fn each_published_rate_of_the_other_studies_is_there() {
    let plans = plans();
    let has = |plan: &str, frame: &str, rate: f64| {
        let found = figures(&plans[plan]);
        let is_it = |figure: &(String, f64, String)| figure.0 == frame && figure.1 == rate;
        assert!(
            found.iter().any(is_it),
            "{plan}: {frame} at {rate} frames/s"
        );
    };
    for (octets, _, mpps, _) in mpps_report::published::SCENARIOS {
        if let Some(mpps) = mpps {
            has("tum-2015", &octets.to_string(), (mpps * 1e6).round());
        }
    }
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference");
    for file in ["forwarding", "destinations"] {
        let file = reference.join(format!("xdp-paper-2018-{file}.csv"));
        if !file.exists() {
            println!("SKIP: needs {}", file.display());
            continue;
        }
        for row in rows(&file) {
            let rates = row.iter().filter(|(name, _)| name.contains('_'));
            for (_, rate) in rates {
                has("xdp-paper-2018", "64", rate.parse().expect("a rate"));
            }
        }
    }
    let brouer = reference.join("brouer-2009.csv");
    if brouer.exists() {
        let of_rate = |row: &Row| row["unit"] == "Mpps";
        for row in rows(&brouer).iter().filter(|row| of_rate(row)) {
            let mpps: f64 = row["received"].parse().expect("a rate");
            let found = figures(&plans["brouer-2009"]);
            let is_it = |figure: &(String, f64, String)| figure.1 == (mpps * 1e6).round();
            assert!(found.iter().any(is_it), "brouer-2009: {row:?}");
        }
    }
}
