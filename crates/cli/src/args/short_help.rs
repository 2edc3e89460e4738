//! `-h` of a long verb: the flags most people use, a line each. `--help` has all of them with their whole text.

use clap::{Arg, ArgAction, Command};

/// A verb with more arguments than this has a short help of its own.
const ARGUMENTS_MAX: usize = 15;

/// A text of so many characters fits a line of 80 columns beside its flag.
const SHORT: usize = 60;

/// Flags of a verb that its own main flags leave no lines for.
const LEFT_OUT: &[(&str, &[&str])] = &[("explain", &["time", "ipv6", "destinations", "quiet"])];

/// The arguments that `-h` of a long verb shows, with a text that fits a line of 80 columns.
const SHOWN: &[(&str, &str)] = &[
    // mpps compare
    ("a", "The set-up to compare with: none, a program, or flags"),
    ("b", "The set-up to compare; --c adds another one"),
    ("within", "Smaller differences do not matter"),
    (
        "fail_if_slower",
        "More than this much slower is exit code 1",
    ),
    ("frame", "Frame sizes, octets with FCS, or a mix (imix)"),
    ("flows", "Flows in each direction"),
    ("ipv6", "Send IPv6 instead of IPv4"),
    ("table", "Routes for the router: MRT, bgpdump -m, or a list"),
    ("routes", "Counts of routes"),
    ("destinations", "Different destinations, such as 1M"),
    ("preset", "quick, csit or rfc2544 [default: quick]"),
    ("time", "Length of a trial (1, 200ms, 60s)"),
    ("rate", "Loads, frames/s, such as 400k,1M,max"),
    (
        "expect_min",
        "Lowest rate that passes, frames/s; else exit code 1",
    ),
    ("reset", "link, routes, set-up, process or program"),
    ("queues", "Receive queues of the router"),
    ("dut_setup", "A program that sets up the router first"),
    ("json", "Print the result as JSON"),
    ("record", "Append every trial to this file"),
    ("quiet", "No progress on stderr"),
    ("verbose", "Show every trial"),
    // mpps explain
    (
        "against",
        "Another set-up, to tell what this one takes more",
    ),
    ("sweep", "The cost along flows, destinations, routes, ..."),
    ("cpus", "Look at these CPUs of this host at its own work"),
    ("look", "How long to look"),
    // mpps loss
    ("overload", "One lasting overload instead: 5x, or max"),
    ("lasts", "How long the overload lasts"),
    // mpps tune measure
    ("screen", "Switch about half of the settings in each turn"),
    ("by_stage", "Profile each setting that acts, at both levels"),
    // mpps rfc2544
    (
        "quick",
        "Finish within 15 minutes: fewer sizes, shorter trials",
    ),
    ("only", "Only these parts, settings or faults, by name"),
    ("except", "All parts or settings but these"),
    // mpps table load
    ("bed", "The router of a bed that `mpps bed up` keeps"),
    (
        "file",
        "Routes: MRT, bgpdump -m, or a list; - is standard input",
    ),
    (
        "allow_system_changes",
        "Change this machine itself too, not only a bed",
    ),
    ("via", "Next hops, addresses of neighbours"),
    ("ipv4_only", "IPv4 only"),
    ("ipv6_only", "IPv6 only"),
    ("sample", "Draw this many prefixes"),
];

/// The same commands, with a short help where there are many arguments.
pub fn with_short_help(command: Command) -> Command {
    let long = command.get_arguments().count() > ARGUMENTS_MAX;
    let command = command.mut_subcommands(with_short_help);
    if !long {
        return command;
    }
    // With the last group, because a group of its own would take three lines of the screen.
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help_heading("Output")
        .help("Print the most used flags (-h) or all flags (--help)");
    let left_out = LEFT_OUT
        .iter()
        .find(|(verb, _)| *verb == command.get_name());
    let left_out = left_out.map_or(&[][..], |(_, ids)| ids);
    let shown = |argument: Arg| match left_out.contains(&argument.get_id().as_str()) {
        true => argument.hide_short_help(true),
        false => shown(argument),
    };
    command.mut_args(shown).disable_help_flag(true).arg(help)
}

fn shown(argument: Arg) -> Arg {
    let short = SHOWN.iter().find(|(id, _)| argument.get_id() == id);
    let Some((_, short)) = short else {
        return argument.hide_short_help(true);
    };
    let long = argument.get_help().cloned().unwrap_or_default();
    // A verb may have a text of its own that fits a line.
    if long.to_string().chars().count() <= SHORT {
        return argument;
    }
    argument.help(*short).long_help(long)
}
