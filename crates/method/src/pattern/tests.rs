//! Loss of known causes, made frame by frame, each told apart.

use super::*;
use crate::random::Random;

const SECOND: Span = Span::from_millis(1_000);

/// A trial of `sent` frames in one second in which `lost(sequence)` frames are lost.
fn trial(sent: u64, mut lost: impl FnMut(u64) -> bool) -> Losses {
    let mut words = vec![0; sent.div_ceil(64) as usize];
    for sequence in (0..sent).filter(|&sequence| !lost(sequence)) {
        words[(sequence / 64) as usize] |= 1_u64 << (sequence % 64);
    }
    Losses::from_bitmap(&words, sent, SECOND, &[]).expect("loss")
}

/// A DUT with a ring: frames come in batches (a sender catches up, a NIC's interrupt waits), are taken off in
/// bulks, and each takes its time, give or take a third. It stands still in the intervals given, in ns.
struct Dut {
    ring: u64,
    batch: u64,
    bulk: u64,
    service_ns: f64,
    still: Vec<(u64, u64)>,
}

impl Dut {
    fn at(capacity_fps: f64) -> Self {
        Self {
            ring: 4096,
            batch: 60,
            bulk: 8,
            service_ns: 1e9 / capacity_fps,
            still: Vec::new(),
        }
    }

    /// Loss at a load, in one second.
    fn offered(&self, load: u64) -> Option<Losses> {
        let mut random = Random::from_seed(load);
        let (mut stored, mut free_at) = (0_u64, 0.0_f64);
        let mut lost = vec![false; load as usize];
        for (sequence, lost) in lost.iter_mut().enumerate() {
            let due = (sequence as u64 / self.batch + 1) * self.batch * 1_000_000_000 / load;
            while stored > 0 && free_at <= due as f64 {
                let taken = stored.min(self.bulk);
                stored -= taken;
                free_at +=
                    taken as f64 * self.service_ns * (2.0 / 3.0 + random.next_f64() * 2.0 / 3.0);
                let stopped =
                    |(from, to): &&(u64, u64)| (*from as f64..*to as f64).contains(&free_at);
                if let Some((_, to)) = self.still.iter().find(stopped) {
                    free_at = *to as f64;
                }
            }
            if stored == 0 {
                free_at = free_at.max(due as f64);
            }
            if stored < self.ring {
                stored += 1;
            } else {
                *lost = true;
            }
        }
        lost.contains(&true)
            .then(|| trial(load, |sequence| lost[sequence as usize]))
    }
}

#[test]
fn overflow_is_seen_at_every_overload_and_ring() {
    for ring in [64, 512, 4096] {
        for (batch, bulk) in [(1, 1), (1, 8), (60, 8), (8, 64), (256, 8)] {
            for percent in [102, 105, 120, 200, 500] {
                let dut = Dut {
                    ring: ring.max(2 * batch),
                    batch,
                    bulk,
                    ..Dut::at(200_000.0)
                };
                // An overload that the ring has room for is none.
                let Some(losses) = dut.offered(2_000 * percent) else {
                    assert!(percent == 102 && ring == 4096);
                    continue;
                };
                let what = format!("ring {ring}, batch {batch}, bulk {bulk}, {percent} %");
                let pattern = losses.pattern();
                assert_eq!(pattern, LossPattern::Overflow, "{what}: {losses:?}");
            }
        }
    }
}

#[test]
fn a_stall_is_seen_with_its_count_and_length() {
    // At half of what it can do: 40 ms are 4000 frames, of which the ring holds 512.
    let mut dut = Dut {
        ring: 512,
        still: vec![(300_000_000, 340_000_000)],
        ..Dut::at(200_000.0)
    };
    let losses = dut.offered(100_000).expect("loss");
    let LossPattern::Stall { pauses: 1, longest } = losses.pattern() else {
        panic!("{losses:?}")
    };
    // What stood still did so for the run and the ring before it.
    let stood = longest.as_nanos() + losses.lasting(512).as_nanos();
    assert!(
        stood.abs_diff(40_000_000) < 2_000_000,
        "{longest} {losses:?}"
    );
    assert!(
        losses
            .at(losses.longest.first)
            .as_nanos()
            .abs_diff(305_000_000)
            < 2_000_000
    );
    // Near what it can do frames are lost for a while after as well, for the ring stays full.
    dut.still = [100, 350, 600, 850]
        .map(|at| (at * 1_000_000, (at + 30) * 1_000_000))
        .to_vec();
    for load in [100_000, 180_000] {
        let losses = dut.offered(load).expect("loss");
        assert!(
            matches!(losses.pattern(), LossPattern::Stall { pauses: 4, .. }),
            "{losses:?}"
        );
    }
}

