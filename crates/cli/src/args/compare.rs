//! `mpps compare`.

use super::quantity::percent;
use clap::Args;
use std::path::PathBuf;
#[cfg(feature = "measure")]
use {
    super::measuring::on_own_bed,
    super::quantity::budget,
    super::refusal::one_line,
    super::{Cli, PlaceArgs, RunArgs, SentArgs},
    clap::error::{ContextKind, ErrorKind},
    clap::parser::ValueSource,
    clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches},
    mpps_method::Span,
    std::ffi::{OsStr, OsString},
};

#[cfg(feature = "measure")]
const EXAMPLES: &str = "Examples:\n  \
    mpps compare --a none --b ./conntrack.sh               what does connection tracking cost?\n  \
    mpps compare --a '--queues 1' --b '--queues 2' --flows 64\n  \
    mpps compare --a none --b ./before.sh --c ./after.sh --fail-if-slower 3%\n  \
    mpps compare --a-binary ./mpps-before --b-binary ./mpps-after\n  \
    mpps compare monday.jsonl tuesday.jsonl --may-differ dut_setup\n\n\
    A SETUP is none, a program as for --dut-setup, or flags in quotes. NAME=SETUP gives it a name.";

/// A difference smaller than this share need not be found, where nobody says another.
pub const WITHIN: f64 = 0.02;

/// Two records, and what is asked of their difference.
#[derive(Args, Debug)]
pub struct FinishedArgs {
    /// Two records of `mpps throughput`, `mpps fib-scale` or `mpps explain` to compare, instead of measuring; the last
    /// run of each counts. This needs no rights
    #[cfg_attr(
        feature = "measure",
        arg(value_names = ["A.jsonl", "B.jsonl"], num_args = 2, conflicts_with_all = ["a", "b", "c", "budget"])
    )]
    #[cfg_attr(
        not(feature = "measure"),
        arg(value_names = ["A.jsonl", "B.jsonl"], num_args = 2, required = true)
    )]
    pub records: Vec<PathBuf>,
    /// A difference smaller than this need not be found: the run ends when the interval lies within it. A difference that
    /// was found ends the run when half of its interval is at most this, or a fifth of the difference. By default 2%, and
    /// 3% where a variant has destinations, as with --table, because equal set-ups differ by that there. Two records: 2%
    #[arg(long, value_name = "PERCENT", value_parser = share, help_heading = "Comparison")]
    pub within: Option<f64>,
    /// Exit code 1 if a variant is slower than the first one by more than this: a difference was found, and its median
    /// is more. Exit code 4 if it may be slower by more, and nothing shows it. Frames/s count, or CPU time of a frame
    /// where the tester reached its limit before the router
    #[arg(long, value_name = "PERCENT", value_parser = share, help_heading = "Comparison")]
    pub fail_if_slower: Option<f64>,
    /// Conditions in which two records may differ, because they are what you compare: dut_setup, kernel_release, queues ...
    /// (docs/records.md, comparability)
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        requires = "records",
        help_heading = "Comparison"
    )]
    pub may_differ: Vec<String>,
}

/// Arguments of `mpps compare` in a program that does not measure.
#[cfg(not(feature = "measure"))]
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// The records.
    #[command(flatten)]
    pub finished: FinishedArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `mpps compare`.
#[cfg(feature = "measure")]
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, mut_args(on_own_bed))]
pub struct CompareArgs {
    /// Two records instead, and what is asked of the difference.
    #[command(flatten)]
    pub finished: FinishedArgs,
    /// The set-up that all others are compared with: none, a program as for --dut-setup, or flags of its own ('--queues
    /// 1'). NAME=SETUP names it
    #[arg(long, value_name = "SETUP", required_unless_present_any = ["records", "a_binary"], allow_hyphen_values = true,
          help_heading = "Variants")]
    pub a: Option<String>,
    /// The set-up to compare with it
    #[arg(long, value_name = "SETUP", required_unless_present_any = ["records", "b_binary"], allow_hyphen_values = true,
          help_heading = "Variants")]
    pub b: Option<String>,
    /// Another one; may be given several times
    #[arg(
        long,
        value_name = "SETUP",
        allow_hyphen_values = true,
        help_heading = "Variants"
    )]
    pub c: Vec<String>,
    /// Two builds of mpps that take turns, each with its set-up (--a and --b; without these flags there is no set-up). In
    /// each turn a build runs its `mpps trial`, on a bed of its own
    #[arg(long, value_name = "PATH", requires = "b_binary", conflicts_with_all = ["records", "c"],
          help_heading = "Variants")]
    pub a_binary: Option<PathBuf>,
    /// The build to compare with it
    #[arg(long, value_name = "PATH", requires = "a_binary", conflicts_with_all = ["records", "c"],
          help_heading = "Variants")]
    pub b_binary: Option<PathBuf>,
    /// Time for all turns (30s, 2m); it ends earlier when the answer is known
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = budget, help_heading = "Comparison")]
    pub budget: Span,
    /// What is sent, where, and where results go.
    #[command(flatten)]
    pub run: RunArgs,
}

