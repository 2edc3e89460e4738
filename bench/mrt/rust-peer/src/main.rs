//! Bare loops of Rust's MRT parsers: every record parsed, paths counted, nothing else.
//!
//! usage: rust-peer bgpkit-records|bgpkit-routes|mrt-rs FILE
#![forbid(unsafe_code)]

use bgpkit_parser::BgpkitParser;
use bgpkit_parser::models::{MrtMessage, TableDumpV2Message};
use mrt_rs::Record;
use mrt_rs::records::tabledump::TABLE_DUMP_V2;
use std::fs::File;
use std::io::{BufReader, Read};
use std::process::ExitCode;

const BUFFER_OCTETS: usize = 256 * 1024;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, parser, path] = &arguments[..] else {
        eprintln!("usage: rust-peer bgpkit-records|bgpkit-routes|mrt-rs FILE");
        return ExitCode::from(2);
    };
    let paths = match parser.as_str() {
        "bgpkit-records" => bgpkit_records(open(path)),
        "bgpkit-routes" => bgpkit_routes(open(path)),
        "mrt-rs" => mrt_rs_records(open(path)),
        other => {
            eprintln!("no parser {other}");
            return ExitCode::from(2);
        }
    };
    println!("{paths}");
    ExitCode::SUCCESS
}

fn open(path: &str) -> BufReader<Box<dyn Read>> {
    let file = File::open(path).expect("the file opens");
    let packed = BufReader::with_capacity(BUFFER_OCTETS, file);
    let plain: Box<dyn Read> = if path.ends_with(".bz2") {
        Box::new(bzip2::read::MultiBzDecoder::new(packed))
    } else if path.ends_with(".gz") {
        Box::new(flate2::read::MultiGzDecoder::new(packed))
    } else {
        Box::new(packed)
    };
    BufReader::with_capacity(BUFFER_OCTETS, plain)
}

/// Whole records: each path with all its attributes, as libbgpdump parses them.
fn bgpkit_records(reader: impl Read) -> u64 {
    let records = BgpkitParser::from_reader(reader).into_record_iter();
    let paths = records.map(|record| match record.message {
        MrtMessage::TableDumpMessage(_) => 1,
        MrtMessage::TableDumpMessageBatch(messages) => messages.len() as u64,
        MrtMessage::TableDumpV2Message(TableDumpV2Message::RibAfi(rib)) => {
            rib.rib_entries.len() as u64
        }
        _ => 0,
    });
    paths.sum()
}

/// The parser's light way: prefix, peer and AS path of each path.
fn bgpkit_routes(reader: impl Read) -> u64 {
    let routes = BgpkitParser::from_reader(reader).into_route_iter();
    routes.count() as u64
}

/// Records with their attributes left as octets: of all these the nearest to what mpps does.
fn mrt_rs_records(mut reader: impl Read) -> u64 {
    let mut paths = 0;
    while let Some((_, record)) = mrt_rs::read(&mut reader).expect("a whole record") {
        paths += match record {
            Record::TABLE_DUMP(_) => 1,
            Record::TABLE_DUMP_V2(
                TABLE_DUMP_V2::RIB_IPV4_UNICAST(rib) | TABLE_DUMP_V2::RIB_IPV6_UNICAST(rib),
            ) => rib.entries.len() as u64,
            _ => 0,
        };
    }
    paths
}
