//! A line of a record as a JSON Schema.

use crate::Line;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// One line of a record.
#[derive(schemars::JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct RecordLine {
    /// Version of the lines' shape.
    schema: u32,
    /// Name of the run that wrote it.
    run: String,
    /// Its members, by its kind.
    #[serde(flatten)]
    line: Line,
}

/// The schema that each line of today's version keeps to (draft 2020-12). Members that it does not name are allowed.
#[must_use]
pub fn schema() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    // A writer gives every member; a reader of these types takes older lines besides.
    settings.contract = schemars::generate::Contract::Deserialize;
    let schema = settings
        .into_generator()
        .into_root_schema_for::<RecordLine>();
    schema.to_value()
}
