//! Search goals as typed: `ndr`, `pdr:0.5%`, with attributes of their own behind (`ndr,exceed=20%,sum=5s`);
//! several with commas between them, or the flag several times.

use super::quantity::{percent, span, trial_length};
use mpps_method::Span;

/// One goal as typed; what it does not say the preset does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GoalArg {
    /// Share of the frames that may be lost, 0 to below 1.
    pub loss_ratio: f64,
    /// Share of the time at a load that may be trials with more loss.
    pub exceed_ratio: Option<f64>,
    /// Shortest trial.
    pub initial_trial: Option<Span>,
    /// Full-length trial.
    pub final_trial: Option<Span>,
    /// Time in full-length trials that decides a load.
    pub duration_sum: Option<Span>,
    /// How closely to find the rate, as a share of it.
    pub width: Option<f64>,
}

/// What one `--goal` says.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalsArg(pub Vec<GoalArg>);

/// Longest duration sum.
const SUM_MAX: Span = Span::from_millis(24 * 3_600_000);

/// Goals: a word begins one, `key=value` says more of it.
pub fn goals(text: &str) -> Result<GoalsArg, String> {
    let mut goals: Vec<GoalArg> = Vec::new();
    for word in text.split(',') {
        match word.split_once('=') {
            Some((key, value)) => {
                let goal = goals.last_mut().ok_or_else(|| {
                    format!("\"{word}\" comes before any goal: give one first, such as ndr,{word}")
                })?;
                attribute(goal, key, value)?;
            }
            None => goals.push(GoalArg {
                loss_ratio: loss_ratio(word)?,
                ..GoalArg::default()
            }),
        }
    }
    Ok(GoalsArg(goals))
}

fn loss_ratio(word: &str) -> Result<f64, String> {
    let wrong =
        || format!("\"{word}\" is no goal: give ndr (nothing lost) or pdr:LOSS such as pdr:0.5%");
    match word.split_once(':') {
        None if word == "ndr" => Ok(0.0),
        None if word == "pdr" => Err(
            "\"pdr\" does not say how much may be lost: give a share such as pdr:0.5%".to_owned(),
        ),
        Some(("pdr", loss)) => match percent(loss) {
            Some(0.0) => Err(format!("\"{word}\" allows no loss: write ndr")),
            Some(ratio) if ratio < 1.0 => Ok(ratio),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

fn attribute(goal: &mut GoalArg, key: &str, value: &str) -> Result<(), String> {
    let share = || {
        percent(value)
            .filter(|&share| share < 1.0)
            .ok_or_else(|| format!("{key}={value}: give a share below 100%, such as 5%"))
    };
    let trial = || trial_length(value).map_err(|error| format!("{key}={value}: {error}"));
    match key {
        "exceed" => goal.exceed_ratio = Some(share()?),
        "width" => goal.width = Some(share()?),
        "initial" => goal.initial_trial = Some(trial()?),
        "final" => goal.final_trial = Some(trial()?),
        "sum" => {
            let sum = span(value).filter(|&sum| sum > Span::ZERO && sum <= SUM_MAX);
            let wrong =
                || format!("{key}={value}: give seconds or a unit (21s, 5m), {SUM_MAX} at most");
            goal.duration_sum = Some(sum.ok_or_else(wrong)?);
        }
        _ => {
            return Err(format!(
                "a goal has no \"{key}\": it has exceed, width, initial, final and sum"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_goals_stand_in_one_text() {
        let GoalsArg(found) =
            goals("ndr,exceed=20%,sum=5m,pdr:0.5%,pdr:0.5%,width=2%,final=60,initial=0.2")
                .expect("goals");
        let ndr = GoalArg {
            exceed_ratio: Some(0.2),
            duration_sum: Some(Span::from_millis(300_000)),
            ..GoalArg::default()
        };
        let pdr = GoalArg {
            loss_ratio: 0.005,
            ..GoalArg::default()
        };
        let last = GoalArg {
            width: Some(0.02),
            final_trial: Some(Span::from_millis(60_000)),
            initial_trial: Some(Span::from_millis(200)),
            ..pdr
        };
        assert_eq!(found, [ndr, pdr, last]);
    }

    #[test]
    fn what_is_no_goal_is_answered_with_what_is_one() {
        for (text, wanted) in [
            ("mdr", "pdr:0.5%"),
            ("pdr", "how much may be lost"),
            ("", "ndr"),
            ("ndr:1%", "pdr:0.5%"),
            ("pdr:0%", "write ndr"),
            ("pdr:100%", "pdr:0.5%"),
            ("pdr:0.005", "pdr:0.5%"),
            ("exceed=5%", "ndr,exceed=5%"),
            ("ndr,exceed=100%", "below 100%"),
            ("ndr,final=1h", "60s"),
            ("ndr,sum=0", "21s"),
            ("ndr,depth=3", "exceed, width, initial, final and sum"),
        ] {
            let error = goals(text).expect_err(text);
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
