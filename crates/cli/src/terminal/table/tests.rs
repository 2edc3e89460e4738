use super::*;
use crate::terminal::fixture::{line, unstable};
use mpps_record::{RateIs, ResultLine};

fn table(lines: &[ResultLine]) -> String {
    super::table(&Row::each(lines))
}

#[test]
fn the_table_fits_80_columns() {
    let imix = ResultLine {
        frame: "imix".to_owned(),
        rate_is: Some(RateIs::AtLeast),
        rate_fps: Some(1_199_000),
        ..line()
    };
    let text = table(&[line(), imix]);
    assert_eq!(
        text,
        "frame  max forwarding      without  lossless  router  bed        limited\n\
         size   rate, frames/s         loss    trials      ns   ns  busy  by\n\
         64     1.52M (1.46-1.57)     1.38M    3 of 3     225  430  98 %  router CPU\n\
         imix   1.52M (1.46-1.57)  >= 1.19M    3 of 3     225  430  98 %  router CPU\n"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn a_run_that_failed_has_no_table() {
    let failed = ResultLine {
        frame: "64".to_owned(),
        ..ResultLine::default()
    };
    assert_eq!(table(&[failed]), "");
}

#[test]
fn a_column_that_nothing_is_known_of_is_left_out() {
    let mut device = line();
    device.overload.cost = None;
    let text = table(&[device]);
    assert!(!text.contains("ns") && text.contains("busy"), "{text}");
}

#[test]
fn what_was_not_measured_is_a_dash() {
    let nothing = ResultLine {
        frame: "1518".to_owned(),
        ..ResultLine::default()
    };
    let text = table(&[line(), nothing]);
    let last = text.lines().last().expect("a row");
    let cells: Vec<&str> = last.split_whitespace().collect();
    assert_eq!(cells, ["1518", "-", "-", "-", "-", "-", "-", "-"]);
}

#[test]
fn an_unstable_router_is_marked_in_its_row() {
    assert!(table(&[unstable()]).contains("router CPU, unstable"));
}

#[test]
fn a_bound_from_above_is_rounded_up() {
    let line = ResultLine {
        rate_is: Some(RateIs::Below),
        rate_fps: Some(1_231_000),
        ..ResultLine::default()
    };
    let text = table(&[line]);
    assert!(text.contains("< 1.24M"), "{text}");
}
