//! The report and the record build anywhere: no crate of their trees belongs to Linux.

use std::process::Command;

/// Crates that exist only for Linux, or for a C library, and those of ours that need them.
const ABSENT: [&str; 9] = [
    "libbpf",
    "netlink",
    "nix",
    "libc",
    "mpps-linux",
    "mpps-ebpf",
    "mpps-lab",
    "mpps-wire",
    "mpps-method",
];

#[test]
fn no_linux_crate_is_in_the_tree() {
    for package in ["mpps-record", "mpps-report"] {
        let words = [
            "tree",
            "--package",
            package,
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--target",
            "all",
            "--locked",
            "--offline",
            // It asks a CPU what it can: of some systems by bindings to libc.
            "--prune",
            "cpufeatures",
        ];
        let tree = Command::new(env!("CARGO"))
            .args(words)
            .output()
            .expect("cargo runs");
        let text = String::from_utf8(tree.stdout).expect("text");
        assert!(
            text.starts_with(package) && text.contains("serde_json"),
            "{text}"
        );
        for line in text.lines() {
            let linux = ABSENT.iter().find(|name| line.starts_with(**name));
            assert_eq!(linux, None, "{package} needs {line}");
        }
    }
}
