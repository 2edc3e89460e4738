//! Doubts about the DUT's receive rings: what they hide, and how they were filled.

use super::{Doubt, Weighed, Weight};
use crate::trial::rules;
use mpps_method::{Outcome, Rate, Span, Trial};

/// The fullest queue may hold so many times its fair share.
const UNEVEN: f64 = 1.5;

pub(super) fn doubts(weighed: &Weighed<'_>) -> Vec<Doubt> {
    let (around, searched) = (weighed.around, weighed.searched);
    let mut doubts = Vec::new();
    // Where nothing was lost the ring hid nothing that the result depends on.
    if let Outcome::Found {
        lossless,
        lossy: Some(lossy),
        ..
    } = searched.result.outcome
    {
        let ring = around.ring_frames;
        let final_trial = searched.result.final_trial;
        doubts.extend(ring_hides(ring, final_trial, lossy.fps() - lossless.fps()));
        doubts.extend(stall_unseen(ring, lossy).filter(|_| around.simulated.is_none()));
    }
    doubts.extend(uneven_queues(searched.evidence.as_ref()));
    doubts
}

/// Where an overload that the ring holds within a trial is larger than the distance (frames/s) of the two loads found.
fn ring_hides(ring: u32, trial: Span, distance_fps: f64) -> Option<Doubt> {
    let hidden = Rate::from_frames(u64::from(ring), trial).unwrap_or_default();
    (hidden.fps() > distance_fps).then(|| Doubt {
        name: "ring-hides",
        weight: Weight::Unsure(1),
        seen: format!("a ring of {ring} frames hides an overload of {hidden} in one trial"),
        why: "Loads closer to each other than that cannot be distinguished.",
        next: "Use a longer --time or a smaller --rx-ring.",
    })
}

/// Whether pauses that the watch cannot see fill the rings at this load.
fn stall_unseen(ring: u32, rate: Rate) -> Option<Doubt> {
    let unseen = rules::UNSEEN;
    let fills = Span::from_secs_f64(f64::from(ring) / rate.fps().max(1.0));
    (ring > 0 && rate.frames_in(unseen) > u64::from(ring)).then(|| Doubt {
        name: "stall-unseen",
        weight: Weight::Unsure(2),
        seen: format!(
            "at {rate} a pause of {fills} fills the ring of {ring} frames, and the watch sees no pause below {unseen}"
        ),
        why: "The watch does not see so short a pause. Its loss counts as the DUT's loss.",
        next: "Use --nic cpumap, whose ring has the size of --rx-ring, or a quieter machine.",
    })
}

fn uneven_queues(trial: Option<&Trial>) -> Option<Doubt> {
    let queues = &trial?.per_queue;
    let (fullest, sum) = (*queues.iter().max()?, queues.iter().sum::<u64>());
    let fair = sum as f64 / queues.len() as f64;
    let ratio = fullest as f64 / fair.max(1.0);
    let empty = queues.iter().filter(|&&frames| frames == 0).count();
    (queues.len() > 1 && (ratio > UNEVEN || empty > 0)).then(|| Doubt {
        name: "uneven-queues",
        weight: Weight::Shifted(10),
        seen: format!(
            "the fullest of {} queues got {ratio:.1} times its share, and {empty} got none",
            queues.len()
        ),
        why: "The busiest queue limits the rate while the other CPUs are idle.",
        next: "Use more --flows, or --rss default instead of symmetric.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unseen_pause_that_fills_the_ring_is_doubted() {
        let fps = Rate::from_fps;
        let doubt = stall_unseen(256, fps(800_000.0)).expect("256 frames come in 320 us");
        assert_eq!(
            doubt.seen,
            "at 800.0 kfps a pause of 320 us fills the ring of 256 frames, and the watch sees no pause below 500 us"
        );
        assert_eq!(stall_unseen(256, fps(500_000.0)), None);
        assert_eq!(stall_unseen(4096, fps(1_900_000.0)), None);
        assert_eq!(stall_unseen(0, fps(1_900_000.0)), None, "an unknown ring");
    }

    #[test]
    fn unequal_shares_of_queues_are_doubted() {
        let seen = |per_queue: &[u64]| {
            let trial = Trial {
                per_queue: per_queue.to_vec(),
                ..Trial::default()
            };
            uneven_queues(Some(&trial)).map(|doubt| doubt.seen)
        };
        assert_eq!(
            seen(&[90, 10, 0]).as_deref(),
            Some("the fullest of 3 queues got 2.7 times its share, and 1 got none")
        );
        assert_eq!(seen(&[50, 40]), None);
        assert_eq!(seen(&[50]), None);
    }
}
