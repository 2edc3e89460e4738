//! A simulated tester and router in place of a bed: the whole program runs, nothing is touched, and nothing
//! it prints is true of any router.

use super::measurer::{Measurer, Surroundings};
use crate::tester::TesterError;
use crate::trial::{SENDER_MAX, rules};
use mpps_method::simulate::{Properties, Simulated};
use mpps_method::{FrameSpec, Offer, Rate, Rules, Span, Trial};

/// The pair, with what is sent through it. (A simulated frame has no length.)
pub struct SimulatedPair {
    frames: FrameSpec,
    properties: Properties,
    pair: Simulated,
}

impl SimulatedPair {
    /// A pair at the beginning of its chances.
    #[must_use]
    pub fn new(frames: FrameSpec, properties: Properties) -> Self {
        let pair = Simulated::new(properties);
        Self {
            frames,
            properties,
            pair,
        }
    }

    fn ring(&self) -> u32 {
        u32::try_from(self.properties.ring).unwrap_or(u32::MAX)
    }
}

impl Measurer for SimulatedPair {
    fn frames(&self) -> &FrameSpec {
        &self.frames
    }

    fn trial(&mut self, offer: &Offer) -> Result<Trial, TesterError> {
        Ok(self.pair.trial(offer))
    }

    fn burst(&mut self, frames: u64) -> Result<Trial, TesterError> {
        let most = self.properties.tester_ceiling.unwrap_or(SENDER_MAX);
        let duration = Span::from_secs_f64(frames as f64 / most.fps());
        // A length in whole nanoseconds has a little more or less of them at the ceiling itself.
        let rate = Rate::from_frames(frames, duration).unwrap_or(most);
        self.trial(&Offer { rate, duration })
    }

    fn rules(&self, offer: &Offer) -> Rules {
        rules::choose_for_ring(self.ring(), None, offer)
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            ring_frames: self.ring(),
            simulated: Some(self.properties.to_string()),
            ..Surroundings::default()
        }
    }
}
