//! One panel: values against counts.

use std::fmt::Write;

/// Width of the picture, pixels.
pub const WIDTH: f64 = 760.0;
/// Height of a panel with its axis, pixels.
pub const HEIGHT: f64 = 310.0;
/// Where the field begins, pixels.
pub const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const FOOT: f64 = 60.0;
/// Lines across the field, at most about.
const LINES: f64 = 6.0;

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This value.
    Is,
    /// A bound: something else ended first.
    Bound,
    /// None: it could not be measured.
    Nothing,
}

/// What marks of a series look like.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Round.
    Circle,
    /// Upright.
    Square,
    /// On its corner.
    Diamond,
}

/// One mark: where in the field, in the units of its axes.
#[derive(Debug)]
pub struct Mark {
    /// By the axis of counts.
    pub count: u64,
    /// In the panel's unit.
    pub value: f64,
    /// Ends of its interval.
    pub ends: Option<(f64, f64)>,
    /// What it stands for.
    pub kind: Kind,
    /// What is to be said of it.
    pub words: String,
}

/// One series.
#[derive(Debug)]
pub struct Line {
    /// For the legend.
    pub name: String,
    /// As SVG has it.
    pub colour: &'static str,
    /// Of its marks.
    pub shape: Shape,
    /// By rising count.
    pub marks: Vec<Mark>,
}

/// The axis of counts.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// The largest count.
    pub most: u64,
    /// Below the axis.
    pub name: &'static str,
    /// Whether it is logarithmic, with a place for 0; else its steps are even.
    pub decades: bool,
}

impl Counts {
    /// Counts with a number.
    fn numbered(self) -> Vec<f64> {
        let most = self.most as f64;
        if self.decades {
            let powers = (0..place(most).ceil().max(1.0) as i32).map(|at| 10_f64.powi(at));
            return std::iter::once(0.0).chain(powers).collect();
        }
        let step = nice(most / LINES);
        let steps = (0..).map(|at| f64::from(at) * step);
        steps.take_while(|&count| count <= most).collect()
    }
}

/// Lines over one pair of axes.
#[derive(Debug)]
pub struct Panel {
    /// Its upper edge, pixels.
    pub top: f64,
    /// Unit of the values.
    pub unit: &'static str,
    /// The series.
    pub lines: Vec<Line>,
    /// The other axis.
    pub counts: Counts,
}

impl Panel {
    /// The panel as SVG elements.
    #[must_use]
    pub fn drawn(&self) -> String {
        let values = || {
            let marks = self.lines.iter().flat_map(|line| &line.marks);
            let highest = marks.map(|mark| mark.ends.map_or(mark.value, |(_, high)| high));
            highest.fold(1.0, f64::max)
        };
        let step = nice(values() / LINES);
        let most = (values() / step).ceil() * step;
        let foot = self.top + HEIGHT - FOOT;
        let x = |count: u64| self.x(count as f64);
        let y = |value: f64| foot - value.max(0.0) / most * (HEIGHT - FOOT);
        let mut text = String::new();
        self.values_axis(&mut text, step, most);
        self.counts_axis(&mut text);
        for line in &self.lines {
            let there = || line.marks.iter().filter(|mark| mark.kind != Kind::Nothing);
            let points: Vec<String> = there()
                .map(|mark| format!("{:.1},{:.1}", x(mark.count), y(mark.value)))
                .collect();
            if points.len() > 1 {
                let _ = writeln!(
                    text,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>",
                    points.join(" "),
                    line.colour
                );
            }
            for one in &line.marks {
                let at = (x(one.count), y(one.value));
                if let Some((low, high)) = one.ends {
                    text += &interval(line.colour, at.0, (y(low), y(high)));
                }
                text += &mark(line.shape, line.colour, at, one.kind, &one.words);
            }
        }
        text
    }

