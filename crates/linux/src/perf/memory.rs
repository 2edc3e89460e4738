//! Traffic of memory: counters of its controllers, which sysfs describes.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use super::counter::CpuCounter;
use crate::cpu::CpuSet;
use crate::error::Result;

/// Events of Intel's controllers (`uncore_imc_0`), or the beginnings of their names: what was read, and what was written.
const INTEL: [&str; 2] = ["cas_count_read", "cas_count_write"];
/// AMD's driver (`amd_umc_0`) names no events. These are CAS commands, `umc_cas_cmd.rd` and `.wr` of `perf list`.
const AMD: [&str; 2] = ["event=0x0a,rdwrmask=0x1", "event=0x0a,rdwrmask=0x2"];
/// What a CAS command moves.
const CAS_OCTETS: u64 = 64;

/// An event of a controller.
#[derive(Debug, PartialEq, Eq)]
struct Event {
    kind: u32,
    config: u64,
    /// One of each processor package.
    cpus: CpuSet,
    octets: u64,
}

/// Begins to count the octets that all memory of this machine gave, and those that it took. Empty where nothing tells them.
///
/// # Errors
/// No right (EACCES, EPERM), or the kernel refuses an event.
pub fn memory_traffic() -> [Result<Vec<CpuCounter>>; 2] {
    let root = Path::new("/sys/bus/event_source/devices");
    [0, 1].map(|direction| {
        let found = events(root, direction);
        let on_cpus = |event: &Event| {
            let of_cpu = |cpu| CpuCounter::open_event(cpu, event.kind, event.config, event.octets);
            event.cpus.iter().map(of_cpu).collect::<Vec<_>>()
        };
        found.iter().flat_map(on_cpus).collect()
    })
}

fn events(root: &Path, direction: usize) -> Vec<Event> {
    let mut found = Vec::new();
    for pmu in within(root) {
        let named: Vec<(String, u64)> = match name(&pmu) {
            name if name.starts_with("amd_umc") => vec![(AMD[direction].to_owned(), CAS_OCTETS)],
            name if name.starts_with("uncore_imc") => described(&pmu, INTEL[direction]),
            _ => continue,
        };
        let event = |(text, octets): &(String, u64)| {
            Some(Event {
                kind: text_of(&pmu.join("type"))?.parse().ok()?,
                config: config(&pmu, text)?,
                cpus: text_of(&pmu.join("cpumask"))?.parse().ok()?,
                octets: *octets,
            })
        };
        found.extend(named.iter().filter_map(event));
    }
    found
}

/// Events whose names begin so, and octets of each count.
fn described(pmu: &Path, begin: &str) -> Vec<(String, u64)> {
    let read = |event: PathBuf| {
        let is_one = name(&event).starts_with(begin) && event.extension().is_none();
        let beside = |end| text_of(&event.with_extension(end));
        let scale: f64 = is_one.then(|| beside("scale")).flatten()?.parse().ok()?;
        (beside("unit")? == "MiB").then_some(())?;
        Some((text_of(&event)?, (scale * 1024.0 * 1024.0).round() as u64))
    };
    let events = within(&pmu.join("events")).into_iter();
    events.filter_map(read).collect()
}

/// `event=0x04,umask=0x03` as a number: each field has its place, such as `config:8-15`.
fn config(pmu: &Path, text: &str) -> Option<u64> {
    let field = |field: &str| {
        let (name, value) = field.split_once('=')?;
        let place = text_of(&pmu.join("format").join(name))?;
        let first = place.strip_prefix("config:")?.split('-').next()?;
        let value = u64::from_str_radix(value.strip_prefix("0x")?, 16).ok()?;
        value.checked_shl(first.parse().ok()?)
    };
    text.split(',').map(field).sum()
}

/// Paths in a folder, sorted; none where it is not there.
fn within(folder: &Path) -> Vec<PathBuf> {
    let entries = read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

fn text_of(file: &Path) -> Option<String> {
    Some(read_to_string(file).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_found_by_their_descriptions() {
        let root = std::env::temp_dir().join(format!("mpps-memory-{}", std::process::id()));
        let file = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let event = |pmu: &str, name: &str, text: &str, scale: &str| {
            file(&format!("{pmu}/events/{name}"), text);
            file(&format!("{pmu}/events/{name}.scale"), scale);
            file(&format!("{pmu}/events/{name}.unit"), "MiB\n");
        };
        for (pmu, kind, cpus) in [
            ("uncore_imc_0", "13\n", "0,18\n"),
            ("uncore_imc_free_running_0", "14\n", "0\n"),
            ("amd_umc_3", "21\n", "0\n"),
            ("uncore_imc_9", "15\n", "0\n"),
            ("cpu", "4\n", "0\n"),
        ] {
            file(&format!("{pmu}/type"), kind);
            file(&format!("{pmu}/cpumask"), cpus);
            file(&format!("{pmu}/format/event"), "config:0-7\n");
        }
        // 64 octets, and 32 of the half of a channel; a field without a place is no event.
        let intel = "uncore_imc_0";
        file("uncore_imc_0/format/umask", "config:8-15,32-39\n");
        event(
            intel,
            "cas_count_read",
            "event=0x04,umask=0x03\n",
            "6.103515625e-5\n",
        );
        event(
            intel,
            "cas_count_read_sch1",
            "event=0x06,umask=0xcf\n",
            "3.0517578125e-5\n",
        );
        event(
            intel,
            "cas_count_write",
            "event=0x04,umask=0x0c\n",
            "6.103515625e-5\n",
        );
        file("uncore_imc_0/events/clockticks", "event=0x00\n");
        event(
            "uncore_imc_9",
            "cas_count_read",
            "event=0x04,umask=0x03\n",
            "6.103515625e-5\n",
        );
        event(
            "uncore_imc_free_running_0",
            "data_read",
            "event=0xff\n",
            "6.103515625e-5\n",
        );
        file("amd_umc_3/format/rdwrmask", "config:8-9\n");
        let both = [0, 1].map(|direction| events(&root, direction));
        std::fs::remove_dir_all(&root).unwrap();
        let found = |kind, config, cpus: &str, octets| Event {
            kind,
            config,
            cpus: cpus.parse().unwrap(),
            octets,
        };
        let read = [
            found(21, 0x10a, "0", 64),
            found(13, 0x304, "0,18", 64),
            found(13, 0xcf06, "0,18", 32),
        ];
        assert_eq!(both[0], read);
        assert_eq!(
            both[1],
            [found(21, 0x20a, "0", 64), found(13, 0xc04, "0,18", 64)]
        );
        assert_eq!(events(&root, 0), []);
    }
}
