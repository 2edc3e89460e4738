//! `mpps man` and `mpps completions`: for packagers, from the same definitions as `--help`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Arguments of `mpps man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// Folder to write them to: mpps.1 and one page a verb; it is created if it is missing
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// Arguments of `mpps completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}
