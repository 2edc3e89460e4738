use super::*;
use crate::mix::{AMS_IX_2015, SIMPLE_IMIX};

fn written(text: &str) -> Vec<String> {
    FrameSpec::parse_list(text)
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn sizes_lists_sweeps_and_mixes_are_read() {
    assert_eq!(written("64"), ["64"]);
    assert_eq!(written("64, 512,1518"), ["64", "512", "1518"]);
    assert_eq!(
        written("64-1518/128"),
        [
            "64", "192", "320", "448", "576", "704", "832", "960", "1088", "1216", "1344", "1472",
            "1518"
        ]
    );
    assert_eq!(written("64-192/128"), ["64", "192"]);
    assert_eq!(written("64-64/1"), ["64"]);
    assert_eq!(
        written("64,imix,internet-2009-approx"),
        ["64", "imix", "internet-2009-approx"]
    );
    assert_eq!(written("mix:64=7,594=4,1518=1"), ["mix:64=7,594=4,1518=1"]);
    assert_eq!(
        written("128,mix:64=7,66-127=0.5,1518"),
        ["128", "mix:64=7,66-127=0.5", "1518"]
    );
    assert_eq!(written("mix:64=1,mix:65=1"), ["mix:64=1", "mix:65=1"]);
}

#[test]
fn a_mix_of_ones_own_equals_the_published_one() {
    let own = FrameSpec::parse_list("mix:64=7,594=4,1518=1")
        .unwrap()
        .remove(0);
    assert_eq!(own.mean_octets(), SIMPLE_IMIX.mean_octets());
    assert!((own.mean_on_wire() - 381.833_333).abs() < 1e-5);
    assert_eq!((own.min().octets(), own.max().octets()), (64, 1518));
}

#[test]
fn each_mistake_is_one_line_with_a_remedy() {
    let table = [
        (
            "",
            "empty frame size: give one such as 64, 64,512,1518 or imix",
        ),
        (
            "64,,128",
            "empty frame size: give one such as 64, 64,512,1518 or imix",
        ),
        (
            "omix",
            "frame size \"omix\" is neither a number of octets nor a mix: the mixes are imix, imix6, ams-ix-2015, \
             intel-2016, internet-2009, internet-2009-approx",
        ),
        (
            "63",
            "frame size \"63\" is not within 64 to 9216 octets, FCS included",
        ),
        (
            "99999",
            "frame size \"99999\" is not within 64 to 9216 octets, FCS included",
        ),
        (
            "64-1518",
            "frame sizes \"64-1518\" make no range: write first-last/step, such as 64-1518/128",
        ),
        (
            "1518-64/10",
            "frame sizes \"1518-64/10\" make no range: write first-last/step, such as 64-1518/128",
        ),
        (
            "64-1518/0",
            "frame sizes \"64-1518/0\" make no range: write first-last/step, such as 64-1518/128",
        ),
        (
            "64/2",
            "frame sizes \"64/2\" make no range: write first-last/step, such as 64-1518/128",
        ),
        (
            "mix:64",
            "mix part \"64\" has no weight above zero: write size=weight, such as mix:64=7,1518=1",
        ),
        (
            "mix:64=0",
            "mix part \"64=0\" has no weight above zero: write size=weight, such as mix:64=7,1518=1",
        ),
        (
            "mix:64=NaN",
            "mix part \"64=NaN\" has no weight above zero: write size=weight, such as mix:64=7,1518=1",
        ),
        (
            "mix:64=18446744073709551615,65=1",
            "mix part \"65=1\" is less than one frame of 4093 and would never be sent: give it more weight",
        ),
        (
            "mix:127-66=1",
            "frame sizes \"127-66\" make no range: write first-last/step, such as 64-1518/128",
        ),
        (
            "mix:63=1",
            "frame size \"63\" is not within 64 to 9216 octets, FCS included",
        ),
        (
            "64=7",
            "frame size \"64=7\" is neither a number of octets nor a mix: the mixes are imix, imix6, ams-ix-2015, \
             intel-2016, internet-2009, internet-2009-approx",
        ),
    ];
    for (text, line) in table {
        assert_eq!(FrameSpec::parse_list(text).unwrap_err().to_string(), line);
    }
}

#[test]
fn a_schedule_keeps_the_weights_and_the_mean() {
    let frames = 4093;
    for mix in &PUBLISHED {
        let spec = FrameSpec::Mix(mix.clone());
        let schedule = spec.schedule(1, frames);
        assert_eq!(schedule.len(), frames);
        for (part, count) in mix.parts().iter().zip(mix.apportion(frames)) {
            let inside = schedule
                .iter()
                .filter(|size| (part.min..=part.max).contains(size))
                .count();
            assert_eq!(inside, count, "{}", mix.name());
        }
        let mean = schedule
            .iter()
            .map(|size| f64::from(size.octets()))
            .sum::<f64>()
            / frames as f64;
        assert!(
            (mean - mix.mean_octets()).abs() < 0.6,
            "{}: {mean}",
            mix.name()
        );
    }
}

#[test]
fn a_bin_is_filled_evenly() {
    let schedule = FrameSpec::Mix(AMS_IX_2015).schedule(7, 4093);
    for size in 66..=127 {
        let count = schedule
            .iter()
            .filter(|frame| frame.octets() == size)
            .count();
        assert!((27..=29).contains(&count), "{size}: {count}");
    }
}

#[test]
fn the_seed_decides_the_order_alone() {
    let spec = FrameSpec::Mix(SIMPLE_IMIX);
    let (one, other) = (spec.schedule(1, 100), spec.schedule(2, 100));
    assert_eq!(one, spec.schedule(1, 100));
    assert_ne!(one, other);
    let sorted = |mut sizes: Vec<FrameLen>| {
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sorted(one), sorted(other));
    assert_eq!(
        FrameSpec::Fixed(FrameLen::MIN).schedule(1, 3),
        [FrameLen::MIN; 3]
    );
}

#[test]
fn a_genome_is_scheduled_as_written() {
    let specs =
        FrameSpec::parse_list("64,genome:aaAg,A=594,mix:64=1,1518=1,genome:ff").expect("a list");
    let names: Vec<String> = specs.iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        ["64", "genome:aaAg,A=594", "mix:64=1,1518=1", "genome:ff"]
    );
    let sizes: Vec<u16> = specs[1]
        .schedule(7, 4093)
        .iter()
        .map(|size| size.octets())
        .collect();
    assert_eq!(sizes, [64, 64, 594, 1518]);
    assert_eq!(
        (specs[1].min().octets(), specs[1].max().octets()),
        (64, 1518)
    );
    assert_eq!(specs[1].mean_octets(), 560.0);
    let error = FrameSpec::parse_list("genome:aax")
        .expect_err("no letter")
        .to_string();
    assert!(
        error.contains("\"x\" (place 3)") && !error.contains('\n'),
        "{error}"
    );
}
