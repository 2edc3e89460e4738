//! `mpps explain`.

use super::compare::{NO_VARIANT, with_flags};
use super::quantity::trial_length;
use super::{OutputArgs, PlaceArgs, SentArgs, Verb};
use clap::{Args, Command};
use mpps_lab::jobs::explain::TRIALS_MIN;
use mpps_method::Span;
use std::ffi::OsString;

/// The verb.
const VERB: &str = "explain";
/// Trials at saturation, and pairs of them with `--against`.
const TRIALS: [u32; 2] = [5, 20];

/// Longest burn, ns: a frame that costs more leaves too few of them.
const BURN_MAX: u64 = 100_000;

/// Arguments of `mpps explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Length of each trial, in seconds or with a unit (200ms, 5m)
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = trial_length, help_heading = "Load")]
    pub time: Span,
    /// Trials at saturation that are sampled, each beside one that is not [default: 5]; with --against pairs of them, one
    /// of each set-up [default: 20]. More make the intervals narrower
    #[arg(long, value_name = "N", help_heading = "Load",
          value_parser = clap::value_parser!(u32).range(i64::from(TRIALS_MIN)..=1000))]
    pub trials: Option<u32>,
    /// Tell what each stage and cause takes more than in this set-up, which takes turns with the other flags': none (the
    /// same without --dut-setup), a program that sets up the router (as for --dut-setup), or flags of its own ('--queues 1',
    /// '--burn 0'); NAME=SETUP names it
    #[arg(
        long,
        value_name = "SETUP",
        allow_hyphen_values = true,
        help_heading = "Load"
    )]
    pub against: Option<String>,
    /// A cost that is known.
    #[command(flatten)]
    pub burning: BurnArgs,
    /// What is sent.
    #[command(flatten)]
    pub sent: SentArgs,
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A cost that is known.
#[derive(Args, Debug)]
pub struct BurnArgs {
    /// Let a program on the router's path spin so many ns for each frame, where it receives: the stage RX has to cost
    /// that much more, and what the program costs beside its spin, which 0 has alone. It tests the profile itself
    #[arg(long, value_name = "NS", help_heading = "Load", value_parser = clap::value_parser!(u64).range(0..=BURN_MAX))]
    pub burn: Option<u64>,
}

/// The flags that the set-up of `--against` can have of its own.
#[derive(Args, Debug)]
struct AgainstArgs {
    #[command(flatten)]
    _burning: BurnArgs,
    #[command(flatten)]
    _sent: SentArgs,
    #[command(flatten)]
    _place: PlaceArgs,
}

impl ExplainArgs {
    /// Trials at saturation, or pairs.
    #[must_use]
    pub fn trials(&self) -> u32 {
        let usual = TRIALS[usize::from(self.against.is_some())];
        self.trials.unwrap_or(usual)
    }

    /// The arguments again, from all words behind the program's name, with the own flags of the set-up of `--against`
    /// behind those of the explained one, which they override.
    ///
    /// # Errors
    /// One line that says what is wrong with these flags.
    pub fn with_flags(typed: &[OsString], flags: &[String]) -> Result<Self, String> {
        let own = AgainstArgs::augment_args(Command::new(VERB));
        match with_flags(VERB, own, typed, flags)? {
            Verb::Explain(args) => Ok(*args),
            _ => Err(NO_VARIANT.to_owned()),
        }
    }
}
