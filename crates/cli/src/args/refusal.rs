//! A bad command line in one line: what is wrong, what to type instead, where help is.

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Characters of an argument that a message repeats at most.
const SHOWN_MAX: usize = 80;
/// Edits between an unknown flag and a flag that is offered for it, at most.
const EDITS_MAX: usize = 2;

/// A flag of another program, or of another verb.
struct Alias {
    /// As their users type it, words apart.
    typed: &'static str,
    /// The flag of ours that a verb has if the answer is right for it; empty: any verb.
    has: &'static str,
    /// What to type here.
    answer: &'static str,
}

/// Makes the table of them, a row each.
macro_rules! aliases {
    ($($typed:literal where $has:literal $answer:literal;)*) => {
        &[$(Alias { typed: $typed, has: $has, answer: $answer }),*]
    };
}
/// Flags of iperf3, TRex, fio, hyperfine, wrk and of other verbs, with the answer.
const ALIASES: &[Alias] = aliases! {
    "rate load bandwidth bitrate pps fps" where "max-rate"
        "mpps trial --rate 400k offers a fixed load; --max-rate and --min-rate bound a search";
    "rate bandwidth bitrate pps fps" where "load" "--load 400k,50% offers these loads, one after the other";
    "load bandwidth bitrate pps fps" where "rate" "--rate FPS is the load";
    "rate load bandwidth bitrate pps fps" where "simulate"
        "this verb sends as fast as the tester can; mpps trial --rate 400k offers a fixed load";
    "burst burst-size" where "max-rate"
        "frames are sent evenly; mpps trial --rate max offers as much as the tester can";
    "step-fps" where "resolution" "--resolution FPS makes the loads of a bisection whole multiples of FPS";
    "duration runtime seconds interval trial-time" where "time" "--time is the length of a trial";
    "size length frame-size packet-size mtu" where "frame" "--frame is the frame size in octets, FCS included";
    "count number trials repeat runs" where "trials-at-most"
        "--trials-at-most bounds the trials of a search, --time is the length of one";
    "threads cores cpus parallel streams" where "flows"
        "--flows is the number of flows, --queues of receive queues; --dut-cpus and --tester-cpus name CPUs";
    "interface port-pair dev" where "external" "--external OUT,IN measures a device between two ports";
    "output report logfile log" where "record" "--json prints JSON, --record FILE keeps every trial";
    "csv export-csv format" where "record"
        "mpps report RECORD --format csv writes CSV of a record, --format html a page; --json prints JSON";
    "setup set-up script" where "dut-setup" "--dut-setup SCRIPT is a program that sets up the router first";
    "routes prefixes" where "table" "--table synthetic:N loads N routes, --table FILE those of a file";
    "what-if" where "record" "mpps show RECORD --what-if predicts from a record of mpps explain";
    "flame flamegraph flame-graph folded" where "record"
        "mpps report RECORD --format flame draws a record of mpps explain";
    "export perf-script" where "record"
        "mpps report RECORD --format perf-script (or folded) exports a record of mpps explain";
    "simulate" where "frame"
        "a simulated pair only counts frames and has no times, routes, resets or CPUs; mpps throughput, loss, \
         trial and back-to-back take it";
    "color colour no-color no-colour" where ""
        "colour follows the terminal, and NO_COLOR=1 in the environment turns it off";
};

/// Of a verb, how the list of what it lacks begins, and a better answer than that list.
const MISSING: [(&str, &str, &str); 3] = [
    (
        "mpps compare",
        "--a <SETUP>, --b <SETUP>",
        "give two set-ups to measure, --a SETUP and --b SETUP, or two records, A.jsonl and B.jsonl",
    ),
    (
        "mpps loss",
        "--overload",
        "--for is the length of --overload: give both",
    ),
    (
        "mpps explain",
        "--cpus",
        "--for is how long to look at --cpus: give both",
    ),
];

