//! Arguments as typed: one file a verb. `verbs` says what they mean.

#[cfg(feature = "measure")]
mod back_to_back;
#[cfg(feature = "measure")]
mod bed;
#[cfg(feature = "measure")]
mod calibrate;
#[cfg(feature = "measure")]
mod campaign;
#[cfg(feature = "measure")]
mod choice;
mod compare;
#[cfg(feature = "measure")]
mod doctor;
#[cfg(feature = "measure")]
mod explain;
#[cfg(feature = "measure")]
mod fib;
#[cfg(feature = "measure")]
mod fib_scale;
mod generate;
#[cfg(feature = "measure")]
pub mod goal;
#[cfg(feature = "measure")]
mod lasting;
#[cfg(feature = "measure")]
mod latency;
mod limits;
#[cfg(feature = "measure")]
mod loss;
#[cfg(feature = "measure")]
mod measuring;
#[cfg(feature = "measure")]
mod port;
#[cfg_attr(
    not(feature = "measure"),
    allow(dead_code, reason = "most quantities are of verbs that measure")
)]
pub mod quantity;
mod records;
#[cfg(feature = "measure")]
mod recover;
#[cfg(feature = "measure")]
mod recovery;
mod refusal;
mod report;
#[cfg(feature = "measure")]
mod reset;
#[cfg(feature = "measure")]
mod rfc2544;
mod route_file;
#[cfg(feature = "measure")]
mod search;
mod setting;
mod short_help;
mod show;
#[cfg(feature = "measure")]
mod simulate;
mod table;
#[cfg(feature = "measure")]
mod throughput;
#[cfg(feature = "measure")]
mod top;
#[cfg(feature = "measure")]
mod traffic;
#[cfg(feature = "measure")]
mod trial;
mod tune;
#[cfg(feature = "measure")]
mod tune_apply;
#[cfg(feature = "measure")]
mod tune_measure;

#[cfg(feature = "measure")]
pub use choice::FAULTS;
pub use compare::{CompareArgs, FinishedArgs, WITHIN};
pub use generate::{CompletionsArgs, ManArgs};
pub use limits::LimitsArgs;
pub use records::{PruneArgs, RecordsArgs, RecordsVerb};
#[cfg(feature = "measure")]
pub use refusal::one_line;
pub use refusal::shortened;
pub use report::{ReportArgs, ReportFormat};
pub use route_file::{ChooseArgs, RouteFileArgs};
pub use setting::no_setting;
pub use show::ShowRecordArgs;
pub use table::{ReadArgs, SynthesizeArgs, TableArgs, TableVerb};
#[cfg(feature = "measure")]
pub use tune::{CookbookArgs, ShowSettingsArgs};
pub use tune::{ListSettingsArgs, TuneArgs, TuneVerb};
#[cfg(feature = "measure")]
pub use tune_apply::{ApplyArgs, GuardArgs, RevertSettingsArgs, SiteArgs};
#[cfg(feature = "measure")]
pub use tune_measure::MeasureSettingsArgs;
#[cfg(feature = "measure")]
pub use {
    back_to_back::BurstArgs,
    bed::{BedArgs, BedVerb, CpuArgs, SetUpArgs, ShellArgs, SideArg, UpArgs},
    calibrate::CalibrateArgs,
    campaign::{CampaignArgs, CampaignVerb, RunCampaignArgs},
    compare::{WithSetUps, typed_flags},
    doctor::DoctorArgs,
    explain::ExplainArgs,
    fib::{ClearArgs, FibArgs, LoadArgs, RouteArgs, ShowArgs, StatsArgs},
    fib_scale::FibScaleArgs,
    latency::LatencyArgs,
    loss::LossArgs,
    measuring::{BedChoiceArgs, OutputArgs, PlaceArgs, RunArgs, SentArgs, SimulateArgs},
    port::PortArgs,
    recover::RecoverArgs,
    recovery::RecoveryArgs,
    reset::ResetArgs,
    rfc2544::SuiteArgs,
    search::{KindArg, SearchArgs},
    throughput::ThroughputArgs,
    top::{TopArgs, top_intervals},
    traffic::{DestinationArgs, RouteChangesArg, TrafficArgs},
    trial::TrialArgs,
};

