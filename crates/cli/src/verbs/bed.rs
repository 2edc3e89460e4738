//! `mpps bed up|down|shell|list`.

use crate::args::{BedArgs, BedVerb, ShellArgs, SideArg, UpArgs};
use crate::exit::Exit;
use crate::plan::{BedWish, bed_name};
use crate::terminal;
use anyhow::Result;
use mpps_lab::bed::{self, Bed, Side};
use mpps_lab::{facts, interrupt};

/// Runs the verb.
pub fn run(args: &BedArgs) -> Result<Exit> {
    match &args.verb {
        BedVerb::Up(args) => up(args),
        BedVerb::Down(args) => {
            let name = bed_name(&args.name)?;
            facts::check()?;
            bed::down(&name)?;
            Ok(Exit::Measured)
        }
        BedVerb::Shell(args) => shell(args),
        BedVerb::List(args) => {
            facts::check()?;
            let beds = bed::list()?;
            terminal::out(&match args.json {
                true => terminal::beds_json(&beds),
                false => terminal::beds(&beds),
            });
            Ok(Exit::Measured)
        }
    }
}

fn up(args: &UpArgs) -> Result<Exit> {
    let wish = BedWish::new(&args.bed, Some(&args.name))?;
    facts::check()?;
    interrupt::install()?;
    let bed = Bed::raise(&wish.on_this_machine()?)?;
    let name = bed.name().to_owned();
    bed::keep(bed)?;
    terminal::out(&format!(
        "bed {name} is up: mpps-{name}-out, mpps-{name}-dut, mpps-{name}-in (lower it: mpps bed down {name})\n"
    ));
    Ok(Exit::Measured)
}

/// The command's own exit code is told, not passed on: ours have meanings.
fn shell(args: &ShellArgs) -> Result<Exit> {
    let name = bed_name(&args.name)?;
    facts::check()?;
    let side = match args.side {
        SideArg::Out => Side::A,
        SideArg::Dut => Side::B,
        SideArg::In => Side::D,
    };
    let bed = bed::open(&name)?;
    let status = bed::shell(&bed, side, &args.command)?.wait()?;
    if status.success() || args.command.is_empty() {
        return Ok(Exit::Measured);
    }
    terminal::error(&format!("the command ended with {status}"));
    Ok(Exit::Failed)
}
