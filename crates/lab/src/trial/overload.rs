//! A trial at overload. A frame that this bed's ring refuses costs the router time, so few of them are sent to a full ring.

use super::{Begun, SENDER_MAX, back_to_back, rules, run, send_uncounted, speed};
use crate::bed::Front;
use crate::tester::{Tester, TesterError, until_ended};
use crate::traffic::{PortKind, ReceiverPlace};
use mpps_ebpf::instruments::sender::{Order, PAUSE_MAX_NS};
use mpps_method::{Offer, Rate, Trial};

/// A pause after a refusal lasts until this part of a ring is drained, or as much as the longest pause allows.
const BACK_OFF_PART: u32 = 32;
/// With shorter pauses more is lost than is taken.
const PAUSE_FRAMES_MIN: u64 = 32;
/// A router may forward so much less than expected. Its pauses are then that much longer.
const SLOWER: f64 = 2.0;
/// An overload ends when so many times the frames of its offer were sent.
const MORE_THAN_SEEN: f64 = 2.0;

/// Runs one trial at an offer that is above what the router forwards. Where the sender backs off, it sends as fast as it
/// can, and pauses after each refusal. The ring stays full, and few frames are lost. Else it keeps the offer's rate.
pub fn run_overload(tester: &mut Tester<'_>, offer: &Offer) -> Result<Trial, TesterError> {
    let Some(back_off_frames) = back_off_frames(tester, offer.rate) else {
        return run(tester, offer);
    };
    send_uncounted(tester, offer.rate, offer.rate.frames_in(tester.warm_up))?;
    let speeds = speed::read(&tester.bed.plan().cpus.all())?;
    let most = Rate::from_fps(MORE_THAN_SEEN * offer.rate.fps()).min(SENDER_MAX);
    let order = Order {
        back_off_frames,
        lasts_ns: offer.duration.as_nanos(),
        ..back_to_back(most.frames_in(offer.duration))
    };
    let begun = Begun {
        speeds: Some(speeds),
        ..Begun::back_to_back(tester, order)?
    };
    let sent = tester.sender.send(begun.order, &until_ended)?;
    begun.end(tester, sent)
}

/// Whether the sender backs off at an overload of a router that forwards about so much.
#[must_use]
pub fn backs_off(tester: &Tester<'_>, forwards: Rate) -> bool {
    back_off_frames(tester, forwards).is_some()
}

/// For how many frames the sender pauses after a refusal; `None` where it must not. Only a CPUMAP's refusals are seen. Of
/// several rings the fullest one would slow them all. In a pause nothing else is received on the sender's CPU.
pub(super) fn back_off_frames(tester: &Tester<'_>, forwards: Rate) -> Option<u64> {
    let plan = tester.bed.plan();
    let ring = rules::known_ring(tester.bed, &tester.traffic)?;
    let shares_cpu = tester.traffic.receiver == ReceiverPlace::Port
        && plan.cpus.receivers().contains(plan.cpus.sender());
    let may = tester.traffic.port == PortKind::Xdp
        && tester.bed.dut().front() == Some(Front::Cpumap)
        && ring == rules::one_ring(tester.bed)
        && !shares_cpu;
    may.then(|| pause_frames(ring, forwards)).flatten()
}

/// Frames of a pause; `None` where a router drains too few in the longest one.
fn pause_frames(ring: u32, forwards: Rate) -> Option<u64> {
    let part = u64::from((ring / BACK_OFF_PART).max(1));
    let drained = (forwards.fps() / SLOWER * PAUSE_MAX_NS as f64 / 1e9) as u64;
    (drained >= part.min(PAUSE_FRAMES_MIN)).then_some(part.min(drained))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_router_gets_no_pauses() {
        let pause = |ring, fps| pause_frames(ring, Rate::from_fps(fps));
        assert_eq!(pause(4096, 1e6), Some(128));
        // Half of 640 kfps drain 128 frames in 400 microseconds.
        assert_eq!(pause(4096, 640e3), Some(128));
        assert_eq!(pause(4096, 600e3), Some(120));
        assert_eq!(pause(4096, 160e3), Some(32));
        assert_eq!(pause(4096, 150e3), None);
        assert_eq!(pause(256, 100e3), Some(8));
        assert_eq!(pause(16, 100e3), Some(1));
    }
}
