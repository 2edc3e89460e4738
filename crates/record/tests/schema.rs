//! `docs/record.schema.json` is what the types say, and the records in this repository keep to it.
//! `MPPS_WRITE_SCHEMA=1 cargo test -p mpps-record --features schema --test all schema::` writes it anew.

use mpps_record::{Line, schema};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_schema_is_that_of_the_types() {
    let file = root().join("docs/record.schema.json");
    let text = format!("{:#}\n", schema());
    if std::env::var_os("MPPS_WRITE_SCHEMA").is_some() {
        fs::write(&file, &text).expect("write the schema");
    }
    let written = fs::read_to_string(file).expect("the schema");
    assert!(written == text, "docs/record.schema.json is of other types");
}

#[test]
fn each_kind_of_line_has_its_schema() {
    let schema = schema();
    let of_kind = |line: &Value| line["properties"]["kind"]["const"].clone();
    let kinds: Vec<Value> = schema["oneOf"]
        .as_array()
        .expect("kinds")
        .iter()
        .map(of_kind)
        .collect();
    assert_eq!(kinds, Line::KINDS);
}

/// Whether a value keeps to a schema, as far as its keywords are those that the generator writes for these types.
fn keeps_to(value: &Value, schema: &Value, root: &Value) -> bool {
    let listed = |word: &str| schema[word].as_array().map(Vec::as_slice);
    let typed = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        _ => panic!("type {name}"),
    };
    let is_typed = match &schema["type"] {
        Value::Null => true,
        Value::Array(names) => names.iter().any(typed),
        name => typed(name),
    };
    let passes = |schemas: &[Value]| {
        let passed = schemas
            .iter()
            .filter(|schema| keeps_to(value, schema, root));
        passed.count()
    };
    let referred = schema["$ref"].as_str().is_none_or(|name| {
        let name = name.strip_prefix("#/$defs/").expect("a definition");
        keeps_to(value, &root["$defs"][name], root)
    });
    let present = |name: &Value| value.get(name.as_str().unwrap_or_default()).is_some();
    let member = |(name, schema): (&String, &Value)| {
        value
            .get(name)
            .is_none_or(|value| keeps_to(value, schema, root))
    };
    is_typed
        && referred
        && schema.get("const").is_none_or(|only| only == value)
        && (schema["minimum"].as_f64())
            .is_none_or(|least| value.as_f64().is_none_or(|of| of >= least))
        && listed("required").is_none_or(|names| names.iter().all(present))
        && schema["properties"]
            .as_object()
            .is_none_or(|all| all.iter().all(member))
        && listed("oneOf").is_none_or(|schemas| passes(schemas) == 1)
        && listed("anyOf").is_none_or(|schemas| passes(schemas) > 0)
        && (schema.get("items").zip(value.as_array()))
            .is_none_or(|(schema, all)| all.iter().all(|value| keeps_to(value, schema, root)))
}

/// Asserts that each line of a record keeps to the schema, and returns them. Schema 1 wrote rates with a fraction, so its
/// lines are left out.
pub fn lines_that_keep_to(schema: &Value, text: &str, path: &Path) -> Vec<Value> {
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let is_known = |line: &Value| {
        let kind = line["kind"].as_str().unwrap_or_default();
        line["schema"].as_u64().is_some_and(|schema| schema >= 2) && Line::KINDS.contains(&kind)
    };
    let lines: Vec<Value> = lines.filter(is_known).collect();
    for line in &lines {
        let keeps = keeps_to(line, schema, schema);
        assert!(keeps, "{}: {line}", path.display());
    }
    lines
}

/// The records of the benches are held against it where they are read.
#[test]
fn golden_lines_keep_to_the_schema_and_others_do_not() {
    let (schema, mut lines) = (schema(), 0);
    let folder = root().join("crates/record/tests/golden");
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a file");
        for line in lines_that_keep_to(&schema, &text, &path) {
            let mut without = line.clone();
            without.as_object_mut().expect("an object").remove("run");
            assert!(!keeps_to(&without, &schema, &schema), "{line}");
            let mut other = line;
            other["kind"] = "other".into();
            assert!(!keeps_to(&other, &schema, &schema), "{other}");
            lines += 1;
        }
    }
    assert!(lines > 15, "{lines}");
}

/// Names of all members anywhere in the schema, each with its description.
fn members<'a>(part: &'a Value, found: &mut Vec<(&'a str, &'a str)>) {
    if let Some(object) = part.as_object() {
        let properties = object.get("properties").and_then(Value::as_object);
        let member = |(name, schema): (&'a String, &'a Value)| {
            let description = schema["description"].as_str().unwrap_or_default();
            (name.as_str(), description)
        };
        found.extend(properties.into_iter().flatten().map(member));
        object.values().for_each(|part| members(part, found));
    }
    let parts = part.as_array().into_iter().flatten();
    parts.for_each(|part| members(part, found));
}

/// Words that tell nothing of a member.
const EMPTY: &str = "the a an of its it is in on at to and or by for with where all each they their that this which as be";

/// Whether a description says more than the name. Words with the same beginning are the same.
fn says_more(name: &str, description: &str) -> bool {
    let said = |word: &str| {
        let mut parts = name.split('_');
        let beginning: String = word.chars().take(5).collect();
        parts.any(|part| part.starts_with(&beginning) || (part.len() > 2 && word.starts_with(part)))
            || EMPTY.split(' ').any(|empty| empty == word)
    };
    let description = description.to_lowercase();
    let mut words = description.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| !word.is_empty() && !said(word))
}

#[test]
fn descriptions_that_repeat_the_name_are_told() {
    assert!(!says_more("idle_share", "Idle."));
    assert!(!says_more(
        "dut_transmitted_frames",
        "Transmitted by the DUT."
    ));
    assert!(!says_more("received_frames", ""));
    assert!(says_more(
        "received_frames",
        "Of these, frames that came back."
    ));
}

/// The document names a member, or its description in the schema says more than its name.
#[test]
fn every_member_is_explained() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/records.md");
    let text = fs::read_to_string(document).expect("docs/records.md");
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words: Vec<&str> = text.split(|letter| !is_name(letter)).collect();
    let (schema, mut found) = (schema(), Vec::new());
    members(&schema, &mut found);
    assert!(found.len() > 400, "{}", found.len());
    found.retain(|(name, description)| !words.contains(name) && !says_more(name, description));
    assert!(
        found.is_empty(),
        "docs/records.md and the schema lack {found:?}"
    );
}
