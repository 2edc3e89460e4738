use super::*;

#[test]
fn a_comparison_has_a_sentence_a_variant() {
    let mut line = ComparisonLine {
        frame: "64".to_owned(),
        why: Some("interrupted".to_owned()),
        ..ComparisonLine::default()
    };
    assert_eq!(comparison(&line), ["64 B: not measured: interrupted"]);
    for (name, difference) in [("none", None), ("rules", Some(Default::default()))] {
        line.variants.push(mpps_record::Variant {
            name: name.to_owned(),
            difference,
            ..Default::default()
        });
    }
    let wanted = ["64 B, rules against none: not decided: too few pairs count"];
    assert_eq!(comparison(&line), wanted);
}
