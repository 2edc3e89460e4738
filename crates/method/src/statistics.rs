//! Statistics over a handful of measurements. Everything is `None` where the sample is too small
//! to say it.

/// Arithmetic mean.
#[must_use]
pub fn mean(sample: &[f64]) -> Option<f64> {
    (!sample.is_empty()).then(|| sample.iter().sum::<f64>() / sample.len() as f64)
}

/// Quantile `part` (0 to 1) by linear interpolation between the two nearest values
/// (Hyndman & Fan type 7, as R and NumPy by default).
#[must_use]
pub fn quantile(sample: &[f64], part: f64) -> Option<f64> {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = part.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let low = *sorted.get(place.floor() as usize)?;
    let high = *sorted.get(place.ceil() as usize)?;
    Some(low + (high - low) * place.fract())
}

/// Median.
#[must_use]
pub fn median(sample: &[f64]) -> Option<f64> {
    quantile(sample, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_samples_give_known_values() {
        let sample = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&sample), Some(5.0));
        assert_eq!(median(&sample), Some(4.5));
        assert_eq!(quantile(&[10.0, 20.0, 30.0, 40.0], 0.25), Some(17.5));
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 1.0), Some(3.0));
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.0), Some(1.0));
    }

    #[test]
    fn too_small_a_sample_says_nothing() {
        assert_eq!(mean(&[]), None);
        assert_eq!(median(&[]), None);
    }
}