use crate::exit::Exit;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// How wide help text may get, columns.
const HELP_WIDTH: usize = 100;

/// Measure how many packets per second a Linux router forwards.
#[derive(Debug, Parser)]
#[command(name = "mpps", version, max_term_width = HELP_WIDTH, after_help = EXIT_CODES_SHORT,
          after_long_help = EXIT_CODES, help_template = TEMPLATE)]
pub struct Cli {
    /// The job.
    #[command(subcommand)]
    pub verb: Verb,
}

/// As usual, without empty lines around the usage and the options: all verbs fit a screen.
const TEMPLATE: &str =
    "{about}\n{usage-heading} {usage}\nCommands:\n{subcommands}\nOptions:\n{options}{after-help}";

const EXIT_CODES: &str = "Exit codes: 0 measured, 1 an expectation was not met or every load lost frames, 2 bad input \
                          or missing rights. Code 3 says that the host could not be restored (run `mpps recover`). \
                          Code 4 says that a result is missing or decides nothing, mostly because the machine was \
                          disturbed (try again). Code 130 says that the run was interrupted.";
/// The same in a line, for `-h`.
const EXIT_CODES_SHORT: &str = "Exit codes: 0 measured, 1 not as expected, 2 failed, 3 not restored, 4 no answer, 130 interrupted";

/// Every verb, a row each: its help, the feature that it needs, its flags, the function of `verbs` that runs it, and its name
/// as a cell of a campaign, whose plan `cell` beside that function makes. The macro `then` gets all rows. Three macros take
/// them: below, in `main.rs` and in `verbs/campaign.rs`.
macro_rules! each_verb {
    ($then:ident) => {
        $then! {
            /// Measure the maximum forwarding rate, its limit, and the rate without loss (RFC 2544)
            "measure" Throughput(Box<ThroughputArgs>) throughput::run, cell "throughput";
            /// Offer a fixed load and show all counts, without a search
            "measure" Trial(Box<TrialArgs>) trial::run, cell "trial";
            /// Measure the share of frames lost at each load, from the highest down (RFC 2544 26.3)
            "measure" Loss(Box<LossArgs>) loss::run, cell "loss";
            /// Measure how long every frame takes at given loads (RFC 2544 26.2, RFC 8219 7)
            "measure" Latency(Box<LatencyArgs>) latency::run, cell "latency";
            /// Measure the longest burst without loss (RFC 2544 26.4, RFC 9004)
            "measure" BackToBack(Box<BurstArgs>) back_to_back::run, cell "back-to-back";
            /// Measure for how long frames are lost after an overload (RFC 2544 26.5)
            "measure" Recovery(Box<RecoveryArgs>) recovery::run;
            /// Measure for how long nothing is forwarded after a reset (RFC 2544 26.6, RFC 6201)
            "measure" Reset(Box<ResetArgs>) reset::run;
            /// Show where the time of a frame goes, what limits the router and what it could reach
            ///
            /// mpps samples the router while it is saturated and at lower loads. It splits its busy time by stage and by cause.
            "measure" Explain(Box<ExplainArgs>) explain::run, cell "explain";
            /// Watch a router at its work, live: CPUs, interfaces, drops and the cost of a frame
            ///
            /// mpps sends nothing and changes nothing. Interfaces and drops are those of this network namespace. Keys: q quits,
            /// p pauses, s shows causes in place of stages, + and - change the interval, ? or h explains the keys.
            ///
            /// On a kept bed: mpps bed shell NAME mpps top.
            "measure" Top(TopArgs) top::run;
            /// Run all benchmarks of RFC 2544 section 26 into one record
            ///
            /// Throughput, latency, frame loss rate, back-to-back frames, system recovery and reset, for each frame size on one bed.
            /// Each part is also a verb of its own.
            "measure" Rfc2544(Box<SuiteArgs>) rfc2544::run;
            /// Measure the cost of a frame against routes and destinations
            ///
            /// It is told at overload, and at one load that all points have. Any flag of the search adds a search for the rate without loss.
            "measure" FibScale(Box<FibScaleArgs>) fib_scale::run, cell "fib-scale";
            /// Compare set-ups of the router that take turns on one machine, or two records
            ///
            /// Each set-up has a bed of its own. All beds stand at once, with the same CPUs of the tester. The result says for each
            /// set-up what a frame costs more or less than in the first one. It also says how many frames per second that means.
            Compare(Box<CompareArgs>) compare::run, cell "compare";
            /// Run a published study, or your own plan of many runs, into one record
            "measure" Campaign(CampaignArgs) campaign::run;
            /// Test the meter on this machine by planted faults of known size
            "measure" Calibrate(CalibrateArgs) calibrate::run;
            /// Show the result of a record again
            Show(ShowRecordArgs) show::run;
            /// Write one HTML page from records: the answer, its doubts, plots, every trial
            Report(ReportArgs) report::run;
            /// List the records of this user, or remove old ones
            Records(RecordsArgs) records::run;
            /// Compute what wire, bus and memory allow: frames per second and time for a frame
            Limits(LimitsArgs) limits::run;
            /// Read or synthesize routing tables; load them into a FIB, count, clear
            Table(Box<TableArgs>) table::run;
            /// Show the settings that bear on packet rates, and this machine's beside the advice
            Tune(TuneArgs) tune::run, cell "tune measure";
            /// Raise, lower, list or enter test beds
            "measure" Bed(BedArgs) bed::run;
            /// Show what this machine lacks for each job, the cost of each lack, and its remedy
            "measure" Doctor(DoctorArgs) doctor::run;
            /// Restore the host after a crash: undo the changes of dead runs
            "measure" Recover(RecoverArgs) recover::run;
            /// Write man pages, one a verb
            #[command(hide = true)]
            Man(ManArgs) generate::man;
            /// Print completions for a shell
            #[command(hide = true)]
            Completions(CompletionsArgs) generate::completions;
        }
    };
}
pub(crate) use each_verb;

