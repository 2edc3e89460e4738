use super::*;

const WITHOUT_COUNTERS: &str = "Basic info: size of leaf: 48 bytes, size of tnode: 40 bytes.
Main:
\tAver depth:     2.20
\tMax depth:      4
\tLeaves:         974465
\tPrefixes:       1042331
\tInternal nodes: 158906
\t  1: 2  2: 98008  3: 27109  18: 1
\tPointers: 2115852
Null ptrs: 982482
Total size: 125418  kB
Id 100:
\tAver depth:     0.00
\tMax depth:      0
\tLeaves:         1
\tPrefixes:       1
\tInternal nodes: 0

\tPointers: 0
Null ptrs: 0
Total size: 1  kB
";

const COUNTERS: &str = "
Counters:
---------
gets = 77
backtracks = 5
semantic match passed = 60
semantic match miss = 1
null node hit= 9
skipped node resize = 2
";

#[test]
fn each_table_has_its_figures() {
    let tables = parse(WITHOUT_COUNTERS).unwrap();
    assert_eq!(tables.len(), 2);
    let main = &tables[0];
    assert_eq!((main.table, main.max_depth, main.leaves), (254, 4, 974_465));
    assert!((main.average_depth - 2.2).abs() < 1e-9);
    assert_eq!((main.prefixes, main.tnodes), (1_042_331, 158_906));
    let by_bits = BTreeMap::from([(1, 2), (2, 98_008), (3, 27_109), (18, 1)]);
    assert_eq!(main.tnode_bits, by_bits);
    assert_eq!((main.pointers, main.null_pointers), (2_115_852, 982_482));
    assert_eq!((main.memory_octets, main.counters), (125_418 << 10, None));
    assert_eq!((tables[1].table, tables[1].prefixes), (100, 1));
    assert_eq!(tables[1].tnode_bits, BTreeMap::new());
}

#[test]
fn counters_are_read_where_the_kernel_keeps_them() {
    let tables = parse(&format!("{WITHOUT_COUNTERS}{COUNTERS}")).unwrap();
    let counters = tables[1].counters.unwrap();
    assert_eq!((counters.gets, counters.backtracks), (77, 5));
    assert_eq!(counters.semantic_match_passed, 60);
    assert_eq!(counters.semantic_match_miss, 1);
    assert_eq!(
        (counters.null_node_hit, counters.skipped_node_resize),
        (9, 2)
    );
    assert_eq!(tables[0].counters, None);
}

#[test]
fn what_is_not_understood_is_said() {
    assert_eq!(
        parse("Main:\n\tLeaves:  many\n").unwrap_err(),
        "Leaves:  many"
    );
    assert_eq!(parse("Main:\n\tMoons: 3\n").unwrap_err(), "Moons: 3");
}

#[test]
fn this_kernels_file_is_understood() {
    let tables = trie_stats().unwrap();
    assert!(tables.iter().any(|table| table.table == 254), "{tables:?}");
}
