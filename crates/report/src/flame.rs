//! Flame graphs: one SVG that needs nothing beside it, coloured by stage, or by what two profiles differ in. And folded
//! stacks, which other programs read.
//!
//! These few lines stand in place of the crate `inferno`: its licence (CDDL-1.0) is not compatible with the GPL-2.0 of
//! the eBPF programs that `mpps` carries, and its colours come from function names, not from stages.

mod tree;

use crate::number;
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeMap;
use std::fmt::Write;
use tree::{Node, Tree};

const WIDTH: f64 = 1200.0;
/// Height of a frame.
const ROW: f64 = 16.0;
/// Around everything.
const GAP: f64 = 12.0;
/// Room for title, note and legend.
const HEAD: f64 = 64.0;
/// About the width of a letter. A picture cannot ask.
const LETTER: f64 = 6.6;
/// Frames narrower than this are not drawn.
const NARROW: f64 = 0.2;
/// The file of functions, by which the Firefox Profiler tells the kernel's.
const KERNEL: &str = "([kernel.kallsyms])";
/// One colour for each of the ten stages. `#999999` is ours. The others are Paul Tol's "light" scheme: colour-blind readers
/// tell them apart, and black text on them can be read.
const COLOURS: [&str; 10] = [
    "#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#aaaa00", "#99ddff", "#bbcc33",
    "#999999", "#dddddd",
];
/// How a graph looks, by itself and on a page.
pub(crate) const STYLE: &str = ".flame text { font: 12px sans-serif; fill: #111; } \
    .flame .title { font-size: 15px; font-weight: 600; } .flame .field { fill: #fff; } \
    .flame .f text { font: 11px monospace; pointer-events: none; } \
    .flame .f rect { stroke: #aaa; stroke-width: 0.3; } .f { cursor: pointer; }";
/// A frame clicked at fills the width; the lowest one shows everything again.
pub(crate) const SCRIPT: &str = include_str!("flame.js");

/// A function in a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame<'a> {
    /// Its name.
    pub name: &'a str,
    /// The stage it belongs to.
    pub stage: &'a str,
}

/// A call stack and its weight: samples, or time.
#[derive(Clone, Debug)]
pub struct Stack<'a> {
    /// The outermost function first.
    pub frames: Vec<Frame<'a>>,
    /// Its weight.
    pub weight: u64,
}

/// A flame graph, coloured by stage in the order of `stages`. `unit` is that of the weights, such as "samples".
#[must_use]
pub fn flame_graph(title: &str, stacks: &[Stack<'_>], stages: &[&str], unit: &str) -> String {
    picture(&graph(title, stacks, stages, unit))
}

/// The colour of a stage by its place.
pub(crate) const fn colour(stage: usize) -> &'static str {
    COLOURS[stage % COLOURS.len()]
}

/// The same as a part of a page that has [`STYLE`] and [`SCRIPT`].
pub(crate) fn graph(title: &str, stacks: &[Stack<'_>], stages: &[&str], unit: &str) -> Markup {
    let tree = Tree::new(stacks, &[]);
    let colour = |node: &Node<'_>| {
        let at = stages.iter().position(|&stage| stage == node.stage);
        at.map_or("#ffffff", self::colour).to_owned()
    };
    let words = |node: &Node<'_>| {
        let part = 100.0 * node.before as f64 / tree.root.before.max(1) as f64;
        let weight = number::spaced(node.before);
        format!("{}: {weight} {unit}, {part:.2} %", name(node))
    };
    let seen: Vec<(&str, &str)> = stages
        .iter()
        .enumerate()
        .map(|(at, stage)| (*stage, self::colour(at)))
        .collect();
    let note = format!(
        "{} {unit}. Width is time, colour is the stage; click a frame to enlarge it.",
        number::spaced(tree.root.before)
    );
    drawn(title, &note, &seen, &tree, &colour, &words)
}

/// A picture that needs nothing beside it.
fn picture(graph: &Markup) -> String {
    let rest = html! { style { (PreEscaped(STYLE)) } script { (PreEscaped(SCRIPT)) } }.0;
    let svg = graph.0.replace("</svg>", &(rest + "</svg>"));
    // XML has no place for control characters, however they are written.
    svg.replace(char::is_control, " ") + "\n"
}

