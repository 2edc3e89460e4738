//! `host` in a build that measures nothing: there is nothing to restore, and no kernel is asked.

use crate::args::LimitsArgs;
use crate::exit::Exit;
use anyhow::{Error, Result};
use mpps_method::limits::MemoryMeasured;
use mpps_tables::ChooseOptions;
use std::path::{Path, PathBuf};

/// There is nothing to put back, so a write beyond the limit may end the program.
pub const fn survive_file_limit() {}

/// No bed is raised.
pub const fn not_restored() -> [String; 0] {
    []
}

/// No table is loaded, so none takes anything away from this machine.
pub const fn keep_clear(_: &mut ChooseOptions) -> Result<()> {
    Ok(())
}

/// Not known: nothing is written below the home, so it does not matter whose it is.
pub const fn foreign_folder(_: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    None
}

/// Not measured: the flag is not there.
pub const fn memory(_: &LimitsArgs) -> Result<Option<MemoryMeasured>> {
    Ok(None)
}

/// Every error is bad input, or a file that cannot be read or written.
pub const fn exit_of(_: &Error) -> Exit {
    Exit::Failed
}
