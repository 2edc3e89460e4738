//! The build that opens records anywhere holds no crate that needs Linux, clang or libbpf.

use std::process::Command;

/// The crates of a build, as cargo tells them.
fn crates(features: &[&str]) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--package", "mpps-cli", "--edges", "normal,build"])
        .args(["--prefix", "none", "--offline", "--locked"])
        .args(features)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    assert!(tree.status.success(), "{tree:?}");
    let text = String::from_utf8(tree.stdout).expect("UTF-8");
    let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    text.lines().map(name).collect()
}

fn needs_linux(name: &str) -> bool {
    let begins = ["libbpf", "netlink", "rtnetlink", "nix"];
    let ours = ["mpps-lab", "mpps-linux", "mpps-ebpf"];
    ours.contains(&name) || begins.iter().any(|begin| name.starts_with(begin))
}

#[test]
fn a_build_without_the_lab_needs_no_linux() {
    let bare = crates(&["--no-default-features"]);
    assert!(bare.iter().any(|name| name == "mpps-report"), "{bare:?}");
    let linux: Vec<&String> = bare.iter().filter(|name| needs_linux(name)).collect();
    assert!(linux.is_empty(), "{linux:?}");
    // The same question of the whole program has an answer, so the list above can fail.
    let whole = crates(&[]);
    for name in ["mpps-lab", "libbpf-sys", "nix"] {
        assert!(
            whole
                .iter()
                .any(|known| known == name && needs_linux(known)),
            "{name}"
        );
    }
}
