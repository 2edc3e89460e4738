//! The beds that stand.

use mpps_lab::bed::BedState;
use std::fmt::Write;

/// One line a bed; one that says so where there is none.
#[must_use]
pub fn beds(beds: &[BedState]) -> String {
    if beds.is_empty() {
        return "no bed stands (raise one: mpps bed up NAME)\n".to_owned();
    }
    let mut text = String::new();
    for bed in beds {
        let state = match (bed.in_use, bed.kept) {
            (true, _) => "in use",
            (false, true) => "kept",
            (false, false) => "left behind (mpps recover)",
        };
        let front = bed.plan.as_ref().map_or("-", |plan| plan.nic.name());
        let name = &bed.name;
        let _ = writeln!(
            text,
            "{name:<24} {state:<8} {front:<8} mpps-{name}-out mpps-{name}-dut mpps-{name}-in"
        );
    }
    text
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
