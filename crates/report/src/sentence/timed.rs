//! What was found of times and bursts, a sentence for each frame size.

use crate::number::{self, Known};
use mpps_record::{
    BurstLine, LatencyLine, LatencyLoad, PathLatency, Recovered, RecoveryLine, ResetLine,
};

/// The worst case leaves out this share of the frames (RFC 8219 section 7.2).
const WORST: f64 = 0.001;

/// `64 B: typical 7.90 µs, worst case (99.9 %) 41.0 µs at 50 % of the rate without loss (800k frames/s), idle CPUs kept
/// awake. The bed alone has 6.10 and 35.0 µs.` Of the load next to half of that rate: at that rate queues begin to fill.
#[must_use]
pub fn latency(size: &LatencyLine) -> String {
    let frame = number::frame(&size.frame);
    let times = |load: &LatencyLoad| {
        let times = &load.router.times;
        times.typical_ns.zip(times.worst_case_ns)
    };
    let measured = size.loads.iter().filter(|load| times(load).is_some());
    let from_half = |load: &&LatencyLoad| load.load_share.map_or(1.0, |share| (share - 0.5).abs());
    let told = measured.min_by(|a, b| from_half(a).total_cmp(&from_half(b)));
    let Some((load, (typical, worst))) = told.and_then(|load| Some((load, times(load)?))) else {
        return format!("{frame}: latency not measured");
    };
    let with_router = [typical, worst];
    let [typical, worst] = [typical, worst].map(|ns| number::time(ns as f64));
    let stalls = stalls(&load.router);
    let rate = Known::three(load.load_fps as f64).short();
    let at = match load.load_share {
        Some(share) => {
            let share = number::percent_given(share);
            let of = match size.throughput_given {
                true => "the given throughput",
                false => "the rate without loss",
            };
            format!("{share} of {of} ({rate} frames/s)")
        }
        None => format!("{rate} frames/s"),
    };
    let instead = load.instead_of_fps.map_or(String::new(), |asked| {
        let asked = Known::three(asked as f64).short();
        format!(". The tester could offer this load in place of {asked}")
    });
    let bed = load.bed.as_ref().map(|bed| &bed.times);
    let bed = bed.and_then(|times| times.typical_ns.zip(times.worst_case_ns));
    let bed = bed.map_or(String::new(), |(typical, worst)| {
        let so = match (typical >= with_router[0], worst >= with_router[1]) {
            (true, true) => ", so the router's part cannot be told",
            (true, false) => ", so the router's part of the typical time cannot be told",
            (false, true) => ", so the router's part of the worst case cannot be told",
            (false, false) => "",
        };
        let [typical, worst] = [typical, worst].map(|ns| number::time(ns as f64));
        format!(". The bed alone has {typical} and {worst}{so}")
    });
    let sleep = match size.cpus_awake {
        true => "idle CPUs kept awake",
        false => "idle CPUs could sleep",
    };
    format!(
        "{frame}: typical {typical}, worst case (99.9 %) {worst}{stalls} at {at}, {sleep}{instead}{bed}"
    )
}

/// Why a load was measured in place of another.
#[must_use]
pub fn instead(load: &LatencyLoad, instead: &LatencyLoad) -> String {
    let [asked, offered] = [load, instead].map(|load| number::short_count(load.load_fps));
    format!("the tester could not offer this load, {asked} frames/s; {offered} was offered instead")
}

/// The machine's own stalls and slow times, where they are in the worst case: as long as half of it, and of more frames
/// than it leaves out.
fn stalls(path: &PathLatency) -> String {
    let (stall, worst) = (path.longest_stall_ns, path.times.worst_case_ns);
    let are_long = worst.is_some_and(|worst| stall.saturating_mul(2) >= worst);
    if are_long && path.disturbed_frames as f64 > WORST * path.sent_frames as f64 {
        let stall = number::time(stall as f64);
        return format!(" with stalls or slow times of the machine itself (up to {stall})");
    }
    String::new()
}

/// `64 B: longest burst without loss 11 900 frames (11 800 to 12 000 in 5 searches). The buffer time is 5.20 ms, corrected
/// 2.10 ms. This is the bed's own ring of 2 048 frames, not the router's.`
#[must_use]
pub fn burst(size: &BurstLine) -> String {
    let frame = number::frame(&size.frame);
    if let Some(frames) = size.all_passed_frames {
        let frames = number::spaced(frames);
        return format!(
            "{frame}: no burst of up to {frames} frames lost any, so the router forwards as fast as the tester sends"
        );
    }
    let Some(all) = &size.all else {
        return format!("{frame}: longest burst not measured");
    };
    let average = number::spaced(all.average_frames.round() as u64);
    let [least, most] = [all.least_frames, all.most_frames].map(number::spaced);
    let searches = match size.searches.len() {
        1 => "1 search".to_owned(),
        many => format!("{many} searches"),
    };
    let corrected = all.corrected_buffer_ns.map_or(String::new(), |ns| {
        format!(", corrected {}", number::time(ns as f64))
    });
    let ring = size.own_ring_frames.map_or(String::new(), |frames| {
        let frames = number::spaced(frames.into());
        format!(". This is the bed's own ring of {frames} frames, not the router's")
    });
    let implied = number::time(all.implied_buffer_ns as f64);
    format!(
        "{frame}: longest burst without loss {average} frames ({least} to {most} in {searches}). The buffer time is \
         {implied}{corrected}{ring}"
    )
}