#[test]
fn chance_is_seen_from_a_third_to_a_ten_thousandth() {
    let mut wrong = Vec::new();
    for (seed, one_in) in
        (0..10).flat_map(|seed| [3, 10, 100, 1_000, 10_000].map(|one_in| (seed, one_in)))
    {
        let mut random = Random::from_seed(seed);
        let losses = trial(400_000, |_| random.chance(1.0 / f64::from(one_in)));
        match losses.pattern() {
            LossPattern::Random { one_in: found } => {
                assert!(
                    (2..4).contains(&(found * 3 / u64::from(one_in as u32))) || one_in == 10_000,
                    "{found}"
                );
            }
            other => wrong.push((seed, one_in, other)),
        }
    }
    // The rule's bounds are wide, not endless: one in fifty may fall outside.
    assert!(wrong.len() <= 1, "{wrong:?}");
}

#[test]
fn counted_loss_stays_periodic_with_a_few_others() {
    for every in [4, 100, 1_000, 10_000] {
        let losses = trial(100_000, |sequence| sequence % every == every / 2);
        assert_eq!(losses.pattern(), LossPattern::Periodic { every });
        // A frame of another cause spoils two distances.
        let also = trial(300_000, |sequence| {
            sequence % every == every / 2 || sequence == 77_777
        });
        assert_eq!(also.pattern(), LossPattern::Periodic { every });
    }
    assert_eq!(
        trial(100_000, |s| s % 100_000 == 7).pattern(),
        LossPattern::Scarce
    );
}

/// What was lost in disturbances is left out. What repeats, repeats across them; what came in them alone, does not.
#[test]
fn counted_loss_stays_periodic_beside_disturbances() {
    let sent = 40_000;
    let with = |lost: fn(u64) -> bool, without: &[Range<u64>]| {
        let mut words = vec![u64::MAX; sent as usize / 64 + 1];
        for sequence in (0..sent).filter(|&sequence| lost(sequence)) {
            words[(sequence / 64) as usize] &= !(1 << (sequence % 64));
        }
        let losses = Losses::from_bitmap(&words, sent, SECOND, without);
        losses.expect("loss").pattern()
    };
    let counted = |sequence| sequence % 1_000 == 500;
    // The first three, one, and two that follow each other.
    let hidden = [0..2_900, 7_400..7_600, 12_000..14_000];
    let every = 1_000;
    assert_eq!(with(counted, &hidden), LossPattern::Periodic { every });
    let gaps = |sequence| sequence % 1_000 == 500 && sequence / 1_000 % 6 != 1;
    assert_eq!(with(gaps, &hidden[2..]), LossPattern::Mixed);
}

#[test]
fn a_policer_overflows_with_any_traffic() {
    for (rate, batch) in [
        (95_000.0, 1),
        (70_000.0, 1),
        (30_000.0, 1),
        (70_000.0, 16),
        (95_000.0, 60),
    ] {
        let (mut bucket, mut last) = (64.0_f64, 0);
        let losses = trial(100_000, |sequence| {
            let now = sequence / batch * batch * 10_000;
            bucket = (bucket + (now - last) as f64 * rate / 1e9).min(64.0);
            last = now;
            let over = bucket < 1.0;
            bucket -= if over { 0.0 } else { 1.0 };
            over
        });
        assert_eq!(
            losses.pattern(),
            LossPattern::Overflow,
            "{rate} {batch} {losses:?}"
        );
    }
}

