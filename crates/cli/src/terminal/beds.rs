//! The beds that stand.

use super::columns;
use super::document::document;
use mpps_lab::bed::BedState;
use serde_json::{Value, json};

/// One line a bed; one that says so where there is none.
pub fn beds(beds: &[BedState]) -> String {
    if beds.is_empty() {
        return "there is no bed (raise one: mpps bed up NAME)\n".to_owned();
    }
    let row = |bed: &BedState| {
        let front = bed.plan.as_ref().map_or("-", |plan| plan.nic.name());
        let (state, netns) = (state(bed), netns(bed).join(" "));
        [bed.name.as_str(), state, front, &netns].map(str::to_owned)
    };
    columns(beds.iter().map(row), &[0, 1, 2, 3])
}

/// What is to be known of a bed: whether it may be used, and if not, what to run.
fn state(bed: &BedState) -> &'static str {
    match (bed.in_use, bed.kept) {
        (true, _) => "in use",
        (false, true) => "kept",
        (false, false) => "left behind (mpps recover)",
    }
}

/// Its namespaces: the tester's sending end, the DUT, the tester's receiving end.
fn netns(bed: &BedState) -> [String; 3] {
    ["out", "dut", "in"].map(|end| format!("mpps-{}-{end}", bed.name))
}

/// The same as one JSON object. Front and queues are null where the plan is not on disk: beds that are not kept.
pub fn beds_json(beds: &[BedState]) -> String {
    let entry = |bed: &BedState| {
        json!({
            "name": bed.name,
            "kept": bed.kept,
            "in_use": bed.in_use,
            "nic": bed.plan.as_ref().map(|plan| plan.nic.name()),
            "queues": bed.plan.as_ref().map(|plan| plan.queues),
            "namespaces": netns(bed),
        })
    };
    document(json!({ "beds": beds.iter().map(entry).collect::<Value>() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bed_is_a_line_with_its_namespaces() {
        let kept = BedState {
            name: "lab1".to_owned(),
            kept: true,
            in_use: false,
            plan: None,
        };
        let dead = BedState {
            name: "3f2a".to_owned(),
            kept: false,
            in_use: false,
            plan: None,
        };
        let json = beds_json(&[kept.clone(), dead.clone()]);
        let json: serde_json::Value = serde_json::from_str(&json).expect("one object");
        assert_eq!(json["beds"][0]["name"], "lab1");
        assert_eq!(json["beds"][0]["kept"], true);
        assert_eq!(json["beds"][1]["namespaces"][1], "mpps-3f2a-dut");
        assert!(json["beds"][1]["nic"].is_null());
        let text = beds(&[kept, dead]);
        assert_eq!(text.lines().count(), 2);
        assert!(
            text.contains("lab1") && text.contains("kept") && text.contains("mpps-lab1-dut"),
            "{text}"
        );
        assert!(text.contains("mpps recover"), "{text}");
        assert!(beds(&[]).contains("mpps bed up"));
    }
}
