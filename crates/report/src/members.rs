//! Members of a record as rows of name and value, whatever they are: the machine's facts, the bed, the plan, a line.

use maud::{Markup, html};
use serde::Serialize;
use serde_json::Value;

/// A table of all members, by the names that the record gives them.
#[must_use]
pub fn table(heading: &str, part: &impl Serialize) -> Markup {
    html! {
        details {
            summary { (heading) }
            div.wide { table.members {
                tbody { @for (name, value) in rows(part) { tr { th scope="row" { (name) } td { (value) } } } }
            } }
        }
    }
}

/// Names and values of all members, in the record's order.
#[must_use]
pub fn rows(part: &impl Serialize) -> Vec<(String, String)> {
    let value = serde_json::to_value(part).unwrap_or_default();
    let mut rows = Vec::new();
    gather(String::new(), &value, &mut rows);
    rows
}

fn gather(name: String, value: &Value, rows: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(members) => {
            if let Some(why) = members.get("unreadable").and_then(Value::as_str) {
                rows.push((name, format!("not known ({why})")));
                return;
            }
            for (member, value) in members {
                let dot = if name.is_empty() { "" } else { "." };
                gather(format!("{name}{dot}{member}"), value, rows);
            }
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (at, value) in list.iter().enumerate() {
                gather(format!("{name}[{at}]"), value, rows);
            }
        }
        Value::Array(list) => {
            let words: Vec<String> = list.iter().map(word).collect();
            rows.push((name, words.join(", ")));
        }
        _ => rows.push((name, word(value))),
    }
}

fn word(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
