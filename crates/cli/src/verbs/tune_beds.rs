//! Settings of `mpps tune measure` whose levels are two beds. They follow the others, one after the other: the beds of each
//! are raised for it, and gone before the next.

use super::compare::{prepare, set_ups};
use super::in_turns::{count_back, load, raise, variants};
use super::measure::first_of;
use crate::exit::Exit;
use crate::host::exit_of;
use crate::plan::{SettingsPlan, TwoBeds};
use crate::recorder::Recorder;
use anyhow::Result;
use mpps_lab::jobs::settings::beds::{self, Work};
use mpps_lab::jobs::settings::{Earlier, Outcome, unmeasured};

/// Measures them, and adds what came of each. Turns that earlier runs had count.
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
    let rows: Vec<_> = plan.beds.iter().map(|two| two.row).collect();
    beds::measure_each(
        &rows,
        &plan.measured,
        earlier,
        outcome,
        |place, work| match on_two_beds(&plan.beds[place], plan.quiet, recorder, work) {
            Err(error) if matches!(exit_of(&error), Exit::Failed | Exit::Undecided) => {
                Ok(Some(format!("{error:#}")))
            }
            ended => ended.map(|()| None),
        },
    )
}

/// On two beds of its own, which are lowered afterwards.
fn on_two_beds(
    two: &TwoBeds,
    quiet: bool,
    recorder: &mut Recorder,
    work: &mut Work<'_>,
) -> Result<()> {
    let mut pair = two.plan.clone();
    let prepared = prepare(&mut pair, quiet)?;
    let set_ups = set_ups(&pair, &two.beds);
    let raised = raise(&set_ups, recorder)?;
    load(&prepared, &raised, quiet, recorder)?;
    work(&variants(&set_ups, &raised), recorder)?;
    let ended = count_back(&prepared, &raised, recorder, Ok(()));
    let lowered = raised.into_iter().map(|bed| Ok(bed.lower()?));
    lowered.fold(ended, first_of)
}
