//! A profile of `mpps explain` as its line has it.

use super::result::doubt;
use super::words;
use mpps_lab::jobs::explain::SizeProfile;
use mpps_record::ProfileLine;

/// The line of a frame size.
#[must_use]
pub fn profile_line(size: &SizeProfile) -> ProfileLine {
    ProfileLine {
        receiver: size.receiver.map(Into::into),
        limited_by: size.limited_by.map(words::limited_by),
        doubts: size.doubts.iter().map(doubt).collect(),
        ..size.line.clone()
    }
}