/// `64 B: recovered 12.0 ms after the overload had ended (10.0 ms to 14.0 ms in 5 of 5 trials). The overload was 1.76M
/// frames/s (110 % of the throughput).`
#[must_use]
pub fn recovery(size: &RecoveryLine) -> String {
    let frame = number::frame(&size.frame);
    let count = |what: Recovered| {
        let trials = size.trials.iter();
        trials.filter(|trial| trial.recovered == what).count()
    };
    let all = size.trials.len();
    let rates = size.overload_fps.zip(size.throughput_fps);
    let load = rates.map_or(String::new(), |(overload, throughput)| {
        let rate = Known::three(overload as f64).short();
        let share = number::percent(overload as f64 / throughput.max(1) as f64);
        format!(". The overload was {rate} frames/s ({share} of the throughput)")
    });
    let times = size.trials.iter().filter_map(|trial| trial.recovery_ns);
    let range = times.clone().min().zip(times.max());
    if let Some((average, (least, most))) = size.average_ns.zip(range) {
        let recovered = count(Recovered::Recovered);
        if most == 0 {
            return format!(
                "{frame}: recovered at once: after the overload had ended no loss counts ({recovered} of {all} trials){load}"
            );
        }
        let [average, least, most] = [average, least, most].map(|ns| number::time(ns as f64));
        return format!(
            "{frame}: recovered {average} after the overload had ended ({least} to {most} in {recovered} of {all} trials){load}"
        );
    }
    match (
        count(Recovered::NotRecovered),
        count(Recovered::NotOverloaded),
    ) {
        (lasting @ 1.., _) => format!(
            "{frame}: not recovered: at half of the overload, frames were lost until the trial ended, in {lasting} of {all} trials{load}"
        ),
        (0, 1..) => format!(
            "{frame}: no frame was lost at the overload, so there was nothing to recover from{load}"
        ),
        (0, 0) => format!("{frame}: recovery not measured"),
    }
}

/// `64 B, link: nothing was forwarded for 1.20 ms by frame loss, 1.21 ms by time stamps, at 800k frames/s (medians of
/// 5 trials). By frame loss it was 1.10 ms to 1.30 ms.`
#[must_use]
pub fn reset(line: &ResetLine) -> String {
    let name = format!("{}, {}", number::frame(&line.frame), line.reset);
    let rate = line.load_fps.map_or(String::new(), |fps| {
        format!(", at {} frames/s", Known::three(fps as f64).short())
    });
    let trials = line.trials.iter();
    let lasting = trials
        .clone()
        .find(|trial| trial.tried.recovered == Recovered::NotRecovered);
    if let Some(trial) = lasting {
        let rest = number::time(trial.rest_ns as f64);
        return format!("{name}: not recovered within {rest} after the reset{rate}");
    }
    let times = trials.filter_map(|trial| trial.tried.recovery_ns);
    let range = times.clone().min().zip(times.clone().max());
    let Some((loss, (least, most))) = line.frame_loss_ns.zip(range) else {
        return format!("{name}: reset time not measured");
    };
    let count = times.clone().count();
    let (all, lossless) = (
        number::plural(count, "trial"),
        times.filter(|ns| *ns == 0).count(),
    );
    let time = |ns: u64| number::time(ns as f64);
    // The median by time stamps is of fewer trials where an outage was not seen in some.
    let told = line
        .trials
        .iter()
        .filter(|trial| trial.tried.recovery_ns.is_some());
    let stamped = told.filter(|trial| trial.time_stamp_ns.is_some()).count();
    let stamp = line
        .time_stamp_ns
        .map(time)
        .map(|stamp| match stamped == count {
            true => stamp,
            false => format!("{stamp} (in {stamped} of {all})"),
        });
    let held = match line.hold_ns {
        0 => String::new(),
        ns => format!(". --hold took {} of this time", time(ns)),
    };
    if loss == 0 {
        let stamp = stamp.map_or(String::new(), |stamp| {
            format!(". By time stamps nothing arrived for {stamp}")
        });
        let (where_none, others) = match most {
            0 => (format!("by the reset ({all})"), String::new()),
            _ => (
                format!("in {lossless} of {all}"),
                format!(
                    ". In the others nothing was forwarded for up to {} by frame loss",
                    time(most)
                ),
            ),
        };
        return format!("{name}: no frame was lost {where_none}{rate}{others}{stamp}{held}");
    }
    let stamp = stamp.map_or(String::new(), |stamp| format!(", {stamp} by time stamps"));
    let [loss, least, most] = [loss, least, most].map(time);
    format!(
        "{name}: nothing was forwarded for {loss} by frame loss{stamp}{rate} (medians of {all}). By frame loss it was {least} to {most}{held}"
    )
}
