//! Rates in whole frames/s. Schema 1 wrote them with a fraction.

use serde::{Deserialize, Deserializer};

/// The nearest whole number, where there is one.
pub(crate) fn optional<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<u64>, D::Error> {
    let number = Option::<f64>::deserialize(reader)?;
    Ok(number.map(|number| number.round() as u64))
}

/// The nearest whole number.
pub(crate) fn required<'de, D: Deserializer<'de>>(reader: D) -> Result<u64, D::Error> {
    let number = f64::deserialize(reader)?;
    Ok(number.round() as u64)
}
