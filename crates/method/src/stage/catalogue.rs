//! Which function belongs to which stage: `stages.csv`, read once.
//!
//! Its rows are `kind,name,stage,substage`. A kind is one of these:
//! - `prefix`: functions of the kernel whose names begin so; the longest prefix wins.
//! - `exact`: a function that no prefix places, or that its prefix would place wrongly.
//! - `mixed`: a function whose own time belongs to reception or to the release of sent buffers; a name cannot tell.
//! - `hook`: a function that calls netfilter; functions of netfilter below it take this row's stage.
//! - `owned`: `SUBSTAGE<OWNER`, the beginnings of both: such a substage below such a function becomes this row's. The
//!   first row that fits wins. Releases below `rcu_core`, say, belong to no frame; below `__dev_queue_xmit` they are
//!   every frame's on a bed, because the program at the exit takes it.
//! - `program`: an eBPF program of ours, by its name in C.
//!
//! The stage `inherit` is that of functions which several stages share: their caller decides.

use super::Stage;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

/// The rows as committed.
const ROWS: &str = include_str!("stages.csv");
const HEADER: &str = "kind,name,stage,substage";

/// The catalogue. It is empty if a row is wrong; then a test of this crate fails.
pub(super) static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::parse(ROWS).unwrap_or_default());

/// What the catalogue says of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// `None`: the caller decides.
    pub stage: Option<Stage>,
    pub substage: &'static str,
    /// Its own time belongs to two stages.
    pub mixed: bool,
}

/// Line of a row that cannot be right, from 1, and what is wrong with it.
type WrongRow = (usize, &'static str);

/// All rows, by kind.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    functions: HashMap<&'static str, Row>,
    prefixes: HashMap<&'static str, Row>,
    /// Lengths of the prefixes, the longest first.
    lengths: Vec<usize>,
    hooks: HashMap<&'static str, Row>,
    programs: HashMap<&'static str, Row>,
    /// Beginnings of a substage and of its owner.
    owned: Vec<(&'static str, &'static str, Row)>,
}

impl Catalogue {
    fn parse(text: &'static str) -> Result<Self, WrongRow> {
        let wrong = |line: usize, why| (line + 1, why);
        let (mut all, mut named) = (Self::default(), HashSet::new());
        for (line, row) in text.lines().enumerate() {
            if line == 0 {
                if row != HEADER {
                    return Err(wrong(line, "not the header"));
                }
                continue;
            }
            let fields: Vec<&str> = row.split(',').collect();
            let &[kind, name, stage, substage] = fields.as_slice() else {
                return Err(wrong(line, "not four fields"));
            };
            if name.is_empty() || substage.is_empty() {
                return Err(wrong(line, "an empty field"));
            }
            let stage = stage_named(stage).ok_or_else(|| wrong(line, "unknown stage"))?;
            let mixed = kind == "mixed";
            let row = Row {
                stage,
                substage,
                mixed,
            };
            if !named.insert((if mixed { "exact" } else { kind }, name)) {
                return Err(wrong(line, "named twice"));
            }
            let of_kind = match kind {
                "exact" | "mixed" => &mut all.functions,
                "prefix" => &mut all.prefixes,
                "hook" => &mut all.hooks,
                "program" => &mut all.programs,
                "owned" => {
                    let (from, owner) = name
                        .split_once('<')
                        .ok_or_else(|| wrong(line, "no owner"))?;
                    all.owned.push((from, owner, row));
                    continue;
                }
                _ => return Err(wrong(line, "unknown kind")),
            };
            of_kind.insert(name, row);
        }
        if all.functions.is_empty() {
            return Err(wrong(0, "no function"));
        }
        let lengths: BTreeSet<usize> = all.prefixes.keys().map(|name| name.len()).collect();
        all.lengths = lengths.into_iter().rev().collect();
        Ok(all)
    }

    /// The row of a function, its name without suffixes.
    pub fn function(&self, name: &str) -> Option<Row> {
        self.functions.get(name).copied().or_else(|| {
            let beginnings = self.lengths.iter().filter_map(|&length| name.get(..length));
            beginnings
                .filter_map(|beginning| self.prefixes.get(beginning))
                .next()
                .copied()
        })
    }

    /// The row of a function that calls netfilter.
    pub fn hook(&self, name: &str) -> Option<Row> {
        self.hooks.get(name).copied()
    }

    /// What a substage becomes below these callers.
    pub fn owned(&self, substage: &str, callers: &[&str]) -> Option<(Stage, &'static str)> {
        let is_owned = |&&(from, owner, _): &&(&str, &str, Row)| {
            substage.starts_with(from) && callers.iter().any(|caller| caller.starts_with(owner))
        };
        let (_, _, row) = self.owned.iter().find(is_owned)?;
        row.stage.map(|stage| (stage, row.substage))
    }

    /// The row of a program of ours: `bpf_prog_TAG_NAME`, as kallsyms has it.
    pub fn program(&self, symbol: &str) -> Option<Row> {
        let (_tag, name) = symbol.strip_prefix("bpf_prog_")?.split_once('_')?;
        self.programs.get(name).copied()
    }
}

