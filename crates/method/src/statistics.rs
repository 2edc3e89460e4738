//! Statistics over a handful of measurements. Everything is `None` where the sample is too small
//! to say it.

use std::f64::consts::FRAC_PI_2;

/// Arithmetic mean.
#[must_use]
pub fn mean(sample: &[f64]) -> Option<f64> {
    (!sample.is_empty()).then(|| sample.iter().sum::<f64>() / sample.len() as f64)
}

/// Standard deviation of a whole sample; `None` without a value.
#[must_use]
pub fn standard_deviation(sample: &[f64]) -> Option<f64> {
    let middle = mean(sample)?;
    let squares = sample.iter().map(|value| (value - middle).powi(2));
    mean(&squares.collect::<Vec<f64>>()).map(f64::sqrt)
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

/// Student's t that a mean of no difference exceeds, to either side, with probability `wrong`. `freedom` is at least 1;
/// above 1 000 the normal distribution is as good.
#[must_use]
pub fn student_t(freedom: f64, wrong: f64) -> f64 {
    const STEPS: usize = 1 << 14;
    let freedom = freedom.clamp(1.0, 1_000.0);
    // With t = sqrt(freedom) tan(angle) the density is a power of the angle's cosine, which is summed up.
    let angle = |step: f64| step * FRAC_PI_2 / STEPS as f64;
    let density = |step: usize| angle(step as f64 + 0.5).cos().powf(freedom - 1.0);
    let mut beyond = wrong.clamp(1e-9, 1.0) * (0..STEPS).map(density).sum::<f64>();
    let mut edge = STEPS as f64;
    for step in (0..STEPS).rev() {
        let part = (beyond / density(step)).min(1.0);
        edge = step as f64 + 1.0 - part;
        if part < 1.0 {
            break;
        }
        beyond -= density(step);
    }
    freedom.sqrt() * angle(edge).tan()
}

/// Half the width of Student's 95 % interval of a number made from several measurements, by what it is without one of them
/// at a time (delete-one jackknife). `None` with fewer than 3.
#[must_use]
pub fn jackknife_half_width(without: &[f64]) -> Option<f64> {
    let of = without.len() as f64;
    let deviation = standard_deviation(without).filter(|_| without.len() >= 3)?;
    Some(student_t(of - 1.0, 0.05) * (of - 1.0).sqrt() * deviation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jackknife_of_a_mean_is_students() {
        let all = [3.0, 5.0, 7.0, 13.0];
        let without = all.map(|one| (28.0 - one) / 3.0);
        let variance = standard_deviation(&all).map(|one| one.powi(2) * 4.0 / 3.0);
        let wanted = student_t(3.0, 0.05) * (variance.unwrap_or(0.0) / 4.0).sqrt();
        let found = jackknife_half_width(&without).unwrap_or(0.0);
        assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
        assert_eq!(jackknife_half_width(&without[..2]), None);
    }

    /// Tables of the distribution, to three decimals.
    #[test]
    fn student_t_is_that_of_the_tables() {
        for (freedom, wrong, t) in [
            (1.0, 0.05, 12.706),
            (2.0, 0.05, 4.303),
            (2.0, 0.005, 14.089),
            (5.0, 0.01, 4.032),
            (10.0, 0.05, 2.228),
            (10.0, 0.005, 3.581),
            (1e9, 0.05, 1.962),
        ] {
            let found = student_t(freedom, wrong);
            assert!((found - t).abs() < 0.002 * t, "{freedom} {wrong}: {found}");
        }
        assert!(student_t(3.0, 1.0).abs() < 1e-3);
    }

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
