//! What is under test, as planned: what each kind of DUT says before it stands, and how it is raised.
//!
//! A further kind is a file beside `kernel` that implements [`PlannedDut`] and [`Dut`], a variant of [`DutPlan`] and an
//! arm of [`DutPlan::planned`]. Nobody outside `bed` and `dut` asks which kind it is.

use super::{BedError, BedPlan, CpuSplit, ExternalPlan};
use crate::dut::{Dut, Port};
use crate::journal::Journal;
use serde::{Deserialize, Serialize};

/// The kinds of DUT that a bed can have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DutPlan {
    /// The router of this machine's kernel, in a network namespace.
    #[default]
    Kernel,
    /// An external device between two ports of the host. Front, queues, ring and RSS key of the bed mean nothing then.
    Device(ExternalPlan),
}

impl DutPlan {
    /// What this kind says of itself.
    #[must_use]
    pub fn planned(&self) -> &dyn PlannedDut {
        match self {
            Self::Kernel => &super::kernel::PlannedRouter,
            Self::Device(ports) => ports,
        }
    }
}

/// A DUT that does not stand yet.
pub trait PlannedDut {
    /// The bed's word in records.
    fn bed_name(&self) -> &'static str;

    /// A bed with it, as a record has it.
    fn run_bed(&self, bed: Box<mpps_record::Bed>) -> mpps_record::RunBed;

    /// The bed in words: headings, and what stands behind each.
    fn rows(&self, plan: &BedPlan) -> Vec<(&'static str, String)>;

    /// The bed in one line, without its name.
    fn line(&self, plan: &BedPlan) -> String;

    /// The ports of the host that the bed adopts; `None`: it makes its own.
    fn host_ports(&self) -> Option<[&str; 2]> {
        None
    }

    /// Whether these ports are asked what carries the frames, unless the user says so.
    fn asks_ports(&self) -> bool {
        self.host_ports().is_some()
    }

    /// Why the receiver cannot stand at its exit, whatever is sent.
    fn no_exit(&self) -> Option<&'static str> {
        None
    }

    /// Whether routes can be loaded into it.
    fn takes_routes(&self) -> bool {
        true
    }

    /// Shares out the CPUs, which were split for a DUT that needs some. `chosen`: the user named the tester's.
    fn share(&self, cpus: CpuSplit, _chosen: bool) -> CpuSplit {
        cpus
    }

    /// Whether it runs on CPUs of the bed.
    fn needs_cpus(&self) -> bool {
        true
    }

    /// Looks whether this machine has what it needs; changes nothing.
    ///
    /// # Errors
    /// What is missing or not to be taken.
    fn check_machine(&self) -> Result<(), BedError> {
        Ok(())
    }

    /// Raises it with the tester's ports around it.
    ///
    /// # Errors
    /// What could not be made. The journal has what was.
    fn raise(&self, plan: &BedPlan, ground: &mut Ground<'_>) -> Result<Standing, BedError>;

    /// Finds it as it stands in a kept bed.
    ///
    /// # Errors
    /// It is not whole any more, or such a bed cannot be kept.
    fn find(&self, plan: &BedPlan, name: &str) -> Result<Standing, BedError>;
}

/// Where a bed is raised: everything that is made on it is journalled first.
pub struct Ground<'journal> {
    /// The bed's name.
    pub name: &'journal str,
    /// Its journal.
    pub journal: &'journal mut Journal,
}

/// A raised DUT, and the tester's ports around it.
pub struct Standing {
    /// The first sends, the second receives.
    pub tester: [Port; 2],
    /// What is under test.
    pub dut: Box<dyn Dut>,
}
