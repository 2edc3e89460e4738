//! Scratch.
use mpps_report::*;
fn main() {
    let s = std::env::args().skip(1).map(|p| {
        let path = std::path::PathBuf::from(&p);
        let raw = std::fs::File::open(&path).ok().and_then(|f| Raw::pack(std::io::BufReader::new(f)).ok());
        Source { name: p, records: mpps_record::read_file(&path).map_err(|e| e.to_string()), raw }
    }).collect();
    print!("{}", page(s));
}