/// The flags that a variant can have of its own.
#[cfg(feature = "measure")]
#[derive(Args, Debug)]
struct VariantArgs {
    #[command(flatten)]
    _sent: SentArgs,
    #[command(flatten)]
    _place: PlaceArgs,
}

#[cfg(feature = "measure")]
impl WithSetUps for CompareArgs {
    const VERB: &str = "compare";

    fn own() -> Command {
        VariantArgs::augment_args(Command::new(Self::VERB))
    }
}

#[cfg(feature = "measure")]
impl CompareArgs {
    /// The flags of one variant as another build reads them: those of all and its own, in one list.
    pub fn flags_of_one(typed: &[OsString], flags: &[String]) -> Result<Vec<OsString>, String> {
        let own = Self::own();
        let matches = matches::<Self>(typed, flags)?;
        Ok(typed_flags(own.get_arguments(), &matches))
    }

    /// All words of a comparison of two set-ups, with the flags that these words gave another verb.
    pub fn words_of(set_ups: [&str; 2], typed: &[OsString]) -> Result<Vec<OsString>, String> {
        let words = std::iter::once(OsString::from("mpps")).chain(typed.iter().cloned());
        let matches = Cli::command().try_get_matches_from(words);
        let matches = matches.map_err(|error| one_line(&error, &[]))?;
        let mut of_verb = &matches;
        while let Some((_, inner)) = of_verb.subcommand() {
            of_verb = inner;
        }
        let [a, b] = set_ups;
        let own = [
            Self::VERB.to_owned(),
            format!("--a={a}"),
            format!("--b={b}"),
        ];
        let flags = typed_flags(Self::own().get_arguments(), of_verb);
        Ok(own.into_iter().map(OsString::from).chain(flags).collect())
    }
}

/// The flags of these that were typed, each in one word, as clap reads them again.
#[cfg(feature = "measure")]
pub fn typed_flags<'a>(all: impl Iterator<Item = &'a Arg>, matches: &ArgMatches) -> Vec<OsString> {
    let mut words = Vec::new();
    for arg in all {
        let id = arg.get_id().as_str();
        let is_typed = matches.value_source(id) == Some(ValueSource::CommandLine);
        let flag = arg.get_long().map(|flag| format!("--{flag}"));
        let Some(flag) = flag.filter(|_| is_typed) else {
            continue;
        };
        if !arg.get_action().takes_values() {
            words.push(flag.into());
            continue;
        }
        for values in matches.get_raw_occurrences(id).into_iter().flatten() {
            let mut word = OsString::from(format!("{flag}="));
            word.push(values.collect::<Vec<_>>().join(OsStr::new(",")));
            words.push(word);
        }
    }
    words
}

/// A verb with set-ups, each of which can have flags of its own.
#[cfg(feature = "measure")]
pub trait WithSetUps: FromArgMatches {
    /// The verb.
    const VERB: &str;

    /// The flags that a set-up can have of its own.
    fn own() -> Command;

    /// The arguments again, from all words behind the program's name, with the own flags of a set-up behind those of all,
    /// which they override.
    fn with_flags(typed: &[OsString], flags: &[String]) -> Result<Self, String> {
        let read = Self::from_arg_matches(&matches::<Self>(typed, flags)?);
        read.map_err(|error| one_line(&error, &[Self::VERB.to_owned()]))
    }
}

#[cfg(feature = "measure")]
fn matches<A: WithSetUps>(typed: &[OsString], flags: &[String]) -> Result<ArgMatches, String> {
    let verbs = [A::VERB.to_owned()];
    let own = A::own().no_binary_name(true).disable_help_flag(true);
    if let Err(error) = own.try_get_matches_from(flags) {
        let named = error.get(ContextKind::InvalidArg).map(ToString::to_string);
        let named = named.filter(|_| error.kind() == ErrorKind::UnknownArgument);
        let name = named.as_deref().and_then(|flag| flag.strip_prefix("--"));
        let all = Cli::command();
        let all = all.find_subcommand(A::VERB).map(Command::get_arguments);
        let is_of_all =
            (all.into_iter().flatten()).any(|arg| name.is_some() && arg.get_long() == name);
        return Err(match named {
            Some(flag) if is_of_all => {
                format!("{flag} is the same for all variants: give it outside the quotes")
            }
            _ => one_line(&error, &verbs),
        });
    }
    let own = flags.iter().map(OsString::from);
    let words = std::iter::once(OsString::from("mpps"))
        .chain(typed.iter().cloned())
        .chain(own);
    let command = Cli::command().mut_subcommand(A::VERB, |verb| verb.args_override_self(true));
    let matches = command.try_get_matches_from(words);
    let mut matches = matches.map_err(|error| one_line(&error, &verbs))?;
    let of_verb = matches.remove_subcommand();
    Ok(of_verb.map_or_else(ArgMatches::default, |(_, of_verb)| of_verb))
}

/// A share that can be found.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = percent(text).filter(|share| (0.001..=0.5).contains(share));
    share.ok_or_else(|| "give 0.1% to 50%".to_owned())
}
