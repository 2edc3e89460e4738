//! `mpps doctor`.

use clap::Args;

/// Arguments of `mpps doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Print the result as JSON, with every fact of the machine
    #[arg(long)]
    pub json: bool,
}