    fn x(&self, count: f64) -> f64 {
        let Counts { most, decades, .. } = self.counts;
        let share = if decades {
            place(count) / place(most as f64).ceil().max(1.0)
        } else {
            count / most as f64
        };
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    fn values_axis(&self, text: &mut String, step: f64, most: f64) {
        let (right, foot) = (WIDTH - RIGHT, self.top + HEIGHT - FOOT);
        let mut value = 0.0;
        while value <= most + step / 2.0 {
            let y = foot - value / most * (HEIGHT - FOOT);
            let _ = writeln!(
                text,
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                short(value)
            );
            value += step;
        }
        let middle = f64::midpoint(self.top, foot);
        let _ = writeln!(
            text,
            "<text transform=\"translate(18 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            self.unit
        );
    }

    fn counts_axis(&self, text: &mut String) {
        let (right, foot) = (WIDTH - RIGHT, self.top + HEIGHT - FOOT);
        for count in self.counts.numbered() {
            let x = self.x(count);
            let _ = writeln!(
                text,
                "<line x1=\"{x:.1}\" y1=\"{foot}\" x2=\"{x:.1}\" y2=\"{}\" stroke=\"black\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                foot + 5.0,
                foot + 20.0,
                short(count)
            );
        }
        let _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" y1=\"{foot}\" x2=\"{right}\" y2=\"{foot}\" stroke=\"black\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(LEFT, right),
            foot + 38.0,
            self.counts.name
        );
    }
}

/// A bar from one end of an interval to the other.
fn interval(colour: &str, x: f64, (low, high): (f64, f64)) -> String {
    let (left, right) = (x - 4.0, x + 4.0);
    format!(
        "<path class=\"interval\" d=\"M{left:.1} {low:.1}H{right:.1}M{x:.1} {low:.1}V{high:.1}M{left:.1} {high:.1}H{right:.1}\" \
         stroke=\"{colour}\" fill=\"none\"/>\n"
    )
}

/// A mark at a place, with its words.
#[must_use]
pub fn mark(shape: Shape, colour: &str, (x, y): (f64, f64), kind: Kind, words: &str) -> String {
    let fill = if kind == Kind::Bound { "white" } else { colour };
    let title = if words.is_empty() {
        String::new()
    } else {
        format!("<title>{}</title>", escaped(words))
    };
    if kind == Kind::Nothing {
        return format!(
            "<path d=\"M{:.1} {:.1}l8 8m0 -8l-8 8\" stroke=\"{colour}\" stroke-width=\"2\">{title}</path>\n",
            x - 4.0,
            y - 4.0
        );
    }
    let paint = format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"2\"");
    match shape {
        Shape::Circle => {
            format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" {paint}>{title}</circle>\n")
        }
        Shape::Square | Shape::Diamond => {
            let turn = match shape {
                Shape::Diamond => format!(" transform=\"rotate(45 {x:.1} {y:.1})\""),
                _ => String::new(),
            };
            format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\" {paint}{turn}>{title}</rect>\n",
                x - 3.5,
                y - 3.5
            )
        }
    }
}

/// A logarithmic axis that has a place for 0 too: 0, then 1 at one decade, 10 at two ...
fn place(count: f64) -> f64 {
    if count < 1.0 {
        0.0
    } else {
        1.0 + count.log10()
    }
}

/// 1, 2 or 5 times a power of ten, not below `least`.
fn nice(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1e-9).log10().floor());
    let factor = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|factor| factor * power >= least);
    factor.unwrap_or(10.0) * power
}

/// `500`, `200k`, `1.5M`.
fn short(value: f64) -> String {
    if value >= 1e6 {
        format!("{}M", (value / 1e5).round() / 10.0)
    } else if value >= 1e4 {
        format!("{}k", (value / 1e3).round())
    } else {
        // Sums of tenths are no tenths.
        format!("{}", (value * 1e6).round() / 1e6)
    }
}

/// File names may hold what XML gives a meaning.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_has_a_place_for_0_and_steps_are_round() {
        assert!(place(0.0) < place(1.0) && (place(10.0) - 2.0).abs() < 1e-9);
        for (least, step) in [(150.0, 200.0), (90.0, 100.0), (201.0, 500.0), (1.0, 1.0)] {
            assert!(
                (nice(least) - step).abs() < 1e-6,
                "{least}: {}",
                nice(least)
            );
        }
        let texts = [0.0, 0.1 + 0.2, 100.0, 1_000.0, 10_000.0, 1_500_000.0, 4e6].map(short);
        assert_eq!(texts, ["0", "0.3", "100", "1000", "10k", "1.5M", "4M"]);
    }
}
