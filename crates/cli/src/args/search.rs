//! What is searched for.

use super::choice::{ACCEPTS, PRESETS, one_of};
use super::goal::{GoalsArg, goals};
use super::quantity::{
    LossVerification, budget, link_speed, loss_verification, rate, resolution, trial_length,
    warm_up,
};
use clap::{Args, ValueEnum};
use mpps_method::{Accept, LinkSpeed, Preset, Rate, Resolution, Span};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    /// MLRsearch (RFC 9971).
    Mlr,
    /// Bisection (RFC 2544 26.1).
    Bisection,
}

impl SearchArgs {
    /// Whether anything was typed that only a search heeds.
    pub fn any(&self) -> bool {
        let none = Self {
            expect_min: self.expect_min,
            link_speed: self.link_speed,
            ..Self::default()
        };
        *self != none
    }
}

/// What is searched for.
#[derive(Args, Debug, Default, PartialEq)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// Goals to find: ndr (nothing lost), pdr:LOSS (such as pdr:0.5%), several with commas. Each may have attributes of
    /// RFC 9971 behind it: exceed=, initial=, final=, sum=, width= (ndr,exceed=20%,sum=5s)
    /// [default: the preset's]
    #[arg(long, value_name = "GOALS", value_parser = goals)]
    pub goal: Vec<GoalsArg>,
    /// Attributes of the goals. quick: trials of 1 s, up to 5 at a load and 25 in all; the result is an estimate. csit:
    /// ndr and pdr:0.5%, trials of 1 s, up to 21 at a load; half may exceed. rfc2544: trials of 60 s without any loss;
    /// the result is a throughput [default: quick; from --time 60 on rfc2544]
    #[arg(long, value_name = "NAME", value_parser = one_of(PRESETS), hide_possible_values = true)]
    pub preset: Option<Preset>,
    /// Search: mlr (MLRsearch, RFC 9971), or bisection (RFC 2544 section 26.1), which its own flags imply
    /// [default: mlr]
    #[arg(long, value_name = "HOW", value_enum, hide_possible_values = true)]
    pub search: Option<KindArg>,
    /// Length of the trials a result stands on, in seconds or with a unit (200ms, 5m). RFC 2544 section 24 asks for 60;
    /// below that the result is an estimate [default: the preset's; bisection 1]
    #[arg(long, value_name = "SECONDS", value_parser = trial_length)]
    pub time: Option<Span>,
    /// How closely to find the rate: a share of it (RFC 9971: goal width), or frames/s (published: 50000). A
    /// bisection's loads are whole multiples of these frames/s [default: the preset's; bisection 1%]
    #[arg(long, value_name = "1%|FPS", value_parser = resolution)]
    pub resolution: Option<Resolution>,
    /// Trials at most, for each frame size; void and not offered ones do not count [default: quick 25]
    #[arg(long, value_name = "N")]
    pub trials_at_most: Option<u32>,
    /// Bisection: trials at each load at most, decided as soon as it is certain [default: 3]
    #[arg(long, value_name = "N")]
    pub trials_per_load: Option<u32>,
    /// Bisection: how many of the trials at a load must be lossless, any or all. RFC 2544 section 26.1 knows one trial
    /// only (--trials-per-load 1) [default: any]
    #[arg(long, value_name = "WHICH", value_parser = one_of(ACCEPTS), hide_possible_values = true)]
    pub accept: Option<Accept>,
    /// Bisection with loss verification (ETSI GS NFV-TST 009 12.3.3). A trial that lost up to Z frames is repeated, up
    /// to R trials at a load. Without Z a trial is repeated however many frames it lost
    #[arg(long, value_name = "R[:Z]", value_parser = loss_verification, conflicts_with_all = ["trials_per_load", "accept"])]
    pub verify_loss: Option<LossVerification>,
    /// Warm-up before each trial: frames sent at its load for this long do not count (200ms, 1)
    #[arg(long, value_name = "SECONDS", value_parser = warm_up)]
    pub warm_up: Option<Span>,
    /// Time for each frame size (30s, 2m). When it is spent, the result is the interval known by then
    /// [default: 30s with the preset quick, else as long as it takes]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub budget: Option<Span>,
    /// Highest load to offer, frames/s (400k, 1.5M, 1e6) [default: the tester's own ceiling]
    #[arg(long, value_name = "FPS", value_parser = rate)]
    pub max_rate: Option<Rate>,
    /// Lowest load to offer, frames/s (400k, 1.5M, 1e6) [default: 10k]
    #[arg(long, value_name = "FPS", value_parser = rate)]
    pub min_rate: Option<Rate>,
    /// Rate that every result has to reach, frames/s (400k, 1.5M, 1e6). If one does not, the exit code is 1, or 4 if
    /// another try may show it
    #[arg(long, value_name = "FPS", value_parser = rate)]
    pub expect_min: Option<Rate>,
    /// Speed that "% of link" refers to, bit/s (25G, 25GbE); notional where there is no physical link [default: that of the
    /// ports of --external, where they have one; else 40G]
    #[arg(long, value_name = "SPEED", value_parser = link_speed)]
    pub link_speed: Option<LinkSpeed>,
}
