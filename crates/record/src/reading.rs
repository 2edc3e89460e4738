//! A fact that was read, or why it could not be.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A fact, or the reason why it is not known: nothing is guessed.
///
/// In JSON the fact itself, or `{"unreadable": "why"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Reading<T> {
    /// Not known.
    Unreadable {
        /// What stood in the way, with the place.
        unreadable: String,
    },
    /// What was read.
    Known(T),
}

impl<T> Reading<T> {
    /// Not known, because of `why`.
    #[must_use]
    pub fn unreadable(why: impl Into<String>) -> Self {
        Self::Unreadable {
            unreadable: why.into(),
        }
    }

    /// What is found in it, or why there is nothing.
    #[must_use]
    pub fn find<U>(
        &self,
        find: impl FnOnce(&T) -> Option<U>,
        why: impl FnOnce(&T) -> String,
    ) -> Reading<U> {
        match self {
            Self::Known(fact) => {
                find(fact).map_or_else(|| Reading::unreadable(why(fact)), Reading::Known)
            }
            Self::Unreadable { unreadable } => Reading::unreadable(unreadable),
        }
    }

    /// The fact, where it is known.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(fact) => Some(fact),
            Self::Unreadable { .. } => None,
        }
    }

    /// Why it is not known.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Unreadable { unreadable } => Some(unreadable),
        }
    }

    /// The fact, or why it is not known.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn get(&self) -> Result<&T, String> {
        match self {
            Self::Known(fact) => Ok(fact),
            Self::Unreadable { unreadable } => Err(unreadable.clone()),
        }
    }

    /// The same with another fact made of it.
    #[must_use]
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Reading<U> {
        self.and_then(|fact| Reading::Known(make(fact)))
    }

    /// The same with what is read from it.
    #[must_use]
    pub fn and_then<U>(self, read: impl FnOnce(T) -> Reading<U>) -> Reading<U> {
        match self {
            Self::Known(fact) => read(fact),
            Self::Unreadable { unreadable } => Reading::Unreadable { unreadable },
        }
    }
}

impl Reading<String> {
    /// The text, or empty.
    #[must_use]
    pub fn text(&self) -> &str {
        self.known().map_or("", String::as_str)
    }
}

impl<T, E: fmt::Display> From<Result<T, E>> for Reading<T> {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(fact) => Self::Known(fact),
            Err(error) => Self::unreadable(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_json_a_fact_is_itself() {
        for (reading, json) in [
            (Reading::Known(7), "7"),
            (
                Reading::unreadable("x: not there"),
                r#"{"unreadable":"x: not there"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&reading).expect("JSON"), json);
            let read: Reading<u32> = serde_json::from_str(json).expect("a reading");
            assert_eq!(read, reading);
        }
    }
}