/// What the standard library says of a number that it cannot read, and what to do.
const NUMBERS: [(&str, &str); 4] = [
    ("invalid digit found in string", "give a whole number"),
    (
        "cannot parse integer from empty string",
        "give a whole number",
    ),
    (
        "number too large to fit in target type",
        "give a smaller number",
    ),
    ("invalid float literal", "give a number"),
];

/// The parser's message as one line.
pub fn one_line(error: &Error, typed: &[String]) -> String {
    let root = super::command();
    let (verb, command) = command_of(&root, typed);
    let said = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            format!("no verb given: give one of: {}", verbs(command))
        }
        ErrorKind::InvalidSubcommand => {
            let word = context(error, ContextKind::InvalidSubcommand);
            match error.get(ContextKind::SuggestedSubcommand) {
                Some(ContextValue::Strings(alike)) if !alike.is_empty() => {
                    format!(
                        "{verb} has no \"{word}\": did you mean {}?",
                        alike.join(" or ")
                    )
                }
                _ => format!("{verb} has no \"{word}\": give one of: {}", verbs(command)),
            }
        }
        ErrorKind::UnknownArgument => {
            unknown(&verb, command, &context(error, ContextKind::InvalidArg))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = strings(error, ContextKind::InvalidArg).join(", ");
            if let Some((.., answer)) = MISSING
                .iter()
                .find(|(of, lacks, _)| (*of, true) == (verb.as_str(), missing.starts_with(lacks)))
            {
                return format!("{answer} (see {verb} --help)");
            }
            // A group of which one is enough: <--one|--other>.
            let group = missing.strip_prefix("<-").zip(missing.strip_suffix('>'));
            let missing = match group {
                Some(_) => missing[1..missing.len() - 1].replace('|', " or "),
                None => missing,
            };
            format!("{verb} needs more: give {missing}")
        }
        ErrorKind::WrongNumberOfValues if verb == "mpps compare" => {
            "give two records, as in mpps compare A.jsonl B.jsonl".to_owned()
        }
        ErrorKind::ArgumentConflict => conflict(error, command, typed),
        _ => joined(&error.render().to_string()),
    };
    format!("{said} (see {verb} --help)")
}

/// The same message with long arguments cut: a message is a line to read.
pub fn shortened(message: &str, typed: &[String]) -> String {
    let mut text = message.to_owned();
    for word in typed {
        let parts = word.split(['=', ',']);
        for part in std::iter::once(word.as_str()).chain(parts) {
            if let Some((end, _)) = part.char_indices().nth(SHOWN_MAX) {
                text = text.replace(part, &format!("{}...", &part[..end]));
            }
        }
    }
    text
}

fn context(error: &Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    }
}

fn strings(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(all)) => all.clone(),
        Some(ContextValue::String(one)) => vec![one.clone()],
        _ => Vec::new(),
    }
}

/// Two flags that exclude each other. Of a group of flags the parser knows only that one was typed, and names all.
fn conflict(error: &Error, command: &Command, typed: &[String]) -> String {
    let is_typed = |flag: &str| {
        typed
            .iter()
            .any(|word| word.split('=').next() == Some(flag))
    };
    let was_typed = |shown: &String| {
        let flag = shown.split([' ', '=']).next().unwrap_or_default();
        let arg = command
            .get_arguments()
            .find(|arg| arg.get_long() == flag.strip_prefix("--"));
        let short = arg.and_then(clap::Arg::get_short);
        is_typed(flag) || short.is_some_and(|short| is_typed(&format!("-{short}")))
    };
    let others = strings(error, ContextKind::PriorArg);
    let known: Vec<String> = others
        .iter()
        .filter(|shown| was_typed(shown))
        .cloned()
        .collect();
    let own = context(error, ContextKind::InvalidArg);
    // Also one flag that was typed twice.
    if known.is_empty() || known.contains(&own) {
        return joined(&error.render().to_string());
    }
    format!("{own} cannot be used with {}", known.join(", "))
}