#[test]
fn two_causes_of_the_same_weight_are_mixed() {
    let mut random = Random::from_seed(5);
    let losses = trial(400_000, |s| {
        (100_000..100_400).contains(&s) || random.chance(0.001)
    });
    assert_eq!(losses.pattern(), LossPattern::Mixed, "{losses:?}");
    // A few lost frames, wherever.
    assert_eq!(trial(100_000, |s| s < 5).pattern(), LossPattern::Scarce);
}

#[test]
fn figures_are_those_of_the_definition() {
    // 1000 frames a millisecond: 40 frames apart is one episode, 5 ms apart is another.
    let lost = |s: u64| matches!(s, 1_000..1_020 | 1_060..1_064 | 10_000 | 999_999);
    let losses = trial(1_000_000, lost);
    assert_eq!((losses.lost, losses.runs, losses.episodes), (26, 4, 3));
    assert_eq!(
        (losses.bunches, losses.lost_in_bunches, losses.lost_in_lumps),
        (1, 24, 20)
    );
    assert_eq!(
        losses.longest,
        Run {
            first: 1_000,
            frames: 20
        }
    );
    assert_eq!(
        losses.last,
        Run {
            first: 999_999,
            frames: 1
        }
    );
    assert_eq!(losses.at(10_000), Span::from_millis(10));
    assert_eq!(losses.extent(), losses.lasting(999_000));
    assert!((losses.spacing_mean - 998_999.0 / 3.0).abs() < 1e-9);
    let all = trial(1_000, |_| true);
    assert_eq!((all.runs, all.dispersion, all.spacing_cv), (1, 0.0, 0.0));
    assert!(matches!(
        all.pattern(),
        LossPattern::Stall {
            pauses: 1,
            longest: SECOND
        }
    ));
    assert_eq!(Losses::from_bitmap(&[u64::MAX], 64, SECOND, &[]), None);
}

#[test]
fn of_many_runs_all_count_and_the_first_are_kept() {
    let losses = trial(100_000, |sequence| sequence % 10 < 3);
    assert_eq!(losses.first_runs.len(), RUNS_KEPT);
    assert_eq!((losses.runs, losses.lost), (10_000, 30_000));
}

proptest::proptest! {
    /// Whatever was lost, nothing panics, and the sums hold.
    #[test]
    fn every_loss_has_a_pattern(words in proptest::collection::vec(proptest::num::u64::ANY, 1..40), ms in 0_u64..2_000) {
        let sent = words.len() as u64 * 64;
        if let Some(losses) = Losses::from_bitmap(&words, sent, Span::from_millis(ms), &[]) {
            let zeros: u32 = words.iter().map(|word| word.count_zeros()).sum();
            proptest::prop_assert_eq!(losses.lost, u64::from(zeros));
            proptest::prop_assert!(losses.lost_in_lumps <= losses.lost_in_bunches && losses.lost_in_bunches <= losses.lost);
            proptest::prop_assert!(losses.bunches <= losses.episodes && losses.episodes <= losses.runs);
            proptest::prop_assert!(losses.spacing_cv.is_finite() && losses.dispersion.is_finite());
            let _ = losses.pattern().to_string();
        }
    }
}

/// What is passed over is no stretch without loss: it must not make lumps of loss that is even.
#[test]
fn loss_by_chance_stays_that_beside_disturbances() {
    let sent = 200_000_u64;
    let mut random = Random::from_seed(7);
    let lost: Vec<u64> = (0..sent).filter(|_| random.chance(0.001)).collect();
    let mut words = vec![u64::MAX; sent.div_ceil(64) as usize];
    for sequence in &lost {
        words[(sequence / 64) as usize] &= !(1 << (sequence % 64));
    }
    let without: Vec<std::ops::Range<u64>> = (0..20)
        .map(|part| part * 10_000..part * 10_000 + 3_000)
        .collect();
    let losses = Losses::from_bitmap(&words, sent, SECOND, &without).expect("loss");
    assert_eq!(losses.sent, 140_000);
    assert_eq!(losses.length, Span::from_millis(700));
    assert_eq!(losses.pattern().name(), "random", "{losses:?}");
    let outside = |sequence: &&u64| !without.iter().any(|range| range.contains(sequence));
    assert_eq!(losses.lost, lost.iter().filter(outside).count() as u64);
}
