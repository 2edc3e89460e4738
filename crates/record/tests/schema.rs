//! `docs/record.schema.json` is what the types say, and the records in this repository keep to it.
//! `MPPS_WRITE_SCHEMA=1 cargo test -p mpps-record --test schema` writes it anew.

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
