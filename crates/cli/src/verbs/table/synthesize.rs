//! `mpps table synthesize`.

use super::read_with_progress;
use crate::args::SynthesizeArgs;
use crate::exit::Exit;
use crate::terminal;
use anyhow::{Result, bail};
use mpps_tables::{Histogram, ReadOptions, Source, synthesize};

/// Runs the verb.
pub fn run(args: &SynthesizeArgs) -> Result<Exit> {
    if args.ipv4 + args.ipv6 == 0 {
        bail!("no number of prefixes given: give --ipv4 or --ipv6, such as --ipv4 1M");
    }
    let histogram = match &args.like {
        None => Histogram::internet(),
        Some(file) => {
            let source = Source::from_argument(file.clone());
            let read = read_with_progress(source, &ReadOptions::default(), false)?;
            Histogram::from_table(&read.table)
        }
    };
    let table = synthesize(&histogram, args.ipv4, args.ipv6, args.seed)?;
    terminal::out(&terminal::prefixes(&table));
    Ok(Exit::Measured)
}
