//! Tables read from real files, against other people's readers: Debian's bgpdump, and the lists that BIRD made some
//! of the files from. The files are not in the repository; without them these tests say so.

use ipnet::IpNet;
use mpps_tables::{Counts, ReadOptions, Source, Table};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file of real data, if there is any.
fn data(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let file = folder.join(name);
    if file.is_file() {
        return Some(file);
    }
    println!("SKIP: needs ../shared/data/{name}");
    None
}

fn read(file: &Path) -> (Table, Counts) {
    let source = Source::File(file.to_owned());
    let read = mpps_tables::read(source, &ReadOptions::default(), &mut |_| {});
    let read = read.unwrap_or_else(|error| panic!("{error}"));
    (read.table, read.counts)
}

/// What bgpdump says of a file: its prefixes, and how many lines it wrote.
fn bgpdump(file: &Path) -> Option<(Table, u64)> {
    let mut command = Command::new("bgpdump");
    command
        .arg("-m")
        .arg(file)
        .stderr(Stdio::null())
        .stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        println!("SKIP: needs bgpdump (apt-get install bgpdump)");
        return None;
    };
    let (mut prefixes, mut lines) = (Vec::<IpNet>::new(), 0);
    for line in BufReader::new(child.stdout.take().expect("piped")).lines() {
        let line = line.expect("text");
        let word = line.split('|').nth(5).expect("a prefix in the sixth field");
        let prefix = word
            .parse()
            .unwrap_or_else(|error| panic!("{word}: {error}"));
        if prefixes.last() != Some(&prefix) {
            prefixes.push(prefix);
        }
        lines += 1;
    }
    assert!(child.wait().expect("it ends").success());
    prefixes.sort_unstable();
    prefixes.dedup();
    let mut table = Table::default();
    for prefix in prefixes {
        match prefix {
            IpNet::V4(prefix) => table.v4.push(prefix),
            IpNet::V6(prefix) => table.v6.push(prefix),
        }
    }
    Some((table, lines))
}

#[test]
fn every_dump_has_the_prefixes_that_bgpdump_finds() {
    for (name, v4, v6, packed) in [
        (
            "routeviews.route-views.jinx.ribs.1401487200.bz2",
            497_323,
            84,
            "bzip2",
        ),
        ("rrc05.bview.20020722.2337.gz", 112_988, 0, "gzip"),
        ("bird-rv2-20141202.v4.mrt.gz", 541_262, 0, "gzip"),
        ("bird-ris-20261004.v4.mrt.gz", 1_097_941, 0, "gzip"),
        ("bird-ris-20261004.v6.mrt.gz", 0, 258_339, "gzip"),
    ] {
        let Some(file) = data(name) else { continue };
        let (table, counts) = read(&file);
        assert_eq!((table.v4.len(), table.v6.len()), (v4, v6), "{name}");
        assert_eq!(
            (counts.format, counts.packed),
            ("MRT", Some(packed)),
            "{name}"
        );
        assert_eq!(
            counts.octets,
            file.metadata().expect("a file").len(),
            "{name}"
        );
        let Some((theirs, lines)) = bgpdump(&file) else {
            return;
        };
        assert!(table == theirs, "{name}: other prefixes than bgpdump");
        assert_eq!(
            counts.paths, lines,
            "{name}: a line of bgpdump -m is a path"
        );
    }
}

#[test]
fn a_dump_made_from_a_list_is_the_list() {
    for (dump, list) in [
        ("bird-rv2-20141202.v4.mrt.gz", "rv2-20141202.v4.txt.xz"),
        (
            "bird-ris-20261004.v4.mrt.gz",
            "ris-rrc00-20261004.v4.txt.xz",
        ),
        (
            "bird-ris-20261004.v6.mrt.gz",
            "ris-rrc00-20261004.v6.txt.xz",
        ),
    ] {
        let (Some(dump), Some(list)) = (data(dump), data(list)) else {
            continue;
        };
        let ((from_dump, _), (from_list, counts)) = (read(&dump), read(&list));
        assert_eq!(
            (counts.format, counts.packed),
            ("list of prefixes", Some("xz"))
        );
        assert!(from_dump == from_list, "{}", list.display());
    }
}

#[test]
fn text_of_bgpdump_is_read_as_its_dump() {
    let Some(file) = data("rrc05.bview.20020722.2337.gz") else {
        return;
    };
    for form in ["-m", "-M"] {
        let Ok(output) = Command::new("bgpdump").arg(form).arg(&file).output() else {
            println!("SKIP: needs bgpdump (apt-get install bgpdump)");
            return;
        };
        let text: &[u8] = &output.stdout;
        let options = ReadOptions::default();
        let read =
            mpps_tables::read_from(Source::Stdin, Box::new(text), None, &options, &mut |_| {});
        let read = read.unwrap_or_else(|error| panic!("{form}: {error}"));
        assert_eq!(read.counts.format, "bgpdump -m");
        assert!(read.table == self::read(&file).0, "{form}");
    }
}