/// What to type instead of an argument that this verb does not have.
fn unknown(verb: &str, command: &Command, typed: &str) -> String {
    let name = typed.split('=').next().unwrap_or_default();
    let Some(name) = name.strip_prefix("--") else {
        return format!("unexpected argument \"{typed}\"");
    };
    let has = |flag: &str| flags(command).any(|long| long == flag);
    let alias = ALIASES
        .iter()
        .filter(|alias| alias.has.is_empty() || has(alias.has))
        .find(|alias| alias.typed.split(' ').any(|typed| typed == name));
    let tip = match (alias, near(command, name)) {
        (Some(alias), _) => format!(": {}", alias.answer),
        (None, Some(flag)) => format!(": did you mean --{flag}?"),
        (None, None) => String::new(),
    };
    format!("{verb} has no flag --{name}{tip}")
}

/// The flag that was meant, where one is at most [`EDITS_MAX`] edits away, and one edit for three letters.
fn near<'a>(command: &'a Command, name: &str) -> Option<&'a str> {
    let allowed = EDITS_MAX.min(name.chars().count() / 3);
    let edits = |flag: &&str| strsim::osa_distance(flag, name);
    flags(command)
        .min_by_key(edits)
        .filter(|flag| edits(flag) <= allowed)
}

fn flags(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter_map(clap::Arg::get_long)
}

