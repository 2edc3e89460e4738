//! Control characters in the texts of a record: on a terminal they would move the cursor or make up lines.

use serde_json::{Map, Value};

/// Members that hold text of several lines: a set-up script and what it printed, the plan of a campaign.
const FILES: [&str; 3] = ["text", "plan", "output"];

/// Whether a line of JSON may have such a character: one that is escaped, DEL, or one of those after it.
pub fn is_suspect(line: &[u8]) -> bool {
    line.iter()
        .any(|octet| matches!(octet, b'\\' | 0x7f | 0xc2))
}

/// Replaces each by U+FFFD, names of members included.
pub fn clean(value: &mut Value) {
    match value {
        Value::String(text) => replace(text, |_| false),
        Value::Array(values) => values.iter_mut().for_each(clean),
        Value::Object(members) => {
            let old = std::mem::take(members);
            *members = old.into_iter().map(member).collect::<Map<_, _>>();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn member((mut name, mut value): (String, Value)) -> (String, Value) {
    replace(&mut name, |_| false);
    match &mut value {
        Value::String(text) if FILES.contains(&name.as_str()) => {
            replace(text, |one| matches!(one, '\r' | '\n' | '\t'))
        }
        value => clean(value),
    }
    (name, value)
}

/// Replaces all control characters but those to be kept.
fn replace(text: &mut String, keep: fn(char) -> bool) {
    let is_wrong = |one: char| one.is_control() && !keep(one);
    if text.contains(is_wrong) {
        *text = text.replace(is_wrong, "\u{fffd}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn control_characters_are_replaced() {
        let mut value = json!({
            "frame": "\u{1b}[31mX\nY",
            "a\rb": [{ "text": "#!/bin/sh\r\n\techo \u{9b}2J\n" }, "µ"],
        });
        clean(&mut value);
        let wanted = json!({
            "frame": "\u{fffd}[31mX\u{fffd}Y",
            "a\u{fffd}b": [{ "text": "#!/bin/sh\r\n\techo \u{fffd}2J\n" }, "µ"],
        });
        assert_eq!(value, wanted);
    }

    #[test]
    fn a_line_without_them_is_not_searched() {
        assert!(!is_suspect(br#"{"frame":"64"}"#));
        assert!(is_suspect(br#"{"frame":"\u001b"}"#));
        assert!(is_suspect("{\"frame\":\"\u{9b}\"}".as_bytes()));
    }
}
