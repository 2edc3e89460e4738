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
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

/// The rows as committed.
const ROWS: &str = include_str!("stages.csv");

/// The catalogue. A test checks each row.
pub(super) static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::parse(ROWS));

/// What the catalogue says of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// `None`: the caller decides.
    pub stage: Option<Stage>,
    pub substage: &'static str,
    /// Its own time belongs to two stages.
    pub mixed: bool,
}

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
    fn parse(text: &'static str) -> Self {
        let mut all = Self::default();
        for row in text.lines().skip(1) {
            let fields: Vec<&str> = row.split(',').collect();
            let &[kind, name, stage, substage] = fields.as_slice() else {
                continue;
            };
            let row = Row {
                stage: stage_named(stage),
                substage,
                mixed: kind == "mixed",
            };
            let of_kind = match kind {
                "prefix" => &mut all.prefixes,
                "hook" => &mut all.hooks,
                "program" => &mut all.programs,
                "owned" => {
                    let owner = name.split_once('<');
                    all.owned
                        .extend(owner.map(|(from, owner)| (from, owner, row)));
                    continue;
                }
                _ => &mut all.functions,
            };
            of_kind.insert(name, row);
        }
        let lengths: BTreeSet<usize> = all.prefixes.keys().map(|name| name.len()).collect();
        all.lengths = lengths.into_iter().rev().collect();
        all
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

/// A stage by its name in the catalogue; `None` is the caller's.
fn stage_named(name: &str) -> Option<Stage> {
    Some(match name {
        "nic" => Stage::VirtualNic,
        "rx" => Stage::Rx,
        "alloc" => Stage::Alloc,
        "prerouting" => Stage::Prerouting,
        "routing" => Stage::Routing,
        "postrouting" => Stage::Postrouting,
        "tx" => Stage::Tx,
        "free" => Stage::Free,
        "exit" => Stage::Exit,
        "other" => Stage::Other,
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
    use std::collections::HashSet;

    /// Line of the first row that cannot be right, from 1, and what is wrong with it.
    fn wrong(text: &str) -> Option<(usize, &'static str)> {
        let mut rows = text.lines().zip(1..);
        if rows.next().map(|(row, _)| row) != Some("kind,name,stage,substage") {
            return Some((1, "not the header"));
        }
        let mut named = HashSet::new();
        let mut why = |row: &str| {
            let fields: Vec<&str> = row.split(',').collect();
            let &[kind, name, stage, substage] = fields.as_slice() else {
                return Some("not four fields");
            };
            let kind = if kind == "mixed" { "exact" } else { kind };
            let kinds = ["exact", "prefix", "hook", "program", "owned"];
            [
                (name.is_empty() || substage.is_empty(), "an empty field"),
                (
                    stage != "inherit" && stage_named(stage).is_none(),
                    "unknown stage",
                ),
                (!kinds.contains(&kind), "unknown kind"),
                (
                    !named.insert((kind.to_owned(), name.to_owned())),
                    "named twice",
                ),
                (kind == "owned" && !name.contains('<'), "no owner"),
            ]
            .into_iter()
            .find_map(|(is_wrong, why)| is_wrong.then_some(why))
        };
        rows.find_map(|(row, line)| Some((line, why(row)?)))
    }

    #[test]
    fn the_committed_rows_are_right() {
        assert_eq!(wrong(ROWS), None);
        assert!(CATALOGUE.functions.len() > 1_000);
        assert!(CATALOGUE.prefixes.len() > 270);
    }

    #[test]
    fn no_function_repeats_its_prefix() {
        let mut by_prefix = Catalogue::parse(ROWS);
        for (name, row) in std::mem::take(&mut by_prefix.functions) {
            assert_ne!(by_prefix.function(name), Some(row), "{name} is needless");
        }
    }

    #[test]
    fn wrong_rows_are_refused() {
        assert_eq!(
            wrong("kind,name,stage,substage\nexact,f,rx,rx.core\n"),
            None
        );
        for (text, line, why) in [
            ("", 1, "not the header"),
            ("kind,name\n", 1, "not the header"),
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
            assert_eq!(wrong(text), Some((line, why)), "{text}");
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
        let all = Catalogue::parse(text);
        assert_eq!(all.function("a_b_c").map(|row| row.substage), Some("long"));
        assert_eq!(all.function("a_c").map(|row| row.substage), Some("short"));
        assert_eq!(all.function("b"), None);
    }
}
