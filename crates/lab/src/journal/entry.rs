//! What a journal line says.

use serde::{Deserialize, Serialize};

/// One line of a journal: a change announced, or a state reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// Who began.
    Run {
        /// Process id.
        pid: i32,
        /// Version of mpps.
        version: String,
        /// Kernel's boot id.
        boot_id: String,
    },
    /// A folder of the host is made.
    Folder {
        /// Its path.
        path: String,
    },
    /// A network namespace is made.
    NetNs {
        /// Its name.
        name: String,
    },
    /// The bed stands and shall stay when its maker ends.
    Kept,
    /// The bed is being taken down: no longer kept.
    Lowering,
}
