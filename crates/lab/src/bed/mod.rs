//! A bed: tester out (mA) -> DUT (mB, mC) -> tester in (mD), two veth pairs, no NIC needed.
//!
//! It has three network namespaces, `mpps-<bed>-out`, `-dut` and `-in`. Around an external device it has two real ports
//! instead (`external`).
//!
//! Raising makes namespaces, interfaces, addresses and static neighbours, and runs the user's set-up script. The virtual
//! NIC, the sender and the receiver belong to `tester`. A bed is lowered when it is dropped, unless it is kept.

mod change;
mod cpus;
mod dut_plan;
mod error;
mod external;
mod filters;
mod kept;
mod kernel;
mod names;
mod namespace;
mod plan;
mod raise;
mod setup;

pub use crate::dut::{Front, Port};
pub use change::Change;
pub use cpus::CpuSplit;
pub use dut_plan::{DutPlan, Ground, PlannedDut, Standing};
pub use error::BedError;
pub use external::{AdoptedPort, Dual, ExternalEnd, ExternalPlan, usual_addresses};
pub use filters::{FILTERS_MAX, check as check_filters};
pub use kept::{BedState, down, keep, list, open};
pub(crate) use kernel::has_ipv6;
pub use kernel::{connected, restore_exit};
pub use plan::{BedPlan, Interfaces, RX_RING, RssKey};
pub(crate) use setup::{bound_outputs, on_dut_cpus};
pub use setup::{check as check_set_up, check_start, run as run_set_up, run_start, shell};

use crate::dut::Dut;
use crate::journal::{self, Journal, Mark};
use mpps_linux::setting::SettingChange;
use mpps_record::SetUpScript;
use std::sync::Mutex;

/// One of the bed's four ports, in the order frames pass them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Tester, sends.
    A,
    /// DUT, receives.
    B,
    /// DUT, transmits.
    C,
    /// Tester, receives.
    D,
}

impl Side {
    /// All four.
    pub const ALL: [Self; 4] = [Self::A, Self::B, Self::C, Self::D];
}

/// A raised bed.
#[derive(Debug)]
pub struct Bed {
    name: String,
    plan: BedPlan,
    /// The tester's ports: the first sends, the second receives. Both do both if frames go both ways.
    tester: [Port; 2],
    dut: Box<dyn Dut>,
    /// The set-up script as it was when it ran; its output is read when it is asked for.
    script: Option<SetUpScript>,
    /// `None` after the bed was lowered.
    journal: Option<Journal>,
    /// A kept bed stays when this is dropped.
    kept: bool,
}

impl Bed {
    /// Raises a bed. It is lowered when dropped.
    ///
    /// # Errors
    /// The name is in use, the kernel refused something, or the set-up script failed. Nothing is left behind then.
    pub fn raise(plan: &BedPlan) -> Result<Self, BedError> {
        raise::raise(plan)
    }

    /// The bed's name: the user's or the run's id.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the bed stays when this is dropped.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.kept
    }

    /// The plan it was raised from.
    #[must_use]
    pub fn plan(&self) -> &BedPlan {
        &self.plan
    }

    /// What is under test.
    #[must_use]
    pub fn dut(&self) -> &dyn Dut {
        &*self.dut
    }

    /// The tester's ports: the first sends, the second receives. Both do both if frames go both ways.
    #[must_use]
    pub fn tester(&self) -> &[Port; 2] {
        &self.tester
    }

    /// The port of a side. `None`: the port of an external device, which mpps cannot reach.
    #[must_use]
    pub fn port_at(&self, side: Side) -> Option<&Port> {
        let dut = self.dut.ports();
        match side {
            Side::A => Some(&self.tester[0]),
            Side::B => dut.map(|[port, _]| port),
            Side::C => dut.map(|[_, port]| port),
            Side::D => Some(&self.tester[1]),
        }
    }

    /// The ports that mpps can reach, in the order frames pass them.
    pub fn ports(&self) -> impl Iterator<Item = &Port> {
        Side::ALL.into_iter().filter_map(|side| self.port_at(side))
    }

    /// Takes the bed down.
    ///
    /// # Errors
    /// What could not be put back. `mpps recover` may help then.
    pub fn lower(mut self) -> Result<(), BedError> {
        self.kept = false;
        if let Some(journal) = &mut self.journal {
            // On a full disk the bed is lowered all the same. After a crash meanwhile the journal still says "kept".
            let _noted = journal.mark(&Mark::Lowering);
        }
        self.put_back()
    }

    /// The set-up script with the text that ran, and the end of its output. `None`: no script ran.
    #[must_use]
    pub fn set_up_script(&self) -> Option<SetUpScript> {
        let script = self.script.clone()?;
        let output = setup::output(self);
        Some(SetUpScript { output, ..script })
    }

    /// Announces a change of a setting, which is put back with the bed at the latest.
    ///
    /// # Errors
    /// The entry could not be synced: the change is not to be made then.
    pub fn announce(&self, change: SettingChange) -> Result<(), BedError> {
        if let Some(journal) = &self.journal {
            journal.shared()?.announce(&Change::Setting { change })?;
        }
        Ok(())
    }

    fn put_back(&mut self) -> Result<(), BedError> {
        self.dut.leave();
        match self.journal.take() {
            Some(journal) if !self.kept => revert(&self.name, journal),
            _ => Ok(()),
        }
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        // An error drops the bed. If something could not be put back, the journal stays.
        if let (Err(error), Ok(mut left)) = (self.put_back(), NOT_RESTORED.lock()) {
            left.push(error);
        }
    }
}

/// Takes back every change in the journal of this bed.
fn revert(name: &str, journal: Journal) -> Result<(), BedError> {
    journal::revert::<Change>(journal)
        .map(drop)
        .map_err(|e| BedError::NotRestored(name.to_owned(), e.into()))
}

/// Why dropped beds could not be put back.
static NOT_RESTORED: Mutex<Vec<BedError>> = Mutex::new(Vec::new());

/// Takes the reasons why beds that this process dropped could not be put back.
#[must_use]
pub fn not_restored() -> Vec<BedError> {
    let left = NOT_RESTORED.lock();
    left.map_or_else(|_| Vec::new(), |mut left| std::mem::take(&mut *left))
}
