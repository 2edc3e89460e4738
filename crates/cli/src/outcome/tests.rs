use super::*;
use mpps_lab::line;
use mpps_method::{Invalid, Shortfall, Verdict, Void};
use mpps_record::{
    CalibrationLine, LoadLine, LoadTrial, ProfileChange, ProfileLine, ProfiledAgainst,
    ProfiledLoad, TrialLine,
};

#[test]
fn calibrating_finds_every_fault_or_fails() {
    let row = |found: f64| CalibrationLine {
        disturbed: found.is_nan().then(|| "a restless machine".to_owned()),
        ..CalibrationLine::new("a delay", "ns", 5_000.0, 20_000.0, found)
    };
    let exit = |found: &[f64]| {
        let mut run = Run::new("run");
        run.calibrations = found.iter().map(|&found| row(found)).collect();
        exit(&run)
    };
    assert_eq!(exit(&[21_000.0]), Exit::Measured);
    assert_eq!(exit(&[21_000.0, 0.0]), Exit::NotMet);
    // A fault that was not found counts, however much of the rest was disturbed.
    assert_eq!(exit(&[0.0, f64::NAN]), Exit::NotMet);
    assert_eq!(exit(&[21_000.0, f64::NAN]), Exit::Undecided);
    assert_eq!(exit(&[]), Exit::Measured);
}

#[test]
fn a_load_is_measured_if_one_trial_counts() {
    let exit = |verdicts: &[Verdict]| {
        let mut run = Run::new("run");
        for (number, verdict) in (1..).zip(verdicts) {
            run.trials.push(TrialLine {
                trial: number,
                verdict: line::verdict(verdict),
                ..TrialLine::default()
            });
        }
        let found = run.trials.iter().map(|line| LoadTrial {
            trial: line.trial,
            ..LoadTrial::default()
        });
        let trials = found.collect();
        run.loads.push(LoadLine {
            trials,
            ..LoadLine::default()
        });
        super::exit(&run)
    };
    let void = Verdict::Void(Void::Steal {
        cpu: 0,
        share: 0.1,
        bound: 0.02,
    });
    let short = Verdict::NotOffered(Shortfall::LostBeforeNic(3));
    let invalid = Verdict::Invalid(Invalid::NothingSent);
    let lossy = Verdict::Lossy { lost: 1 };
    assert_eq!(exit(&[Verdict::Lossless]).code(), 0);
    assert_eq!(exit(&[void, lossy, invalid]).code(), 0, "one is enough");
    assert_eq!(exit(&[void, short, invalid]).code(), 4);
    assert_eq!(exit(&[invalid]).code(), 2);
}

#[test]
fn set_ups_that_were_not_compared_are_not_measured() {
    let exit = |change: Option<ProfileChange>| {
        let mut run = Run::new("run");
        run.profiles.push(ProfileLine {
            loads: vec![ProfiledLoad::default()],
            against: Some(Box::new(ProfiledAgainst {
                change,
                ..ProfiledAgainst::default()
            })),
            ..ProfileLine::default()
        });
        exit(&run)
    };
    assert_eq!(exit(None), Exit::Undecided);
    assert_eq!(exit(Some(ProfileChange::default())), Exit::Measured);
}
