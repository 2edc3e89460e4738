//! `mpps recover`.

use clap::Args;

/// Arguments of `mpps recover`.
#[derive(Args, Debug)]
pub struct RecoverArgs {
    /// Say nothing when there was nothing to do
    #[arg(long)]
    pub quiet: bool,
}
