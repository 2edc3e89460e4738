//! Curves of `mpps loss`: what was lost at each load.

use super::described::{About, Described, Plots};
use crate::column::{On, TableRow, columns};
use crate::gauges::BUSY;
use crate::number::{percent_or_under as percent, short_count, time as length};
use crate::sentence::limit;
use mpps_record::{CurveLine, CurvePoint, SeriesEnd, Verdict};

/// Less than this share of a load, or of a trial's time, is not all of it.
const WHOLE: f64 = 0.99;

impl Described for CurveLine {
    const PURPOSE: &'static str = "The share of frames lost at each load, from the highest down.";
    const ROWS: &'static str = "loads";
    const MEMBER: &'static str = "curves";
    const IS_DRAWN: bool = true;
    const PLOTS: Plots = Plots {
        x: "offered, frames/s",
        of: &[
            ("Forwarding rate by offered load", "forwarded"),
            ("Loss by offered load", "loss"),
            ("Router busy by offered load", "DUT busy"),
        ],
        note: "Rates and losses are of the time outside disturbances. At a cross on the axis nothing could be measured.",
        all: Some("all offered"),
        ..Plots::NONE
    };

    fn title(&self) -> String {
        let (time, step) = (length(self.trial_ns as f64), percent(self.step_share));
        format!("Frame loss rate (RFC 2544 section 26.3): steps of {step}, trials of {time}")
    }

    fn about(&self) -> About<'_> {
        (vec![("frame", &self.frame)], self.why.as_deref())
    }

    /// `64 B: nothing lost up to 60 % (1.22M frames/s); at 70 % (1.42M frames/s) 3.2 % lost, 1.37M forwarded; ...`.
    fn sentence(&self) -> String {
        let said = |load: &CurvePoint| {
            let at = load.measured.as_ref()?;
            let (share, rate) = (percent(load.load_share), short_count(at.offered_fps));
            let (lost, forwarded) = (percent(at.loss_ratio), short_count(at.forwarding_fps));
            let outside = (at.disturbed_lost_frames > 0).then_some(" outside disturbances");
            let (offered, outside) = (format!("{share} ({rate} frames/s)"), outside.unwrap_or(""));
            Some(match load.verdict {
                Verdict::Lossless => format!("nothing lost{outside} up to {offered}"),
                _ => format!("at {offered} {lost} lost{outside}, {forwarded} forwarded"),
            })
        };
        let is_lossless = |load: &&CurvePoint| load.verdict == Verdict::Lossless;
        let is_lossy = |load: &&CurvePoint| load.verdict == Verdict::Lossy;
        // From the lowest load up: a higher one without loss above a lossy one is chance.
        let passed = self.loads.iter().rev().take_while(is_lossless).last();
        let mut lossy = self.loads.iter().filter(is_lossy);
        let highest = lossy.next();
        let told = [passed, lossy.next_back(), highest].into_iter().flatten();
        self.found(&told.filter_map(said).collect::<Vec<_>>().join("; "))
    }

    fn rows(&self, _: On) -> Vec<TableRow> {
        self.loads.iter().map(|load| row(self, load)).collect()
    }

    fn remarks(&self) -> Vec<String> {
        let highest = self.highest_fps.zip(self.highest_limited_by.as_ref());
        let highest = highest
            .map(|(fps, by)| format!("100 % is {}: {} frames/s", limit(by), short_count(fps)));
        let ended = match self.end {
            SeriesEnd::LowestLoad => "no lower load is offered: no two in a row were without loss",
            SeriesEnd::Budget => "the budget was spent: lower loads are not measured",
            _ => return highest.into_iter().collect(),
        };
        highest.into_iter().chain([ended.to_owned()]).collect()
    }
}

fn row(curve: &CurveLine, load: &CurvePoint) -> TableRow {
    let at = load.measured.as_ref();
    let offered = at.map_or(load.load_fps, |at| at.offered_fps);
    let less = |is: u64, of: u64| is > 0 && (is as f64) < WHOLE * of as f64;
    let columns = columns! {
        words "verdict" load.verdict.to_string(), screen;
        words "verdict" at.map_or(load.verdict_text.clone(), |_| load.verdict.to_string()), page;
        share "load" load.load_share;
        rate "intended" less(offered, load.load_fps).then_some(load.load_fps);
        rate "offered" at.map(|at| at.offered_fps) => "mpps_offered_load_frames_per_second", "Load really sent.";
        rate "forwarded" at.map(|at| at.forwarding_fps)
            => "mpps_forwarding_rate_frames_per_second", "Forwarding rate of the DUT at a load.";
        count "lost" at.map(|at| at.lost_frames);
        share "loss" at.map(|at| at.loss_ratio) => "mpps_loss_ratio", "Frames lost of those that reached the DUT.";
        count "left out" at.map(|at| at.disturbed_lost_frames).filter(|&lost| lost > 0);
        time "counted" at.map(|at| at.undisturbed_ns).filter(|&ns| less(ns, curve.trial_ns));
        busy "DUT busy" at.and_then(|at| at.dut_busiest_cpu_share) => BUSY.0, BUSY.1;
        text "trial" load.trial.to_string();
    };
    let (name, last) = (
        percent(load.load_share),
        (&load.verdict, load.verdict_text.as_str()),
    );
    let row = TableRow::new(offered as f64, columns).labelled("load_ratio", load.load_share);
    row.unless(at.is_some(), name, load.void_trials, last)
}
