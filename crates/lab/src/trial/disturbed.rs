//! Which frames and slots of a trial fell into disturbances of the machine.

use super::windows::count_at;
use mpps_ebpf::instruments::sender::{Mark, Order, Outcome};
use mpps_ebpf::instruments::watch::Stall;
use mpps_method::disturbed::{Excluded, in_all};
use mpps_method::{Disturbance, Disturbed, Span};
use std::ops::Range;

/// The disturbed parts of a trial, and how many frames the sender had sent by then.
pub struct Disturbances {
    parts: Vec<Excluded>,
    started_ns: u64,
    order: Order,
    marks: Vec<Mark>,
}

impl Disturbances {
    /// From the sender's marks, and what it sent by its end.
    pub fn new(parts: Vec<Excluded>, order: &Order, sent: &Outcome, marks: &[Mark]) -> Self {
        let mut marks = marks.to_vec();
        marks.push(Mark {
            ns: sent.last_ns + 1,
            sequence: sent.sent,
        });
        Self {
            parts,
            started_ns: sent.started_ns,
            order: *order,
            marks,
        }
    }

    /// The sequence numbers of one direction that were sent in each disturbed part.
    pub fn sequences(&self, way: usize) -> Vec<Range<u64>> {
        let each = |part: &Excluded| self.sent_by(way, part.from)..self.sent_by(way, part.to);
        let ranges = self.parts.iter().map(each);
        ranges.filter(|range| !range.is_empty()).collect()
    }

    /// The sums over all disturbed parts. `lost` of the frames sent in them were lost.
    pub fn sum(&self, ways: usize, lost: Option<u64>) -> Disturbed {
        let (mut sent, mut unsent) = (0, 0);
        for part in &self.parts {
            let sent_then = (0..ways)
                .map(|way| self.sent_by(way, part.to) - self.sent_by(way, part.from))
                .sum::<u64>();
            let slots_by = |at: Span| self.order.slots_by(at.as_nanos());
            let slots = slots_by(part.to) - slots_by(part.from);
            sent += sent_then;
            unsent += slots.saturating_sub(sent_then);
        }
        Disturbed {
            times: u32::try_from(self.parts.len()).unwrap_or(u32::MAX),
            time: in_all(&self.parts),
            sent,
            unsent,
            lost,
        }
    }

    /// Whether no part was disturbed.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn sent_by(&self, way: usize, at: Span) -> u64 {
        let told = |mark: &Mark| (mark.ns, mark.sequence.get(way).copied().unwrap_or(0));
        count_at(&self.marks, self.started_ns + at.as_nanos(), told).round() as u64
    }
}

/// The disturbances that overlap a trial of this length, cut to it.
pub fn within(sent: &Outcome, length: Span, times: &[(usize, Stall)]) -> Vec<Disturbance> {
    let mut times = since(sent.started_ns, times);
    times.retain(|time| time.from < length);
    for time in &mut times {
        time.to = time.to.min(length);
    }
    times
}

/// The disturbances that ended after `started_ns`, as times since then.
pub fn since(started_ns: u64, times: &[(usize, Stall)]) -> Vec<Disturbance> {
    let not_over = |(_, time): &&(usize, Stall)| time.to_ns > started_ns;
    let time = |(cpu, time): &(usize, Stall)| Disturbance {
        cpu: *cpu,
        from: Span::from_nanos(time.from_ns.saturating_sub(started_ns)),
        to: Span::from_nanos(time.to_ns.saturating_sub(started_ns)),
    };
    times.iter().filter(not_over).map(time).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_ebpf::instruments::sender::PACE_SHIFT;

    /// 1000 frames/s for 100 ms, marked each millisecond; nothing was sent from 40 to 50 ms, and 4 of these slots were
    /// caught up with at once.
    fn paused() -> Disturbances {
        let sequence = |ms: u64| match ms {
            0..=40 => ms,
            41..=49 => 40,
            _ => ms - 6,
        };
        let mark = |ms: u64| Mark {
            ns: 7_000_000 + ms * 1_000_000,
            sequence: [sequence(ms), 0],
        };
        let order = Order {
            gap_fp: 1_000_000 << PACE_SHIFT,
            slots: 100,
            ..Order::default()
        };
        let sent = Outcome {
            started_ns: 7_000_000,
            last_ns: 7_000_000 + 99_000_000,
            sent: [94, 0],
            ..Outcome::default()
        };
        let part = |from, to| Excluded {
            from: Span::from_millis(from),
            to: Span::from_millis(to),
        };
        let marks: Vec<Mark> = (0..100).map(mark).collect();
        Disturbances::new(vec![part(39, 53), part(90, 200)], &order, &sent, &marks)
    }

    #[test]
    fn a_pause_after_the_last_frame_is_within_the_trial() {
        let sent = Outcome {
            started_ns: 1_000,
            last_ns: 5_000,
            ..Outcome::default()
        };
        let time = |from_ns, to_ns| (1, Stall { from_ns, to_ns });
        let times = [
            time(0, 900),
            time(500, 1_500),
            time(6_000, 20_000),
            time(11_500, 12_000),
        ];
        let found = within(&sent, Span::from_nanos(10_000), &times);
        let found: Vec<(u64, u64)> = found
            .iter()
            .map(|time| (time.from.as_nanos(), time.to.as_nanos()))
            .collect();
        assert_eq!(found, [(0, 500), (5_000, 10_000)]);
    }

    #[test]
    fn frames_and_slots_are_placed_in_time() {
        let disturbances = paused();
        assert_eq!(disturbances.sequences(0), [39..47, 84..94]);
        assert_eq!(disturbances.sequences(1), []);
    }

    #[test]
    fn what_stayed_unsent_in_a_pause_is_told() {
        let Disturbances { mut parts, .. } = paused();
        parts.truncate(1);
        let disturbances = Disturbances { parts, ..paused() };
        let sum = disturbances.sum(1, Some(3));
        assert_eq!((sum.times, sum.time), (1, Span::from_millis(14)));
        assert_eq!((sum.sent, sum.unsent, sum.lost), (8, 6, Some(3)));
    }
}