/// A stage by its name in the catalogue; `Some(None)` is "the caller's".
fn stage_named(name: &str) -> Option<Option<Stage>> {
    Some(match name {
        "inherit" => None,
        "nic" => Some(Stage::VirtualNic),
        "rx" => Some(Stage::Rx),
        "alloc" => Some(Stage::Alloc),
        "prerouting" => Some(Stage::Prerouting),
        "routing" => Some(Stage::Routing),
        "postrouting" => Some(Stage::Postrouting),
        "tx" => Some(Stage::Tx),
        "free" => Some(Stage::Free),
        "exit" => Some(Stage::Exit),
        "other" => Some(Stage::Other),
        _ => return None,
    })
}

/// A symbol without what compiler and reader add to a function's name: module, offset, suffixes of clones, and what
/// the kernel's build puts before its padding, its type and its position-independent alias.
pub(super) fn plain(symbol: &str) -> &str {
    let name = symbol.split([' ', '[']).next().unwrap_or_default();
    let name = name.split_once("+0x").map_or(name, |(name, _)| name);
    let mut aliases = ["__pfx_", "__cfi_", "__pi_"].iter();
    let name = aliases
        .find_map(|alias| name.strip_prefix(alias))
        .unwrap_or(name);
    if !name.contains('.') {
        return name;
    }
    let clone = [".isra.", ".part.", ".constprop.", ".cold", ".llvm."];
    let ends = clone.iter().filter_map(|suffix| name.find(suffix));
    ends.min().and_then(|end| name.get(..end)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_rows_are_right() {
        assert_eq!(Catalogue::parse(ROWS).err(), None);
        assert!(CATALOGUE.functions.len() > 1_000);
        assert!(CATALOGUE.prefixes.len() > 270);
    }

    #[test]
    fn no_function_repeats_its_prefix() {
        let mut by_prefix = Catalogue::parse(ROWS).expect("right rows");
        for (name, row) in std::mem::take(&mut by_prefix.functions) {
            assert_ne!(by_prefix.function(name), Some(row), "{name} is needless");
        }
    }

    #[test]
    fn wrong_rows_are_refused() {
        let why = Catalogue::parse;
        assert!(why("kind,name,stage,substage\nexact,f,rx,rx.core\n").is_ok());
        for (text, line, wrong) in [
            ("", 1, "no function"),
            ("kind,name\n", 1, "not the header"),
            ("kind,name,stage,substage\n", 1, "no function"),
            (
                "kind,name,stage,substage\nexact,f,rx\n",
                2,
                "not four fields",
            ),
            (
                "kind,name,stage,substage\nexact,,rx,rx.core\n",
                2,
                "an empty field",
            ),
            (
                "kind,name,stage,substage\nexact,f,rx,\n",
                2,
                "an empty field",
            ),
            (
                "kind,name,stage,substage\nexact,f,RX,rx.core\n",
                2,
                "unknown stage",
            ),
            (
                "kind,name,stage,substage\nexactly,f,rx,rx.core\n",
                2,
                "unknown kind",
            ),
            (
                "kind,name,stage,substage\nexact,f,rx,a\nmixed,f,tx,b\n",
                3,
                "named twice",
            ),
            (
                "kind,name,stage,substage\nexact,f,rx,a\nowned,free.,free,free.drop\n",
                3,
                "no owner",
            ),
            (
                "kind,name,stage,substage\nowned,a.<f,tx,b\nowned,a.<f,rx,c\n",
                3,
                "named twice",
            ),
        ] {
            assert_eq!(why(text).err(), Some((line, wrong)), "{text}");
        }
    }

    #[test]
    fn names_lose_what_compilers_add() {
        for (symbol, name) in [
            (
                "__netif_receive_skb_core.constprop.0",
                "__netif_receive_skb_core",
            ),
            ("ip_forward.cold", "ip_forward"),
            ("start_xmit [virtio_net]", "start_xmit"),
            ("nft_do_chain+0x1a/0x90 [nf_tables]", "nft_do_chain"),
            ("slab_update_freelist.isra.0.part.3", "slab_update_freelist"),
            ("__pi___x86_indirect_thunk_rax", "__x86_indirect_thunk_rax"),
            ("__pfx_ip_forward", "ip_forward"),
            ("nf_conntrack_in.llvm.123 [nf_conntrack]", "nf_conntrack_in"),
            ("[unknown]", ""),
            ("", ""),
        ] {
            assert_eq!(plain(symbol), name);
        }
    }

    #[test]
    fn the_longest_prefix_wins() {
        let text =
            "kind,name,stage,substage\nexact,x,rx,a\nprefix,a_,rx,short\nprefix,a_b_,tx,long\n";
        let all = Catalogue::parse(text).expect("right rows");
        assert_eq!(all.function("a_b_c").map(|row| row.substage), Some("long"));
        assert_eq!(all.function("a_c").map(|row| row.substage), Some("short"));
        assert_eq!(all.function("b"), None);
    }
}
