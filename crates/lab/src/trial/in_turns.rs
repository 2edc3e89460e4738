//! A trial whose loads take turns, so that a machine that changes its state changes it for all of them.

use super::overload::back_off_frames;
use super::windows::first_window;
use super::{Begun, gap_fp};
use crate::tester::{Tester, TesterError, until_ended};
use mpps_ebpf::instruments::receiver::WINDOW_SHIFT;
use mpps_ebpf::instruments::sender::{TURN_SHIFT, TURNS_MAX, Turns};
use mpps_method::saturation::Window;
use mpps_method::{Offer, Rate, Span, Trial};

/// A turn ends where the monotonic clock is a multiple of this, ns.
pub const TURN_NS: u64 = 1 << TURN_SHIFT;
/// Windows of a turn. The first does not count: the rings fill or drain in it.
const TURN_WINDOWS: u64 = 1 << (TURN_SHIFT - WINDOW_SHIFT);

/// A trial whose loads took turns.
#[derive(Clone, Debug)]
pub struct InTurns {
    /// The whole trial. Its load is the mean one.
    pub trial: Trial,
    /// The windows of each load, without the first of each turn.
    pub windows: Vec<Vec<Window>>,
}

/// Runs one trial at several loads, at most 16, which take turns of 33.6 ms, in one direction. Where `forwards` says what
/// the router forwards, the highest load is an overload, at which the sender may back off.
///
/// # Errors
/// As [`super::run`].
pub fn run_in_turns(
    tester: &mut Tester<'_>,
    loads: &[Rate],
    duration: Span,
    forwards: Option<Rate>,
) -> Result<InTurns, TesterError> {
    let highest = loads.iter().copied().fold(Rate::ZERO, Rate::max);
    // What the router forwards at overload may be more than is known.
    let most = Offer::new(highest, duration);
    let mut begun = Begun::paced(tester, &most, duration)?;
    begun.offer = mean(loads, duration);
    begun.order.gap_fp = gap_fp(begun.offer.rate.fps());
    begun.order.lasts_ns = duration.as_nanos();
    let mut turns = Turns {
        count: loads.len().min(TURNS_MAX) as u64,
        gap_fp: [0; TURNS_MAX],
    };
    let back_off_frames = forwards.and_then(|forwards| back_off_frames(tester, forwards));
    begun.order.back_off_frames = back_off_frames.unwrap_or(0);
    for (gap, load) in turns.gap_fp.iter_mut().zip(loads) {
        *gap = match back_off_frames {
            Some(_) if *load == highest => 0,
            _ => gap_fp(load.fps()),
        };
    }
    begun.order.turns = Some(turns);
    let sent = tester.sender.send(begun.order, &until_ended)?;
    let (first_ns, last_ns) = (sent.first_ns, sent.last_ns);
    let trial = begun.end(tester, sent)?;
    let mut marks = Vec::new();
    for receiver in &tester.receivers {
        marks.extend(receiver.windows(first_ns, last_ns)?);
    }
    let first = first_window(&marks).unwrap_or_default();
    Ok(InTurns {
        windows: by_load(&trial.windows, first, turns.count),
        trial,
    })
}

/// The place of the load, of so many, whose turn it is at a moment, monotonic ns.
#[must_use]
pub fn turn_at(ns: u64, loads: usize) -> usize {
    (ns / TURN_NS % loads.max(1) as u64) as usize
}

/// What such a trial offers: the mean of its loads.
#[must_use]
pub fn mean(loads: &[Rate], duration: Span) -> Offer {
    let sum: f64 = loads.iter().map(|load| load.fps()).sum();
    Offer::new(Rate::from_fps(sum / loads.len().max(1) as f64), duration)
}

/// Windows, of which the first has this number, by the load that had its turn.
fn by_load(windows: &[Window], first: u64, loads: u64) -> Vec<Vec<Window>> {
    let mut found = vec![Vec::new(); loads as usize];
    for (number, window) in (first..).zip(windows) {
        let turn = number / TURN_WINDOWS % loads;
        if let Some(of_load) = found.get_mut(turn as usize)
            && !number.is_multiple_of(TURN_WINDOWS)
        {
            of_load.push(*window);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_go_to_the_load_that_had_its_turn() {
        let window = |forwarded| Window {
            forwarded,
            ..Window::default()
        };
        // 4 windows a turn, 3 loads; the first is the second window of the third load's turn.
        let windows: Vec<Window> = (9..26).map(window).collect();
        let found = by_load(&windows, 9, 3);
        let numbers = |load: usize| -> Vec<u64> {
            found[load].iter().map(|window| window.forwarded).collect()
        };
        assert_eq!(numbers(0), [13, 14, 15, 25]);
        assert_eq!(numbers(1), [17, 18, 19]);
        assert_eq!(numbers(2), [9, 10, 11, 21, 22, 23]);
    }
}
