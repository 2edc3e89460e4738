//! An axis: where a value stands on it, and which values are written beside it.

/// How values are laid out.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Evenly.
    Linear {
        /// Whether 0 is on it.
        from_zero: bool,
    },
    /// Whole numbers, evenly.
    Whole,
    /// By powers of ten.
    Log,
    /// Counts by powers of ten, 0 included.
    Counts,
    /// Shares of all frames: 0 %, 90 %, 99 %, 99.9 % are equally far apart.
    Nines,
    /// Names, by their number from 0.
    Names(Vec<String>),
}

/// A scale with its ends, in the units of its layout.
#[derive(Clone, Debug)]
pub struct Laid<'a> {
    scale: &'a Scale,
    low: f64,
    high: f64,
}

/// Names that stand side by side without touching.
const NAMES: usize = 9;

impl Scale {
    /// By powers of ten where the values are far apart, else evenly from 0.
    pub fn fitting(values: impl Iterator<Item = f64>) -> Self {
        let usable = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = usable.fold((f64::MAX, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if high > 20.0 * low {
            Self::Log
        } else {
            Self::Linear { from_zero: true }
        }
    }

    /// With ends that hold all values.
    pub fn laid(&self, values: impl Iterator<Item = f64>) -> Laid<'_> {
        let places = values.map(|value| self.place(value));
        let usable = places.filter(|place| place.is_finite());
        let (mut low, mut high) = usable.fold((f64::MAX, f64::MIN), |(low, high), place| {
            (low.min(place), high.max(place))
        });
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let spare = match self {
            Self::Names(names) => {
                (low, high) = (-0.5, names.len().max(1) as f64 - 0.5);
                0.0
            }
            Self::Linear { from_zero: true } => {
                low = low.min(0.0);
                if high <= low {
                    1.0
                } else {
                    (high - low) * 0.05
                }
            }
            Self::Nines => {
                low = 0.0;
                (high * 0.05).max(0.1)
            }
            _ if high - low < 1e-9 => (high.abs() * 0.05).max(0.1),
            _ => (high - low) * 0.05,
        };
        let from_zero = matches!(self, Self::Linear { from_zero: true } | Self::Nines);
        Laid {
            scale: self,
            low: if from_zero { low } else { low - spare },
            high: high + spare,
        }
    }

    /// Where a value stands, in units of the layout.
    fn place(&self, value: f64) -> f64 {
        match self {
            Self::Linear { .. } | Self::Whole | Self::Names(_) => value,
            Self::Log => value.log10(),
            Self::Counts => (value + 1.0).log10(),
            Self::Nines => -(1.0 - value).log10(),
        }
    }
}

impl Laid<'_> {
    /// Where a value stands, 0 at the lower end to 1 at the upper. `None` where it has no place.
    pub fn part(&self, value: f64) -> Option<f64> {
        let part = (self.scale.place(value) - self.low) / (self.high - self.low);
        part.is_finite().then(|| part.clamp(0.0, 1.0))
    }

    /// Values to be written, with their words where the scale has its own.
    pub fn ticks(&self) -> Vec<(f64, Option<String>)> {
        let (low, high) = (self.low, self.high);
        let decades = || (low.floor() as i32..=high.ceil() as i32).map(|power| 10_f64.powi(power));
        let all: Vec<(f64, Option<String>)> = match self.scale {
            Scale::Linear { .. } => return even(low, high, 0.0),
            Scale::Whole => return even(low, high, 1.0),
            Scale::Names(names) => {
                let every = names.len().div_ceil(NAMES).max(1);
                let named = names.iter().enumerate().step_by(every);
                named
                    .map(|(at, name)| (at as f64, Some(name.clone())))
                    .collect()
            }
            Scale::Nines => (0..=high.floor() as i32)
                .map(|nines| 1.0 - 10_f64.powi(-nines))
                .map(|share| (share, Some(nines_in_words(share))))
                .collect(),
            Scale::Counts => std::iter::once(0.0)
                .chain(decades().filter(|count| *count >= 1.0))
                .map(|count| (count, None))
                .collect(),
            Scale::Log => {
                // Within two decades powers of ten alone are too few.
                let steps: &[f64] = if high - low > 2.0 {
                    &[1.0]
                } else {
                    &[1.0, 2.0, 5.0]
                };
                decades()
                    .flat_map(|power| steps.iter().map(move |step| (step * power, None)))
                    .collect()
            }
        };
        let inside = |tick: &(f64, Option<String>)| {
            let place = self.scale.place(tick.0);
            place >= low - 1e-9 && place <= high + 1e-9
        };
        let ticks: Vec<_> = all.into_iter().filter(inside).collect();
        if ticks.len() > 1 || !matches!(self.scale, Scale::Log) {
            return ticks;
        }
        let middle = 10_f64.powf((low + high) / 2.0);
        let power = 10_f64.powf(middle.log10().floor() - 1.0);
        vec![((middle / power).round() * power, None)]
    }
}

/// `99.9 %`, without a float's rounding.
fn nines_in_words(share: f64) -> String {
    let percent = (share * 1e10).round() / 1e8;
    format!("{percent} %")
}

/// About five round values, at least `least` apart.
fn even(low: f64, high: f64, least: f64) -> Vec<(f64, Option<String>)> {
    let rough = (high - low) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|step| step * power)
        .find(|step| *step >= rough)
        .unwrap_or(rough)
        .max(least);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last.min(first.saturating_add(20)))
        .map(|at| (at as f64 * step, None))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(scale: &Scale, values: &[f64]) -> Vec<f64> {
        let laid = scale.laid(values.iter().copied());
        laid.ticks().into_iter().map(|(value, _)| value).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        let zero = Scale::Linear { from_zero: true };
        assert_eq!(ticks(&zero, &[7.0, 98.0]), [0.0, 25.0, 50.0, 75.0, 100.0]);
        assert_eq!(ticks(&Scale::Whole, &[19.0, 21.0]), [19.0, 20.0, 21.0]);
        assert_eq!(ticks(&Scale::Log, &[90.0, 11_000.0]), [100.0, 1e3, 1e4]);
        assert_eq!(
            ticks(&Scale::Counts, &[0.0, 150.0]),
            [0.0, 1.0, 10.0, 100.0]
        );
        let nines = Scale::Nines.laid([0.0, 0.9995].into_iter());
        let words: Vec<_> = nines
            .ticks()
            .into_iter()
            .filter_map(|(_, word)| word)
            .collect();
        assert_eq!(words, ["0 %", "90 %", "99 %", "99.9 %"]);
    }

    #[test]
    fn every_scale_survives_odd_values() {
        let names = Scale::Names(Vec::new());
        let zero = Scale::Linear { from_zero: true };
        let free = Scale::Linear { from_zero: false };
        for scale in [
            Scale::Whole,
            Scale::Log,
            Scale::Counts,
            Scale::Nines,
            names,
            zero,
            free,
        ] {
            for values in [
                &[][..],
                &[0.0],
                &[-5.0],
                &[f64::NAN, 1.0],
                &[f64::INFINITY],
                &[1e300, -1e300],
                &[7.0, 7.0],
            ] {
                let laid = scale.laid(values.iter().copied());
                assert!(laid.ticks().len() < 700, "{scale:?} {values:?}");
                for value in values {
                    let part = laid.part(*value);
                    assert!(part.is_none_or(|part| (0.0..=1.0).contains(&part)));
                }
            }
        }
    }
}
