//! Marks of a chart, and samples of them for its legend.

use super::{Kind, STYLES, Series, px};
use maud::{Markup, html};

/// What a series looks like, in a legend: 24 wide, 12 high.
pub fn sample(series: &Series) -> Markup {
    html! {
        @match series.kind {
            Kind::Rule => { line.rule x1="1" y1="6" x2="23" y2="6" {} }
            Kind::Bars => { rect x="6" y="1" width="12" height="10" {} }
            Kind::Marks | Kind::Joined => { (mark(series.style, 12.0, 6.0)) }
        }
    }
}

/// The style whose mark stands for a point without a value too.
pub const CROSS: usize = 5;

/// The mark of a style at a place.
pub fn mark(style: usize, x: f64, y: f64) -> Markup {
    let path = |d: &str| {
        let d = format!("M{x:.1} {y:.1}{d}");
        html! { path d=(d) {} }
    };
    match style % STYLES {
        0 => html! { circle cx=(px(x)) cy=(px(y)) r="4" {} },
        1 => path("m-4-4h8v8h-8z"),
        2 => path("m0-5l5 9h-10z"),
        3 => path("m0-5.5l5 5.5-5 5.5-5-5.5z"),
        4 => path("m0 5l5-9h-10z"),
        CROSS => path("m-4-4l8 8m0-8l-8 8"),
        6 => path("m0-5v10m-5-5h10"),
        // It is to be seen on an interval of either direction.
        _ => path("m-5-2h10v4h-10z"),
    }
}
