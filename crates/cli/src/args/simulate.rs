//! A simulated tester and router as typed: `capacity=1.2M,ring=4096,noise=5%,stalls=5ms@10%`.

use super::quantity::percent;
use super::quantity::{rate, span};
use mpps_method::simulate::{Properties, Wander};
use mpps_method::{Rate, Span};

/// Frames the ring holds when nothing else is said, as the bed's.
const RING: u64 = 4096;
/// Largest ring.
const RING_MAX: u64 = 1 << 20;

/// The pair, from `key=value` with commas between.
pub fn simulated(text: &str) -> Result<Properties, String> {
    let mut pair = Properties {
        ring: RING,
        ..Properties::ideal(Rate::ZERO)
    };
    for word in text.split(',') {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| format!("\"{word}\": give key=value, such as capacity=1.2M"))?;
        property(&mut pair, key, value).map_err(|wrong| format!("{key}={value}: {wrong}"))?;
    }
    if pair.capacity == Rate::ZERO {
        return Err(
            "no capacity: give the highest rate that the router forwards, such as capacity=1.2M"
                .to_owned(),
        );
    }
    Ok(pair)
}

fn property(pair: &mut Properties, key: &str, value: &str) -> Result<(), String> {
    match key {
        "capacity" => pair.capacity = rate(value)?,
        "tester" => pair.tester_ceiling = Some(rate(value)?),
        "ring" => {
            let frames = value
                .parse()
                .ok()
                .filter(|&frames: &u64| frames <= RING_MAX);
            pair.ring = frames.ok_or(format!("give 0 to {RING_MAX} frames"))?;
        }
        "noise" => pair.noise = share(value)?,
        "loss" => {
            let plain = value
                .parse()
                .ok()
                .filter(|loss: &f64| (0.0..1.0).contains(loss));
            let loss = plain.or_else(|| percent(value).filter(|&loss| loss < 1.0));
            pair.random_loss =
                loss.ok_or("give a probability of each frame, such as 1e-6 or 0.01%")?;
        }
        "wander" => pair.wander = Some(wander(value)?),
        "stalls" => (pair.stall, pair.stall_chance) = standstill(value)?,
        "pauses" => (pair.pause, pair.pause_chance) = standstill(value)?,
        "seed" => pair.seed = value.parse().map_err(|_| "give a whole number")?,
        _ => {
            return Err(
                "a simulated pair has capacity, ring, noise, loss, wander, stalls, pauses, tester and seed"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

fn share(value: &str) -> Result<f64, String> {
    let share = percent(value).filter(|&share| share < 1.0);
    share.ok_or_else(|| "give a share such as 5%, below 100%".to_owned())
}

/// `450k:600k:10%@900k`: every second passes up to the first load, none from the second on. A share of them passes all
/// the same around a higher load.
fn wander(value: &str) -> Result<Wander, String> {
    let wrong = "give two loads, the share of seconds that pass all the same, and the load around which they do: 450k:600k:10%@900k";
    let [sure, never, lucky] = value.split(':').collect::<Vec<_>>()[..] else {
        return Err(wrong.to_owned());
    };
    let (luck, lucky) = lucky.split_once('@').ok_or(wrong)?;
    let wander = Wander {
        sure: rate(sure)?,
        never: rate(never)?,
        lucky: rate(lucky)?,
        luck: percent(luck).filter(|&luck| luck <= 1.0).ok_or(wrong)?,
    };
    if wander.sure < wander.never {
        Ok(wander)
    } else {
        Err(format!("the first load is not below the second: {wrong}"))
    }
}

/// `5ms@10%`: how long, and in how many of a trial's seconds.
fn standstill(value: &str) -> Result<(Span, f64), String> {
    let wrong = "give a length and the share of the seconds that have one, such as 5ms@10%";
    let (length, chance) = value.split_once('@').ok_or(wrong)?;
    let length = span(length).ok_or(wrong)?;
    let chance = percent(chance)
        .filter(|&chance| chance <= 1.0)
        .ok_or(wrong)?;
    Ok((length, chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_read_as_it_is_written() {
        let text = "capacity=1.2M,ring=512,noise=5%,loss=1e-6,wander=450k:600k:10%@900k,stalls=5ms@10%,\
                    pauses=20ms@1%,tester=2M,seed=7";
        let pair = simulated(text).expect("a pair");
        assert_eq!((pair.capacity.fps(), pair.ring, pair.seed), (1.2e6, 512, 7));
        assert_eq!((pair.noise, pair.random_loss), (0.05, 1e-6));
        let wander = pair.wander.expect("loss that wanders");
        let loads = [wander.sure, wander.never, wander.lucky].map(Rate::fps);
        assert_eq!((loads, wander.luck), ([450e3, 600e3, 900e3], 0.1));
        assert_eq!((pair.stall, pair.stall_chance), (Span::from_millis(5), 0.1));
        assert_eq!(
            (pair.pause, pair.pause_chance),
            (Span::from_millis(20), 0.01)
        );
        assert_eq!(pair.tester_ceiling, Some(Rate::from_fps(2e6)));
        assert_eq!(
            simulated(&pair.to_string()),
            Ok(pair),
            "what it prints can be typed"
        );
        assert_eq!(simulated("capacity=1M").expect("a pair").ring, 4096);
    }

    #[test]
    fn what_is_no_pair_is_refused_with_an_example() {
        for (text, wanted) in [
            ("", "capacity=1.2M"),
            ("ring=4096", "no capacity"),
            ("capacity=fast", "1.5M"),
            ("capacity=1M,ring=-1", "frames"),
            ("capacity=1M,noise=2", "5%"),
            ("capacity=1M,loss=1", "1e-6"),
            ("capacity=1M,wander=450k", "450k:600k:10%@900k"),
            ("capacity=1M,wander=450k:600k:10%", "450k:600k:10%@900k"),
            ("capacity=1M,wander=600k:450k:10%@900k", "not below"),
            ("capacity=1M,stalls=5ms", "5ms@10%"),
            ("capacity=1M,stalls=5ms@200%", "5ms@10%"),
            ("capacity=1M,speed=2", "has capacity, ring"),
        ] {
            let error = simulated(text).expect_err(text);
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
