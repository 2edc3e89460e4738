//! Settings of `mpps tune measure` whose levels are two beds. They follow the others, one after the other: the beds of each
//! are raised for it, and gone before the next.

use super::compare::{prepare, set_ups, variants};
use super::in_turns::{count_back, load, raise};
use super::measure::first_of;
use crate::exit::Exit;
use crate::host::exit_of;
use crate::plan::{SettingsPlan, TwoBeds};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::clock::{Deadline, monotonic_ns};
use mpps_lab::jobs::settings::{Earlier, Outcome, beds, unmeasured};
use mpps_method::Span;
use mpps_record::SettingEffect;

/// Measures them in what the others' turns left of the time, and adds what came of each. Turns that earlier runs had count.
///
/// # Errors
/// An interrupt, or beds that could not be lowered. A setting that fails otherwise was not measured.
pub fn measure(
    plan: &SettingsPlan,
    outcome: &mut Outcome,
    earlier: &Earlier,
    recorder: &mut Recorder,
) -> Result<()> {
    for (row, why) in &plan.left_out {
        if row.beds().is_some() {
            outcome.add(unmeasured(row, why.clone()));
        }
    }
    let (begun_ns, before) = (monotonic_ns(), outcome.turns.plus(earlier.spent));
    for (place, two) in plan.beds.iter().enumerate() {
        if outcome.error.is_some() {
            outcome.add(not_measured(two, "the run ended before".to_owned()));
            continue;
        }
        let spent = || Span::from_nanos(monotonic_ns() - begun_ns).plus(before);
        let count = plan.beds.len() - place;
        let end = || {
            let time = beds::time_for_each(&plan.measured, spent(), count);
            Deadline::after(Some(time))
        };
        let measured = on_two_beds(two, plan, outcome, earlier, end, recorder);
        if let Err(error) = measured {
            if !matches!(exit_of(&error), Exit::Failed | Exit::Undecided) {
                return Err(error);
            }
            outcome.add(not_measured(two, format!("{error:#}")));
        }
    }
    Ok(())
}

fn not_measured(two: &TwoBeds, why: String) -> SettingEffect {
    SettingEffect {
        not_measured: Some(why),
        ..beds::named(two.row)
    }
}

/// On two beds of its own, which are lowered afterwards.
fn on_two_beds(
    two: &TwoBeds,
    plan: &SettingsPlan,
    outcome: &mut Outcome,
    earlier: &Earlier,
    end: impl Fn() -> Deadline,
    recorder: &mut Recorder,
) -> Result<()> {
    let mut pair = two.plan.clone();
    let prepared = prepare(&mut pair, plan.quiet)?;
    let raised = raise(&set_ups(&pair, &two.beds), recorder)?;
    load(&prepared, &raised, plan.quiet, recorder)?;
    let both = variants(&pair, &raised);
    let (measured, told) = (&plan.measured, earlier.clone());
    beds::measure(two.row, &both, measured, end(), told, outcome, recorder)?;
    let ended = count_back(&prepared, &raised, recorder, Ok(()));
    let lowered = raised.into_iter().map(|bed| Ok(bed.lower()?));
    lowered.fold(ended, first_of)
}
