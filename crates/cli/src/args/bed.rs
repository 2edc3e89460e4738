//! `mpps bed`, and the bed's own flags, which `mpps throughput` takes too.

use super::choice::{FRONTS, INTERFACES, RSS_KEYS, one_of};
use clap::{Args, Subcommand, ValueEnum, value_parser};
use mpps_lab::bed::{FILTERS_MAX, Front, Interfaces, RssKey};
use std::path::PathBuf;

/// Arguments of `mpps bed`.
#[derive(Args, Debug)]
pub struct BedArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub verb: BedVerb,
}

/// What can be done with a bed.
#[derive(Debug, Subcommand)]
pub enum BedVerb {
    /// Raise a bed and keep it: three network namespaces, two links, addresses
    Up(UpArgs),
    /// Lower a kept bed
    Down(DownArgs),
    /// Run a shell, or a command, in a namespace of a kept bed
    Shell(ShellArgs),
    /// List the beds, one a line: name, state, front, namespaces
    List(ListArgs),
}

/// Arguments of `mpps bed list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `mpps bed up`.
#[derive(Args, Debug)]
pub struct UpArgs {
    /// Name of the bed; letters, digits and dashes, 24 at most
    #[arg(value_name = "NAME")]
    pub name: String,
    /// How to set it up.
    #[command(flatten)]
    pub bed: SetUpArgs,
}

/// Arguments of `mpps bed down`.
#[derive(Args, Debug)]
pub struct DownArgs {
    /// Name of the bed (see `mpps bed list`)
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// The environment of set-up scripts and shells.
const ENVIRONMENT: &str = "The shell or command finds the bed by these variables of its environment:\n  \
    MPPS_BED         name of the bed\n  \
    MPPS_DUT_IN      interface at which the DUT receives (mB)\n  \
    MPPS_DUT_OUT     interface at which the DUT transmits (mC)\n  \
    MPPS_NETNS_OUT   network namespace of the tester's sending end\n  \
    MPPS_NETNS_DUT   network namespace of the DUT\n  \
    MPPS_NETNS_IN    network namespace of the tester's receiving end";

/// Arguments of `mpps bed shell`.
#[derive(Args, Debug)]
#[command(after_help = ENVIRONMENT)]
pub struct ShellArgs {
    /// Name of the bed (see `mpps bed list`)
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Which namespace: the DUT's, or the tester's sending (out) or receiving (in) end
    #[arg(long, value_enum, default_value_t = SideArg::Dut)]
    pub side: SideArg,
    /// A command to run there instead of $SHELL, with its arguments; give options of this verb before it
    #[arg(
        value_name = "COMMAND",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub command: Vec<String>,
}

/// A namespace of a bed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SideArg {
    /// The tester's sending end.
    Out,
    /// The router.
    Dut,
    /// The tester's receiving end.
    In,
}

/// Which CPUs a bed uses.
#[derive(Args, Debug)]
#[command(next_help_heading = "Bed")]
pub struct CpuArgs {
    /// CPUs of the DUT, such as 2-3 [default: one not used by the tester]
    #[arg(long, value_name = "LIST")]
    pub dut_cpus: Option<String>,
    /// CPUs of the tester, such as 0,1; the first one sends [default: up to two others, of other cores where there are any]
    #[arg(long, value_name = "LIST")]
    pub tester_cpus: Option<String>,
}

/// How to set up a bed.
#[derive(Args, Debug)]
#[command(next_help_heading = "Bed")]
pub struct SetUpArgs {
    /// Which part of the kernel receives for the DUT
    #[arg(long, value_name = "FRONT", value_parser = one_of(FRONTS), default_value = "cpumap", hide_possible_values = true,
          help = "Which part of the kernel receives for the DUT: cpumap (a virtual NIC), napi or softirq (plain veth)")]
    pub nic: Front,
    /// Receive queues of the virtual NIC, 1 to 64 [default: one for each of the DUT's CPUs]
    #[arg(long, value_name = "N")]
    pub queues: Option<u16>,
    /// Frames each receive ring holds, 8 to 16384 (cpumap only; plain veth has 256) [default: 4096]
    #[arg(long, value_name = "FRAMES")]
    pub rx_ring: Option<u32>,
    /// Key of the RSS hash that spreads flows over queues: default, or symmetric
    #[arg(long, value_name = "KEY", value_parser = one_of(RSS_KEYS), default_value = "default", hide_possible_values = true)]
    pub rss: RssKey,
    /// Which CPUs.
    #[command(flatten)]
    pub cpus: CpuArgs,
    /// Kernel interfaces that the tester uses: newest, or oldest (those of Linux 6.1, to compare kernels with one tester)
    #[arg(long, value_name = "AGE", value_parser = one_of(INTERFACES), default_value = "newest", hide_possible_values = true)]
    pub kernel_interfaces: Interfaces,
    /// Number of nft rules in the router's forward path; only the last one matches, and it accepts (RFC 2544 11.4: 1, 25)
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=i64::from(FILTERS_MAX)))]
    pub filters: Option<u16>,
    /// A program that sets up the DUT. It runs in its namespace before the first trial, as root, on the DUT's CPUs. It
    /// has to be executable. Its environment names the interfaces at which the DUT receives (MPPS_DUT_IN) and
    /// transmits (MPPS_DUT_OUT), the bed (MPPS_BED) and its network namespaces (MPPS_NETNS_OUT, MPPS_NETNS_DUT,
    /// MPPS_NETNS_IN)
    #[arg(long, value_name = "SCRIPT")]
    pub dut_setup: Option<PathBuf>,
}
