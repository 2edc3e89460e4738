//! `mpps recover`.

use clap::Args;

/// Arguments of `mpps recover`.
#[derive(Args, Debug)]
pub struct RecoverArgs {
    /// Print nothing if there was nothing to do
    #[arg(long)]
    pub quiet: bool,
}
