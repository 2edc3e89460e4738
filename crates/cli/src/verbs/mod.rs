//! The verbs: one file each, from arguments to exit code.

#[cfg(feature = "measure")]
pub mod back_to_back;
#[cfg(feature = "measure")]
pub mod bed;
#[cfg(feature = "measure")]
mod begin;
#[cfg(feature = "measure")]
pub mod calibrate;
#[cfg(feature = "measure")]
pub mod campaign;
#[cfg(feature = "measure")]
pub mod compare;
#[cfg(feature = "measure")]
mod compare_builds;
mod compare_records;
#[cfg(feature = "measure")]
pub mod contract;
#[cfg(feature = "measure")]
mod destinations;
#[cfg(feature = "measure")]
pub mod doctor;
#[cfg(feature = "measure")]
pub mod explain;
#[cfg(feature = "measure")]
pub mod fib_scale;
pub mod generate;
#[cfg(feature = "measure")]
mod in_turns;
#[cfg(feature = "measure")]
mod lasting;
#[cfg(feature = "measure")]
pub mod latency;
pub mod limits;
#[cfg(feature = "measure")]
pub mod loss;
#[cfg(feature = "measure")]
mod measure;
mod record_file;
pub mod records;
#[cfg(feature = "measure")]
pub mod recover;
#[cfg(feature = "measure")]
pub mod recovery;
pub mod report;
#[cfg(feature = "measure")]
pub mod reset;
#[cfg(feature = "measure")]
pub mod rfc2544;
pub mod show;
#[cfg(feature = "measure")]
mod sweep;
pub mod table;
#[cfg(feature = "measure")]
pub mod throughput;
#[cfg(feature = "measure")]
pub mod top;
#[cfg(feature = "measure")]
pub mod trial;
pub mod tune;
#[cfg(feature = "measure")]
mod tune_beds;
#[cfg(feature = "measure")]
mod tune_measure;
#[cfg(feature = "measure")]
mod watch;
mod what_if;

/// `mpps compare` of two records, in a build that measures nothing.
#[cfg(not(feature = "measure"))]
pub mod compare {
    pub fn run(args: &crate::args::CompareArgs) -> anyhow::Result<crate::exit::Exit> {
        super::compare_records::run(&args.finished, args.json)
    }
}