/// What two profiles differ in. A frame is as wide as the mean of both, so that one which vanished is still seen. Red:
/// the function itself takes a larger part of the whole than before; blue: a smaller one; white: `by_chance` a function of
/// this stage may change so much. To compare times per frame, give both in ns of the same number of frames.
#[must_use]
pub fn flame_difference(
    title: &str,
    before: &[Stack<'_>],
    after: &[Stack<'_>],
    unit: &str,
    by_chance: &dyn Fn(&str) -> u64,
) -> String {
    picture(&difference(title, before, after, unit, by_chance))
}

/// The same as a part of a page that has [`STYLE`] and [`SCRIPT`].
pub(crate) fn difference(
    title: &str,
    before: &[Stack<'_>],
    after: &[Stack<'_>],
    unit: &str,
    by_chance: &dyn Fn(&str) -> u64,
) -> Markup {
    let tree = Tree::new(before, after);
    // A small change is pale, even where it is the largest: full colour begins at 5 % of the whole.
    let most = tree.most_changed().max(tree.root.weight() / 40).max(1) as f64;
    let colour = |node: &Node<'_>| {
        let change = node.own_after as f64 - node.own_before as f64;
        if change.abs() <= by_chance(node.stage) as f64 {
            return "rgb(255,255,255)".to_owned();
        }
        let rest = 255.0 - 155.0 * (change.abs() / most).min(1.0);
        if change >= 0.0 {
            format!("rgb(255,{rest:.0},{rest:.0})")
        } else {
            format!("rgb({rest:.0},{rest:.0},255)")
        }
    };
    let words = |node: &Node<'_>| {
        let [before, after] = [node.before, node.after].map(number::spaced);
        let sign = if node.after < node.before { '-' } else { '+' };
        let change = number::spaced(node.after.abs_diff(node.before));
        format!(
            "{}: {before} before, {after} after, {sign}{change} {unit}",
            name(node)
        )
    };
    let note = format!(
        "{} {unit} before, {} after. Width is the mean of both. White: no change beyond the interval of its stage, or no interval.",
        number::spaced(tree.root.before),
        number::spaced(tree.root.after)
    );
    let legend = [
        ("grew by itself", "rgb(255,100,100)"),
        ("shrank by itself", "rgb(100,100,255)"),
    ];
    drawn(title, &note, &legend, &tree, &colour, &words)
}

/// Stacks as folded text: functions from the outermost, by semicolons, then the weight. Equal stacks are one line.
#[must_use]
pub fn folded(stacks: &[Stack<'_>]) -> String {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for stack in stacks.iter().filter(|stack| !stack.frames.is_empty()) {
        let names: Vec<String> = stack.frames.iter().map(|frame| plain(frame.name)).collect();
        *lines.entry(names.join(";")).or_default() += stack.weight;
    }
    lines
        .iter()
        .map(|(names, weight)| format!("{names} {weight}\n"))
        .collect()
}

/// Stacks as `perf script` prints samples, which the Firefox Profiler reads: a sample stands for so much weight, and for
/// 1 ms of its time axis, as that program counts a sample. What is left over of one stack counts for the next.
#[must_use]
pub fn perf_script(stacks: &[Stack<'_>], weight: u64) -> String {
    let (mut text, mut left, mut at) = (String::new(), 0, 0_u64);
    for stack in stacks {
        left += stack.weight;
        let names = stack.frames.iter().rev();
        let calls: String = names
            .map(|frame| format!("\t               0 {} {KERNEL}\n", plain(frame.name)))
            .collect();
        while left >= weight.max(1) {
            left -= weight.max(1);
            at += 1;
            let (s, ms) = (at / 1000, at % 1000);
            let _ = write!(text, "router 1 [000] {s}.{ms:03}: 1 ns:\n{calls}\n");
        }
    }
    text
}

/// A name that ends no field of a text.
fn plain(name: &str) -> String {
    name.replace([';', ' '], ":").replace(char::is_control, ":")
}

fn drawn(
    title: &str,
    note: &str,
    legend: &[(&str, &str)],
    tree: &Tree<'_>,
    colour: &dyn Fn(&Node<'_>) -> String,
    words: &dyn Fn(&Node<'_>) -> String,
) -> Markup {
    let across = WIDTH - 2.0 * GAP;
    let height = HEAD + ROW * (tree.depth as f64 + 1.0) + GAP;
    let scale = across / (tree.root.weight().max(1) as f64);
    let place = |node: &Node<'_>, start: u64, depth: usize| {
        let (x, width) = (GAP + start as f64 * scale, node.weight() as f64 * scale);
        (x, width, height - GAP - ROW * (depth as f64 + 1.0))
    };
    // As a style, because a page has rules for charts, which are stronger than attributes.
    let fill = |colour: &str| format!("fill:{colour}");
    let mut frames: Vec<Markup> = Vec::new();
    tree.walk(&mut |node, start, depth| {
        let (x, width, y) = place(node, start, depth);
        if width < NARROW {
            return;
        }
        let letters = ((width - 4.0) / LETTER).max(0.0) as usize;
        frames.push(html! {
            g.f data-name=(node.name) {
                title { (words(node)) }
                rect x=(format!("{x:.2}")) y=(y) width=(format!("{width:.2}")) height=(ROW) style=(fill(&colour(node))) {}
                text x=(format!("{:.2}", x + 2.0)) y=(y + 12.0) { (shortened(node.name, letters)) }
            }
        });
    });
    let places = legend.iter().scan(GAP, |x, (name, _)| {
        let at = *x;
        *x += 30.0 + LETTER * name.chars().count() as f64;
        Some(at)
    });
    html! {
        svg.flame xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(title) {
            rect.field width="100%" height="100%" {}
            text.title x=(GAP) y="18" { (title) }
            text x=(GAP) y="36" { (note) }
            @for ((name, colour), x) in legend.iter().zip(places) {
                rect x=(format!("{x:.0}")) y="44" width="12" height="12" style=(fill(colour)) {}
                text x=(format!("{:.0}", x + 16.0)) y="54" { (name) }
            }
            g { @for frame in frames { (frame) } }
        }
    }
}

/// A function with its stage, where that is known.
fn name(node: &Node<'_>) -> String {
    match node.stage {
        "" => node.name.to_owned(),
        stage => format!("{} ({stage})", node.name),
    }
}

/// A name in so many letters; nothing where that says nothing.
fn shortened(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    match letters {
        0..3 => String::new(),
        _ => name.chars().take(letters - 2).chain("..".chars()).collect(),
    }
}

#[cfg(test)]
mod tests;