/// The parser's own message of several lines.
fn joined(message: &str) -> String {
    let wanted = message.lines().map(str::trim).filter(|line| {
        !line.is_empty() && !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let joined = wanted
        .collect::<Vec<_>>()
        .join("; ")
        .replace(":; ", ": ")
        .replace("; [", " [");
    let joined = NUMBERS
        .iter()
        .fold(joined, |text, (said, meant)| text.replace(said, meant));
    joined.trim_start_matches("error: ").to_owned()
}

fn verbs(command: &Command) -> String {
    let names: Vec<&str> = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .map(Command::get_name)
        .collect();
    names.join(", ")
}

/// The program and as many verbs as were typed right, and what is known of the last.
fn command_of<'a>(root: &'a Command, typed: &[String]) -> (String, &'a Command) {
    let (mut verb, mut command) = (root.get_name().to_owned(), root);
    for word in typed {
        let Some(next) = command.find_subcommand(word) else {
            break;
        };
        verb = format!("{verb} {word}");
        command = next;
    }
    (verb, command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(words: &str) -> String {
        let typed: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let all = std::iter::once("mpps").chain(words.split_whitespace());
        let error = super::super::command()
            .try_get_matches_from(all)
            .expect_err(words);
        let line = one_line(&error, &typed);
        assert!(!line.contains('\n') && !line.starts_with("error"), "{line}");
        assert!(line.ends_with("--help)"), "{line}");
        line
    }

    #[test]
    fn flags_of_other_programs_are_answered() {
        for (typed, wanted) in [
            ("--rate 1M", "mpps trial --rate"),
            ("--rate=1M", "mpps trial --rate"),
            ("--pps 1M", "mpps trial --rate"),
            ("--bandwidth 1G", "mpps trial --rate"),
            ("--burst 10", "--rate max"),
            ("--duration 10", "--time is the length"),
            ("--step-fps 50k", "--resolution FPS"),
            ("--size 64", "--frame is the frame size"),
            ("--count 5", "--trials-at-most"),
            ("--threads 2", "--dut-cpus"),
            ("--output x", "--record FILE"),
            ("--report x", "--record FILE"),
            ("--csv", "mpps report RECORD --format csv"),
            ("--format csv", "mpps report RECORD --format csv"),
            ("--color never", "NO_COLOR"),
            ("--setup x", "--dut-setup SCRIPT"),
            ("--routes 1k", "--table synthetic:N"),
            ("--what-if x", "mpps show RECORD --what-if"),
            ("--flame", "mpps report RECORD --format flame"),
            ("--export x", "mpps report RECORD --format perf-script"),
        ] {
            let line = refusal(&format!("throughput {typed}"));
            let flag = typed.split([' ', '=']).next().expect("a flag");
            let head = format!("mpps throughput has no flag {flag}: ");
            assert!(line.starts_with(&head) && line.contains(wanted), "{line}");
        }
    }

    #[test]
    fn answers_name_only_flags_that_the_verb_has() {
        assert_eq!(
            refusal("bed list --duration 5"),
            "mpps bed list has no flag --duration (see mpps bed list --help)"
        );
        assert!(refusal("bed list --color").contains("NO_COLOR"));
    }

    #[test]
    fn only_a_near_flag_is_offered() {
        for (typed, meant) in [
            ("--frames", "--frame?"),
            ("--prot", "--port?"),
            ("--expect-mni", "--expect-min?"),
            ("--jsno", "--json?"),
            ("--dut-cpu", "--dut-cpus?"),
        ] {
            let line = refusal(&format!("throughput {typed} 1"));
            assert!(line.contains(&format!("did you mean {meant}")), "{line}");
        }
        for typed in ["--draught", "--xyz", "--vlan", "--l5x"] {
            let line = refusal(&format!("throughput {typed} 1"));
            assert!(!line.contains("did you mean"), "{line}");
        }
    }

    #[test]
    fn an_unknown_verb_is_answered_with_those_there_are() {
        for (words, wanted) in [
            (
                "profile",
                "mpps has no \"profile\": give one of: throughput, ",
            ),
            (
                "thruput",
                "mpps has no \"thruput\": did you mean throughput?",
            ),
            (
                "bed rise",
                "mpps bed has no \"rise\": give one of: up, down, shell, list",
            ),
            (
                "records shw x",
                "mpps records has no \"shw\": did you mean show?",
            ),
            ("bed", "no verb given: give one of: up, down, shell, list"),
            ("", "no verb given: give one of: throughput"),
        ] {
            let line = refusal(words);
            assert!(line.contains(wanted), "{line}");
        }
    }

    #[test]
    fn a_bad_command_line_is_one_line_with_a_remedy() {
        for (words, wanted) in [
            (
                "throughput --queues x",
                "'--queues <N>': give a whole number",
            ),
            (
                "throughput --seed 99999999999999999999",
                "give a smaller number",
            ),
            (
                "records prune",
                "mpps records prune needs more: give --older-than <AGE> or --keep <RECORDS>",
            ),
            (
                "tune apply --netns x",
                "mpps tune apply needs more: give --profile <PROFILE>",
            ),
            (
                "compare",
                "--a SETUP and --b SETUP, or two records, A.jsonl and B.jsonl",
            ),
            ("compare --b none", "give --a <SETUP>"),
            ("compare r.jsonl", "give two records, "),
            (
                "loss --for 10s",
                "--for is the length of --overload: give both",
            ),
            ("explain --for 10", "--cpus: give both"),
            (
                "throughput --dry-run --dry-run",
                "'--dry-run' cannot be used multiple times",
            ),
            ("trial --pps 1M", "--rate FPS is the load"),
            ("latency --rate 1M", "--load 400k,50% offers"),
            ("back-to-back --rate 1M", "as fast as the tester can"),
            (
                "explain --cpus 0 --frame 64 -6",
                "--cpus <CPUS> cannot be used with --frame <SIZES>, --ipv6 (see",
            ),
            ("throughput --max-rate fast", "1.5M"),
            ("throughput --max-rate -1", "\"-1\""),
            ("throughput lab1", "unexpected argument \"lab1\""),
            ("bed down", "NAME"),
        ] {
            let line = refusal(words);
            assert!(line.contains(wanted), "{line}");
        }
    }

    #[test]
    fn long_arguments_are_cut() {
        let long = "\u{e9}".repeat(100_000);
        let cut = format!("{}...", "\u{e9}".repeat(SHOWN_MAX));
        for word in [long.clone(), format!("--bed={long}"), format!("ndr,{long}")] {
            let line = shortened(&format!("bed name \"{long}\": give"), &[word]);
            assert_eq!(line, format!("bed name \"{cut}\": give"));
        }
        let short = "bed name \"lab1\"";
        assert_eq!(shortened(short, &["lab1".to_owned()]), short);
    }
}
