//! Stacks as a tree: what they share is drawn once.

use super::{Frame, Stack};
use std::collections::BTreeMap;

/// A function called from a place, in two profiles.
#[derive(Debug, Default)]
pub struct Node<'a> {
    pub name: &'a str,
    pub stage: &'a str,
    /// Weight with all that it called.
    pub before: u64,
    pub after: u64,
    /// Weight of its own.
    pub own_before: u64,
    pub own_after: u64,
    callees: BTreeMap<Frame<'a>, Node<'a>>,
}

/// All stacks of two profiles.
#[derive(Debug)]
pub struct Tree<'a> {
    /// Everything.
    pub root: Node<'a>,
    /// Frames of the deepest stack.
    pub depth: usize,
}

impl Node<'_> {
    /// How wide it is drawn: for one profile its weight, for two twice the mean.
    pub fn weight(&self) -> u64 {
        self.before.saturating_add(self.after)
    }

    fn most_changed(&self) -> u64 {
        let below = self.callees.values().map(Self::most_changed).max();
        self.own_before
            .abs_diff(self.own_after)
            .max(below.unwrap_or_default())
    }

    fn walk(&self, start: u64, depth: usize, draw: &mut impl FnMut(&Self, u64, usize)) {
        draw(self, start, depth);
        let mut start = start;
        for callee in self.callees.values() {
            callee.walk(start, depth + 1, draw);
            start += callee.weight();
        }
    }
}

impl<'a> Tree<'a> {
    pub fn new(before: &[Stack<'a>], after: &[Stack<'a>]) -> Self {
        let mut root = Node {
            name: "all",
            ..Node::default()
        };
        for stack in before {
            enter(&mut root, &stack.frames, [stack.weight, 0]);
        }
        for stack in after {
            enter(&mut root, &stack.frames, [0, stack.weight]);
        }
        let lengths = before.iter().chain(after).map(|stack| stack.frames.len());
        let depth = lengths.max().unwrap_or_default();
        Self { root, depth }
    }

    /// The largest difference of a function's own weight.
    pub fn most_changed(&self) -> u64 {
        self.root.most_changed()
    }

    /// Each node with the weight to its left and its depth.
    pub fn walk(&self, draw: &mut impl FnMut(&Node<'a>, u64, usize)) {
        self.root.walk(0, 0, draw);
    }
}

fn enter<'a>(root: &mut Node<'a>, frames: &[Frame<'a>], [before, after]: [u64; 2]) {
    let mut node = root;
    let add = |sum: &mut u64, weight| *sum = sum.saturating_add(weight);
    add(&mut node.before, before);
    add(&mut node.after, after);
    for frame in frames {
        node = node.callees.entry(*frame).or_insert_with(|| Node {
            name: frame.name,
            stage: frame.stage,
            ..Node::default()
        });
        add(&mut node.before, before);
        add(&mut node.after, after);
    }
    add(&mut node.own_before, before);
    add(&mut node.own_after, after);
}
