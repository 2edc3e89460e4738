//! Maps read and written by the C types of their values.

use crate::tester::error::TesterError;
use libbpf_rs::{MapCore, MapFlags, MapMut};
use mpps_ebpf::{Plain, octets};

/// Entries of a map read or written in one call.
const BATCH: usize = 65_536;

/// Reads one entry; `what` says which in an error.
pub fn read<T: Plain>(map: &MapMut<'_>, key: u32, what: &'static str) -> Result<T, TesterError> {
    let value = map.lookup(&key.to_ne_bytes(), MapFlags::ANY);
    let value = value.map_err(|e| TesterError::bpf(what, &e))?;
    let value = value.and_then(|value| T::from_octets(&value));
    value.ok_or(TesterError::Layout(what))
}

/// Reads one entry of every CPU.
pub fn read_per_cpu<T: Plain>(
    map: &impl MapCore,
    key: u32,
    what: &'static str,
) -> Result<Vec<T>, TesterError> {
    let values = map.lookup_percpu(&key.to_ne_bytes(), MapFlags::ANY);
    let values = values.map_err(|e| TesterError::bpf(what, &e))?;
    let values = values.and_then(|values| values.iter().map(|cpu| T::from_octets(cpu)).collect());
    values.ok_or(TesterError::Layout(what))
}

/// Reads the first `count` entries of an array map, many in a call.
pub fn read_first<T: Plain>(
    map: &MapMut<'_>,
    count: usize,
    what: &'static str,
) -> Result<Vec<T>, TesterError> {
    let batch = count.clamp(1, BATCH) as u32;
    let entries = map.lookup_batch(batch, MapFlags::ANY, MapFlags::ANY);
    let entries = entries.map_err(|e| TesterError::bpf(what, &e))?;
    // An array's entries come in the order of their keys.
    let values = entries
        .take(count)
        .map(|(_, value)| T::from_octets(&value).ok_or(TesterError::Layout(what)))
        .collect::<Result<Vec<T>, _>>()?;
    // The iterator keeps an error to itself.
    if values.len() == count {
        Ok(values)
    } else {
        Err(TesterError::ShortRead(what))
    }
}

/// Reads what a program wrote into the ring of one CPU, whose entries stand one ring after the other: the last
/// `size` of those it counted.
pub fn read_ring<T: Plain>(
    map: &MapMut<'_>,
    (cpu, size): (usize, u32),
    counted: u64,
    what: &'static str,
) -> Result<Vec<T>, TesterError> {
    let size = u64::from(size);
    let entry = |number: u64| {
        let place = cpu as u64 * size + number % size;
        read(map, u32::try_from(place).unwrap_or(u32::MAX), what)
    };
    (counted.saturating_sub(size)..counted).map(entry).collect()
}

/// Writes one entry.
pub fn write<T: Plain>(
    map: &impl MapCore,
    key: u32,
    value: &T,
    what: &'static str,
) -> Result<(), TesterError> {
    map.update(&key.to_ne_bytes(), value.octets(), MapFlags::ANY)
        .map_err(|e| TesterError::bpf(what, &e))
}

/// Writes an array map from its first entry on, many entries in a call.
pub fn fill<T: Plain>(map: &MapMut<'_>, values: &[T]) -> Result<(), TesterError> {
    for (batch, values) in values.chunks(BATCH).enumerate() {
        let first = (batch * BATCH) as u32;
        let count = values.len() as u32;
        let keys: Vec<u8> = (first..first + count).flat_map(u32::to_ne_bytes).collect();
        map.update_batch(&keys, octets(values), count, MapFlags::ANY, MapFlags::ANY)
            .map_err(|e| TesterError::bpf("fill a map", &e))?;
    }
    Ok(())
}

pub fn possible_cpus() -> Result<usize, TesterError> {
    libbpf_rs::num_possible_cpus().map_err(|e| TesterError::bpf("count possible CPUs", &e))
}
