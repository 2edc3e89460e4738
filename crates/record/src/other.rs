//! What lines hold beside the members that are known.

use serde_json::{Map, Value};

/// Members of a line that this version does not know: those of another schema, or those that a bench put in front.
pub type Other = Map<String, Value>;
