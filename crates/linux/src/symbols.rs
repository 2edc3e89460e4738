//! Names of the kernel's functions by address: the kernel itself, its modules and its eBPF programs
//! (`/proc/kallsyms`).

use crate::error::{Error, Result};
use std::ops::Range;

const PATH: &str = "/proc/kallsyms";
/// Nobody says where the last function of a module or an eBPF program ends: not beyond so many octets.
const LAST_OCTETS_MAX: u64 = 16 << 10;
/// Where the kernel's code ends.
const ENDS: [&str; 2] = ["_etext", "_einittext"];

/// All functions at the time of reading: those of programs that are loaded later are missing.
#[derive(Debug)]
pub struct Symbols {
    text: String,
    /// By rising address, each address once.
    entries: Vec<Entry>,
}

/// Where name and module stand in the text.
#[derive(Clone, Debug)]
struct Entry {
    address: u64,
    /// Among names of one address the lowest is taken.
    rank: (bool, bool, u8),
    /// Empty: here code ends.
    name: Range<u32>,
    module: Range<u32>,
}

/// One function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name as the kernel has it, with what the compiler added (`.isra.0`, `.cold`).
    pub name: &'a str,
    /// The module it belongs to; `bpf` for eBPF programs.
    pub module: Option<&'a str>,
}

impl Symbols {
    /// Reads them.
    ///
    /// # Errors
    /// There is no such file (CONFIG_KALLSYMS), or the kernel hides the addresses.
    pub fn read() -> Result<Self> {
        let fail = |e| {
            Error::from_io("read names of functions", PATH, &e)
                .with_remedy("needs a kernel with CONFIG_KALLSYMS, and /proc")
        };
        Self::parse(std::fs::read_to_string(PATH).map_err(fail)?)
    }

    fn parse(text: String) -> Result<Self> {
        let refuse = |cause: &str| Error::from_text("read names of functions", PATH, cause);
        let base = text.as_ptr() as usize;
        let mut entries = Vec::with_capacity(text.len() / 40);
        for line in text.lines() {
            // Positions fit: the file has some 10 million octets.
            let place = |part: &str| {
                let start = (part.as_ptr() as usize - base) as u32;
                start..start + part.len() as u32
            };
            entries.extend(entry(line, place).ok_or_else(|| {
                refuse(&format!("`{line}` is not an address, a kind and a name"))
            })?);
        }
        if entries.iter().all(|entry: &Entry| entry.address == 0) {
            let hidden = refuse("the kernel hides the addresses");
            return Err(hidden.with_remedy("run as root with kernel.kptr_restrict at 0 or 1"));
        }
        entries.sort_unstable_by_key(|entry| (entry.address, entry.rank, entry.name.start));
        entries.dedup_by_key(|entry| entry.address);
        Ok(Self { text, entries })
    }

    /// How many addresses have a name.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// The function that this address lies in. `None`: no function of the kernel, or none that was there at the time of
    /// reading.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<Symbol<'_>> {
        let after = self
            .entries
            .partition_point(|entry| entry.address <= address);
        let entry = self.entries.get(after.checked_sub(1)?)?;
        let module = self.part(&entry.module);
        let next = self.entries.get(after);
        let is_last = next.is_none_or(|next| self.part(&next.module) != module);
        if entry.name.is_empty() || (is_last && address - entry.address >= LAST_OCTETS_MAX) {
            return None;
        }
        Some(Symbol {
            name: self.part(&entry.name),
            module: Some(module).filter(|module| !module.is_empty()),
        })
    }

    fn part(&self, place: &Range<u32>) -> &str {
        &self.text[place.start as usize..place.end as usize]
    }
}

/// A line `ffffffff81000000 T name`, behind it a tab and `[module]`. Nothing of what is not code.
fn entry(line: &str, place: impl Fn(&str) -> Range<u32>) -> Option<Option<Entry>> {
    let (address, rest) = line.split_once(' ')?;
    let (kind, rest) = rest.split_once(' ')?;
    if !matches!(kind, "t" | "T" | "w" | "W") {
        return Some(None);
    }
    // Not "": both parts have a place in the text.
    let (name, module) = rest.split_once('\t').unwrap_or(rest.split_at(rest.len()));
    let is_end = ENDS.contains(&name);
    let underscores = name.bytes().take_while(|&octet| octet == b'_').count();
    // As perf chooses: no weak name, then a global one, then the one with fewer underscores.
    let rank = match is_end {
        true => (false, false, 0),
        false => (
            kind.eq_ignore_ascii_case("w"),
            kind != "T",
            1 + underscores.min(100) as u8,
        ),
    };
    let module = module.trim_start_matches('[').trim_end_matches(']');
    Some(Some(Entry {
        address: u64::from_str_radix(address, 16).ok()?,
        rank,
        name: place(if is_end { &name[..0] } else { name }),
        module: place(module),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "\
ffffffff81000000 T _stext
ffffffff81000000 T first
ffffffff81000000 w aaa_weak
ffffffff81000100 t second.isra.0
ffffffff81000180 d data
ffffffff81000200 T third
ffffffff81000300 T _etext
ffffffff82000000 R __start_rodata
ffffffffc0000000 t in_module\t[nf_conntrack]
ffffffffc0000080 t last_in_module\t[nf_conntrack]
ffffffffc0100000 t bpf_prog_aa981578612e3fbb_start\t[bpf]
";

    fn named(symbols: &Symbols, address: u64) -> Option<&str> {
        symbols.find(address).map(|symbol| symbol.name)
    }

    #[test]
    fn an_address_lies_in_the_function_before_it() {
        let symbols = Symbols::parse(LINES.to_owned()).unwrap();
        for (address, name) in [
            (0xffff_ffff_8100_0000, Some("first")),
            (0xffff_ffff_8100_00ff, Some("first")),
            (0xffff_ffff_8100_01a0, Some("second.isra.0")),
            (0xffff_ffff_8100_02ff, Some("third")),
            (0xffff_ffff_8100_0300, None),
            (0xffff_ffff_8200_0000, None),
            (0xffff_ffff_80ff_ffff, None),
            (0, None),
            (u64::MAX, None),
        ] {
            assert_eq!(named(&symbols, address), name, "{address:x}");
        }
    }

    #[test]
    fn modules_and_programs_end_somewhere() {
        let symbols = Symbols::parse(LINES.to_owned()).unwrap();
        let of_module = symbols.find(0xffff_ffff_c000_0010).unwrap();
        assert_eq!(of_module.module, Some("nf_conntrack"));
        let last = 0xffff_ffff_c000_0080;
        assert_eq!(named(&symbols, last + 8), Some("last_in_module"));
        assert_eq!(named(&symbols, last + LAST_OCTETS_MAX), None);
        let program = symbols.find(0xffff_ffff_c010_0000).unwrap();
        assert_eq!(program.name, "bpf_prog_aa981578612e3fbb_start");
        assert_eq!(program.module, Some("bpf"));
        assert_eq!(symbols.find(0xffff_ffff_8100_0000).unwrap().module, None);
    }

    #[test]
    fn hidden_addresses_are_an_error_with_its_remedy() {
        let hidden = "0000000000000000 T first\n0000000000000000 T second\n";
        for text in [hidden, ""] {
            let error = Symbols::parse(text.to_owned()).unwrap_err().to_string();
            assert!(error.contains("kptr_restrict"), "{error}");
        }
    }

    #[test]
    fn a_line_that_is_none_is_an_error() {
        for line in ["nonsense", "xyz T first", "ffffffff81000000 T"] {
            assert!(Symbols::parse(line.to_owned()).is_err(), "{line}");
        }
    }
}
