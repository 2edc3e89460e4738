//! What a lasting overload came to, a sentence for each frame size.

use crate::number::{self, Known};
use mpps_record::doubts::LOST_LATER;
use mpps_record::{ManagementPath, OverloadLine, OverloadSecond, Recovered};

/// The router holds its rate where it forwards at least this share of its maximum, or of what short trials forwarded at the
/// most that the tester can offer. A frame that this bed's ring refuses takes the router's time, so that may be less.
const HOLDS: f64 = 0.95;
/// Less than this share of the maximum is no overload, because the tester could send no more.
pub const OVERLOADED: f64 = 1.05;

/// `64 B: holds 1.41M frames/s (seconds of 1.22M to 1.45M, over 600 s). The tester offered 5.30M, 3.76 times its maximum.
/// Asked every 100 ms, it answered 598 of 600 queries, with 2.10 s longest without answer. 12.0 ms after the overload it
/// lost no frame at half of its maximum and answered all queries. Its maximum afterwards was 1.40M frames/s, 99 % of that
/// before.`
#[must_use]
pub fn overload(size: &OverloadLine) -> String {
    let frame = number::frame(&size.frame);
    let Some(rate) = rate(size) else {
        return format!("{frame}: overload not measured");
    };
    let path = size.management.as_ref();
    let told = [
        Some(rate),
        disturbed(size),
        path.map(|path| management(path, size)),
        Some(afterwards(size, path)),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    format!("{frame}: {}", told.join(". "))
}

/// Mean, lowest and highest of a rate over the seconds that count: the undisturbed ones, where there are any. A last second
/// that is a mere part of one has a place in the mean alone.
#[must_use]
pub fn spread(seconds: &[OverloadSecond], rate: fn(&OverloadSecond) -> u64) -> Option<[f64; 3]> {
    let any = seconds.iter().any(|second| !second.is_disturbed());
    let counts = seconds
        .iter()
        .filter(|second| !any || !second.is_disturbed());
    let time: f64 = counts.clone().map(|second| second.length_ns as f64).sum();
    let frames = counts
        .clone()
        .map(|second| rate(second) as f64 * second.length_ns as f64);
    let longest = counts.clone().map(|second| second.length_ns).max()?;
    let whole = counts.filter(|second| second.length_ns * 2 > longest);
    let (lowest, highest) = whole.clone().map(rate).min().zip(whole.map(rate).max())?;
    Some([
        frames.sum::<f64>() / time.max(1.0),
        lowest as f64,
        highest as f64,
    ])
}

fn rate(size: &OverloadLine) -> Option<String> {
    let [forwarded, low, high] = spread(&size.seconds, |second| second.forwarding_fps)?;
    let [offered, ..] = spread(&size.seconds, |second| second.offered_fps)?;
    // Before, the machine may have been slower: the maximum is the highest at any load.
    let maximum = (size.max_forwarding_fps? as f64).max(forwarded);
    let share = forwarded / maximum.max(1.0);
    let at_most = size.forwarding_at_most_fps.map(|fps| fps as f64);
    let as_short = at_most.is_some_and(|most| forwarded >= HOLDS * most);
    let mut less = String::new();
    let [all, low, high, offer] =
        [forwarded, low, high, offered].map(|fps| Known::three(fps).short());
    let holds = match () {
        () if offered < maximum * OVERLOADED => {
            format!("not overloaded: forwards {all} frames/s")
        }
        () if share >= HOLDS => format!("holds {all} frames/s"),
        () if as_short => {
            let share = number::percent(share);
            less = format!(
                ". It forwarded {share} of its maximum, as in short trials at the most that the tester can offer"
            );
            format!("holds {all} frames/s")
        }
        () => {
            let share = number::percent(share);
            format!("forwards {all} frames/s at overload, {share} of its maximum")
        }
    };
    let time = number::time(
        size.seconds
            .iter()
            .map(|second| second.length_ns as f64)
            .sum(),
    );
    let times = Known::three(offered / maximum.max(1.0)).plain();
    Some(format!(
        "{holds} (seconds of {low} to {high}, over {time}). The tester offered {offer}, {times} times its maximum{less}"
    ))
}

fn disturbed(size: &OverloadLine) -> Option<String> {
    let all = size.seconds.len();
    let disturbed = all - size.undisturbed().count();
    match disturbed {
        0 => None,
        _ if disturbed == all => Some("The machine disturbed every second".to_owned()),
        _ => Some(format!(
            "{disturbed} of {all} seconds do not count, because the machine disturbed them"
        )),
    }
}

fn management(path: &ManagementPath, size: &OverloadLine) -> String {
    let (asked, silence) = (path.asked, number::time(path.longest_silence_ns as f64));
    match path.answered {
        0 if asked == 0 => "It was asked no query".to_owned(),
        0 if path.before_asked > 0 && path.before_answered == 0 => {
            format!("It answered none of {asked} queries, and none before the overload")
        }
        0 => format!("It answered none of {asked} queries"),
        answered => {
            let time: u64 = size.seconds.iter().map(|second| second.length_ns).sum();
            let each = number::time(time as f64 / asked as f64);
            let answers = format!("Asked every {each}, it answered {answered} of {asked} queries");
            // Two answers in a row are so far apart on a path that answers each question.
            match answered == asked && path.longest_silence_ns < 2 * time / asked {
                true => answers,
                false => format!("{answers}, with {silence} longest without answer"),
            }
        }
    }
}

fn afterwards(size: &OverloadLine, path: Option<&ManagementPath>) -> String {
    let dead = path.is_some_and(|path| path.back_ns.is_none());
    let not_back = match dead {
        true => ". It answered no query afterwards",
        false => "",
    };
    let lost_ns = match (&size.recovered, size.trial) {
        (_, None) => return "The run was cut short".to_owned(),
        (Recovered::Recovered, _) => size.recovery_ns.unwrap_or(0),
        (Recovered::NotOverloaded, _) => 0,
        (Recovered::NotRecovered, _) => {
            let half = "At half of its maximum afterwards it lost frames to the end";
            return format!("{half}{not_back}{}", maximum_afterwards(size));
        }
        _ => {
            return format!(
                "Its return was not measured{not_back}{}",
                maximum_afterwards(size)
            );
        }
    };
    let whole = match path {
        Some(_) if !dead => "lost no frame at half of its maximum and answered all queries",
        _ => "lost no frame at half of its maximum",
    };
    let when = match lost_ns.max(path.and_then(|path| path.back_ns).unwrap_or(0)) {
        0 => "Right after the overload".to_owned(),
        ns => format!("{} after the overload", number::time(ns as f64)),
    };
    let again = match size.doubts.iter().any(|doubt| doubt.name == LOST_LATER) {
        true => ", but lost frames again later",
        false => "",
    };
    format!(
        "{when} it {whole}{again}{not_back}{}",
        maximum_afterwards(size)
    )
}

/// Whether the router forwards as much as before.
fn maximum_afterwards(size: &OverloadLine) -> String {
    let both = size
        .max_forwarding_afterwards_fps
        .zip(size.max_forwarding_fps);
    both.map_or(String::new(), |(after, before)| {
        let share = number::percent(after as f64 / (before as f64).max(1.0));
        let after = Known::three(after as f64).short();
        format!(". Its maximum afterwards was {after} frames/s, {share} of that before")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{Doubt, Other};

    fn line(seconds: &[(u64, f64)], path: ManagementPath) -> OverloadLine {
        let second = |&(forwarding_fps, disturbed_share): &(u64, f64)| OverloadSecond {
            length_ns: 1_000_000_000,
            offered_fps: 5_300_000,
            forwarding_fps,
            disturbed_share,
            ..OverloadSecond::default()
        };
        OverloadLine {
            frame: "64".to_owned(),
            receiver: None,
            load: "5x".to_owned(),
            asked_ns: 3_000_000_000,
            after_ns: 3_000_000_000,
            max_forwarding_fps: Some(1_410_000),
            forwarding_at_most_fps: None,
            overload_fps: Some(5_300_000),
            after_fps: Some(705_000),
            seconds: seconds.iter().map(second).collect(),
            management: Some(path),
            trial: Some(9),
            verdict: None,
            verdict_text: None,
            recovered: Recovered::Recovered,
            recovery_ns: Some(12_000_000),
            max_forwarding_afterwards_fps: Some(1_400_000),
            watching_ns: 0,
            why: None,
            doubts: Vec::new(),
            other: Other::new(),
        }
    }

    fn alive() -> ManagementPath {
        ManagementPath {
            before_asked: 9,
            before_answered: 9,
            asked: 30,
            answered: 29,
            longest_silence_ns: 210_000_000,
            back_ns: Some(0),
            answering_ns: 1,
        }
    }

    #[test]
    fn a_router_that_holds_says_so() {
        let size = line(&[(1_400_000, 0.0), (1_420_000, 0.0), (9_000, 0.5)], alive());
        assert_eq!(
            overload(&size),
            "64 B: holds 1.41M frames/s (seconds of 1.40M to 1.42M, over 3.00 s). The tester offered 5.30M, 3.76 times \
             its maximum. 1 of 3 seconds do not count, because the machine disturbed them. Asked every 100 ms, it \
             answered 29 of 30 queries, with 210 ms longest without answer. 12.0 ms after the overload it lost no frame \
             at half of its maximum and answered all queries. Its maximum afterwards was 1.40M frames/s, 99.3 % of that \
             before"
        );
        let mut prompt = alive();
        (prompt.answered, prompt.longest_silence_ns) = (30, 106_000_000);
        let prompt = overload(&line(&[(1_400_000, 0.0); 3], prompt));
        let wanted = ". Asked every 100 ms, it answered 30 of 30 queries. 12.0 ms";
        assert!(prompt.contains(wanted), "{prompt}");
        let mut lossy = line(&[(1_100_000, 0.0)], alive());
        assert!(
            overload(&lossy).contains("forwards 1.10M frames/s at overload, 78 % of its maximum (")
        );
        lossy.forwarding_at_most_fps = Some(1_120_000);
        let told = overload(&lossy);
        assert!(told.starts_with("64 B: holds 1.10M frames/s ("), "{told}");
        assert!(
            told.contains(" its maximum. It forwarded 78 % of its maximum, as in short trials")
        );
        lossy.forwarding_at_most_fps = Some(1_200_000);
        assert!(
            overload(&lossy).contains("forwards 1.10M frames/s at overload, 78 % of its maximum (")
        );
        let mut short = line(&[(1_400_000, 0.0)], alive());
        short.max_forwarding_fps = Some(5_200_000);
        assert!(overload(&short).starts_with("64 B: not overloaded: forwards 1.40M frames/s ("));
        short.max_forwarding_fps = Some(900_000);
        assert!(overload(&short).contains(" 3.79 times its maximum."));
        short.seconds[0].offered_fps = 1_400_000;
        assert!(overload(&short).starts_with("64 B: not overloaded: "));
        let stolen = overload(&line(&[(1_400_000, 0.5)], alive()));
        assert!(stolen.contains("(seconds of 1.40M to 1.40M") && stolen.contains("every second"));
    }

    #[test]
    fn a_slower_router_and_a_dead_path_are_told() {
        let dead = ManagementPath {
            before_answered: 0,
            answered: 0,
            back_ns: None,
            ..alive()
        };
        let mut size = line(&[(282_000, 0.0)], dead);
        let told = overload(&size);
        for wanted in [
            "forwards 282k frames/s at overload, 20 % of its maximum (",
            ". It answered none of 30 queries, and none before the overload. ",
            ". 12.0 ms after the overload it lost no frame at half of its maximum. It answered no query afterwards",
        ] {
            assert!(told.contains(wanted), "{wanted}: {told}");
        }
        let unasked = line(&[(1_400_000, 0.0)], ManagementPath::default());
        assert!(overload(&unasked).contains(". It was asked no query. "));
        size.recovered = Recovered::NotRecovered;
        assert!(
            overload(&size)
                .contains(". At half of its maximum afterwards it lost frames to the end")
        );
        size.recovered = Recovered::NotMeasured;
        let void = ". Its return was not measured. It answered no query afterwards. Its maximum afterwards ";
        assert!(overload(&size).contains(void));
        size.trial = None;
        assert!(overload(&size).ends_with(". The run was cut short"));
        size.seconds.clear();
        assert_eq!(overload(&size), "64 B: overload not measured");
    }

    #[test]
    fn a_part_of_a_second_is_no_extreme() {
        let mut size = line(
            &[(1_400_000, 0.0), (1_420_000, 0.0), (1_810_000, 0.0)],
            alive(),
        );
        size.seconds[2].length_ns = 200_000_000;
        let [mean, low, high] =
            spread(&size.seconds, |second| second.forwarding_fps).expect("seconds");
        assert_eq!((low, high), (1_400_000.0, 1_420_000.0));
        assert!((mean - 3_182_000.0 / 2.2).abs() < 1.0, "{mean}");
    }

    #[test]
    fn a_return_takes_as_long_as_the_slower_of_both() {
        let path = ManagementPath {
            back_ns: Some(90_000_000),
            ..alive()
        };
        let mut size = line(&[(1_400_000, 0.0)], path);
        assert!(
            overload(&size)
                .contains(". 90.0 ms after the overload it lost no frame at half of its maximum and answered all queries. ")
        );
        size.management = None;
        size.recovery_ns = Some(0);
        assert!(overload(&size).contains(
            " its maximum. Right after the overload it lost no frame at half of its maximum. "
        ));
        size.doubts.push(Doubt {
            name: LOST_LATER.to_owned(),
            ..Doubt::default()
        });
        let again = "it lost no frame at half of its maximum, but lost frames again later. ";
        assert!(overload(&size).contains(again));
    }
}
