//! A program of `--burn`: how long it spun, and the change of the rate that this predicts.

use mpps_record::{BUSY, Interval, LimitedBy, ProfileLine, ProfiledAgainst};

/// What the program did, and what the cost without it predicts. Empty without a burn.
#[must_use]
pub fn told(line: &ProfileLine) -> Vec<String> {
    let own = spun("A planted program", line.burnt_ns, line.burnt_measured_ns);
    let other = line.against.as_deref();
    let others = other.and_then(|other| {
        let program = format!("The program of {}", other.name);
        spun(&program, other.burnt_ns, other.burnt_measured_ns)
    });
    let predicted = other.and_then(|other| predicted(line, other));
    [own, others, predicted].into_iter().flatten().collect()
}

/// `A planted program spun 500.4 ns a frame, in RX (500 ns were asked for).`
fn spun(program: &str, asked_ns: Option<u64>, ns: Option<f64>) -> Option<String> {
    let asked_ns = asked_ns?;
    Some(match ns {
        None if asked_ns == 0 => format!("{program} does not spin."),
        Some(ns) => {
            format!("{program} spun {ns:.1} ns a frame, in RX ({asked_ns} ns were asked for).")
        }
        // It did not spin, or the record is older.
        None => format!("{program} was to spin {asked_ns} ns a frame, in RX."),
    })
}

/// The change of the rate that the longer spin predicts by the cost with the shorter one, the same by what the pairs took
/// more, and the measured change. The router takes 3 to 11 % more than a spin lasts, so the pairs predict more. `None`
/// where a router's CPU was not the limit, or where one of both had no program: it costs more than its spin.
fn predicted(line: &ProfileLine, other: &ProfiledAgainst) -> Option<String> {
    let spins =
        |asked_ns: Option<u64>, ns: Option<f64>| asked_ns.map(|asked| ns.unwrap_or(asked as f64));
    let own_ns = spins(line.burnt_ns, line.burnt_measured_ns)?;
    let more_ns = own_ns - spins(other.burnt_ns, other.burnt_measured_ns)?;
    let (own, base) = (line.loads.first()?, &other.load);
    let is_full = [own, base].iter().all(|load| load.busy_share >= BUSY);
    let (before_ns, measured) = (base.frame_ns.median, other.rate_change?);
    let counts = is_full && line.limited_by == Some(LimitedBy::Dut) && more_ns != 0.0;
    (counts && before_ns > 0.0 && before_ns + more_ns > 0.0).then(|| {
        let change = |ns: f64| before_ns / (before_ns + ns) - 1.0;
        let percent = |share: f64| format!("{:+.1} %", share * 100.0);
        let range = |of: Interval<f64>| {
            let [low, median, high] = [of.low, of.median, of.high].map(percent);
            format!("{median} ({} to {high})", low.trim_end_matches(" %"))
        };
        let took = other.change.as_ref().map(|change| change.router.ns);
        let took = took.filter(|ns| before_ns + ns.low > 0.0);
        let pairs = took.map_or(String::new(), |ns| {
            let predicted = range([ns.high, ns.median, ns.low].map(change).into());
            format!(" By their cost the pairs took {:.0} ns more, which should change it by {predicted}.", ns.median)
        });
        format!(
            "With {} a frame costs {before_ns:.0} ns. {more_ns:.0} ns more should change the rate by {}.{pairs} Measured: {}.",
            other.name,
            percent(change(more_ns)),
            range(measured),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{PartChange, ProfileChange, ProfiledLoad};

    fn load(ns: f64) -> ProfiledLoad {
        let exactly = |of| Interval {
            low: of,
            median: of,
            high: of,
        };
        ProfiledLoad {
            busy_share: 0.99,
            frame_ns: exactly(ns),
            ..ProfiledLoad::default()
        }
    }

    #[test]
    fn the_rate_with_a_burn_is_predicted() {
        let other = ProfiledAgainst {
            explained: "the burn".to_owned(),
            name: "none".to_owned(),
            burnt_ns: Some(0),
            load: load(500.0),
            rate_change: Some(Interval {
                low: -0.53,
                median: -0.51,
                high: -0.49,
            }),
            ..ProfiledAgainst::default()
        };
        let mut line = ProfileLine {
            burnt_ns: Some(500),
            burnt_measured_ns: Some(500.4),
            limited_by: Some(LimitedBy::Dut),
            loads: vec![load(1_020.0)],
            against: Some(Box::new(other)),
            ..ProfileLine::default()
        };
        assert_eq!(
            told(&line),
            [
                "A planted program spun 500.4 ns a frame, in RX (500 ns were asked for).",
                "The program of none does not spin.",
                "With none a frame costs 500 ns. 500 ns more should change the rate by -50.0 %. Measured: -51.0 % (-53.0 to -49.0 %)."
            ]
        );
        let other = line.against.as_mut().expect("another set-up");
        other.change = Some(ProfileChange {
            router: PartChange::new("router", [500.0, 525.0, 550.0], true),
            ..ProfileChange::default()
        });
        let wanted = "by -50.0 %. By their cost the pairs took 525 ns more, which should change it by -51.2 % (-52.4 to -50.0 %). Measured:";
        assert!(told(&line)[2].contains(wanted), "{:?}", told(&line));
        line.loads[0].busy_share = 0.8;
        assert_eq!(told(&line).len(), 2);
        line.loads[0].busy_share = 0.99;
        let other = line.against.as_mut().expect("another set-up");
        other.burnt_ns = None;
        assert_eq!(told(&line).len(), 1, "a program costs more than its spin");
        assert!(told(&ProfileLine::default()).is_empty());
    }
}
