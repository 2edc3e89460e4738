//! Parts of a chart: its sides, its series, their points.

use crate::scale::Scale;

/// One side of a chart: quantity and unit, how values are laid out, a value in words.
#[derive(Clone, Debug)]
pub struct Axis {
    pub(super) label: String,
    pub(super) scale: Scale,
    pub(super) words: fn(f64) -> String,
}

/// How points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Marks.
    Marks,
    /// Marks joined by a line.
    Joined,
    /// A dashed line without marks.
    Rule,
    /// Bars.
    Bars,
}

/// Points of one name, with a colour and a mark.
#[derive(Clone, Debug)]
pub struct Series {
    pub(super) name: String,
    /// What the legend calls it. Series that look the same share one name there.
    pub(super) legend: String,
    pub(super) style: usize,
    /// In place of the style's.
    pub(super) colour: Option<&'static str>,
    pub(super) kind: Kind,
    pub(super) points: Vec<Point>,
}

/// A point.
#[derive(Clone, Debug, Default)]
pub struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Lower and upper end of its interval.
    pub(super) ends: Option<(f64, f64)>,
    /// Of a bar: where it begins and ends across, and what it stands on.
    pub(super) bar: Option<(f64, f64, f64)>,
    /// Drawn hollow: a bound, not a value.
    pub(super) bound: bool,
    /// The words that a reader sees when pointing at it; made from the numbers where it is empty.
    pub(super) words: String,
    /// Words at the end of its row, in a chart that lies on its side.
    pub(super) beside: String,
}

impl Point {
    /// Where it stands across.
    pub const fn x(&self) -> f64 {
        self.x
    }

    /// How high it stands.
    pub const fn y(&self) -> f64 {
        self.y
    }

    /// A point at `x` across and `y` up.
    pub fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            ..Self::default()
        }
    }

    /// A point at `x` across that could not be measured.
    pub fn unknown(x: f64) -> Self {
        Self::new(x, f64::NAN)
    }

    /// Whether it could not be measured.
    pub const fn is_unknown(&self) -> bool {
        self.y.is_nan()
    }

    /// With an interval.
    pub fn between(self, low: f64, high: f64) -> Self {
        let ends = Some((low, high));
        Self { ends, ..self }
    }

    /// As a bar from `left` to `right` that stands on `base`.
    pub fn barred(self, left: f64, right: f64, base: f64) -> Self {
        let bar = Some((left, right, base));
        Self { bar, ..self }
    }

    /// Where `bound` is true, as a bound.
    pub fn bounding(self, bound: bool) -> Self {
        Self { bound, ..self }
    }

    /// With words of its own.
    pub fn told(self, words: String) -> Self {
        Self { words, ..self }
    }

    /// With words at the end of its row, where the chart lies on its side.
    pub fn beside(self, beside: String) -> Self {
        Self { beside, ..self }
    }
}

impl Axis {
    /// How its values are laid out.
    pub const fn scale(&self) -> &Scale {
        &self.scale
    }

    /// Its quantity and unit.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// One side.
    pub fn new(label: impl Into<String>, scale: Scale, words: fn(f64) -> String) -> Self {
        Self {
            label: label.into(),
            scale,
            words,
        }
    }
}

impl Series {
    /// Its points.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Points of one name.
    pub fn new(name: impl Into<String>, style: usize, kind: Kind, points: Vec<Point>) -> Self {
        let name = name.into();
        Self {
            legend: name.clone(),
            name,
            style,
            colour: None,
            kind,
            points,
        }
    }

    /// With an entry of the legend that other series have too.
    pub fn named_in_legend(self, legend: &str) -> Self {
        Self {
            legend: legend.to_owned(),
            ..self
        }
    }

    /// In a colour that light and dark pages share.
    pub fn coloured(self, colour: &'static str) -> Self {
        let colour = Some(colour);
        Self { colour, ..self }
    }
}
