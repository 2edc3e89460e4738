//! Facts of the machine as records have them. The lab's types and the record's have the same members, so one is
//! read from the other's JSON. A test holds them together.

use mpps_lab::facts;
use mpps_record::{Nic, facts::Facts};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The facts of a machine.
///
/// # Errors
/// None that can happen: the members are the same.
pub fn facts(gathered: &facts::Facts) -> serde_json::Result<Facts> {
    same_members(gathered)
}

/// The facts of an interface.
///
/// # Errors
/// None that can happen: the members are the same.
pub fn nic(gathered: &facts::Nic) -> serde_json::Result<Nic> {
    same_members(gathered)
}

fn same_members<T: DeserializeOwned>(gathered: &impl Serialize) -> serde_json::Result<T> {
    serde_json::from_value(serde_json::to_value(gathered)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_lab::facts::Root;
    use serde_json::to_value;

    /// On this machine, and where nothing can be read.
    #[test]
    fn no_fact_is_lost() {
        let nowhere = Root::at("/nonexistent".as_ref());
        let unreadable = || facts::Reading::unreadable("nothing");
        let bare = facts::Facts::read(&nowhere, unreadable(), None);
        for gathered in [facts::Facts::gather(), bare] {
            let recorded = facts(&gathered).expect("the same members");
            assert_eq!(
                to_value(recorded).expect("facts"),
                to_value(gathered).expect("facts")
            );
        }
        for root in [Root::here(), nowhere] {
            let gathered = facts::Nic::read(&root, "lo");
            let recorded = nic(&gathered).expect("the same members");
            assert_eq!(
                to_value(recorded).expect("facts"),
                to_value(gathered).expect("facts")
            );
        }
    }
}