macro_rules! declare {
    ($($(#[$about:meta])* $($feature:literal)? $verb:ident($args:ty) $module:ident::$run:ident
       $(, cell $cell:literal)?;)*) => {
        /// The jobs.
        #[derive(Debug, Subcommand)]
        pub enum Verb {$(
            $(#[$about])*
            $(#[cfg(feature = $feature)])?
            $verb($args),
        )*}

        /// Verbs that a cell of a campaign can have.
        #[cfg(feature = "measure")]
        pub const CELLS: &[&str] = &[$($($cell,)?)*];
    };
}
each_verb!(declare);

/// The command line's definition; `-h` of long verbs shows the flags most people use.
pub fn command() -> clap::Command {
    let command = Cli::command();
    #[cfg(feature = "measure")]
    let command = command.mut_subcommand("rfc2544", |verb| {
        verb.mut_arg("frame", |sizes| sizes.help(rfc2544::FRAME))
    });
    short_help::with_short_help(command)
}

/// Reads the command line. `Err` when there is nothing to run: help was asked for, or the input is bad.
///
/// # Errors
/// The exit code, after help went to stdout or one line to stderr.
pub fn read() -> Result<Cli, Exit> {
    let parsed = command()
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            crate::print::keep_error(error.print());
            Exit::Measured
        }
        _ => {
            let line = refusal::one_line(&error, &typed());
            crate::print::error(&refusal::shortened(&line, &typed()));
            Exit::Failed
        }
    })
}

/// The arguments as typed. Octets that are not UTF-8 are replaced.
pub fn typed() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        command().debug_assert();
    }

    /// Each job that doctor names can be typed.
    #[cfg(feature = "measure")]
    #[test]
    fn doctors_jobs_are_verbs() {
        for job in &mpps_lab::doctor::JOBS {
            let words = job.command.split(' ').chain(["--help"]);
            let typed = Cli::try_parse_from(std::iter::once("mpps").chain(words));
            let known = typed.is_err_and(|error| error.kind() == ErrorKind::DisplayHelp);
            let elsewhere = job.command.starts_with('(');
            assert_eq!(known, !elsewhere, "{}", job.command);
        }
    }
}
