//! `mpps report`: records to one page. It needs no root, no bed and no clang.

use crate::args::ReportArgs;
use crate::exit::Exit;
use crate::terminal;
use anyhow::{Context, Result, bail};
use mpps_report::{Raw, Source, page};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Writes the page. A file that cannot be read is said, and the others are shown.
///
/// # Errors
/// No file can be read, or the page cannot be written.
pub fn run(args: &ReportArgs) -> Result<Exit> {
    let sources: Vec<Source> = args.records.iter().map(|path| source(path)).collect();
    let unreadable: Vec<&String> = sources
        .iter()
        .filter_map(|source| source.records.as_ref().err())
        .collect();
    if unreadable.len() == sources.len() {
        let all: Vec<&str> = unreadable.into_iter().map(String::as_str).collect();
        bail!("{}", all.join("; "));
    }
    for why in unreadable {
        terminal::error(why);
    }
    let output = args.output.display();
    for path in &args.records {
        if same_file(path, &args.output) {
            bail!("{output} is a record: name another file to write to (--output)");
        }
    }
    std::fs::write(&args.output, page(sources)).with_context(|| {
        format!("write {output} (name a file that can be written to: --output)")
    })?;
    terminal::out(&format!("The report is in {output}.\n"));
    Ok(Exit::Measured)
}

fn source(path: &Path) -> Source {
    let records = mpps_record::read_file(path).map_err(|error| error.to_string());
    let file = records.is_ok().then(|| File::open(path));
    let raw = file.and_then(|file| Raw::pack(BufReader::new(file.ok()?)).ok());
    Source {
        name: path.display().to_string(),
        records,
        raw,
    }
}

/// Whether both paths lead to one file.
fn same_file(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    whole(one).is_some_and(|one| whole(other) == Some(one))
}
